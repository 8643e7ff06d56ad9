"""The focus of a page, where keys go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.automation.browser.element_errors import NAME_THE_FRAME
from orchestrator.automation.browser.frames import FrameStep
from orchestrator.automation.browser.sites import is_same_site
from orchestrator.automation.scene import Scene
from orchestrator.errors import NotActionable, TimedOut
from orchestrator.snapshot.focus_answers import FocusedAnswer
from orchestrator.snapshot.methods import FOCUSED
from orchestrator.snapshot.web.page import Interrupted

_TRIES = 5
"""Walks to the frame with the focus, when frames go away meanwhile."""


@contextmanager
def focused_frame(scene: Scene) -> Iterator[FocusedAnswer]:
    """Make the frame that has the focus current for a block.

    Raises:
        NotActionable: It is a frame of another site, which the session has not switched to.
    """
    try:
        yield _find_focus(scene)
    finally:
        scene.finder.frames.switch_back()


def _find_focus(scene: Scene) -> FocusedAnswer:
    frames, named = scene.finder.frames, scene.record.frame
    for _ in range(_TRIES):
        try:
            frames.switch(())
            place = scene.query_page(FOCUSED)
            while (frame := place.get("frame")) is not None:
                around, step = place["origin"], FrameStep.from_facts(frame)
                frames.switch((*frames.current_path, step))
                place = scene.query_page(FOCUSED)
                # As for an element in a frame, see `Finder`: such a frame can show any field, and take the focus.
                if step.ref not in named and not is_same_site(around, place["origin"]):
                    raise NotActionable(
                        f"The focus is in a frame of another site, {place['origin']}; nothing was pressed.",
                        hint=f"{NAME_THE_FRAME} To leave it: press_keys Tab or Escape, or click_element.",
                    )
        except Interrupted:
            continue
        else:
            return place
    raise TimedOut("The page keeps replacing the frame that has the focus.", hint="Give the selector of the field.")
