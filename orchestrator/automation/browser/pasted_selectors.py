"""Understand selectors of other tools: calls of Playwright, pseudo-classes, Selenium's `By`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from orchestrator.automation.browser.locator import Locator
from orchestrator.errors import InvalidArgument, quoted

_STRING = r"""[rb]?(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|`(?:[^`\\]|\\.)*+`)"""
_REGEX = r"/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\]|\\.)*+\])++/[a-z]*+"
_COMPILED = rf"re\.compile\(\s*{_STRING}\s*(?:,\s*(?:flags\s*=\s*)?[\w.| ]+)?\)"
_TOKEN = re.compile(rf"{_STRING}|{_REGEX}|.", re.DOTALL)
_ARGUMENT = re.compile(
    rf"""[\s,{{}}]*(?:["']?(?P<key>\w+)["']?\s*[:=]\s*)?(?P<value>{_COMPILED}|{_STRING}|{_REGEX}|[\w.]+)\s*(?=[,}}]|\Z)""",
    re.DOTALL,
)
_START = re.compile(
    r"(?:await\s+)?(?:[A-Za-z_$][\w$]*(?:\(\))?\.)*"
    r"(?=(?:get_?by_?[a-z_]+|locator|frame_?locator|find_?elements?)\s*\()",
    re.IGNORECASE,
)
_CALL_NAME = re.compile(r"\s*([A-Za-z_]\w*)")
_BY = re.compile(r"\(?\s*(?:[\w$]+\.)*(?:Appium|Mobile)?By\.(\w+)\s*[,(=:]\s*(.+?)[\s);]*", re.DOTALL)
_WITH_TEXT = re.compile(
    rf"(?P<css>(?:\\.|[^'\"\\]|{_STRING})*?):(?P<kind>has-text|text-is|text-matches|text|contains)(?=\()", re.DOTALL
)
_UNKNOWN_PSEUDO = re.compile(
    rf"(?:\\.|[^'\"\\]|{_STRING})*?(:(?:nth-match|visible|near|right-of|left-of|above|below|eq|first|last|light)\b(?!-))",
    re.DOTALL,
)
_BRACKETS = re.compile(rf"{_STRING}|\[[^\]]*\]|\([^()]*\)")

_CALLS = {
    "getbytext": "text",
    "getbylabel": "label",
    "getbylabeltext": "label",
    "getbytestid": "testid",
    "getbyplaceholder": "placeholder",
    "getbyplaceholdertext": "placeholder",
    "getbyalttext": "alt",
    "getbytitle": "title",
}
"""Strategies, or attributes, of Playwright's and Testing Library's calls; their names without case and underscores."""
_ATTRIBUTES = frozenset({"placeholder", "alt", "title"})
_STRATEGIES = {
    "id": "id",
    "xpath": "xpath",
    "css": "css",
    "cssselector": "css",
    "name": "name",
    "class": "class",
    "classname": "class",
    "tagname": "css",
    "link": "link",
    "linktext": "link",
    "partiallinktext": "link part",
    "accessibilityid": "accessibility_id",
    "androiduiautomator": "android",
    "iospredicate": "ios",
    "iosclasschain": "chain",
}
"""Strategies of Selenium and Appium, by name without case, spaces and underscores."""
_ANOTHER = "for another one, use XPath such as (//button)[2], or a ref from get_visible_elements"
_FIRST = f"Leave it out: the first match that can be acted on is taken; {_ANOTHER}."
_NTH = f"Of several matches the first that can be acted on is taken; {_ANOTHER}."
_VISIBLE = "Leave it out: visible elements are taken before hidden ones."
_LAYOUT = "Use a ref from get_visible_elements."
_TEXT_INSIDE = 'Write for example li:has-text("Ann"), or XPath such as //li[contains(., "Ann")]//button.'
_HINTS = {
    "first": _FIRST, "last": _NTH, "nth": _NTH, "nth-match": _NTH, "eq": _NTH, "visible": _VISIBLE,
    "filter": _TEXT_INSIDE, "near": _LAYOUT, "right-of": _LAYOUT, "left-of": _LAYOUT,
    "above": _LAYOUT, "below": _LAYOUT,
}  # fmt: skip
_ACTS = re.compile(r"click|fill|press|check|hover|tap|type|sendkeys|select|focus|text|value|is[a-z]+|wait|inner|scroll")
_EXAMPLES = "Write for example role=button[name=Save], text=Save, label=Email, [placeholder=Search], CSS or a ref."

Parse = Callable[[str], tuple[Locator, ...]]
"""Parses a selector into the locators of its frames and, last, of its element."""


@dataclass(frozen=True)
class _Word:
    """A text in a call; with flags it is a regular expression."""

    text: str
    flags: str | None = None


@dataclass(frozen=True)
class _Call:
    """A call of a chain, with its name in lower case and without underscores."""

    name: str
    written: str
    arguments: list[_Word | str] = field(default_factory=list)
    options: dict[str, _Word | str] = field(default_factory=dict)
    inner: str = ""


def read_call(text: str, parse: Parse) -> tuple[Locator, ...] | None:
    """Read `getByRole('button', {name: 'Save'})`, `locator('#a')`, `By.ID, "x"` and the like; None for anything else.

    Raises:
        InvalidArgument: It is a call of another tool that has no counterpart here; the hint says what to write.
    """
    if match := _BY.fullmatch(text):
        return (_by_strategy(match[1], _plain(match[2]), text),)
    if not (start := _START.match(text)):
        return None
    frames, calls = _frames(_calls(text, start.end()), text, parse)
    if not calls:
        raise _unreadable(text)
    first, *rest = calls
    found = (*frames, *_locators(first, text, parse))
    if rest:
        _refuse_chain(text, " >> ".join(locator.written() for locator in found), rest[0])
    return found


def read_strategy(text: str) -> Locator | None:
    """Read `link text=Sign in`, `name=q`, `class name=primary` and the like; None for anything else.

    Raises:
        InvalidArgument: It is a filter of Playwright, such as `nth=0`.
    """
    prefix, equals, value = text.partition("=")
    if equals and prefix.strip() in {"nth", "visible"}:
        raise InvalidArgument(f"{quoted(text)} is not a selector here.", hint=_HINTS[prefix.strip()])
    kind = _simplified(prefix)
    if not equals or kind not in _STRATEGIES or not re.fullmatch(r"[A-Za-z_ -]+", prefix):
        return None
    return _by_strategy(kind, _plain(value.strip()), text)


def read_css(text: str) -> Locator:
    """Read CSS, which may end with `:has-text("…")`.

    Raises:
        InvalidArgument: It has a pseudo-class of another tool that has no counterpart here.
    """
    if match := _WITH_TEXT.match(text):
        return _css_with_text(text, match)
    if match := _UNKNOWN_PSEUDO.match(text):
        raise InvalidArgument(
            f"{quoted(text)} is not a selector here: {match[1]} is not understood.",
            hint=_HINTS.get(match[1][1:], _EXAMPLES),
        )
    return Locator("css", text)


def _css_with_text(text: str, match: re.Match[str]) -> Locator:
    css, kind = match["css"].strip(), match["kind"]
    end = _closing(text, match.end())
    if end is None or text[end:].strip() or "," in _BRACKETS.sub("", css):
        raise InvalidArgument(
            f"{quoted(text)} is not a selector here: :{kind}(…) can only stand at the end of one selector.",
            hint=_TEXT_INSIDE,
        )
    inner = text[match.end() + 1 : end - 1].strip()
    arguments, _ = _arguments(inner)
    words = [each for each in arguments if isinstance(each, _Word)]
    word = words[0] if words else _Word(inner)
    if kind == "text-matches":
        word = _Word(word.text, words[1].text if len(words) > 1 else "")
    if css in {"", "*"}:
        return Locator("text", word.text, exact=kind == "text-is", flags=word.flags)
    return Locator("css_with_text", css, word.text, exact=kind == "text-is", flags=word.flags)


def _calls(text: str, at: int) -> list[_Call]:
    """Read a chain of calls."""
    calls = []
    while match := _CALL_NAME.match(text, at):
        at = match.end()
        if not text.startswith("(", at):  # a property, such as `first` in Python
            calls.append(_Call(_simplified(match[1]), f".{match[1]}"))
        elif end := _closing(text, at):
            inner = text[at + 1 : end - 1].strip()
            calls.append(_Call(_simplified(match[1]), f".{match[1]}(…)", *_arguments(inner), inner))
            at = end
        else:
            break
        rest = text[at:].strip()
        if rest in {"", ";"}:
            return calls
        if not rest.startswith("."):
            break
        at = text.index(".", at) + 1
    raise _unreadable(text)


def _frames(calls: list[_Call], text: str, parse: Parse) -> tuple[tuple[Locator, ...], list[_Call]]:
    """The frames that a chain begins with, and the calls after them."""
    frames: tuple[Locator, ...] = ()
    while len(calls) > 1 and (calls[0].name == "framelocator" or calls[1].name == "contentframe"):
        frames = (*frames, *parse(_only_text(calls[0], text)))
        calls = calls[1 if calls[0].name == "framelocator" else 2 :]
    return frames, calls


def _closing(text: str, at: int) -> int | None:
    """The index after the parenthesis that closes the one at `at`."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return None


def _arguments(text: str) -> tuple[list[_Word | str], dict[str, _Word | str]]:
    """Read arguments of JavaScript or Python; nothing if a part is neither a text, a pattern nor a plain name."""
    arguments: list[_Word | str] = []
    options: dict[str, _Word | str] = {}
    at = 0
    while text[at:].strip(" \n\t,{}"):
        match = _ARGUMENT.match(text, at)
        if match is None:
            return [], {}
        if match["key"]:
            options[match["key"]] = _value(match["value"])
        else:
            arguments.append(_value(match["value"]))
        at = match.end()
    return arguments, options


def _value(given: str) -> _Word | str:
    """A text or pattern of the source; the source itself for other values, such as `true`."""
    if given.startswith("re.compile"):
        pattern = re.search(_STRING, given)
        flags = "i" if pattern and re.search(r"\bI(?:GNORECASE)?\b", given[pattern.end() :]) else ""
        return _Word(_unquoted(pattern[0]) if pattern else "", flags)
    if given.startswith("/"):
        source, _, flags = given[1:].rpartition("/")
        return _Word(source, "".join(flag for flag in flags if flag in "imsu"))
    return _Word(_unquoted(given)) if re.fullmatch(_STRING, given, re.DOTALL) else given


def _unquoted(given: str) -> str:
    if given[0] in "rb":
        return given[2:-1]
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), given[1:-1])


def _plain(given: str) -> str:
    """The text of a string literal, or what stands there."""
    return _unquoted(given) if re.fullmatch(_STRING, given, re.DOTALL) else given


def _simplified(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _locators(call: _Call, text: str, parse: Parse) -> tuple[Locator, ...]:
    """The locators of one call."""
    if call.name == "locator":
        _check_options(call, text)
        return parse(_only_text(call, text))
    if call.name.startswith("findelement"):
        return _found(call, text, parse)
    words = [each for each in call.arguments if isinstance(each, _Word)]
    if len(words) != 1 or len(call.arguments) != 1:
        raise _unreadable(text)
    _check_options(call, text)
    exact = str(call.options.get("exact", "")).lower() == "true"
    if call.name == "getbyrole":
        name = call.options.get("name")
        if isinstance(name, str):
            raise _unreadable(text)
        return (_role(words[0].text.lower(), name, exact=exact),)
    if call.name in _CALLS:
        return (_by_word(_CALLS[call.name], words[0], exact=exact),)
    raise _unreadable(text)


def _role(role: str, name: _Word | None, *, exact: bool) -> Locator:
    if name is None:
        return Locator("role", role)
    return Locator("role", role, name.text, exact=exact and name.flags is None, flags=name.flags)


def _by_word(by: str, word: _Word, *, exact: bool) -> Locator:
    exact = exact and word.flags is None
    if by in _ATTRIBUTES:
        return Locator("attribute", word.text, by, exact=exact, flags=word.flags)
    if by == "testid":
        return (
            Locator("testid", word.text)
            if word.flags is None
            else Locator("attribute", word.text, "data-testid", flags=word.flags)
        )
    return Locator(by, word.text, exact=exact, flags=word.flags)


def _found(call: _Call, text: str, parse: Parse) -> tuple[Locator, ...]:
    """The locator of Selenium's Find Element: `By.ID, "x"` or `"id", "x"`."""
    if found := read_call(call.inner, parse):
        return found
    match call.arguments:
        case [_Word(kind), _Word(value)]:
            return (_by_strategy(kind, value, text),)
    raise _unreadable(text)


def _by_strategy(name: str, value: str, text: str) -> Locator:
    """The locator of a strategy of Selenium or Appium."""
    by = _STRATEGIES.get(_simplified(name))
    if by is None or not value:
        raise _unreadable(text)
    if by == "name":
        return Locator("css", f'[name="{_escaped(value)}"]')
    if by == "class":  # in apps, the class of an element is the name of its tag
        of_an_app = "." in value or value.startswith("XCUIElementType")
        return Locator("xpath", f"//{value}") if of_an_app else Locator("css", f'[class~="{_escaped(value)}"]')
    if by.startswith("link"):
        return Locator("css_with_text", "a", value, exact=by == "link")
    return Locator(by, value)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _only_text(call: _Call, text: str) -> str:
    match call.arguments:
        case [_Word(given, None)] if not call.options:
            return given
    raise _unreadable(text)


def _check_options(call: _Call, text: str) -> None:
    known = {"getbyrole": {"exact", "name"}, "locator": set[str]()}.get(call.name, {"exact"})
    if other := sorted(set(call.options) - known):
        states = "Leave it out, or use a ref from get_visible_elements, which shows the states."
        raise InvalidArgument(
            f"{quoted(text)} is not a selector here: the option {other[0]} is not understood.",
            hint=_TEXT_INSIDE if other[0].startswith("has") else states,
        )


def _refuse_chain(text: str, so_far: str, call: _Call) -> NoReturn:
    hint = f"What stands before it is written {so_far} here. "
    if call.name in _HINTS:
        hint += _HINTS[call.name]
    elif _ACTS.match(call.name):
        hint = f"Write {so_far} alone: the tool acts on it."
    else:
        hint += "Give one selector for the element itself, XPath such as //li[contains(., 'Ann')]//button, or a ref."
    raise InvalidArgument(f"{quoted(text)} is not a selector here: {call.written} is not understood.", hint=hint)


def _unreadable(text: str) -> InvalidArgument:
    return InvalidArgument(f"{quoted(text)} is not a selector here.", hint=_EXAMPLES)
