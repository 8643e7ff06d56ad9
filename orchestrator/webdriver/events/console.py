"""Console messages of pages, and uncaught errors."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from orchestrator.models.session import Wire
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.webdriver.events.buffer import BufferedEntries, EventBuffer
from orchestrator.webdriver.events.formatting import (
    find_stack_frames,
    format_location,
    format_remote_value,
    mask_and_cut,
    mask_beginning,
)

Level = Literal["debug", "info", "warn", "error"]
_LEVELS: tuple[Level, ...] = get_args(Level)
_TEXT = 4000
_STACK = 5
_AT = "\n    at "
"""The beginning of each line of an error's stack in Chromium."""
_REMEMBERED = 1000
_UNEXPLAINED = 100
"""Messages that may still get their errors' stacks, which CDP sends at once, and other protocols never."""
_VALUES = 20
"""Largest number of values in a message whose errors' stacks are taken from CDP."""
_OVERHEAD = 200
"""Approximate size of an entry without its texts, in characters."""


class ConsoleMessage(Wire):
    """A message; `time` in seconds since 1970, `where` as `url:line:column`, counted from 1.

    `source` is `console`, `javascript` for an uncaught error, or a log such as `logcat`.
    """

    time: float
    level: Level
    text: str
    source: str
    where: str | None = None
    stack: list[str] | None = None


_Mark = tuple[float, Level, str | None]


class _Unexplained(NamedTuple):
    """A message that lacks its errors' stacks: its key in the buffer, and its values as text, None for an error."""

    key: str
    message: ConsoleMessage
    values: list[str | None]


class Console:
    """The last messages of a session.

    Args:
        redactor: Masks secrets in texts.
    """

    def __init__(self, redactor: SessionRedactor) -> None:
        self._redactor = redactor
        self._numbers = itertools.count(1)
        self._received: deque[_Mark] = deque(maxlen=_REMEMBERED)
        self._replayed: Counter[_Mark] = Counter()
        self._unexplained: deque[_Unexplained] = deque(maxlen=_UNEXPLAINED)
        self._buffer: EventBuffer[ConsoleMessage] = EventBuffer()

    def expect_replay(self) -> None:
        """Expect the received messages once more, since a browser sends each new socket those that it remembers."""
        self._replayed = Counter(self._received)

    def handle_entry_added(self, entry: Mapping[str, Any]) -> None:
        """Add a message from `log.entryAdded`.

        Source: https://www.w3.org/TR/webdriver-bidi/#event-log-entryAdded.
        """
        stack, args = find_stack_frames(entry.get("stackTrace")), [*entry.get("args", ())]
        kind = str(entry.get("type"))
        lines = [self._line(frame) for frame in stack[:_STACK]]
        message = ConsoleMessage(
            time=round(float(entry.get("timestamp") or 0) / 1000, 3),
            level=next((level for level in _LEVELS if level == entry.get("level")), "info"),
            text=self._masked(self._text(entry, args)),
            source=kind,
            where=format_location(stack[0], self._redactor) if stack else None,
            stack=lines if kind == "javascript" and lines else None,
        )
        key = self.add(message)
        if key and len(args) <= _VALUES and any(_is_error(arg) for arg in args):
            values = [None if _is_error(arg) else self._masked(format_remote_value(arg, self._clean)) for arg in args]
            self._unexplained.append(_Unexplained(key, message, values))

    def handle_console_api_called(self, event: Mapping[str, Any]) -> None:
        """Add texts and stacks of a message's errors from CDP, since BiDi only says that a value is an error.

        Source: https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#event-consoleAPICalled.
        """
        params = event["params"]
        stack, when = find_stack_frames(params.get("stackTrace")), round(round(params["timestamp"]) / 1000, 3)
        where = format_location(stack[0], self._redactor) if stack else None
        for waiting in self._unexplained:
            same_place = (waiting.message.time, waiting.message.where) == (when, where)
            if same_place and len(waiting.values) == len(params["args"]):
                self._unexplained.remove(waiting)
                if self._buffer.get(waiting.key):  # neither cleared nor dropped meanwhile
                    self._add_errors(waiting, [str(arg.get("description") or "") for arg in params["args"]])
                break

    def _add_errors(self, waiting: _Unexplained, descriptions: list[str]) -> None:
        texts, stack = [], list[str]()
        for value, description in zip(waiting.values, descriptions, strict=True):
            text, *lines = description.split(_AT) if value is None else [value]
            texts.append(text)
            stack += [self._masked(line) for line in lines[:_STACK]]
        message = waiting.message.model_copy(
            update={"text": self._masked(" ".join(texts)), "stack": stack[:_STACK] or None}
        )
        self._put(waiting.key, message)

    def add(self, message: ConsoleMessage) -> str:
        """Add a message; returns its key in the buffer, or an empty one if the message is a repetition."""
        mark = message.time, message.level, message.where
        if self._replayed[mark] > 0:
            self._replayed[mark] -= 1
            return ""
        self._received.append(mark)
        key = str(next(self._numbers))
        self._put(key, message)
        return key

    def find(self, since: float, level: Level, *, clear: bool = False) -> BufferedEntries[ConsoleMessage]:
        """Return the messages after a mark of at least this level; `clear` empties the buffer."""
        levels, buffered = _LEVELS[_LEVELS.index(level) :], self._buffer.since(since, clear=clear)
        return buffered._replace(entries=[message for message in buffered.entries if message.level in levels])

    def _put(self, key: str, message: ConsoleMessage) -> None:
        size = _OVERHEAD + len(message.text) + sum(len(line) for line in message.stack or ())
        self._buffer.put(key, message, message.time, size)

    def _masked(self, text: str) -> str:
        return mask_and_cut(text, self._redactor, _TEXT)

    def _clean(self, text: str) -> str:
        return mask_beginning(text, self._redactor)

    def _text(self, entry: Mapping[str, Any], args: list[Any]) -> str:
        """Format the values; with a format string or an error among them, use the browser's text."""
        if not args or "%" in str(args[0].get("value")) or any(_is_error(arg) for arg in args):
            return str(entry.get("text") or "")
        return " ".join(format_remote_value(arg, self._clean) for arg in args)

    def _line(self, frame: Mapping[str, Any]) -> str:
        name = mask_and_cut(str(frame.get("functionName") or ""), self._redactor, 100)
        return f"{name} ({format_location(frame, self._redactor)})" if name else format_location(frame, self._redactor)


def _is_error(arg: Any) -> bool:
    return isinstance(arg, Mapping) and arg.get("type") == "error"
