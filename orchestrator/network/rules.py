"""Rules for the requests of a session, and the choice of the rule that a request matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from orchestrator.models import url_globs
from orchestrator.models.session import Wire

_PREFLIGHT = "access-control-request-method"


class Rule(Wire):
    """A rule for matching requests; `path` is a file of this machine with the body, `ms` the delay.

    The action `route` checks that a rule has only fields that fit its `action`.
    """

    action: Literal["block", "fulfil", "delay"]
    url: str
    method: str | None = None
    status: int | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    path: Path | None = None
    content_type: str | None = None
    ms: int | None = None

    def matches(self, method: str, url: str) -> bool:
        """Return True if the rule applies to a request with this method and URL."""
        return self.method in {None, method} and url_globs.matches(url, self.url)

    def data(self) -> dict[str, Any]:
        """Return the rule as the record and results have it: only the fields that are set."""
        dumped = self.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {name: value for name, value in dumped.items() if value != {}}


class PausedRequest:
    """A request from CDP's `Fetch.requestPaused`.

    Attributes:
        preflight: True if it is a CORS preflight.
        effective_method: Its method; if it is a preflight, that of the request it announces.
    """

    def __init__(self, paused: Mapping[str, Any]) -> None:
        request = paused["request"]
        self.id = str(paused["requestId"])
        self.url = str(request["url"])
        self.method = str(request["method"])
        self.headers = {str(name).lower(): str(value) for name, value in request.get("headers", {}).items()}
        self.body = str(request.get("postData") or "")
        self.preflight = self.method == "OPTIONS" and _PREFLIGHT in self.headers
        self.effective_method = self.headers[_PREFLIGHT] if self.preflight else self.method


def find_rule(rules: Iterable[Rule], request: PausedRequest) -> tuple[int, Rule | None]:
    """Return a request's delay in milliseconds and the rule for it; None as the rule sends the request on.

    The rule that was added last counts first. A delay rule leaves the rest to the rules after it.
    """
    waits = 0
    for rule in _matching(rules, request):
        if rule.action != "delay":
            return waits, rule
        waits = waits or rule.ms or 0
    return waits, None


def _matching(rules: Iterable[Rule], request: PausedRequest) -> Iterator[Rule]:
    return (rule for rule in rules if rule.matches(request.effective_method, request.url))
