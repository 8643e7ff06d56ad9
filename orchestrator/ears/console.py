"""What pages write to the console, and the errors that nobody caught."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from orchestrator.ears.ring import Found, Ring
from orchestrator.ears.values import told
from orchestrator.ears.words import frames, masked, place
from orchestrator.models import Wire
from orchestrator.secrets import Redactor

Level = Literal["debug", "info", "warn", "error"]
_LEVELS: tuple[Level, ...] = get_args(Level)
_TEXT = 4000
_STACK = 5
_AT = "\n    at "
"""What stands before each line of an error's stack in Chromium."""
_REMEMBERED = 1000
_UNEXPLAINED = 100
"""Messages that more may be told of, which comes at once in Chromium and never elsewhere."""
_VALUES = 20
"""Values of a message that more is kept of."""
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


_Mark = tuple[float, Level, str | None]


class _Unexplained(NamedTuple):
    """A message of which more may be told: its key in the ring, and its values as text, None for an error."""

    key: str
    message: Message
    said: list[str | None]


class Console:
    """The last messages of a session.

    Args:
        redactor: Knows the secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._numbers = itertools.count(1)
        self._heard: deque[_Mark] = deque(maxlen=_REMEMBERED)
        self._known: Counter[_Mark] = Counter()
        self._unexplained: deque[_Unexplained] = deque(maxlen=_UNEXPLAINED)
        self._ring: Ring[Message] = Ring()

    def expect_replay(self) -> None:
        """What was heard may be told once more from now on: a browser tells each new socket what it remembers."""
        self._known = Counter(self._heard)

    def hear(self, entry: Mapping[str, Any]) -> None:
        """Take in a `log.entryAdded`.

        Source: https://www.w3.org/TR/webdriver-bidi/#event-log-entryAdded.
        """
        stack, args = frames(entry.get("stackTrace")), [*entry.get("args", ())]
        kind = str(entry.get("type"))
        lines = [self._line(frame) for frame in stack[:_STACK]]
        message = Message(
            time=round(float(entry.get("timestamp") or 0) / 1000, 3),
            level=next((level for level in _LEVELS if level == entry.get("level")), "info"),
            text=self._masked(self._text(entry, args)),
            source=kind,
            where=place(stack[0], self._redactor) if stack else None,
            stack=lines if kind == "javascript" and lines else None,
        )
        key = self.add(message)
        if key and len(args) <= _VALUES and any(_is_error(one) for one in args):
            said = [None if _is_error(one) else self._masked(told(one, self._redactor.text)) for one in args]
            self._unexplained.append(_Unexplained(key, message, said))

    def explain(self, event: Mapping[str, Any]) -> None:
        """Take in what Chromium tells of the same message by CDP: BiDi says of an error that it is one, and no more.

        Source: https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#event-consoleAPICalled.
        """
        params = event["params"]
        stack, when = frames(params.get("stackTrace")), round(round(params["timestamp"]) / 1000, 3)
        where = place(stack[0], self._redactor) if stack else None
        for one in self._unexplained:
            if (one.message.time, one.message.where) == (when, where) and len(one.said) == len(params["args"]):
                self._unexplained.remove(one)
                if self._ring.get(one.key):  # it was not cleared, and made no room
                    self._add_errors(one, [str(arg.get("description") or "") for arg in params["args"]])
                break

    def _add_errors(self, what: _Unexplained, descriptions: list[str]) -> None:
        said, stack = [], list[str]()
        for value, description in zip(what.said, descriptions, strict=True):
            text, *lines = description.split(_AT) if value is None else [value]
            said.append(text)
            stack += [self._masked(line) for line in lines[:_STACK]]
        message = what.message.model_copy(
            update={"text": self._masked(" ".join(said)), "stack": stack[:_STACK] or None}
        )
        self._put(what.key, message)

    def add(self, message: Message) -> str:
        """Keep a message, unless it is one that is told once more; its key in the ring."""
        mark = message.time, message.level, message.where
        if self._known[mark] > 0:
            self._known[mark] -= 1
            return ""
        self._heard.append(mark)
        key = str(next(self._numbers))
        self._put(key, message)
        return key

    def find(self, since: float, level: Level, *, clear: bool = False) -> Found[Message]:
        """The messages after a mark that are of this level or a graver one; with `clear` all are forgotten."""
        wanted, heard = _LEVELS[_LEVELS.index(level) :], self._ring.since(since, clear=clear)
        return heard._replace(entries=[one for one in heard.entries if one.level in wanted])

    def _put(self, key: str, message: Message) -> None:
        size = _OVERHEAD + len(message.text) + sum(len(line) for line in message.stack or ())
        self._ring.put(key, message, message.time, size)

    def _masked(self, text: str) -> str:
        return masked(text, self._redactor, _TEXT)

    def _text(self, entry: Mapping[str, Any], args: list[Any]) -> str:
        """The values; what is formatted only the browser can write, and of errors it may say more than that."""
        if not args or "%" in str(args[0].get("value")) or any(_is_error(one) for one in args):
            return str(entry.get("text") or "")
        return " ".join(told(one, self._redactor.text) for one in args)

    def _line(self, frame: Mapping[str, Any]) -> str:
        name = masked(str(frame.get("functionName") or ""), self._redactor, 100)
        return f"{name} ({place(frame, self._redactor)})" if name else place(frame, self._redactor)


def _is_error(arg: Any) -> bool:
    return isinstance(arg, Mapping) and arg.get("type") == "error"
