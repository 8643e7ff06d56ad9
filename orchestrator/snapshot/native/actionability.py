"""Checks if an element can be acted on; finds its clickable point or names the obstacle."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.snapshot.answers import ControlFacts, ReadyAnswer, RefusedAnswer
from orchestrator.snapshot.native.locating import describe_locator
from orchestrator.snapshot.native.node import FIELDS, TOGGLES, Node, ScreenBox
from orchestrator.snapshot.native.screen_snapshot import ScreenSnapshot
from orchestrator.snapshot.native.text import format_line, normalize_space, quoted, shorten, value_of

Failure = tuple[str, str]
"""A reason in the words of the page engine, and the same as a sentence."""
REASONS = [
    "not_a_frame", "hidden", "not_editable", "not_select", "no_file_input", "no_option", "disabled", "covered",
    "moving", "bad_value",
]  # fmt: skip
"""Reasons from far to near: of several failures the one nearest to ready is reported."""
FINAL = frozenset({"ambiguous", "bad_value", "changed", "invalid", "stale"})
"""Reasons that no waiting changes."""
_TRIES = 20
_YES, _NO = frozenset({"true", "on", "checked", "yes"}), frozenset({"false", "off", "unchecked", "no"})
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_KINDS = {"slider": "slider", "button": "button", "link": "button", "tab": "button", "menuitem": "button"}
_TYPED = frozenset({"text", "password"})
_CHOICE = frozenset({"combobox"})
_PERCENT = 100


@dataclass
class ActionabilityCheck:
    """A need of the caller, and what is learned about an element while it is checked.

    Attributes:
        still: Returns True if an element has kept its position for a moment.
        wanted: The value that the control should hold afterwards.
        facts: The part of the answer that only this need has.
        point: The clickable point.
    """

    need: str
    value: str
    still: Callable[[Node], bool]
    force: bool = False
    wanted: str | bool | None = None
    facts: ControlFacts = field(default_factory=ControlFacts)
    point: tuple[int, int] | None = None


def find_actionable(
    screen: ScreenSnapshot, locator: Mapping[str, Any], check: ActionabilityCheck
) -> tuple[Node | None, ReadyAnswer | RefusedAnswer]:
    """Try all matches once: return the first that can be acted on with its facts, else the failure nearest to ready.

    Raises:
        Refusal: The locator means nothing here.
    """
    matches = screen.locate(locator)
    if not matches:
        return None, {
            "ok": False, "reason": "not_found", "detail": f"nothing matches {describe_locator(locator)}", "matches": 0,
        }  # fmt: skip
    is_ref, is_act = locator["by"] == "ref", check.need not in {"present", "frame"}
    if is_ref and is_act:
        screen.check_told(matches[0], str(locator["value"]))
    nearest: Failure | None = None
    outside: str | None = None
    for match in matches[:_TRIES]:
        node = _acted_on(screen, match, check)
        check.facts, check.point = {}, None
        failure = _CHECKS[check.need](screen, node, check)
        if failure is None:
            found = _ready_answer(screen, node, check, len(matches), is_told=is_ref)
            if is_act:
                screen.refs.told.note_act(int(found["ref"][1:]))
            return node, found
        if nearest is None or REASONS.index(failure[0]) > REASONS.index(nearest[0]):
            nearest = failure
            outside = _direction(node.box, screen.tree.window) if failure[0] == "hidden" and node.is_outside else None
    reason, detail = nearest or ("hidden", "")
    answer: RefusedAnswer = {"ok": False, "reason": reason, "detail": detail, "matches": len(matches)}
    return None, answer if outside is None else {**answer, "outside": outside}


def control_kind(node: Node) -> str:
    """Return the kind of control that an element is, as `ready` names it."""
    if node.role in FIELDS:
        return "password" if node.secret else "text"
    if node.role == "radio":
        return "radio"
    if node.role in TOGGLES:
        return "checkbox"
    if node.role in _CHOICE:
        return "picker" if node.class_name.endswith("PickerWheel") else "select"
    return "date" if node.class_name.endswith("DatePicker") else _KINDS.get(node.role, "other")


def shown_value(node: Node) -> str:
    """Return the value of an element as it may be shown; for a toggle its state."""
    return str(node.checked).lower() if node.checked is not None else shorten(value_of(node))


def holds_value(node: Node, wanted: str | bool) -> bool:  # noqa: FBT001 (a value)
    """Return True if an element holds a value; only the length of a password is known."""
    if isinstance(wanted, bool):
        return node.checked == wanted
    if node.secret:
        return len(node.value) == len(wanted)
    if node.checked is not None:
        return shown_value(node) == wanted.lower() or normalize_space(wanted) == node.name
    if control_kind(node) == "slider":
        now, aim = number(node.value), number(wanted)
        return now is not None and aim is not None and abs(now - _shown_as(node, aim)) <= 1
    return node.value.replace("\r\n", "\n") == wanted.replace("\r\n", "\n") or normalize_space(
        node.value
    ) == normalize_space(wanted)


def number(text: str) -> float | None:
    """Return the number in a value such as 50%, or None."""
    match = _NUMBER.search(text)
    return None if match is None else float(match[0])


def _shown_as(node: Node, aim: float) -> float:
    """Return a slider's value as the slider shows it: iOS shows percent and takes a share of one."""
    return aim * _PERCENT if node.value.endswith("%") and 0 < aim < 1 else aim


def _acted_on(screen: ScreenSnapshot, match: Node, check: ActionabilityCheck) -> Node:
    """Return the element to act on: the selected one, or the control that it stands for."""
    if check.need not in {"fill", "focus", "options"} or control_kind(match) != "other":
        return _radio_for(screen, match, check.value) if check.need == "fill" and match.role == "radio" else match
    inside = [
        node for node in screen.tree.inside(match) if control_kind(node) not in {"other", "button"} and node.is_visible
    ]
    return inside[0] if len(inside) == 1 else match


def _group(screen: ScreenSnapshot, radio: Node) -> list[Node]:
    group = next((around for around in radio.ancestors() if around.role == "radiogroup"), None)
    return [radio] if group is None else [node for node in screen.tree.inside(group) if node.role == "radio"]


def _radio_for(screen: ScreenSnapshot, radio: Node, value: str) -> Node:
    """Return the radio of the group that has `value` as its label, else the given one."""
    return next((node for node in _group(screen, radio) if node.name == normalize_space(value)), radio)


def _present(_: ScreenSnapshot, __: Node, ___: ActionabilityCheck) -> Failure | None:
    return None


def _refuse_hidden(screen: ScreenSnapshot, node: Node, _: ActionabilityCheck) -> Failure | None:
    if node.is_visible:
        return None
    if not node.is_outside:
        return "hidden", f"{screen.line_with_ref(node)} is not visible"
    return (
        "hidden",
        f"{screen.line_with_ref(node)} is outside the screen, {_direction(node.box, screen.tree.window)}: scroll to it",
    )


def _direction(box: ScreenBox, window: ScreenBox) -> str:
    """Return the direction in which an invisible box lies."""
    if box.top >= window.bottom:
        return "below"
    if box.bottom <= window.top:
        return "above"
    return "to the left" if box.right <= window.left else "to the right" if box.left >= window.right else "in a list"


def _refuse_unusable(screen: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    if refused := _refuse_hidden(screen, node, check):
        return refused
    if not node.enabled:
        return "disabled", f"{screen.line_with_ref(node)} is disabled"
    return None


def _refuse_unreachable(screen: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    """Set the point at which a finger reaches the element."""
    if refused := _refuse_unusable(screen, node, check):
        return refused
    if not check.force:
        if refused := _refuse_covered(screen, node):
            return refused
        if not check.still(node):
            return "moving", f"{screen.line_with_ref(node)} is moving"
    check.point = _uncovered(screen, node).centre
    return None


def _refuse_covered(screen: ScreenSnapshot, node: Node) -> Failure | None:
    if refused := _refuse_behind(screen, node):
        return refused
    if not _uncovered(screen, node).has_area:
        return "covered", "covered by the keyboard"
    return None


def _refuse_behind(screen: ScreenSnapshot, node: Node) -> Failure | None:
    modal = screen.tree.modal
    if modal is not None and not node.within(modal) and not _is_of_keyboard(screen, node):
        return "covered", f"covered by {screen.line_with_ref(modal)}"
    return None


def _is_of_keyboard(screen: ScreenSnapshot, node: Node) -> bool:
    return screen.tree.keyboard is not None and node.within(screen.tree.keyboard)


def _uncovered(screen: ScreenSnapshot, node: Node) -> ScreenBox:
    """Return the part of the element that no keyboard covers."""
    keyboard = screen.tree.keyboard
    if (
        keyboard is None
        or node.within(keyboard)
        or keyboard.within(node)
        or not node.visible_box.intersection(keyboard.visible_box).has_area
    ):
        return node.visible_box
    return node.visible_box._replace(bottom=min(node.visible_box.bottom, keyboard.visible_box.top))


def _refuse_focus(screen: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    """Set `focused`, and the point at which a tap gives the element the focus."""
    check.facts["focused"] = node.focused
    return _refuse_unreachable(screen, node, check)


def _refuse_fill(screen: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    kind = control_kind(node)
    if refused := _refuse_unusable(screen, node, check):
        return refused
    if kind in {"button", "other", "date"}:
        return "not_editable", f"{screen.line_with_ref(node)} takes no value"
    if kind in _TYPED:  # the driver finds it wherever it stands by then
        return _refuse_behind(screen, node)
    fitting = _FITTING.get(kind)
    if fitting is not None and (refused := fitting(screen, node, check)):
        return refused
    return _refuse_unreachable(screen, node, check)


def _refuse_toggle_value(screen: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    state = check.value.lower()
    if node.role == "radio" and normalize_space(check.value) == node.name:
        state = "true"
    if state not in _YES | _NO:
        return "bad_value", f"{screen.line_with_ref(node)} takes true or false"
    if node.role == "radio" and state in _NO:
        names = ", ".join(quoted(each.name) for each in _group(screen, node))
        return (
            "bad_value",
            f"{screen.line_with_ref(node)} is a radio, which only another one of its group unchecks: {names}",
        )
    check.wanted = state in _YES
    check.facts.update({"already": node.checked == check.wanted, "mixed": False})
    return None


def _refuse_slider_value(screen: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    aim = number(check.value)
    if aim is None:
        return "bad_value", f"{screen.line_with_ref(node)} takes a number"
    already = holds_value(node, check.value)
    check.facts.update({"already": already, "now": number(node.value), "aim": _shown_as(node, aim)})
    return None


def _choose(_: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    check.facts["already"] = holds_value(node, check.value) or node.name == normalize_space(check.value)
    return None


def _refuse_options(screen: ScreenSnapshot, node: Node, check: ActionabilityCheck) -> Failure | None:
    if control_kind(node) not in {"select", "picker"}:
        return "not_select", f"{screen.line_with_ref(node)} has no options"
    return _refuse_unreachable(screen, node, check)


def _no_frame(screen: ScreenSnapshot, node: Node, _: ActionabilityCheck) -> Failure | None:
    return "not_a_frame", f"{screen.line_with_ref(node)} is not a frame"


def _no_files(screen: ScreenSnapshot, node: Node, _: ActionabilityCheck) -> Failure | None:
    return "no_file_input", f"{screen.line_with_ref(node)} takes no files"


_FITTING = {
    "checkbox": _refuse_toggle_value,
    "radio": _refuse_toggle_value,
    "slider": _refuse_slider_value,
    "select": _choose,
    "picker": _choose,
}
_CHECKS = {
    "present": _present, "visible": _refuse_hidden, "enabled": _refuse_unusable, "point": _refuse_unreachable,
    "fill": _refuse_fill, "focus": _refuse_focus, "options": _refuse_options, "frame": _no_frame, "files": _no_files,
}  # fmt: skip


def _ready_answer(
    screen: ScreenSnapshot, node: Node, check: ActionabilityCheck, matches: int, *, is_told: bool
) -> ReadyAnswer:
    part = node.visible_box if node.visible_box.has_area else node.box
    x, y = check.point or part.centre
    width, height = node.box.size
    line = screen.line_with_ref(node) if is_told else format_line(node, screen.refs.ref(node))
    return {
        "ok": True, "x": x, "y": y, "width": width, "height": height, "matches": matches,
        "ref": screen.refs.ref(node), "line": line, "role": node.role or "generic",
        "name": shorten(node.name), "tag": node.class_name, "kind": control_kind(node), "empty": not node.value,
        "checked": node.checked, "path": [], "origin": "", **check.facts,
    }  # fmt: skip
