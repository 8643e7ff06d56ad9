"""Judges what is waited for or expected of an element or of the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.snapshot.native.lines import value_of
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.look import Look
from orchestrator.snapshot.native.node import FIELDS, Node
from orchestrator.snapshot.native.readiness import holds
from orchestrator.snapshot.native.reading import text_of
from orchestrator.snapshot.native.words import MASK, matches_glob, normal, shown

_BEFORE, _AFTER, _TOP = 3, 5, 8
"""Lines around an element that an error shows; of the beginning of the screen where there is none."""
_SECRET_ATTRIBUTES = frozenset({"value", "text"})

Verdict = dict[str, Any]


def assess(
    look: Look, conditions: Mapping[str, Any], locator: Mapping[str, Any] | None, *, negate: bool
) -> dict[str, Any]:
    """Whether all conditions hold, or with `negate` not all do; what of them failed, and how many elements match."""
    found = matches_of(look, locator)
    verdicts = [{"condition": name, **_judge(look, name, value, found)} for name, value in conditions.items()]
    failed = [verdict for verdict in verdicts if not verdict["holds"]]
    ok = bool(failed) if negate else not failed
    answer: dict[str, Any] = {"ok": ok, "matches": len(found), **look.place, "near": []}
    if not ok:
        told = verdicts if negate else failed
        answer["failed"] = [{key: one[key] for key in ("condition", "expected", "actual")} for one in told]
        answer["near"] = _near(look, found, locator)
    return answer


def matches_of(look: Look, locator: Mapping[str, Any] | None) -> list[Node]:
    """What a locator finds; a ref that went away finds nothing.

    Raises:
        Refusal: The locator means nothing here, or it is strict and there are several.
    """
    if locator is None:
        return []
    try:
        return look.locate(locator)
    except Refusal as refusal:
        if refusal.answer["reason"] == "stale":
            return []
        raise


def _same(expected: Any, actual: Any) -> Verdict:
    return {"holds": actual == expected, "expected": expected, "actual": actual}


def _judge(look: Look, condition: str, value: Any, found: list[Node]) -> Verdict:
    if condition == "count":
        return _same(value, len(found))
    if condition == "state":
        return {"holds": _ON_STATE[value](found), "expected": value, "actual": _state_of(found)}
    if condition in _ON_SCREEN:
        return _ON_SCREEN[condition](look, value, found)
    node = next((node for node in found if node.is_visible), found[0] if found else None)
    return _ON_ELEMENT[condition](look, node, value)


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


def _written(look: Look, node: Node) -> str:
    """The text that an element shows: of a field what it holds."""
    return shown(value_of(node)) if node.role in FIELDS else text_of(look.tree, node)


def _text(look: Look, node: Node | None, wanted: str) -> Verdict:
    return _same(normal(wanted), None if node is None else normal(_written(look, node)))


def _containing(look: Look, node: Node | None, wanted: str) -> Verdict:
    actual = None if node is None else _written(look, node)
    contained = actual is not None and normal(wanted).lower() in normal(actual).lower()
    return {
        "holds": contained, "expected": normal(wanted), "actual": None if actual is None else shown(actual),
    }  # fmt: skip


def _value(_: Look, node: Node | None, wanted: str) -> Verdict:
    if node is None:
        return {"holds": False, "expected": wanted, "actual": None}
    expected = MASK if node.secret else wanted
    return {"holds": holds(node, wanted), "expected": expected, "actual": shown(value_of(node))}


def _attribute(_: Look, node: Node | None, wanted: Mapping[str, Any]) -> Verdict:
    """An attribute as the platform's page source has it."""
    name, value = str(wanted["name"]), wanted.get("value")
    actual = None if node is None else node.attributes.get(name)
    is_hidden = node is not None and node.secret and name in _SECRET_ATTRIBUTES
    return {
        "holds": actual is not None if value is None else actual == value,
        "expected": f"{name} present" if value is None else MASK if is_hidden else value,
        "actual": None if actual is None else MASK if is_hidden else shown(actual),
    }


_ON_ELEMENT: dict[str, Callable[[Look, Node | None, Any], Verdict]] = {
    "visible": lambda _, node, wanted: _same(wanted, node is not None and node.is_visible),
    "enabled": lambda _, node, wanted: _same(wanted, None if node is None else node.enabled),
    "checked": lambda _, node, wanted: _same(wanted, None if node is None else node.checked is True),
    "text": _text,
    "containsText": _containing,
    "value": _value,
    "attribute": _attribute,
}


def _url(_: Look, wanted: str, __: list[Node]) -> Verdict:
    return _same(wanted, "")


def _title(look: Look, wanted: str, _: list[Node]) -> Verdict:
    actual = look.title
    return {"holds": wanted in actual or matches_glob(actual, wanted), "expected": wanted, "actual": shown(actual)}


def _page_text(look: Look, wanted: str, found: list[Node]) -> Verdict:
    text = text_of(look.tree, found[0] if found else None)
    return {"holds": normal(wanted).lower() in normal(text).lower(), "expected": normal(wanted), "actual": None}


_ON_SCREEN = {"url": _url, "title": _title, "pageText": _page_text}


def _near(look: Look, found: list[Node], locator: Mapping[str, Any] | None) -> list[str]:
    """The lines around an element; of the nearest candidates where there is none."""
    entries = look.entries
    if found:
        place = next((at for at, entry in enumerate(entries) if entry.node.within(found[0])), -1)
        if place >= 0:
            around = entries[max(0, place - _BEFORE) : place + _AFTER]
            return [look.line(entry.node) for entry in around]
    candidates = look.candidates(locator) if locator and not found else []
    return candidates or [look.line(entry.node) for entry in entries[:_TOP]]
