"""Intercepts requests by the rules and archives of a session, over WebDriver BiDi."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from orchestrator.errors import OrchestratorError, RemoteFailure
from orchestrator.network.delayed import DelayedTasks
from orchestrator.network.fulfil import build_blocked_page
from orchestrator.network.routing import RoutingPlan, judge_request
from orchestrator.network.rules import PausedRequest, find_rule
from orchestrator.webdriver.bidi import Bidi, read_bytes

_EVENT = "network.beforeRequestSent"
_LARGEST_BODY = 5_000_000
"""Bytes of the largest body of a request that is compared with an archive's."""
_PATIENCE = 3.0
"""Seconds in which the browser gives the body of a request."""


class BidiRouting:
    """Pauses all requests while there is a plan, and answers, fails or resumes each.

    An intercept belongs to the WebDriver session, not to a socket: that of a process which was killed goes on pausing
    requests until the next process removes it. As long as there is one, nothing is loaded from the browser's cache.

    Source: https://www.w3.org/TR/webdriver-bidi/#module-network; seen with Firefox 153.

    Args:
        bidi: The session's BiDi.
        plan: Returns the plan in the present record; None once this process no longer serves it.
    """

    def __init__(self, bidi: Bidi, plan: Callable[[], RoutingPlan | None]) -> None:
        self._bidi = bidi
        self._plan = plan
        self._later = DelayedTasks()
        self._intercept = ""
        self._collector = ""

    def apply(self, plan: RoutingPlan, recorded: str) -> str:
        """Pause requests if a plan has rules or archives; an empty plan ends it.

        Returns the id of the intercept that is in force then, empty for none; `recorded` is that of the last call, by
        any process.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer, or refuses.
        """
        is_needed = bool(plan.patterns())
        if plan.replays and not self._collector:
            kept: dict[str, Any] = {"dataTypes": ["request"], "maxEncodedDataSize": _LARGEST_BODY}
            self._collector = str(self._bidi.call("network.addDataCollector", **kept)["collector"])
        if is_needed and self._intercept and self._intercept == recorded:
            return self._intercept
        self._end(recorded)
        if not plan.replays and self._collector:
            self._bidi.send("network.removeDataCollector", collector=self._collector)
            self._collector = ""
        if not is_needed:
            self._bidi.untap(self._handle)
        else:
            self._bidi.tap(_EVENT, self._handle)
            self._bidi.call("network.setCacheBehavior", cacheBehavior="bypass")
            self._intercept = str(self._bidi.call("network.addIntercept", phases=["beforeRequestSent"])["intercept"])
        return self._intercept

    def close(self) -> None:
        """End interception as far as this process began it; the browser resumes what is sent from now on."""
        if self._intercept and self._bidi.is_open:
            with suppress(OrchestratorError):
                self._end(self._intercept)

    def _end(self, recorded: str) -> None:
        """Remove an intercept, unless the browser no longer has it."""
        self._later.cancel_all()
        if recorded:
            with suppress(RemoteFailure):
                self._bidi.call("network.removeIntercept", intercept=recorded)
            self._bidi.call("network.setCacheBehavior", cacheBehavior="default")
        self._intercept = ""

    def _handle(self, event: Mapping[str, Any]) -> None:
        """Settle a paused request, in the socket's thread."""
        if not event.get("isBlocked") or self._intercept not in event.get("intercepts", ()):
            return
        plan = self._plan()
        if plan is None:
            return  # another process serves the rules now, and gets the same event
        request = _paused(event)
        waits, rule = find_rule(plan.rules, request)

        def settle() -> None:
            if rule is None and plan.replays:
                request.body = self._body(event)
            method, more = judge_request(plan, rule, request)
            if method == "Fetch.failRequest" and event.get("navigation"):
                # geckodriver would wait for a navigation that fails so, until its timeout.
                method, more = "Fetch.fulfillRequest", build_blocked_page(request)
            self._send(method, request.id, more)

        takes_time = waits or (rule and rule.path) or (rule is None and plan.replays)
        if request.preflight or not takes_time or self._later.full:
            settle()
        else:
            self._later.after(waits / 1000, settle)

    def _body(self, event: Mapping[str, Any]) -> str:
        """Return the body of a request; empty if it has none, or the browser does not give it."""
        if not event["request"].get("bodySize"):
            return ""
        try:
            answer = self._bidi.call(
                "network.getData", dataType="request", request=event["request"]["request"], limit=_PATIENCE
            )
        except OrchestratorError:
            return ""
        return _text(answer["bytes"])

    def _send(self, method: str, request: str, more: Mapping[str, Any]) -> None:
        """Send a verdict that is written as a command of CDP's Fetch domain."""
        if method == "Fetch.fulfillRequest":
            headers = [{"name": one["name"], "value": _bytes(one["value"])} for one in more["responseHeaders"]]
            self._bidi.send(
                "network.provideResponse",
                request=request,
                statusCode=int(more["responseCode"]),
                reasonPhrase=more["responsePhrase"],
                headers=headers,
                body={"type": "base64", "value": more["body"]},
            )
        elif method == "Fetch.failRequest":
            self._bidi.send("network.failRequest", request=request)
        else:
            self._bidi.send("network.continueRequest", request=request)


def _paused(event: Mapping[str, Any]) -> PausedRequest:
    sent = event["request"]
    headers = {header["name"]: _text(header["value"]) for header in sent["headers"]}
    request = {"url": sent["url"], "method": sent["method"], "headers": headers}
    return PausedRequest({"requestId": sent["request"], "request": request})


def _text(value: Mapping[str, str]) -> str:
    return read_bytes(value).decode("utf-8", "replace")


def _bytes(text: str) -> dict[str, str]:
    if text.isascii():
        return {"type": "string", "value": text}
    return {"type": "base64", "value": base64.b64encode(text.encode()).decode()}
