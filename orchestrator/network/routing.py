"""Intercepts requests by the rules and archives of a session (CDP's Fetch domain)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.models import url_globs
from orchestrator.network import fulfil
from orchestrator.network.delayed import DelayedTasks
from orchestrator.network.replay import Replay
from orchestrator.network.rules import PausedRequest, Rule, find_rule
from orchestrator.webdriver.cdp import BROWSER_TARGET, Cdp, Target
from orchestrator.webdriver.websocket import Command

_EVERYTHING = "*"
_CHECKED = ("file:", "http:", "https:")
_WITH_MEMORY_CACHE = ("page", "iframe")
_REMEMBERED = 2_000
"""Requests whose ids are remembered."""


@dataclass(frozen=True)
class RoutingPlan:
    """The rules for requests, the last added first, and the archives for those that no rule matches.

    With `aborts_unmatched`, requests that are in no archive either fail. With `allows`, those for files and the web are
    refused unless it returns True for their URL; `checked` are the patterns of those that it is needed for.
    """

    rules: Sequence[Rule] = ()
    replays: Sequence[Replay] = ()
    aborts_unmatched: bool = False
    allows: Callable[[str], bool] | None = None
    checked: Sequence[str] = ()

    def patterns(self) -> list[str]:
        """Return the patterns of all requests to pause, for CDP's Fetch domain."""
        if self.aborts_unmatched:
            return [_EVERYTHING]
        patterns = {pattern for rule in self.rules for pattern in url_globs.patterns(rule.url)}
        return sorted(patterns.union(self.checked, *(replay.patterns for replay in self.replays)))

    def refuses(self, url: str) -> bool:
        """Return True for a file or an origin that must not be loaded."""
        return self.allows is not None and url.lower().startswith(_CHECKED) and not self.allows(url)


class Routing:
    """Pauses and answers requests by a plan, as a listener of the session's targets.

    Requests that match no pattern of the plan are never paused. Interception is enabled at each page and also at the
    browser's target, which catches the first requests of popups and workers: the page's own may come too late, since
    another client, such as the driver, may resume a new target first.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/.

    Args:
        cdp: The session's targets.
        plan: Returns the plan in the present record; None once this process no longer serves it.
    """

    def __init__(self, cdp: Cdp, plan: Callable[[], RoutingPlan | None]) -> None:
        self._cdp = cdp
        self._plan = plan
        self._later = DelayedTasks()
        self._patterns: list[str] = []
        self._applied = RoutingPlan()
        self._paused_by_page: dict[str, None] = {}

    def apply(self, plan: RoutingPlan) -> None:
        """Pause the requests that a plan is about; an empty plan ends interception and resumes all requests.

        Raises:
            NoAnswer: The browser cannot be reached.
        """
        before, self._patterns = self._patterns, plan.patterns()
        # The same plan has other patterns than before if another process has served it meanwhile.
        if self._patterns and (plan is not self._applied or self._patterns != before or not self._cdp.is_open):
            self._cdp.add_listener(self)
        elif before and not self._patterns:
            self._later.cancel_all()
            self._cdp.remove_listener(self)
        self._applied = plan

    def setup_commands(self, target: Target) -> Iterable[Command]:
        """Enable interception."""
        return [
            ("Fetch.enable", {"patterns": [{"urlPattern": pattern} for pattern in self._patterns]}),
            *_clear_memory_cache(target),
        ]

    def undo_commands(self, target: Target) -> Iterable[Command]:
        """Disable interception, which resumes all requests."""
        return [("Fetch.disable", {}), *_clear_memory_cache(target)]

    def handle_event(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Answer, fail or resume a paused request."""
        if method != "Fetch.requestPaused":
            return
        if self._is_paused_again(str(params.get("networkId", "")), target):
            self._cdp.send("Fetch.continueRequest", target, requestId=params["requestId"])
            return
        plan = self._plan()
        if plan is None:
            self._patterns = []
            self._cdp.disconnect()
            return
        request = PausedRequest(params)
        if plan.refuses(request.url):
            self._cdp.send("Fetch.fulfillRequest", target, requestId=request.id, **fulfil.build_refusal(request))
            return
        waits, rule = find_rule(plan.rules, request)

        def settle() -> None:
            method, more = judge_request(plan, rule, request)
            self._cdp.send(method, target, requestId=request.id, **more)

        takes_time = waits or (rule and rule.path) or (rule is None and plan.replays)
        if request.preflight or not takes_time or self._later.full:
            settle()
        else:
            self._later.after(waits / 1000, settle)

    def _is_paused_again(self, request: str, target: Target) -> bool:
        """Return True if the browser pauses a request that was paused at its page before."""
        if target.kind == BROWSER_TARGET.kind:
            return bool(request) and request in self._paused_by_page
        self._paused_by_page[request] = None
        if len(self._paused_by_page) > _REMEMBERED:
            self._paused_by_page.pop(next(iter(self._paused_by_page)))
        return False


def _clear_memory_cache(target: Target) -> list[Command]:
    """Clear a page's memory cache, from which it would load without a request; the HTTP cache stays on."""
    if target.kind not in _WITH_MEMORY_CACHE:
        return []
    return [("Network.setCacheDisabled", {"cacheDisabled": disabled}) for disabled in (True, False)]


def judge_request(plan: RoutingPlan, rule: Rule | None, request: PausedRequest) -> tuple[str, dict[str, Any]]:
    """Return the answer to a paused request, as a command of CDP's Fetch domain and its parameters."""
    if rule is None:
        return _played(plan, request)
    if rule.action == "fulfil":
        try:
            return "Fetch.fulfillRequest", fulfil.build_rule_response(rule, request)
        except OSError:
            return "Fetch.failRequest", {"errorReason": "Failed"}
    return "Fetch.failRequest", {"errorReason": "BlockedByClient"}


def _played(plan: RoutingPlan, request: PausedRequest) -> tuple[str, dict[str, Any]]:
    try:
        response = next((answer for replay in plan.replays if (answer := replay.find_response(request))), None)
    except (LookupError, TypeError, ValueError, AttributeError):  # a malformed entry
        return "Fetch.failRequest", {"errorReason": "Failed"}
    if response is not None:
        return "Fetch.fulfillRequest", response
    return ("Fetch.failRequest", {"errorReason": "Failed"}) if plan.aborts_unmatched else ("Fetch.continueRequest", {})
