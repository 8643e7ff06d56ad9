"""Says whether an element can be acted on, where it is, and what stands in the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.snapshot.native.lines import value_of
from orchestrator.snapshot.native.locating import described
from orchestrator.snapshot.native.look import Look
from orchestrator.snapshot.native.node import FIELDS, TOGGLES, Box, Node
from orchestrator.snapshot.native.words import normal, quoted, shown

Failure = tuple[str, str]
"""A reason of the page engine's, and what it says in words."""
REASONS = [
    "not_a_frame", "hidden", "not_editable", "not_select", "no_file_input", "no_option", "disabled", "covered",
    "moving", "bad_value",
]  # fmt: skip
"""How near to ready a failure is: the nearest one is the one to report."""
FINAL = frozenset({"ambiguous", "bad_value", "invalid", "stale"})
"""What no waiting mends."""
_TRIES = 20
_YES, _NO = frozenset({"true", "on", "checked", "yes"}), frozenset({"false", "off", "unchecked", "no"})
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_KINDS = {"slider": "slider", "button": "button", "link": "button", "tab": "button", "menuitem": "button"}
_TYPED = frozenset({"text", "password"})
_CHOICE = frozenset({"combobox"})
_PERCENT = 100


@dataclass
class Wish:
    """What is asked of an element, and what was found out for it on the way.

    `still` says whether it has stood where it is for a moment.
    """

    need: str
    value: str
    still: Callable[[Node], bool]
    force: bool = False
    wanted: str | bool | None = None
    found: dict[str, Any] = field(default_factory=dict)


def ready(look: Look, locator: Mapping[str, Any], wish: Wish) -> tuple[Node | None, dict[str, Any]]:
    """One attempt on all matches: the first that can be acted on and its facts, else the failure nearest to it.

    Raises:
        Refusal: The locator means nothing here.
    """
    matches = look.locate(locator)
    if not matches:
        return None, {
            "ok": False, "reason": "not_found", "detail": f"nothing matches {described(locator)}", "matches": 0,
        }  # fmt: skip
    nearest: Failure | None = None
    outside: str | None = None
    for match in matches[:_TRIES]:
        node = _acted_on(look, match, wish)
        wish.found = {}
        failure = _CHECKS[wish.need](look, node, wish)
        if failure is None:
            return node, {**_facts(look, node, wish), "matches": len(matches)}
        if nearest is None or REASONS.index(failure[0]) > REASONS.index(nearest[0]):
            nearest = failure
            outside = _way(node.box, look.tree.window) if failure[0] == "hidden" and node.is_outside else None
    reason, detail = nearest or ("hidden", "")
    answer = {"ok": False, "reason": reason, "detail": detail, "matches": len(matches)}
    return None, answer if outside is None else {**answer, "outside": outside}


def kind_of(node: Node) -> str:
    """How an element is to be set."""
    if node.role in FIELDS:
        return "password" if node.secret else "text"
    if node.role == "radio":
        return "radio"
    if node.role in TOGGLES:
        return "checkbox"
    if node.role in _CHOICE:
        return "picker" if node.kind.endswith("PickerWheel") else "select"
    return "date" if node.kind.endswith("DatePicker") else _KINDS.get(node.role, "other")


def held(node: Node) -> str:
    """What an element holds, as it may be shown: a toggle its state."""
    return str(node.checked).lower() if node.checked is not None else shown(value_of(node))


def holds(node: Node, wanted: str | bool) -> bool:  # noqa: FBT001 (a value)
    """Whether an element holds a value; of a password only its length is known."""
    if isinstance(wanted, bool):
        return node.checked == wanted
    if node.secret:
        return len(node.value) == len(wanted)
    if node.checked is not None:
        return held(node) == wanted.lower() or normal(wanted) == node.name
    if kind_of(node) == "slider":
        now, aim = number(node.value), number(wanted)
        return now is not None and aim is not None and abs(now - _shown_as(node, aim)) <= 1
    return node.value.replace("\r\n", "\n") == wanted.replace("\r\n", "\n") or normal(node.value) == normal(wanted)


def number(text: str) -> float | None:
    """The number in a value such as 50%; None where there is none."""
    match = _NUMBER.search(text)
    return None if match is None else float(match[0])


def _shown_as(node: Node, aim: float) -> float:
    """A slider of iOS shows its place in percent and takes it as a share of one: either may be meant."""
    return aim * _PERCENT if node.value.endswith("%") and 0 < aim < 1 else aim


def _acted_on(look: Look, match: Node, wish: Wish) -> Node:
    """The element that is acted on, where another one was selected that stands for it."""
    if wish.need not in {"fill", "focus", "options"} or kind_of(match) != "other":
        return _radio_for(look, match, wish.value) if wish.need == "fill" and match.role == "radio" else match
    inside = [node for node in look.tree.inside(match) if kind_of(node) not in {"other", "button"} and node.is_visible]
    return inside[0] if len(inside) == 1 else match


def _group(look: Look, radio: Node) -> list[Node]:
    group = next((around for around in radio.around() if around.role == "radiogroup"), None)
    return [radio] if group is None else [node for node in look.tree.inside(group) if node.role == "radio"]


def _radio_for(look: Look, radio: Node, value: str) -> Node:
    """The radio of the group that `value` means by its label; the given one where it means none."""
    return next((node for node in _group(look, radio) if node.name == normal(value)), radio)


def _present(_: Look, __: Node, ___: Wish) -> Failure | None:
    return None


def _refuse_hidden(look: Look, node: Node, _: Wish) -> Failure | None:
    if node.is_visible:
        return None
    if not node.is_outside:
        return "hidden", f"{look.line_of(node)} is not visible"
    return "hidden", f"{look.line_of(node)} is outside the screen, {_way(node.box, look.tree.window)}: scroll to it"


def _way(box: Box, window: Box) -> str:
    """Where a box is that cannot be seen."""
    if box.top >= window.bottom:
        return "below"
    if box.bottom <= window.top:
        return "above"
    return "to the left" if box.right <= window.left else "to the right" if box.left >= window.right else "in a list"


def _refuse_unusable(look: Look, node: Node, wish: Wish) -> Failure | None:
    if refused := _refuse_hidden(look, node, wish):
        return refused
    if not node.enabled:
        return "disabled", f"{look.line_of(node)} is disabled"
    return None


def _refuse_unreachable(look: Look, node: Node, wish: Wish) -> Failure | None:
    """Finds the point at which a finger reaches it."""
    if refused := _refuse_unusable(look, node, wish):
        return refused
    if not wish.force:
        if refused := _refuse_covered(look, node):
            return refused
        if not wish.still(node):
            return "moving", f"{look.line_of(node)} is moving"
    wish.found["point"] = _free(look, node).centre
    return None


def _refuse_covered(look: Look, node: Node) -> Failure | None:
    if refused := _refuse_behind(look, node):
        return refused
    if not _free(look, node).has_area:
        return "covered", "covered by the keyboard"
    return None


def _refuse_behind(look: Look, node: Node) -> Failure | None:
    modal = look.tree.modal
    if modal is not None and not node.within(modal) and not _is_of_keyboard(look, node):
        return "covered", f"covered by {look.line_of(modal)}"
    return None


def _is_of_keyboard(look: Look, node: Node) -> bool:
    return look.tree.keyboard is not None and node.within(look.tree.keyboard)


def _free(look: Look, node: Node) -> Box:
    """What of it no keyboard covers."""
    keyboard = look.tree.keyboard
    if keyboard is None or node.within(keyboard) or keyboard.within(node) or not node.part.meet(keyboard.part).has_area:
        return node.part
    return node.part._replace(bottom=min(node.part.bottom, keyboard.part.top))


def _refuse_focus(look: Look, node: Node, wish: Wish) -> Failure | None:
    """A tap on the point gives it the focus, where `focused` says that it has none."""
    wish.found["focused"] = node.focused
    return _refuse_unreachable(look, node, wish)


def _refuse_fill(look: Look, node: Node, wish: Wish) -> Failure | None:
    kind = kind_of(node)
    if refused := _refuse_unusable(look, node, wish):
        return refused
    if kind in {"button", "other", "date"}:
        return "not_editable", f"{look.line_of(node)} takes no value"
    if kind in _TYPED:  # the driver finds it wherever it stands by then
        return _refuse_behind(look, node)
    fitting = _FITTING.get(kind)
    if fitting is not None and (refused := fitting(look, node, wish)):
        return refused
    return _refuse_unreachable(look, node, wish)


def _check(look: Look, node: Node, wish: Wish) -> Failure | None:
    said = wish.value.lower()
    if node.role == "radio" and normal(wish.value) == node.name:
        said = "true"
    if said not in _YES | _NO:
        return "bad_value", f"{look.line_of(node)} takes true or false"
    if node.role == "radio" and said in _NO:
        names = ", ".join(quoted(each.name) for each in _group(look, node))
        return "bad_value", f"{look.line_of(node)} is a radio, which only another one of its group unchecks: {names}"
    wish.wanted = said in _YES
    wish.found |= {"already": node.checked == wish.wanted, "mixed": False}
    return None


def _slide(look: Look, node: Node, wish: Wish) -> Failure | None:
    aim = number(wish.value)
    if aim is None:
        return "bad_value", f"{look.line_of(node)} takes a number"
    wish.found |= {"already": holds(node, wish.value), "now": number(node.value), "aim": _shown_as(node, aim)}
    return None


def _choose(_: Look, node: Node, wish: Wish) -> Failure | None:
    wish.found["already"] = holds(node, wish.value) or node.name == normal(wish.value)
    return None


def _refuse_options(look: Look, node: Node, wish: Wish) -> Failure | None:
    if kind_of(node) not in {"select", "picker"}:
        return "not_select", f"{look.line_of(node)} has no options"
    return _refuse_unreachable(look, node, wish)


def _no_frame(look: Look, node: Node, _: Wish) -> Failure | None:
    return "not_a_frame", f"{look.line_of(node)} is no frame"


def _no_files(look: Look, node: Node, _: Wish) -> Failure | None:
    return "no_file_input", f"{look.line_of(node)} takes no files"


_FITTING = {"checkbox": _check, "radio": _check, "slider": _slide, "select": _choose, "picker": _choose}
_CHECKS = {
    "present": _present, "visible": _refuse_hidden, "enabled": _refuse_unusable, "point": _refuse_unreachable,
    "fill": _refuse_fill, "focus": _refuse_focus, "options": _refuse_options, "frame": _no_frame, "files": _no_files,
}  # fmt: skip


def _facts(look: Look, node: Node, wish: Wish) -> dict[str, Any]:
    found = dict(wish.found)
    part = node.part if node.part.has_area else node.box
    x, y = found.pop("point", None) or part.centre
    width, height = node.box.size
    return {
        "ok": True, "x": x, "y": y, "width": width, "height": height, "ref": look.refs.ref(node),
        "line": look.line_of(node), "role": node.role or "generic", "name": shown(node.name), "tag": node.kind,
        "kind": kind_of(node), "empty": not node.value, "checked": node.checked, "path": [], **found,
    }  # fmt: skip
