"""What pages write to the console, and the errors that nobody caught."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from orchestrator.ears.ring import Ring
from orchestrator.ears.values import told
from orchestrator.ears.words import frames, masked, place
from orchestrator.models import Wire
from orchestrator.secrets import Redactor

Level = Literal["debug", "info", "warn", "error"]
_LEVELS: tuple[Level, ...] = get_args(Level)
_TEXT = 4000
_STACK = 5
_OVERHEAD = 200
"""Characters that an entry takes beside its texts, about."""


class Message(Wire):
    """One message; `time` in seconds since 1970, `where` as `url:line:column`, counted from 1.

    `source` is who said it: `console`, `javascript` for an error that nobody caught, `logcat`.
    """

    time: float
    level: Level
    text: str
    source: str
    where: str | None = None
    stack: list[str] | None = None


class Console:
    """The last messages of a session.

    Args:
        redactor: Knows the secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._numbers = itertools.count(1)
        self._known: Counter[tuple[float, str]] = Counter()
        self.ring: Ring[Message] = Ring()

    def expect_replay(self) -> None:
        """What is kept may be told once more from now on: a browser tells each new socket what it remembers."""
        self._known = Counter((one.time, one.text) for one in self.ring.since(0))

    def hear(self, entry: Mapping[str, Any]) -> None:
        """Take in a `log.entryAdded`.

        Source: https://www.w3.org/TR/webdriver-bidi/#event-log-entryAdded.
        """
        stack = frames(entry.get("stackTrace"))
        kind = str(entry.get("type"))
        lines = [self._line(frame) for frame in stack[:_STACK]]
        message = Message(
            time=round(float(entry.get("timestamp") or 0) / 1000, 3),
            level=next((level for level in _LEVELS if level == entry.get("level")), "info"),
            text=masked(self._text(entry), self._redactor, _TEXT),
            source=kind,
            where=place(stack[0], self._redactor) if stack else None,
            stack=lines if kind == "javascript" and lines else None,
        )
        self.add(message)

    def add(self, message: Message) -> None:
        """Keep a message, unless it is one that is told once more."""
        key = message.time, message.text
        if self._known[key] > 0:
            self._known[key] -= 1
            return
        size = _OVERHEAD + len(message.text) + sum(len(line) for line in message.stack or ())
        self.ring.put(str(next(self._numbers)), message, message.time, size)

    def find(self, since: float, level: Level) -> Iterator[Message]:
        """The messages after a mark that are of this level or a graver one."""
        wanted = _LEVELS[_LEVELS.index(level) :]
        return (one for one in self.ring.since(since) if one.level in wanted)

    def _text(self, entry: Mapping[str, Any]) -> str:
        """The browser's own words; where it names a value's kind alone, the values."""
        args = entry.get("args") or ()
        if not args or "%" in str(args[0].get("value")):  # what is formatted only the browser can write
            return str(entry.get("text") or "")
        return " ".join(told(one, self._redactor.text) for one in args)

    def _line(self, frame: Mapping[str, Any]) -> str:
        name = masked(str(frame.get("functionName") or ""), self._redactor, 100)
        return f"{name} ({place(frame, self._redactor)})" if name else place(frame, self._redactor)
