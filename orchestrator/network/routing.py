"""Answers requests by the rules and archives of a session, beside its driver (CDP's Fetch domain)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.network import answers, globs
from orchestrator.network.later import Later
from orchestrator.network.replay import Replay
from orchestrator.network.rules import Request, Rule, first
from orchestrator.webdriver.cdp import BROWSER, Cdp, Target
from orchestrator.webdriver.socket import Command

_EVERYTHING = "*"
_WITH_MEMORY = ("page", "iframe")
_REMEMBERED = 2_000
"""Requests."""


@dataclass(frozen=True)
class Plan:
    """What becomes of requests: rules first, the last added at the front, then archives; with `closed` nothing else."""

    rules: Sequence[Rule] = ()
    replays: Sequence[Replay] = ()
    closed: bool = False

    def patterns(self) -> list[str]:
        """What is held at most, as CDP's Fetch domain takes it."""
        if self.closed:
            return [_EVERYTHING]
        found = {pattern for rule in self.rules for pattern in globs.patterns(rule.url)}
        return sorted(found.union(*(replay.patterns for replay in self.replays)))


class Routing:
    """A guest of the session's targets while there is a plan; what none of its patterns matches is never held.

    A page that is there already is held by itself. Whatever begins later is held by the browser, too, from its first
    request on: popups and workers are let go by whichever client of the browser is first, which may be the driver.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/.

    Args:
        cdp: The session's targets.
        plan: The plan as the record has it now; None once another process keeps to it.
    """

    def __init__(self, cdp: Cdp, plan: Callable[[], Plan | None]) -> None:
        self._cdp = cdp
        self._plan = plan
        self._later = Later()
        self._patterns: list[str] = []
        self._kept = Plan()
        self._judged: dict[str, None] = {}

    @property
    def active(self) -> bool:
        """Whether requests are held."""
        return bool(self._patterns)

    def keep(self, plan: Plan) -> None:
        """Have requests held that a plan may be about; without any, what is held goes on.

        Raises:
            NoAnswer: The browser cannot be reached.
        """
        before, self._patterns = self._patterns, plan.patterns()
        # They differ from those of the same plan where another process has kept to it meanwhile.
        if self._patterns and (plan is not self._kept or self._patterns != before or not self._cdp.open):
            self._cdp.join(self)
        elif before and not self._patterns:
            self._later.drop()
            self._cdp.leave(self)
        self._kept = plan

    def commands(self, target: Target) -> Iterable[Command]:
        """Have requests held."""
        return [
            ("Fetch.enable", {"patterns": [{"urlPattern": pattern} for pattern in self._patterns]}),
            *_forgetting(target),
        ]

    def undo(self, target: Target) -> Iterable[Command]:
        """Let go of them."""
        return [("Fetch.disable", {}), *_forgetting(target)]

    def hear(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """A request is held."""
        if method != "Fetch.requestPaused":
            return
        if self._again(str(params.get("networkId", "")), target):
            self._cdp.send("Fetch.continueRequest", target, requestId=params["requestId"])
            return
        plan = self._plan()
        if plan is None:
            self._patterns = []
            self._cdp.rest()
            return
        request = Request(params)
        waits, rule = first(plan.rules, request)

        def settle() -> None:
            method, more = _verdict(plan, rule, request)
            self._cdp.send(method, target, requestId=request.id, **more)

        takes_time = waits or (rule and rule.path) or (rule is None and plan.replays)
        if request.preflight or not takes_time or self._later.full:
            settle()
        else:
            self._later.after(waits / 1000, settle)

    def _again(self, request: str, target: Target) -> bool:
        """Whether it is the browser that holds a request which its page has held before: the page is first."""
        if target.kind == BROWSER.kind:
            return bool(request) and request in self._judged
        self._judged[request] = None
        if len(self._judged) > _REMEMBERED:
            self._judged.pop(next(iter(self._judged)))
        return False


def _forgetting(target: Target) -> list[Command]:
    """Has a page forget what it keeps in memory, which it would not ask for again; its cache stays on."""
    if target.kind not in _WITH_MEMORY:
        return []
    return [("Network.setCacheDisabled", {"cacheDisabled": disabled}) for disabled in (True, False)]


def _verdict(plan: Plan, rule: Rule | None, request: Request) -> tuple[str, dict[str, Any]]:
    if rule is None:
        return _played(plan, request)
    if rule.action == "fulfil":
        try:
            return "Fetch.fulfillRequest", answers.fulfilled(rule, request)
        except OSError:
            return "Fetch.failRequest", {"errorReason": "Failed"}
    return "Fetch.failRequest", {"errorReason": "BlockedByClient"}


def _played(plan: Plan, request: Request) -> tuple[str, dict[str, Any]]:
    try:
        found = next((answer for replay in plan.replays if (answer := replay.answer(request))), None)
    except (LookupError, TypeError, ValueError, AttributeError):  # an entry is not as HAR has it
        return "Fetch.failRequest", {"errorReason": "Failed"}
    if found is not None:
        return "Fetch.fulfillRequest", found
    return ("Fetch.failRequest", {"errorReason": "Failed"}) if plan.closed else ("Fetch.continueRequest", {})
