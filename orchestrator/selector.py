"""What a caller writes to point at an element, read as a locator: one grammar for every door."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.errors import InvalidArgument, quoted

_REF = re.compile(r"\[?(?:ref=)?(e[1-9]\d{0,9})\]?")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(rf"(?:- ?)?([a-z]+)(?: ({_QUOTED}))?(?P<marks>(?: \[[^\]]*\])*):?(?: = {_QUOTED})?")
_REF_MARK = re.compile(r" \[(e[1-9]\d{0,9})\]")
_TEXT_LINE = re.compile(r"(?:- )?text: (.*)", re.DOTALL)
_ROLE = re.compile(r"([A-Za-z]+)\s*(?:\[\s*name\s*=\s*(.+?)\s*\])?", re.DOTALL)
_PREFIXES = frozenset({"text", "label", "testid", "css", "xpath", "id", "android", "ios", "chain"})
_XPATH_STARTS = ("/", "(/", "./", "(./")
_ROLE_HINT = "Write it as role=button or role=button[name=Pay now]."


@dataclass(frozen=True)
class Locator:
    """One way to find elements: `by` is a strategy of the page engine, `value` what it looks for."""

    by: str
    value: str
    name: str | None = None

    def data(self) -> dict[str, Any]:
        """The locator as the page engine reads it."""
        found = {"by": self.by, "value": self.value}
        return found if self.name is None else {**found, "name": self.name}


@dataclass(frozen=True)
class Selector:
    """A selector as it was given, and what it means: the frames to go through, then the locator in the last one."""

    given: str
    locator: Locator
    frames: tuple[Locator, ...] = field(default=())

    @property
    def ref(self) -> int | None:
        """The number of the ref, when the selector is one."""
        return int(self.locator.value[1:]) if self.locator.by == "ref" else None

    def inside(self, frames: tuple[Locator, ...]) -> Selector:
        """The same inside these frames; a ref alone means the same everywhere."""
        if not frames or (self.ref is not None and not self.frames):
            return self
        return replace(self, frames=(*frames, *self.frames))

    def data(self) -> dict[str, Any]:
        """The locator as the page engine reads it."""
        frames = [frame.data() for frame in self.frames]
        return {**self.locator.data(), "frames": frames} if frames else self.locator.data()


WHOLE = Selector("the page", Locator("document", ""))
"""What an action without a selector is about."""


def parse(given: str) -> Selector:
    """Read a selector.

    `e12` a ref · `button "Pay now"` a line of the outline · `//a` XPath · `~login` accessibility id · `text=…` ·
    `label=…` · `role=button[name=Pay now]` · `testid=…` · `id=…` · `frame >> selector` · in apps `android=UiSelector`,
    `ios=predicate`, `chain=class chain` · anything else is CSS.

    Raises:
        InvalidArgument: It is empty, or a part of it cannot be read.
    """
    text = given.strip()
    if not text:
        raise InvalidArgument("The selector is empty.", hint="Give a ref such as e12, CSS, or text=Sign in.")
    *frames, last = (part.strip() for part in _split(text))
    if not last or not all(frames):
        raise InvalidArgument(
            f"{quoted(given)} has an empty part.", hint="Write frame selectors as: iframe#pay >> #card."
        )
    return Selector(given, _locator(last), tuple(_locator(part) for part in frames))


def _split(text: str) -> list[str]:
    """The parts between `>>`, leaving alone those inside double quotes."""
    parts, inside, start, index = [], False, 0, 0
    while index < len(text):
        if text[index] == "\\":
            index += 1
        elif text[index] == '"':
            inside = not inside
        elif not inside and text.startswith(">>", index):
            parts.append(text[start:index])
            start = index + 2
            index += 1
        index += 1
    return [*parts, text[start:]]


def _locator(text: str) -> Locator:
    return _of_outline(text) or _of_marks(text) or _of_prefix(text) or Locator("css", text)


def _of_outline(text: str) -> Locator | None:
    """A ref, or a line of an outline as it stands there."""
    if match := _REF.fullmatch(text):
        return Locator("ref", match[1])
    if match := _LINE.fullmatch(text):
        if ref := _REF_MARK.search(match["marks"]):
            return Locator("ref", ref[1])
        return Locator("line", match[1], _unquoted(match[2])) if match[2] else None
    if match := _TEXT_LINE.fullmatch(text):
        return _checked(Locator("text", match[1]), text)
    return None


def _of_marks(text: str) -> Locator | None:
    """What its first characters give away."""
    if text.startswith("~"):
        return _checked(Locator("accessibility_id", text[1:]), text)
    return Locator("xpath", text) if text.startswith(_XPATH_STARTS) else None


def _of_prefix(text: str) -> Locator | None:
    """`text=…`, `role=…` and their like."""
    prefix, equals, value = text.partition("=")
    if equals and prefix == "role":
        return _role(value)
    if equals and prefix in _PREFIXES:
        return _checked(Locator(prefix, _unquoted(value.strip())), text)
    return None


def _checked(locator: Locator, text: str) -> Locator:
    if not locator.value:
        raise InvalidArgument(f"{quoted(text)} says nothing to look for.", hint="Write for example text=Sign in.")
    return locator


def _role(text: str) -> Locator:
    match = _ROLE.fullmatch(text.strip())
    if match is None:
        raise InvalidArgument(f"'role={text}' cannot be read.", hint=_ROLE_HINT)
    return Locator("role", match[1].lower(), None if match[2] is None else _unquoted(match[2]))


def _unquoted(text: str) -> str:
    """The text without the quotes around it, and with escaped ones read as they are where there were any."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
