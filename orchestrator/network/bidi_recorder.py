"""Records the requests and responses of a session's pages, over WebDriver BiDi."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from orchestrator.errors import OrchestratorError
from orchestrator.network.har_entries import Event, Exchange, Json
from orchestrator.network.journal import Journal
from orchestrator.network.recorder import GONE, LARGEST_BODY, TOO_LARGE, Recorder
from orchestrator.webdriver.bidi import Bidi, Listener, read_bytes

_PATIENCE = 3.0
"""Seconds in which the browser gives a body."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TYPES = {"iframe": "document", "frame": "document", "style": "stylesheet", "xmlhttprequest": "xhr"}
"""The resource types of CDP by the destinations and initiators of the Fetch standard that are called otherwise."""
_MOST_CONTEXTS = 2_000
"""Browsing contexts whose tab is known."""
_PHASES = {
    "dnsStart": "dnsStart",
    "dnsEnd": "dnsEnd",
    "connectStart": "connectStart",
    "connectEnd": "connectEnd",
    "tlsStart": "sslStart",
    "tlsEnd": "sslEnd",
    "requestStart": "sendStart",
    "responseStart": "receiveHeadersEnd",
}
"""CDP's names for the times of BiDi."""


class BidiRecorder(Recorder):
    """A recorder that gets events of BiDi, and bodies from a data collector.

    A collector belongs to the WebDriver session, not to a socket: that of a process which was killed stays until the
    session ends, and the browser drops its oldest bodies.

    Source: https://www.w3.org/TR/webdriver-bidi/#module-network; seen with Firefox 153.

    Args:
        bidi: The session's BiDi.
        journal, clean: See `Recorder`.
    """

    def __init__(self, bidi: Bidi, journal: Callable[[], Journal | None], clean: Callable[[Any], Any]) -> None:
        super().__init__(journal, clean)
        self._bidi = bidi
        self._collector = ""
        self._tabs: dict[str, str] = {}
        self._listeners: Mapping[str, Listener] = {
            "browsingContext.contextCreated": self._add_context,
            "browsingContext.domContentLoaded": self._handle_content,
            "browsingContext.load": self._handle_load,
            "network.beforeRequestSent": self._handle_request,
            "network.responseCompleted": self._handle_response,
            "network.fetchError": self._handle_error,
        }

    @property
    def _is_listening(self) -> bool:
        return self._bidi.is_open

    def _listen(self) -> None:
        if not self._collector:
            kept: dict[str, Any] = {"maxEncodedDataSize": LARGEST_BODY, "dataTypes": ["request", "response"]}
            self._collector = str(self._bidi.call("network.addDataCollector", **kept)["collector"])
        for event, listener in self._listeners.items():
            self._bidi.tap(event, listener)
        for context in self._bidi.call("browsingContext.getTree")["contexts"]:
            self._add_context(context)

    def _stop_listening(self) -> None:
        for listener in self._listeners.values():
            self._bidi.untap(listener)
        if self._collector:
            self._bidi.send("network.removeDataCollector", collector=self._collector)
            self._collector = ""

    def _wait_for_events(self) -> None:
        self._bidi.call("browsingContext.getTree", maxDepth=0, limit=_PATIENCE)

    def _add_context(self, context: Event) -> None:
        """Note in which tab a browsing context is, and those inside it."""
        key = str(context["context"])
        self._tabs[key] = self._tab(context.get("parent") or key)
        for child in context.get("children") or ():
            self._add_context({"parent": key, **child})
        if len(self._tabs) > _MOST_CONTEXTS:
            del self._tabs[next(iter(self._tabs))]

    def _tab(self, context: str | None) -> str:
        return self._tabs.get(context or "", context or "")

    def _handle_content(self, event: Event) -> None:
        self._note_time("onContentLoad", event)

    def _handle_load(self, event: Event) -> None:
        self._note_time("onLoad", event)

    def _note_time(self, name: str, event: Event) -> None:
        tab = str(event["context"])
        if self._page(tab) == f"page_{event['navigation']}":
            self._add_timing(tab, name, event["timestamp"] / 1000)

    def _handle_request(self, event: Event) -> None:
        request, tab = event["request"], self._tab(event["context"])
        key, began = str(request["request"]), request["timings"]["requestTime"] / 1000
        if not request["url"].startswith(("http:", "https:")):
            return
        exchange = self._exchange(key)
        if event["redirectCount"] < len(exchange.hops):
            return  # it is sent again, with credentials
        if event["navigation"] and tab == event["context"] and not exchange.hops:
            self._begin_page(tab, f"page_{event['navigation']}", request["url"], began, began)
        exchange.page = self._page(tab)
        exchange.add_request_headers({"headers": _headers(request["headers"])})
        exchange.add_request(
            {
                "request": {"method": request["method"], "url": request["url"], "hasPostData": request["bodySize"]},
                "timestamp": began,
                "wallTime": began,
                "type": _type(request),
            }
        )

    def _handle_response(self, event: Event) -> None:
        key, response = str(event["request"]["request"]), event["response"]
        exchange = self._open.get(key)
        if exchange is None or not exchange.hops:
            return
        at, headers = _ended(event), _headers(response["headers"])
        exchange.add_response({"response": _response(event), "timestamp": at})
        exchange.add_response_headers({"headers": headers, "headersSize": response["headersSize"] or -1})
        if response["status"] in _REDIRECTS and "location" in map(str.lower, headers):
            return  # the request of the next hop follows, or an error
        exchange.size = response["content"]["size"]
        exchange.finish({"timestamp": at, "encodedDataLength": response["bytesReceived"]})
        self._later.after(0, lambda: self._finish(key, exchange))

    def _handle_error(self, event: Event) -> None:
        key = str(event["request"]["request"])
        if (exchange := self._open.get(key)) and exchange.hops:
            exchange.finish({"timestamp": event["timestamp"] / 1000}, event["errorText"])
            self._later.after(0, lambda: self._finish(key, exchange))

    def _finish(self, key: str, exchange: Exchange) -> None:
        """Fetch the bodies and write the entries; runs in the thread of delayed tasks."""
        if any(hop.sent["request"]["hasPostData"] for hop in exchange.hops):
            sent = self._body(key, "request")
            for hop in exchange.hops if sent is not None else ():
                hop.sent["request"]["postData"] = (sent or b"").decode("utf-8", "replace")
        if not exchange.failure:
            exchange.body = self._body(key, "response")
            if exchange.body is None:
                exchange.left_out = TOO_LARGE if exchange.encoded > LARGEST_BODY else GONE
        self._end(key, exchange)

    def _body(self, key: str, kind: str) -> bytes | None:
        """Take a body from the collector; None if that does not have it."""
        with suppress(OrchestratorError):
            wanted: dict[str, Any] = {"request": key, "dataType": kind, "collector": self._collector, "disown": True}
            return read_bytes(self._bidi.call("network.getData", limit=_PATIENCE, **wanted)["bytes"])
        return None


def _headers(headers: Iterable[Mapping[str, Any]]) -> Json:
    """Write headers as CDP does: repeated ones are joined by line breaks."""
    joined: Json = {}
    for header in headers:
        value = read_bytes(header["value"]).decode("utf-8", "replace")
        joined[header["name"]] = f"{joined[header['name']]}\n{value}" if header["name"] in joined else value
    return joined


def _response(event: Event) -> Json:
    """Write a response as CDP does."""
    response, timings = event["response"], event["request"]["timings"]
    written = {
        "status": response["status"],
        "statusText": response["statusText"],
        "protocol": response["protocol"],
        "mimeType": response["mimeType"].partition(";")[0],
        "headers": _headers(response["headers"]),
    }
    began = timings["requestTime"]
    if timings["requestStart"] and timings["responseStart"]:  # not so for a response of the cache
        phases = {name: timings[key] - began if timings[key] else -1 for key, name in _PHASES.items()}
        written["timing"] = {"requestTime": began / 1000, "sendEnd": phases["sendStart"], **phases}
    return written


def _ended(event: Event) -> float:
    """Return when a response was complete, in seconds."""
    return float(event["request"]["timings"]["responseEnd"] or event["timestamp"]) / 1000


def _type(request: Event) -> str:
    kind = str(request.get("destination") or request.get("initiatorType") or "other")
    return _TYPES.get(kind, kind)
