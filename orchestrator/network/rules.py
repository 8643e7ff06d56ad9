"""Rules for the requests of a session, as its record keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from orchestrator.models import Wire
from orchestrator.network import globs

_PREFLIGHT = "access-control-request-method"


class Rule(Wire):
    """What becomes of the requests that it matches; `path` is a file of this machine that holds the body.

    `ms` is the delay. Which of the others an action takes is checked by the action `route`.
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
        """Whether it is about a request of this method for this address."""
        return self.method in {None, method} and globs.matches(url, self.url)

    def data(self) -> dict[str, Any]:
        """The rule as the record and the results have it: what was said, and nothing else."""
        found = self.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {name: value for name, value in found.items() if value != {}}


class Request:
    """One request as CDP's `Fetch.requestPaused` tells it.

    Attributes:
        asked: Its method; of a CORS preflight that of the request which it asks for.
        preflight: Whether it is one.
    """

    def __init__(self, paused: Mapping[str, Any]) -> None:
        told = paused["request"]
        self.id = str(paused["requestId"])
        self.url = str(told["url"])
        self.method = str(told["method"])
        self.headers = {str(name).lower(): str(value) for name, value in told.get("headers", {}).items()}
        self.body = str(told.get("postData") or "")
        self.preflight = self.method == "OPTIONS" and _PREFLIGHT in self.headers
        self.asked = self.headers[_PREFLIGHT] if self.preflight else self.method


def first(rules: Iterable[Rule], request: Request) -> tuple[int, Rule | None]:
    """The milliseconds that a request waits, and what then becomes of it; None sends it on.

    The rule that was added last comes first. A delay leaves the rest to the others.
    """
    waits = 0
    for rule in _matching(rules, request):
        if rule.action != "delay":
            return waits, rule
        waits = waits or rule.ms or 0
    return waits, None


def _matching(rules: Iterable[Rule], request: Request) -> Iterator[Rule]:
    return (rule for rule in rules if rule.matches(request.asked, request.url))
