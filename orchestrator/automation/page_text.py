"""The visible text of a page and its frames, cut to fit a result."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from orchestrator.automation.browser.element_errors import expect_found
from orchestrator.automation.browser.frames import FrameStep
from orchestrator.automation.scene import Scene
from orchestrator.errors import PlaceGone
from orchestrator.snapshot.answers import TextAnswer
from orchestrator.snapshot.methods import TEXT
from orchestrator.snapshot.web.page import Interrupted


def text_of_page(scene: Scene, ignore: list[dict[str, Any]]) -> str:
    """The visible text of the page or the current frame, without the elements that `ignore` locates."""
    return visible_text(scene, None, ignore=ignore)[0]


def visible_text(scene: Scene, selector: str | None, **asked: Any) -> tuple[str, TextAnswer]:
    """Read the visible text of the page or of an element; returns it with the page's answer."""
    if selector is None and not scene.finder.is_inside_frame:
        found = expect_found(scene.query_page(TEXT, **asked))
        return _with_frames(scene, found), found
    with scene.finder.querying_element(selector, TEXT, scene.seconds(None), **asked) as found:
        return _with_frames(scene, found), found


def _with_frames(scene: Scene, found: TextAnswer) -> str:
    """The answer's text, with the texts of frames of other origins inserted at their frames."""
    text = found["text"]
    # From the last frame to the first, so that the positions of earlier ones stay valid.
    for frame in reversed(found["frames"]):
        with suppress(Interrupted, PlaceGone), scene.finder.frames.in_frame(FrameStep.from_facts(frame)):
            answer = expect_found(scene.page.call(TEXT))
            inner = _with_frames(scene, answer) + ("\n…" if answer["more"] else "")
            parts = (text[: frame["at"]].rstrip(), inner, text[frame["at"] :].lstrip("\n"))
            text = "\n".join(part for part in parts if part)
    return text


def cut_text(text: str, scene: Scene, *, more: bool) -> tuple[str, str | None]:
    """The beginning of a text that fits into a result, also as JSON, and how to get the rest.

    With `more`, the page has cut the text already.
    """
    room, longest = scene.settings.body_room, scene.redactor.longest
    is_whole = len(text) <= room and not more
    kept = scene.redactor.beginning(text, min(room, len(text) - longest + 1) if more else room)
    shown = len(kept)
    while (size := len(json.dumps(kept[:shown], ensure_ascii=False))) > room and shown > 1:
        shown = max(1, shown * room // size - 1)
    rest = (len(kept) if is_whole else len(text)) - shown
    if rest <= 0 and not more:
        return kept, None
    number = f"more than {rest}" if more else f"{rest} more"
    return kept[:shown], f"Cut: {number} characters{' follow' if more else ''}. Give a selector for a smaller part."
