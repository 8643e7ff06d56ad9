"""The answers of the page engine about the focus, and about what was typed into it."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from orchestrator.snapshot.answers import FrameAddress, Text


class FocusedAnswer(TypedDict):
    """`focused`: where the focus is in a page and its frames of the same origin.

    `origin` is that of the page's URL; `owner` that of the document that has the focus, as browsers compare origins,
    `null` for one of its own. `kind` is that of a field which takes text, else empty; `frame` the way to the frame of
    another origin that has the focus.
    """

    origin: Text
    owner: Text
    kind: str
    secret: bool
    frame: NotRequired[FrameAddress]


class TypedAnswer(TypedDict):
    """`typed`: `taken` if the field took the focus and the text; `same` if it holds that now, or is gone."""

    taken: bool
    same: bool
