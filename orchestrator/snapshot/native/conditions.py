"""Evaluates the conditions of waits and expectations on a screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from orchestrator.snapshot.answers import UnmetCondition, WaitAnswer
from orchestrator.snapshot.native.actionability import holds_value
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.node import FIELDS, Node
from orchestrator.snapshot.native.queries import text_of
from orchestrator.snapshot.native.screen_snapshot import ScreenSnapshot
from orchestrator.snapshot.native.text import MASK, matches_glob, normalize_space, shorten, value_of

_BEFORE, _AFTER, _MOST = 3, 5, 5
"""Lines of an error: before and after the element, or most of what says where the user is."""
_SIGNPOSTS = frozenset({"dialog", "heading", "status", "banner"})
_SECRET_ATTRIBUTES = frozenset({"value", "text"})
_TEXTS = ("pageText", "containsText", "text")


class Verdict(TypedDict):
    """The outcome of one condition."""

    holds: bool
    expected: Any
    actual: Any


def assess(
    screen: ScreenSnapshot, conditions: Mapping[str, Any], locator: Mapping[str, Any] | None, *, negate: bool
) -> WaitAnswer:
    """Judge conditions on one snapshot: `ok` if all hold, or with `negate` if not all do."""
    found = locate_unless_stale(screen, locator)
    verdicts = {name: _judge(screen, name, value, found) for name, value in conditions.items()}
    failed = {name: verdict for name, verdict in verdicts.items() if not verdict["holds"]}
    ok = bool(failed) if negate else not failed
    unmet: list[UnmetCondition] = [
        {"condition": name, "expected": verdict["expected"], "actual": verdict["actual"]}
        for name, verdict in (verdicts if negate else failed).items()
    ]
    text = next((str(conditions[name]) for name in _TEXTS if name in conditions), None)
    near = [] if ok else _near(screen, found, locator, text)
    return {
        "ok": ok,
        "failed": [] if ok else unmet,
        "matches": len(found),
        "near": near,
        "url": "",
        "title": screen.title,
    }


def locate_unless_stale(screen: ScreenSnapshot, locator: Mapping[str, Any] | None) -> list[Node]:
    """Return the matches of a locator; none for a ref that went away.

    Raises:
        Refusal: The locator means nothing here, or it is strict and there are several.
    """
    if locator is None:
        return []
    try:
        return screen.locate(locator)
    except Refusal as refusal:
        if refusal.answer["reason"] == "stale":
            return []
        raise


def _same(expected: Any, actual: Any) -> Verdict:
    return {"holds": actual == expected, "expected": expected, "actual": actual}


def _judge(screen: ScreenSnapshot, condition: str, value: Any, found: list[Node]) -> Verdict:
    if condition == "count":
        return _same(value, len(found))
    if condition == "state":
        return {"holds": _ON_STATE[value](found), "expected": value, "actual": _state_of(found)}
    if condition in _ON_SCREEN:
        return _ON_SCREEN[condition](screen, value, found)
    node = next((node for node in found if node.is_visible), found[0] if found else None)
    return _ON_ELEMENT[condition](screen, node, value)


_ON_STATE: dict[str, Callable[[list[Node]], bool]] = {
    "visible": lambda found: any(node.is_visible for node in found),
    "hidden": lambda found: not any(node.is_visible for node in found),
    "enabled": lambda found: any(node.is_visible and node.enabled for node in found),
    "gone": lambda found: not found,
}


def _state_of(found: list[Node]) -> str:
    if not found:
        return "gone"
    if not _ON_STATE["visible"](found):
        return "hidden"
    return "visible" if _ON_STATE["enabled"](found) else "visible, disabled"


def _written(screen: ScreenSnapshot, node: Node) -> str:
    """Return the text that an element shows; for a field its value."""
    return shorten(value_of(node)) if node.role in FIELDS else text_of(screen.tree, node)


def _text(screen: ScreenSnapshot, node: Node | None, wanted: str) -> Verdict:
    verdict = _same(normalize_space(wanted), None if node is None else normalize_space(_written(screen, node)))
    # Of a text with a label and a value either is its text, too.
    if node is not None and node.role not in FIELDS and node.label and node.value:
        verdict["holds"] |= verdict["expected"] in {node.label, normalize_space(value_of(node))}
    return verdict


def _containing(screen: ScreenSnapshot, node: Node | None, wanted: str) -> Verdict:
    actual = None if node is None else _written(screen, node)
    contained = actual is not None and normalize_space(wanted).lower() in normalize_space(actual).lower()
    return {
        "holds": contained, "expected": normalize_space(wanted), "actual": None if actual is None else shorten(actual),
    }  # fmt: skip


def _value(_: ScreenSnapshot, node: Node | None, wanted: str) -> Verdict:
    if node is None:
        return {"holds": False, "expected": wanted, "actual": None}
    expected = MASK if node.secret else wanted
    return {"holds": holds_value(node, wanted), "expected": expected, "actual": shorten(value_of(node))}


def _attribute(_: ScreenSnapshot, node: Node | None, wanted: Mapping[str, Any]) -> Verdict:
    """Judge an attribute as the platform's page source has it."""
    name, value = str(wanted["name"]), wanted.get("value")
    actual = None if node is None else node.attributes.get(name)
    is_hidden = node is not None and node.secret and name in _SECRET_ATTRIBUTES
    return {
        "holds": actual is not None if value is None else actual == value,
        "expected": f"{name} present" if value is None else MASK if is_hidden else value,
        "actual": None if actual is None else MASK if is_hidden else shorten(actual),
    }


_ON_ELEMENT: dict[str, Callable[[ScreenSnapshot, Node | None, Any], Verdict]] = {
    "visible": lambda _, node, wanted: _same(wanted, node is not None and node.is_visible),
    "enabled": lambda _, node, wanted: _same(wanted, None if node is None else node.enabled),
    "checked": lambda _, node, wanted: _same(wanted, None if node is None else node.checked is True),
    "text": _text,
    "containsText": _containing,
    "value": _value,
    "attribute": _attribute,
}


def _url(_: ScreenSnapshot, wanted: str, __: list[Node]) -> Verdict:
    return _same(wanted, "")


def _title(screen: ScreenSnapshot, wanted: str, _: list[Node]) -> Verdict:
    actual = screen.title
    return {"holds": wanted in actual or matches_glob(actual, wanted), "expected": wanted, "actual": shorten(actual)}


def _page_text(screen: ScreenSnapshot, wanted: str, found: list[Node]) -> Verdict:
    text = text_of(screen.tree, found[0] if found else None)
    return {
        "holds": normalize_space(wanted).lower() in normalize_space(text).lower(),
        "expected": normalize_space(wanted),
        "actual": None,
    }


_ON_SCREEN = {"url": _url, "title": _title, "pageText": _page_text}


def _near(screen: ScreenSnapshot, found: list[Node], locator: Mapping[str, Any] | None, text: str | None) -> list[str]:
    """Return the lines most like what was not found, or like the text that is not in what was found, or around that."""
    entries = screen.entries
    inside = [entry for entry in entries if entry.node.within(found[0])] if found else entries
    near = []
    if locator and not found:
        near = screen.candidates(locator)
    elif text is not None:
        near = screen.lines_like(inside, text)
    if not near and found and inside:
        place = entries.index(inside[0])
        near = [screen.line(entry.node) for entry in entries[max(0, place - _BEFORE) : place + _AFTER]]
    return near or [screen.line(entry.node) for entry in entries if entry.node.role in _SIGNPOSTS][:_MOST]
