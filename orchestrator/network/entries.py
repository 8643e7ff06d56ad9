"""Entries of an HTTP archive, made of what CDP told of exchanges; no secret of theirs stands in them.

Source: the HAR 1.2 specification, http://www.softwareishard.com/blog/har-12-spec/.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from orchestrator.network.exchange import Event, Exchange, Hop
from orchestrator.secrets import MASK, without_credentials

Json = dict[str, Any]

_SECRET = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
"""Headers whose values open something."""
_UNKNOWN = -1
"""What HAR has for a number that nobody knows."""


def entries(exchange: Exchange) -> list[Json]:
    """One entry a hop, in order; the body is the last one's."""
    return [_entry(exchange, place, hop) for place, hop in enumerate(exchange.hops)]


def instant(seconds: float) -> str:
    """A time since the epoch as HAR writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _entry(exchange: Exchange, place: int, hop: Hop) -> Json:
    sent, received = exchange.wire(place)
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
    if is_last and exchange.failed:
        entry["_error"] = exchange.failed
    return entry


def _request(hop: Hop, wire: Event) -> Json:
    told = hop.sent["request"]
    headers = _headers(wire.get("headers") or told.get("headers") or {})
    url = without_credentials(str(told["url"]))
    request: Json = {
        "method": told["method"],
        "url": url,
        "httpVersion": _version(hop.response),
        "cookies": _cookies(wire.get("headers") or {}, "cookie"),
        "headers": headers,
        "queryString": _pairs(urlsplit(url).query),
        "headersSize": _UNKNOWN,
        "bodySize": 0,
    }
    if told.get("hasPostData"):
        text, kind = str(told.get("postData") or ""), _value(headers, "content-type")
        request["postData"] = {"mimeType": kind, "text": text}
        if kind.startswith("application/x-www-form-urlencoded"):
            request["postData"]["params"] = _pairs(text)
        request["bodySize"] = len(text.encode()) if "postData" in told else _UNKNOWN
    return request


def _response(exchange: Exchange, hop: Hop, wire: Event, *, is_last: bool) -> Json:
    told = hop.response
    # Those on the wire have all cookies; without them it came from a cache, from a rule, or not at all.
    raw = wire.get("headers") or told.get("headers") or {}
    headers = _headers(raw)
    above = len(str(wire["headersText"])) if "headersText" in wire else _UNKNOWN
    moved = exchange.encoded if is_last else above
    return {
        "status": int(wire.get("statusCode") or told.get("status") or 0),
        "statusText": str(told.get("statusText", "")),
        "httpVersion": _version(told),
        "cookies": _cookies(raw, "set-cookie"),
        "headers": headers,
        "content": _content(exchange, told) if is_last else {"size": 0, "mimeType": _kind(told)},
        "redirectURL": "" if is_last else _value(headers, "location"),
        "headersSize": above,
        "bodySize": max(moved - above, 0) if above >= 0 else _UNKNOWN,
        "_transferSize": moved,
    }


def _content(exchange: Exchange, told: Event) -> Json:
    content: Json = {"size": exchange.size, "mimeType": _kind(told)}
    if exchange.body is not None:
        content |= {"size": len(exchange.body), **_written(exchange.body)}
    elif exchange.left_out:
        content["comment"] = exchange.left_out
    return content


def _written(body: bytes) -> Json:
    """A text as it is, whatever its type is called, anything else in base64: there no secret is struck out."""
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode(), "encoding": "base64"}


def _timings(hop: Hop) -> dict[str, float]:
    """In ms; CDP tells each phase in ms since `requestTime`, which is in s as the events' own times are."""
    told, began = hop.response.get("timing"), float(hop.sent["timestamp"])
    whole = max(hop.ended - began, 0) * 1000
    if not told:
        return {
            "blocked": _UNKNOWN,
            "dns": _UNKNOWN,
            "connect": _UNKNOWN,
            "ssl": _UNKNOWN,
            "send": 0,
            "wait": whole,
        } | {"receive": 0}
    queued = max(float(told["requestTime"]) - began, 0) * 1000
    first = next((told[name] for name in ("dnsStart", "connectStart", "sendStart") if told[name] >= 0), 0)
    got = max(float(told.get("receiveHeadersStart") or told["receiveHeadersEnd"]), told["sendEnd"])
    found = {
        "blocked": queued + first,
        "dns": _phase(told, "dns"),
        "connect": _phase(told, "connect"),
        "ssl": _phase(told, "ssl"),
        "send": max(told["sendEnd"] - told["sendStart"], 0),
        "wait": got - told["sendEnd"],
        "receive": max(whole - queued - got, 0),
    }
    return {name: round(value, 3) for name, value in found.items()}


def _phase(told: Mapping[str, float], name: str) -> float:
    began = told.get(f"{name}Start", _UNKNOWN)
    return told[f"{name}End"] - began if began >= 0 else _UNKNOWN


def _headers(told: Mapping[str, str]) -> list[Json]:
    """One object a header; CDP joins those that come several times by line breaks."""
    return [
        {"name": name, "value": _masked(name.lower(), value)}
        for name, values in told.items()
        for value in str(values).split("\n")
    ]


def _masked(name: str, value: str) -> str:
    if name not in _SECRET:
        return value
    if name == "cookie":
        return "; ".join(f"{one['name']}={MASK}" for one in _crumbs([value], "cookie"))
    if name == "set-cookie":
        pair, semicolon, rest = value.partition(";")
        return f"{pair.partition('=')[0]}={MASK}{semicolon}{rest}"
    scheme, blank, _ = value.partition(" ")
    return f"{scheme} {MASK}" if blank else MASK


def _cookies(told: Mapping[str, str], name: str) -> list[Json]:
    found = [value for key, value in told.items() if key.lower() == name]
    return _crumbs([line for value in found for line in str(value).split("\n")], name)


def _crumbs(lines: Iterable[str], name: str) -> list[Json]:
    pairs = [pair for line in lines for pair in (line.split(";") if name == "cookie" else [line.partition(";")[0]])]
    return [{"name": pair.partition("=")[0].strip(), "value": MASK} for pair in pairs if pair.strip()]


def _pairs(text: str) -> list[Json]:
    return [{"name": name, "value": value} for name, value in parse_qsl(text, keep_blank_values=True)]


def _value(headers: Iterable[Mapping[str, str]], wanted: str) -> str:
    return next((one["value"] for one in headers if one["name"].lower() == wanted), "")


def _kind(told: Event) -> str:
    return str(told.get("mimeType") or "x-unknown")


def _version(told: Event) -> str:
    names = {"h2": "HTTP/2", "h3": "HTTP/3", "": "unknown"}
    protocol = str(told.get("protocol", ""))
    return names.get(protocol, protocol.upper())
