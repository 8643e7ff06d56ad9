"""What actions answer of what was heard: the console and the network, an entry a line."""

from __future__ import annotations

import time

from orchestrator.actions.results import Outcome
from orchestrator.ears.console import Message
from orchestrator.ears.network import Request


class Heard(Outcome):
    """What was heard, the oldest first; `total` are those that the filters fit, `dropped` made room for newer ones."""

    total: int
    dropped: int | None = None
    until: float

    def _counted(self, shown: int) -> list[str]:
        more = f", {self.dropped} older ones dropped" if self.dropped else ""
        return [f"{shown} of {self.total}{more}; new ones: since={self.until}"]


class ConsoleLog(Heard):
    """Messages of the console."""

    entries: list[Message]

    def lines(self) -> list[str]:
        """A line a message, and those of its stack."""
        return [*self._counted(len(self.entries)), *(line for one in self.entries for line in _message(one))]


class NetworkLog(Heard):
    """Requests."""

    entries: list[Request]

    def lines(self) -> list[str]:
        """A line a request."""
        return [*self._counted(len(self.entries)), *(_request(one) for one in self.entries)]


def _clock(when: float) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(when))}.{round(when * 1000) % 1000:03d}"


def _message(one: Message) -> list[str]:
    by = "" if one.source == "console" else f" {one.source}"
    where = f" ({one.where})" if one.where else ""
    return [f"{_clock(one.time)} {one.level}{by}: {one.text}{where}", *(f"    at {line}" for line in one.stack or ())]


def _request(one: Request) -> str:
    size = None if one.size is None else f"{one.size} bytes"
    took = None if one.duration_ms is None else f"{one.duration_ms} ms"
    facts = ", ".join(fact for fact in (one.mime, size, took, "from cache" if one.from_cache else None) if fact)
    line = f"{_clock(one.time)} {one.method} {one.state} {one.type} {one.url}"
    line += f" -> {one.redirect}" if one.redirect else ""
    line += f": {one.failure}" if one.failure else ""
    return f"{line} ({facts})" if facts else line
