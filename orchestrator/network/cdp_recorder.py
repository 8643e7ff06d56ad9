"""Records the requests and responses of a session's pages, over CDP's Network domain."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from orchestrator.errors import OrchestratorError
from orchestrator.network.har_entries import Event, Exchange
from orchestrator.network.journal import Journal
from orchestrator.network.recorder import GONE, LARGEST_BODY, TOO_LARGE, Recorder
from orchestrator.webdriver.cdp import BROWSER_TARGET, Cdp, Target
from orchestrator.webdriver.websocket import Command

_BUFFER = 100_000_000
"""Bytes of bodies that the browser keeps until they are fetched."""
_TIMINGS = {"Page.domContentEventFired": "onContentLoad", "Page.loadEventFired": "onLoad"}


class CdpRecorder(Recorder):
    """A recorder that is a listener of the session's targets.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Network/.

    Args:
        cdp: The session's targets.
        journal, clean: See `Recorder`.
    """

    def __init__(self, cdp: Cdp, journal: Callable[[], Journal | None], clean: Callable[[Any], Any]) -> None:
        super().__init__(journal, clean)
        self._cdp = cdp

    @property
    def _is_listening(self) -> bool:
        return self._cdp.is_open

    def _listen(self) -> None:
        self._cdp.add_listener(self)

    def _stop_listening(self) -> None:
        self._cdp.remove_listener(self)

    def _leave(self) -> None:
        self._cdp.disconnect()

    def _wait_for_events(self) -> None:
        self._cdp.wait_for_events()

    def setup_commands(self, target: Target) -> Iterable[Command]:
        """Enable events, and let the browser keep bodies over navigations."""
        if target.kind == BROWSER_TARGET.kind:
            return []
        room = {"maxTotalBufferSize": _BUFFER, "maxResourceBufferSize": 2 * LARGEST_BODY}
        enable = {**room, "maxPostDataSize": LARGEST_BODY, "enableDurableMessages": True}
        return [("Network.enable", enable), *([("Page.enable", {})] if target.kind == "page" else [])]

    def undo_commands(self, target: Target) -> Iterable[Command]:
        """Disable events."""
        if target.kind == BROWSER_TARGET.kind:
            return []
        return [("Network.disable", {}), *([("Page.disable", {})] if target.kind == "page" else [])]

    def handle_event(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Record an event of the Network or Page domain."""
        if method in _TIMINGS and target.kind == "page":
            self._add_timing(target.page, _TIMINGS[method], float(params["timestamp"]))
        if not method.startswith("Network.") or "requestId" not in params:
            return
        key = str(params["requestId"])
        if method == "Network.requestWillBeSent":
            self._add_request(key, params, target)
        elif method.endswith("ExtraInfo"):
            self._add_headers(method, params, key)
        elif (exchange := self._open.get(key)) and exchange.hops:
            self._add_response(method, params, exchange, key, target)

    def _add_headers(self, method: str, params: Event, key: str) -> None:
        """Add the headers of the wire, whose events may come before or after all others of the request."""
        exchange = self._exchange(key)
        if method == "Network.requestWillBeSentExtraInfo":
            exchange.add_request_headers(params)
        else:
            exchange.add_response_headers(params)

    def _add_request(self, key: str, params: Event, target: Target) -> None:
        url = str(params["request"]["url"])
        if not url.startswith(("http:", "https:")):
            self._open.pop(key, None)
            return
        exchange = self._exchange(key)
        if exchange.hops and not params.get("redirectResponse"):
            return  # both a frame and the page around it report the request
        is_page = params.get("type") == "Document" and params.get("frameId") == target.page
        if is_page and not exchange.hops:
            began, wall = float(params["timestamp"]), float(params["wallTime"])
            self._begin_page(target.page, f"page_{params['loaderId']}", url, began, wall)
        exchange.page = self._page(target.page)
        exchange.add_request(params)

    def _add_response(self, method: str, params: Event, exchange: Exchange, key: str, target: Target) -> None:
        if method == "Network.responseReceived":
            exchange.add_response(params)
        elif method == "Network.dataReceived":
            exchange.size += int(params["dataLength"])
        elif method in {"Network.loadingFinished", "Network.loadingFailed"}:
            exchange.finish(params, str(params.get("blockedReason") or params.get("errorText") or ""))
            self._later.after(0, lambda: self._finish(exchange, key, target))

    def _finish(self, exchange: Exchange, key: str, target: Target) -> None:
        """Fetch the body and write the entries; runs in the thread of delayed tasks."""
        if exchange.size > LARGEST_BODY:
            exchange.left_out = TOO_LARGE
        elif exchange.hops[-1].response and not exchange.failure:
            try:
                response = self._cdp.call("Network.getResponseBody", target, requestId=key)
            except OrchestratorError:
                exchange.left_out = GONE
            else:
                text = str(response["body"])
                exchange.body = base64.b64decode(text) if response["base64Encoded"] else text.encode()
        self._end(key, exchange)
