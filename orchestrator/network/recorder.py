"""Records the requests and responses of a session's pages (CDP's Network domain)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from orchestrator.errors import OrchestratorError
from orchestrator.network.delayed import DelayedTasks
from orchestrator.network.har_entries import Event, Exchange, Json, build_entries, instant
from orchestrator.network.journal import Journal
from orchestrator.system.secrets import without_credentials
from orchestrator.webdriver.cdp import BROWSER_TARGET, Cdp, Target
from orchestrator.webdriver.websocket import Command

_LARGEST_BODY = 5_000_000
"""Bytes of the largest body that is recorded."""
_BUFFER = 100_000_000
"""Bytes of bodies that the browser keeps until they are fetched."""
_MOST_OPEN = 2_000
"""Exchanges that are collected at the same time."""
_DRAINED = 3.0
"""Seconds that fetching the bodies of ended requests may take."""
_TIMINGS = {"Page.domContentEventFired": "onContentLoad", "Page.loadEventFired": "onLoad"}


class Recorder:
    """Records while the session's record has a path to record to, as a listener of the session's targets.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Network/.

    Args:
        cdp: The session's targets.
        journal: Returns the journal; None once this process no longer records.
        clean: Redacts a JSON value.
    """

    def __init__(self, cdp: Cdp, journal: Callable[[], Journal | None], clean: Callable[[Any], Any]) -> None:
        self._cdp = cdp
        self._journal = journal
        self._clean = clean
        self._later = DelayedTasks()
        self._open: dict[str, Exchange] = {}
        self._pages: dict[str, tuple[str, float]] = {}
        self.active = False

    def start(self) -> None:
        """Start recording.

        Raises:
            NoAnswer: The browser cannot be reached.
        """
        if not self.active or not self._cdp.is_open:
            self.active = True
            self._cdp.add_listener(self)

    def stop(self) -> None:
        """Stop recording; requests that have ended are written first."""
        if self.active:
            self.drain()
            self.active = False
            self._open.clear()
            self._cdp.remove_listener(self)

    def pending(self) -> list[Json]:
        """Return the entries of open requests, as far as they are known."""
        return [self._clean(entry) for exchange in [*self._open.values()] for entry in build_entries(exchange)]

    def drain(self) -> None:
        """Wait until all requests that have ended are in the journal."""
        with suppress(OrchestratorError):
            self._cdp.wait_for_events()
        self._later.wait_until_done(_DRAINED)

    def setup_commands(self, target: Target) -> Iterable[Command]:
        """Enable events, and let the browser keep bodies over navigations."""
        if target.kind == BROWSER_TARGET.kind:
            return []
        room = {"maxTotalBufferSize": _BUFFER, "maxResourceBufferSize": 2 * _LARGEST_BODY}
        enable = {**room, "maxPostDataSize": _LARGEST_BODY, "enableDurableMessages": True}
        return [("Network.enable", enable), *([("Page.enable", {})] if target.kind == "page" else [])]

    def undo_commands(self, target: Target) -> Iterable[Command]:
        """Disable events."""
        if target.kind == BROWSER_TARGET.kind:
            return []
        return [("Network.disable", {}), *([("Page.disable", {})] if target.kind == "page" else [])]

    def handle_event(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Record an event of the Network or Page domain."""
        if method in _TIMINGS:
            self._add_timing(_TIMINGS[method], params, target)
        if not method.startswith("Network.") or "requestId" not in params:
            return
        key = str(params["requestId"])
        if method == "Network.requestWillBeSent":
            self._add_request(key, params, target)
        elif method.endswith("ExtraInfo"):
            self._add_headers(method, params, key)
        elif (exchange := self._open.get(key)) and exchange.hops:
            self._add_response(method, params, exchange, key, target)

    def _exchange(self, key: str) -> Exchange:
        """Return the exchange of a request; if there are too many, the oldest is dropped for a new one."""
        exchange = self._open.setdefault(key, Exchange(""))
        if len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        return exchange

    def _add_headers(self, method: str, params: Event, key: str) -> None:
        """Add the headers of the wire, whose events may come before or after all others of the request."""
        exchange = self._exchange(key)
        if method == "Network.requestWillBeSentExtraInfo":
            exchange.add_request_headers(params)
        else:
            exchange.add_response_headers(params)

    def _add_request(self, key: str, params: Event, target: Target) -> None:
        if not str(params["request"]["url"]).startswith(("http:", "https:")):
            self._open.pop(key, None)
            return
        exchange = self._exchange(key)
        if exchange.hops and not params.get("redirectResponse"):
            return  # both a frame and the page around it report the request
        is_page = params.get("type") == "Document" and params.get("frameId") == target.page
        if is_page and not exchange.hops:
            page = f"page_{params['loaderId']}"
            self._pages[target.page] = page, float(params["timestamp"])
            title = without_credentials(str(params["request"]["url"]))
            began = {"startedDateTime": instant(float(params["wallTime"])), "id": page, "title": title}
            self._later.after(0, lambda: self._write("page", {**began, "pageTimings": {}}))
        exchange.page = self._pages.get(target.page, ("", 0.0))[0]
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
        if exchange.size > _LARGEST_BODY:
            exchange.left_out = f"omitted: larger than {_LARGEST_BODY:,} bytes"
        elif exchange.hops[-1].response and not exchange.failure:
            try:
                response = self._cdp.call("Network.getResponseBody", target, requestId=key)
            except OrchestratorError:
                exchange.left_out = "omitted: the browser no longer has it"
            else:
                text = str(response["body"])
                exchange.body = base64.b64decode(text) if response["base64Encoded"] else text.encode()
        self._open.pop(key, None)
        for entry in build_entries(exchange):
            self._write("entry", entry)

    def _add_timing(self, name: str, params: Event, target: Target) -> None:
        page, began = self._pages.get(target.page, ("", 0.0))
        if page and target.kind == "page":
            ms = round((float(params["timestamp"]) - began) * 1000, 3)
            self._later.after(0, lambda: self._write("timing", {"id": page, name: ms}))

    def _write(self, kind: Any, value: Any) -> None:
        journal = self._journal()
        if journal is None:
            self.active = False
            self._cdp.disconnect()
        else:
            with suppress(OSError):
                journal.write(kind, self._clean(value))
