"""Parse selectors into locators."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.automation.browser.locator import Locator
from orchestrator.automation.browser.pasted_selectors import read_call, read_css, read_strategy
from orchestrator.errors import InvalidArgument, quoted

_REF = re.compile(r"[\[@]?(?:ref=)?(e[1-9]\d{0,9})\]?")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_MARKS = rf"(?P<marks>(?: \[(?:{_QUOTED}|[^\]\"])*\])*)"
_LINE = re.compile(rf"(?:- ?)?([a-z]+)(?: ({_QUOTED}))?{_MARKS}:?(?: = {_QUOTED})?")
_REF_MARK = re.compile(r" \[(e[1-9]\d{0,9})\]")
_TEXT_LINE = re.compile(r"(?:- )?text: (.*)", re.DOTALL)
_ROLE = re.compile(r"([A-Za-z]+)\s*(?:\[\s*name\s*=\s*(.+?)\s*\])?", re.DOTALL)
_PREFIXES = frozenset({"text", "label", "testid", "css", "xpath", "id", "android", "ios", "chain"})
_XPATH_STARTS = ("/", "(/", "./", "(./")
_ROLE_HINT = "Write it as role=button or role=button[name=Pay now]."


@dataclass(frozen=True)
class Selector:
    """A parsed selector: its text, the frames to enter, and the locator in the last of them."""

    given: str
    locator: Locator
    frames: tuple[Locator, ...] = field(default=())

    @property
    def ref(self) -> int | None:
        """The number of the ref, if the selector is one."""
        return int(self.locator.value[1:]) if self.locator.by == "ref" else None

    def inside(self, frames: tuple[Locator, ...]) -> Selector:
        """The selector inside these frames; a ref alone stays as it is, since refs are unique."""
        if not frames or (self.ref is not None and not self.frames):
            return self
        return replace(self, frames=(*frames, *self.frames))

    def data(self) -> dict[str, Any]:
        """The locator as the page engine reads it."""
        frames = [frame.data() for frame in self.frames]
        return {**self.locator.data(), "frames": frames} if frames else self.locator.data()


WHOLE = Selector("the page", Locator("document", ""))
"""Selector of the whole page, for actions without a selector."""


def parse_selector(given: str) -> Selector:
    """Parse a selector.

    `e12` a ref · `button "Pay now"` a line of the outline · `//a` XPath · `~login` accessibility id · `text=…`,
    in quotes exact ·
    `label=…` · `role=button[name=Pay now]` · `testid=…` · `id=…` · `frame >> selector` · in apps `android=UiSelector`,
    `ios=predicate`, `chain=class chain` · what other tools write, see `pasted_selectors` · anything else is CSS.

    Raises:
        InvalidArgument: It is empty, or a part of it is invalid.
    """
    text = given.strip()
    if not text:
        raise InvalidArgument("The selector is empty.", hint="Give a ref such as e12, CSS, or text=Sign in.")
    if pasted := read_call(text, _locators):
        return Selector(given, pasted[-1], pasted[:-1])
    *frames, last = _locators(given)
    return Selector(given, last, tuple(frames))


def _locators(text: str) -> tuple[Locator, ...]:
    """The locators of the frames and, last, of the element."""
    *frames, last = (part.strip() for part in _split(text))
    if not last or not all(frames):
        raise InvalidArgument(
            f"{quoted(text)} has an empty part.", hint="Write frame selectors as: iframe#pay >> #card."
        )
    return tuple(locator for part in (*frames, last) for locator in _part(part))


def _split(text: str) -> list[str]:
    """Split at `>>`, except inside double quotes."""
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


def _part(text: str) -> tuple[Locator, ...]:
    """The locators of a part between `>>`: one, or those of a call that names frames."""
    if own := _from_outline(text) or _from_first_characters(text):
        return (own,)
    return read_call(text, _locators) or (_from_prefix(text) or read_strategy(text) or read_css(text),)


def _from_outline(text: str) -> Locator | None:
    """The locator for a ref, or for a line copied from an outline."""
    if match := _REF.fullmatch(text):
        return Locator("ref", match[1])
    if match := _LINE.fullmatch(text):
        # A placeholder may look like a ref.
        if ref := _REF_MARK.search(re.sub(_QUOTED, "", match["marks"])):
            return Locator("ref", ref[1])
        return Locator("line", match[1], _unquoted(match[2])) if match[2] else None
    if match := _TEXT_LINE.fullmatch(text):
        return _checked(Locator("text", match[1]), text)
    return None


def _from_first_characters(text: str) -> Locator | None:
    """The locator for `~accessibility id` or an XPath."""
    if text.startswith("~"):
        return _checked(Locator("accessibility_id", text[1:]), text)
    return Locator("xpath", text) if text.startswith(_XPATH_STARTS) else None


def _from_prefix(text: str) -> Locator | None:
    """The locator for `text=…`, `role=…` and other prefixes."""
    prefix, equals, value = text.partition("=")
    if equals and prefix == "role":
        return _role(value)
    if equals and prefix in _PREFIXES:
        value = value.strip()
        if prefix == "css" and value:
            return read_css(_unquoted(value))
        found = _unquoted(value)
        return _checked(Locator(prefix, found, exact=prefix == "text" and found != value), text)
    return None


def _checked(locator: Locator, text: str) -> Locator:
    if not locator.value:
        raise InvalidArgument(f"{quoted(text)} has no value.", hint="Write for example text=Sign in.")
    return locator


def _role(text: str) -> Locator:
    match = _ROLE.fullmatch(text.strip())
    if match is None:
        raise InvalidArgument(f"'role={text}' is invalid.", hint=_ROLE_HINT)
    return Locator("role", match[1].lower(), None if match[2] is None else _unquoted(match[2]))


def _unquoted(text: str) -> str:
    """The text without surrounding quotes; only quoted text has its escapes resolved."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
