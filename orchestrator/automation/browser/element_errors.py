"""Errors for elements that were not found or cannot be acted on."""

from __future__ import annotations

from typing import Any

from orchestrator.automation.browser.selector import Selector
from orchestrator.errors import (
    ElementNotFound,
    InvalidArgument,
    NavigationWaits,
    NotActionable,
    OrchestratorError,
    StaleRef,
    quoted,
)
from orchestrator.models.session import SessionRecord
from orchestrator.snapshot.answers import CrossOriginAnswer, RefusedAnswer
from orchestrator.snapshot.methods import FoundT, is_cross_origin, is_refused
from orchestrator.system.deadline import Deadline

SELECTOR_HINT = "Use a ref, CSS, XPath, text=…, label=… or role=button[name=…]."
"""Hint for an invalid selector."""


def element_error(
    selector: Selector, answer: RefusedAnswer, record: SessionRecord, deadline: Deadline
) -> OrchestratorError:
    """The error for the page's answer about an element that did not become ready."""
    given, reason, detail = selector.given, answer["reason"], answer["detail"]
    candidates = answer.get("candidates", [])
    near: dict[str, Any] = {"candidates": candidates} if candidates else {}
    if reason == "invalid":
        return InvalidArgument(f"{quoted(given)} is not a valid selector: {detail}.", hint=SELECTOR_HINT)
    if reason == "bad_value":
        return InvalidArgument(f"{quoted(given)} cannot hold that: {detail}.", hint="Nothing was changed.")
    if reason in {"stale", "changed"}:
        return _stale_ref(selector, answer, record)
    if reason == "leaving":
        return NavigationWaits(detail)
    if reason == "not_found":
        reason = f": {detail}" if "frame" in detail and ">>" in given else ""
        return ElementNotFound(
            f"No element matches {quoted(given)} (waited {deadline.elapsed_ms} ms){reason}.",
            hint="Call get_visible_elements to see what is there.",
            **near,
        )
    return NotActionable(
        f"{quoted(given)} cannot be acted on: {detail or reason}.", hint=_HINTS.get(reason, ""), **near
    )


def _stale_ref(selector: Selector, answer: RefusedAnswer, record: SessionRecord) -> StaleRef:
    """The error for a ref whose element is gone, or another thing than its caller was told."""
    if answer["reason"] == "changed":
        instead = answer.get("instead")
        hint = f"It is {instead} now: use that." if instead else _NO_SUCH_THING
        return StaleRef(f"{answer['detail']}.", hint=hint)
    never = selector.ref is not None and selector.ref >= record.ref_next
    problem = "was never given in this session" if never else "no longer names an element of this page"
    return StaleRef(
        f"Ref {quoted(selector.given)} {problem}.", hint="Call get_visible_elements and use a ref from its outline."
    )


def expect_found(answer: FoundT | RefusedAnswer | CrossOriginAnswer) -> FoundT:
    """Return an answer that needs no waiting: its locator, if there is one, was found a moment ago.

    Raises:
        ElementNotFound: The element went away meanwhile.
    """
    if is_refused(answer):
        raise ElementNotFound(f"The page changed meanwhile: {answer['detail']}.", hint=_LOOK_AGAIN)
    if is_cross_origin(answer):
        raise ElementNotFound("The page changed meanwhile: the element is in another frame.", hint=_LOOK_AGAIN)
    return answer


_NO_SUCH_THING = "No other element has that name now, or several have it: look with get_visible_elements."
_LOOK_AGAIN = "Call get_visible_elements to see what is there."

NAME_THE_FRAME = "If it is meant, pass its ref, or name the frame: FRAME >> SELECTOR."
"""Hint for what is typed into a frame of another site."""

_HINTS = {
    "other_site": NAME_THE_FRAME,
    "other_site_so_far": NAME_THE_FRAME,
    "not_a_frame": "Give an iframe; get_visible_elements lists them.",
    "covered": "Close or move what covers it, or scroll.",
    "drawn": "Press keys in it (press_keys Enter), or click its place on the canvas.",
    "disabled": "Enable it first, or wait_for it with state enabled.",
    "hidden": "Make it visible first.",
    "outside": "Scroll to it first, or omit scrollToView.",
    "moving": "Wait for the animation to end, or raise timeout.",
    "starting": "Wait until it shows its content, or raise timeout: what is typed before that would be lost.",
    "readonly": "It takes no typing: if it opens a picker, click it and choose there.",
    "is_file": "Use upload_files.",
    "no_file_input": "Give the selector of the input[type=file] itself; it may be hidden.",
    "no_field": "Click it with click_element; if that opens a field, fill that one; if a list, click its option.",
    "not_editable": "set_value fills fields and sets controls; use click_element for the rest.",
    "not_select": "Click it, then click its option.",
    "no_option": "Give the value or label of one of its options.",
    "several_options": "Give the group, too, as in Group > Option, or the value.",
    "ambiguous": "This session is strict: use a ref, or a selector that finds one element only.",
}
