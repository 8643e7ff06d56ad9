"""Records what the pages of a session ask for and are answered, beside its driver (CDP's Network domain)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from orchestrator.errors import OrchestratorError
from orchestrator.network.entries import Json, entries, instant
from orchestrator.network.exchange import Event, Exchange
from orchestrator.network.journal import Journal
from orchestrator.network.later import Later
from orchestrator.secrets import without_credentials
from orchestrator.webdriver.cdp import BROWSER, Cdp, Target
from orchestrator.webdriver.socket import Command

_LARGEST_BODY = 5_000_000
"""Bytes; the body of a larger answer is left out."""
_BUFFER = 100_000_000
"""Bytes of bodies that the browser keeps until they were asked for."""
_MOST_OPEN = 2_000
"""Exchanges that are put together at a time."""
_DRAINED = 3.0
"""Seconds that the bodies of what has ended may take."""
_TIMINGS = {"Page.domContentEventFired": "onContentLoad", "Page.loadEventFired": "onLoad"}


class Recorder:
    """A guest of the session's targets while its record says where to record to.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Network/.

    Args:
        cdp: The session's targets.
        journal: Where to; None once another process records, or nobody does.
        clean: A JSON value without the secrets that are known.
    """

    def __init__(self, cdp: Cdp, journal: Callable[[], Journal | None], clean: Callable[[Any], Any]) -> None:
        self._cdp = cdp
        self._journal = journal
        self._clean = clean
        self._later = Later()
        self._open: dict[str, Exchange] = {}
        self._pages: dict[str, tuple[str, float]] = {}
        self.active = False

    def begin(self) -> None:
        """Record from now on.

        Raises:
            NoAnswer: The browser cannot be reached.
        """
        if not self.active or not self._cdp.open:
            self.active = True
            self._cdp.join(self)

    def end(self) -> None:
        """Record nothing any more."""
        if self.active:
            self.drain()
            self.active = False
            self._open.clear()
            self._cdp.leave(self)

    def pending(self) -> list[Json]:
        """What is under way, as far as it has come."""
        return [self._clean(entry) for exchange in [*self._open.values()] for entry in entries(exchange)]

    def drain(self) -> None:
        """Wait until all that has ended is in the journal."""
        with suppress(OrchestratorError):
            self._cdp.heard()
        self._later.done(_DRAINED)

    def commands(self, target: Target) -> Iterable[Command]:
        """Have events sent, and bodies kept over navigations."""
        if target.kind == BROWSER.kind:
            return []
        room = {"maxTotalBufferSize": _BUFFER, "maxResourceBufferSize": 2 * _LARGEST_BODY}
        enable = {**room, "maxPostDataSize": _LARGEST_BODY, "enableDurableMessages": True}
        return [("Network.enable", enable), *([("Page.enable", {})] if target.kind == "page" else [])]

    def undo(self, target: Target) -> Iterable[Command]:
        """Have none sent."""
        if target.kind == BROWSER.kind:
            return []
        return [("Network.disable", {}), *([("Page.disable", {})] if target.kind == "page" else [])]

    def hear(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Something happened."""
        if method in _TIMINGS:
            self._timing(_TIMINGS[method], params, target)
        if not method.startswith("Network.") or "requestId" not in params:
            return
        key = str(params["requestId"])
        if method == "Network.requestWillBeSent":
            self._began(key, params, target)
        elif method.endswith("ExtraInfo"):
            self._said_more(method, params, key)
        elif (exchange := self._open.get(key)) and exchange.hops:
            self._went_on(method, params, exchange, key, target)

    def _exchange(self, key: str) -> Exchange:
        """The one of a request; the oldest makes room for a new one."""
        exchange = self._open.setdefault(key, Exchange(""))
        if len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        return exchange

    def _said_more(self, method: str, params: Event, key: str) -> None:
        """The headers on the wire, which may be told of before the rest, or when nobody asks any more."""
        exchange = self._exchange(key)
        (exchange.sent if method == "Network.requestWillBeSentExtraInfo" else exchange.received)(params)

    def _began(self, key: str, params: Event, target: Target) -> None:
        if not str(params["request"]["url"]).startswith(("http:", "https:")):
            self._open.pop(key, None)
            return
        exchange = self._exchange(key)
        if exchange.hops and not params.get("redirectResponse"):
            return  # told by a frame and by the page around it
        is_page = params.get("type") == "Document" and params.get("frameId") == target.page
        if is_page and not exchange.hops:
            page = f"page_{params['loaderId']}"
            self._pages[target.page] = page, float(params["timestamp"])
            title = without_credentials(str(params["request"]["url"]))
            began = {"startedDateTime": instant(float(params["wallTime"])), "id": page, "title": title}
            self._later.after(0, lambda: self._write("page", {**began, "pageTimings": {}}))
        exchange.page = self._pages.get(target.page, ("", 0.0))[0]
        exchange.began(params)

    def _went_on(self, method: str, params: Event, exchange: Exchange, key: str, target: Target) -> None:
        if method == "Network.responseReceived":
            exchange.answered(params)
        elif method == "Network.dataReceived":
            exchange.size += int(params["dataLength"])
        elif method in {"Network.loadingFinished", "Network.loadingFailed"}:
            exchange.ended(params, str(params.get("blockedReason") or params.get("errorText") or ""))
            self._later.after(0, lambda: self._finish(exchange, key, target))

    def _finish(self, exchange: Exchange, key: str, target: Target) -> None:
        """In a thread of its own: the body is asked for."""
        if exchange.size > _LARGEST_BODY:
            exchange.left_out = f"left out: larger than {_LARGEST_BODY:,} bytes"
        elif exchange.hops[-1].response and not exchange.failed:
            try:
                found = self._cdp.call("Network.getResponseBody", target, requestId=key)
            except OrchestratorError:
                exchange.left_out = "left out: the browser no longer has it"
            else:
                text = str(found["body"])
                exchange.body = base64.b64decode(text) if found["base64Encoded"] else text.encode()
        self._open.pop(key, None)
        for entry in entries(exchange):
            self._write("entry", entry)

    def _timing(self, name: str, params: Event, target: Target) -> None:
        page, began = self._pages.get(target.page, ("", 0.0))
        if page and target.kind == "page":
            ms = round((float(params["timestamp"]) - began) * 1000, 3)
            self._later.after(0, lambda: self._write("timing", {"id": page, name: ms}))

    def _write(self, kind: Any, value: Any) -> None:
        journal = self._journal()
        if journal is None:
            self.active = False
            self._cdp.rest()
        else:
            with suppress(OSError):
                journal.write(kind, self._clean(value))
