"""Requests and responses as entries of a HAR.

Source: the HAR 1.2 specification, http://www.softwareishard.com/blog/har-12-spec/.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from orchestrator.system.secrets import MASK, without_credentials

Event = Mapping[str, Any]

Json = dict[str, Any]

_SECRET = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
"""Headers whose values are secrets."""
_UNKNOWN = -1
"""HAR's value for an unknown number."""


class ExchangeHop:
    """A request to one URL with its response, which may be a redirect to the next hop."""

    def __init__(self, sent: Event) -> None:
        self.sent = sent
        self.response: Event = {}
        self.ended = float(sent["timestamp"])


class Exchange:
    """A request with its redirects and response, collected from events.

    The headers as sent and received come in events of their own (`…ExtraInfo`), before or after the others, in the
    order of the hops.

    Attributes:
        page: Id of its page in the recording; empty if unknown.
        size: Bytes of the body.
        encoded: Bytes that were transferred.
        failure: Reason of a failed request; empty if there is a response.
        left_out: Reason for which the body is missing in the recording.
    """

    def __init__(self, page: str) -> None:
        self.page = page
        self.hops: list[ExchangeHop] = []
        self.size = 0
        self.encoded = 0
        self.failure = ""
        self.body: bytes | None = None
        self.left_out = ""
        self._sent: list[Event] = []
        self._received: list[Event] = []

    def add_request(self, event: Event) -> None:
        """Take `requestWillBeSent`: the first one, or the next after a redirect, whose response it may have."""
        if self.hops and "redirectResponse" in event:
            self.add_response({"response": event["redirectResponse"] or {}, "timestamp": event["timestamp"]})
        self.hops.append(ExchangeHop(event))

    def add_request_headers(self, event: Event) -> None:
        """Take `requestWillBeSentExtraInfo`."""
        self._sent.append(event)

    def add_response_headers(self, event: Event) -> None:
        """Take `responseReceivedExtraInfo`; BiDi knows `headersSize` instead of the headers' text."""
        self._received.append(event)

    def add_response(self, event: Event) -> None:
        """Take `responseReceived`, or the redirect response in the next `requestWillBeSent`."""
        self.hops[-1].response = event["response"]
        self.hops[-1].ended = float(event["timestamp"])

    def finish(self, event: Event, failed: str = "") -> None:
        """Take `loadingFinished` or `loadingFailed`."""
        self.hops[-1].ended = max(self.hops[-1].ended, float(event["timestamp"]))
        self.encoded = int(event.get("encodedDataLength") or 0)
        self.failure = failed

    def wire_headers(self, place: int) -> tuple[Event, Event]:
        """Return the headers of a hop as sent and as received; empty if no event had them."""
        sent = self._sent[place] if place < len(self._sent) else {}
        return sent, self._received[place] if place < len(self._received) else {}


def build_entries(exchange: Exchange) -> list[Json]:
    """Build one HAR entry per hop, in order; the last one has the body."""
    return [_entry(exchange, place, hop) for place, hop in enumerate(exchange.hops)]


def instant(seconds: float) -> str:
    """Return a time (seconds since the epoch) as HAR writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _entry(exchange: Exchange, place: int, hop: ExchangeHop) -> Json:
    sent, received = exchange.wire_headers(place)
    is_last = place == len(exchange.hops) - 1
    timings = _timings(hop)
    response = hop.response
    entry = {
        "startedDateTime": instant(float(hop.sent["wallTime"])),
        "time": round(sum(value for name, value in timings.items() if value > 0 and name != "ssl"), 3),
        "request": _request(hop, sent),
        "response": _response(exchange, hop, received, is_last=is_last),
        "cache": {},
        "timings": timings,
        "_resourceType": str(hop.sent.get("type", "Other")).lower(),
    }
    if exchange.page:
        entry["pageref"] = exchange.page
    if response.get("remoteIPAddress"):
        entry["serverIPAddress"] = str(response["remoteIPAddress"]).strip("[]")
    if response.get("connectionId"):
        entry["connection"] = str(response["connectionId"])
    if is_last and exchange.failure:
        entry["_error"] = exchange.failure
    return entry


def _request(hop: ExchangeHop, wire: Event) -> Json:
    sent = hop.sent["request"]
    headers = _headers(wire.get("headers") or sent.get("headers") or {})
    url = without_credentials(str(sent["url"]))
    request: Json = {
        "method": sent["method"],
        "url": url,
        "httpVersion": _version(hop.response),
        "cookies": _cookies(wire.get("headers") or {}, "cookie"),
        "headers": headers,
        "queryString": _pairs(urlsplit(url).query),
        "headersSize": _UNKNOWN,
        "bodySize": 0,
    }
    if sent.get("hasPostData"):
        text, kind = str(sent.get("postData") or ""), _value(headers, "content-type")
        request["postData"] = {"mimeType": kind, "text": text}
        if kind.startswith("application/x-www-form-urlencoded"):
            request["postData"]["params"] = _pairs(text)
        request["bodySize"] = len(text.encode()) if "postData" in sent else _UNKNOWN
    return request


def _response(exchange: Exchange, hop: ExchangeHop, wire: Event, *, is_last: bool) -> Json:
    response = hop.response
    # Headers of the wire have all cookies; without them the response came from a cache, from a rule, or not at all.
    raw = wire.get("headers") or response.get("headers") or {}
    headers = _headers(raw)
    headers_size = len(str(wire["headersText"])) if "headersText" in wire else wire.get("headersSize", _UNKNOWN)
    transferred = exchange.encoded if is_last else headers_size
    return {
        "status": int(wire.get("statusCode") or response.get("status") or 0),
        "statusText": str(response.get("statusText", "")),
        "httpVersion": _version(response),
        "cookies": _cookies(raw, "set-cookie"),
        "headers": headers,
        "content": _content(exchange, response) if is_last else {"size": 0, "mimeType": _kind(response)},
        "redirectURL": "" if is_last else _value(headers, "location"),
        "headersSize": headers_size,
        "bodySize": max(transferred - headers_size, 0) if headers_size >= 0 else _UNKNOWN,
        "_transferSize": transferred,
    }


def _content(exchange: Exchange, response: Event) -> Json:
    content: Json = {"size": exchange.size, "mimeType": _kind(response)}
    if exchange.body is not None:
        content |= {"size": len(exchange.body), **_encoded(exchange.body)}
    elif exchange.left_out:
        content["comment"] = exchange.left_out
    return content


def _encoded(body: bytes) -> Json:
    """Write every body that is UTF-8 as text, whatever its type, since secrets are not masked in base64."""
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode(), "encoding": "base64"}


def _timings(hop: ExchangeHop) -> dict[str, float]:
    """Return HAR's phases in ms; CDP has them in ms since `requestTime`, which is in seconds like events' times."""
    timing, began = hop.response.get("timing"), float(hop.sent["timestamp"])
    whole = max(hop.ended - began, 0) * 1000
    if not timing:
        return {**dict.fromkeys(("blocked", "dns", "connect", "ssl"), _UNKNOWN), "send": 0, "wait": whole, "receive": 0}
    queued = max(float(timing["requestTime"]) - began, 0) * 1000
    first = next((timing[name] for name in ("dnsStart", "connectStart", "sendStart") if timing[name] >= 0), 0)
    received = max(float(timing.get("receiveHeadersStart") or timing["receiveHeadersEnd"]), timing["sendEnd"])
    phases = {
        "blocked": queued + first,
        "dns": _phase(timing, "dns"),
        "connect": _phase(timing, "connect"),
        "ssl": _phase(timing, "ssl"),
        "send": max(timing["sendEnd"] - timing["sendStart"], 0),
        "wait": received - timing["sendEnd"],
        "receive": max(whole - queued - received, 0),
    }
    return {name: round(value, 3) for name, value in phases.items()}


def _phase(timing: Mapping[str, float], name: str) -> float:
    start = timing.get(f"{name}Start", _UNKNOWN)
    return timing[f"{name}End"] - start if start >= 0 else _UNKNOWN


def _headers(headers: Mapping[str, str]) -> list[Json]:
    """Return one object per header; CDP joins repeated headers by line breaks."""
    return [
        {"name": name, "value": _masked(name.lower(), value)}
        for name, values in headers.items()
        for value in str(values).split("\n")
    ]


def _masked(name: str, value: str) -> str:
    if name not in _SECRET:
        return value
    if name == "cookie":
        return "; ".join(f"{cookie['name']}={MASK}" for cookie in _masked_cookies([value], "cookie"))
    if name == "set-cookie":
        pair, semicolon, rest = value.partition(";")
        return f"{pair.partition('=')[0]}={MASK}{semicolon}{rest}"
    scheme, blank, _ = value.partition(" ")
    return f"{scheme} {MASK}" if blank else MASK


def _cookies(headers: Mapping[str, str], name: str) -> list[Json]:
    values = [value for key, value in headers.items() if key.lower() == name]
    return _masked_cookies([line for value in values for line in str(value).split("\n")], name)


def _masked_cookies(lines: Iterable[str], name: str) -> list[Json]:
    pairs = [pair for line in lines for pair in (line.split(";") if name == "cookie" else [line.partition(";")[0]])]
    return [{"name": pair.partition("=")[0].strip(), "value": MASK} for pair in pairs if pair.strip()]


def _pairs(text: str) -> list[Json]:
    return [{"name": name, "value": value} for name, value in parse_qsl(text, keep_blank_values=True)]


def _value(headers: Iterable[Mapping[str, str]], name: str) -> str:
    return next((header["value"] for header in headers if header["name"].lower() == name), "")


def _kind(response: Event) -> str:
    return str(response.get("mimeType") or "x-unknown")


def _version(response: Event) -> str:
    names = {"h2": "HTTP/2", "h3": "HTTP/3", "": "unknown"}
    protocol = str(response.get("protocol", ""))
    return names.get(protocol, protocol.upper())
