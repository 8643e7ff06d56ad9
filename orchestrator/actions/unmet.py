"""Says why an element did not come to what was needed, as the error for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.actions.deadline import Deadline
from orchestrator.errors import (
    ElementNotFound,
    InvalidArgument,
    NotActionable,
    OrchestratorError,
    StaleRef,
    quoted,
)
from orchestrator.models import SessionRecord
from orchestrator.selector import Selector

FORMS = "Use a ref, CSS, XPath, text=…, label=… or role=button[name=…]."
"""What to do where a selector is none."""


def unmet(
    selector: Selector, answer: Mapping[str, Any], record: SessionRecord, deadline: Deadline
) -> OrchestratorError:
    """The error for an element that did not come to what was needed."""
    given, reason, detail = selector.given, answer.get("reason"), str(answer.get("detail") or "")
    candidates = list(answer.get("candidates") or [])
    near: dict[str, Any] = {"candidates": candidates} if candidates else {}
    if reason == "invalid":
        return InvalidArgument(f"{quoted(given)} is not a valid selector: {detail}.", hint=FORMS)
    if reason == "bad_value":
        return InvalidArgument(f"{quoted(given)} cannot hold that: {detail}.", hint="Nothing was changed.")
    if reason == "stale":
        never = selector.ref is not None and selector.ref >= record.ref_next
        what = "was never given in this session" if never else "no longer names an element of this page"
        return StaleRef(
            f"Ref {quoted(given)} {what}.", hint="Call get_visible_elements and use a ref from its outline."
        )
    if reason == "not_found":
        why = f": {detail}" if "frame" in detail and ">>" in given else ""
        return ElementNotFound(
            f"No element matches {quoted(given)} (waited {deadline.elapsed_ms} ms){why}.",
            hint="Call get_visible_elements to see what is there.",
            **near,
        )
    return NotActionable(
        f"{quoted(given)} cannot be acted on: {detail or reason}.", hint=_MENDS.get(str(reason), ""), **near
    )


_MENDS = {
    "not_a_frame": "Give an iframe; get_visible_elements lists them.",
    "covered": "Close or move what covers it, or scroll.",
    "disabled": "Do first what enables it, or wait_for it with state enabled.",
    "hidden": "Do first what shows it.",
    "moving": "Wait for the animation to end, or raise timeout.",
    "readonly": "It takes no typing: where it opens a picker, click it and choose there.",
    "is_file": "Use upload_files.",
    "no_file_input": "Give the selector of the input[type=file] itself; it may be hidden.",
    "not_editable": "set_value fills fields and sets controls; use click_element for the rest.",
    "not_select": "Click it, then click its option.",
    "no_option": "Give the value or label of one of its options.",
    "ambiguous": "This session is strict: use a ref, or a selector that finds one element only.",
}
