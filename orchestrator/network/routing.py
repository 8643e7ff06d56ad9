"""Answers requests by the rules of a session, beside its driver (CDP's Fetch domain)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from orchestrator.network import answers, globs
from orchestrator.network.later import Later
from orchestrator.network.rules import Request, Rule, first
from orchestrator.webdriver.cdp import Cdp, Command, Target


class Routing:
    """A guest of the session's targets while there are rules; what no pattern of theirs matches is never held.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/.

    Args:
        cdp: The session's targets.
        rules: The rules as the record has them now, the last added first; None once another process keeps them.
    """

    def __init__(self, cdp: Cdp, rules: Callable[[], Sequence[Rule] | None]) -> None:
        self._cdp = cdp
        self._rules = rules
        self._later = Later()
        self._patterns: list[str] = []

    @property
    def active(self) -> bool:
        """Whether requests are held."""
        return bool(self._patterns)

    def keep(self, rules: Iterable[Rule]) -> None:
        """Have requests held that these rules may be about.

        Raises:
            NoAnswer: The browser cannot be reached.
        """
        patterns = sorted({pattern for rule in rules for pattern in globs.patterns(rule.url)})
        if patterns == self._patterns and (self._cdp.open or not patterns):
            return
        self._patterns = patterns
        if patterns:
            self._cdp.join(self)
        else:
            self.drop()

    def drop(self) -> None:
        """Hold nothing any more; what is held goes on."""
        self._patterns = []
        self._later.drop()
        self._cdp.leave(self)

    def commands(self, target: Target) -> Iterable[Command]:  # noqa: ARG002 - all alike
        """Have requests held."""
        return [("Fetch.enable", {"patterns": [{"urlPattern": pattern} for pattern in self._patterns]})]

    def undo(self, target: Target) -> Iterable[Command]:  # noqa: ARG002 - all alike
        """Let go of them."""
        return [("Fetch.disable", {})]

    def hear(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """A request is held."""
        if method != "Fetch.requestPaused":
            return
        request = Request(params)
        rules = self._rules()
        if rules is None:
            self._patterns = []
            self._cdp.close()
            return
        waits, rule = first(rules, request)
        if request.preflight and (rule is None or rule.action == "fulfil"):
            waits = 0

        def settle() -> None:
            method, more = _verdict(rule, request)
            self._cdp.send(method, target, requestId=request.id, **more)

        if waits or (rule and rule.path):
            self._later.after(waits / 1000, settle)
        else:
            settle()


def _verdict(rule: Rule | None, request: Request) -> tuple[str, dict[str, Any]]:
    if rule is None:
        return "Fetch.continueRequest", {}
    if rule.action == "fulfil":
        try:
            return "Fetch.fulfillRequest", answers.fulfilled(rule, request)
        except OSError:
            return "Fetch.failRequest", {"errorReason": "Failed"}
    return "Fetch.failRequest", {"errorReason": "BlockedByClient"}
