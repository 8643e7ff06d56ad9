"""The answers of the page engine about the focus, and about what was typed into it."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from orchestrator.snapshot.answers import FrameAddress, HeldAnswer, Line, Text


class FocusedAnswer(TypedDict):
    """`focused`: where the focus is in a page and its frames of the same origin.

    `origin` is that of the page's URL; `owner` that of the document that has the focus, as browsers compare origins,
    `null` for one of its own. `kind` is that of a field which takes text, else empty; `frame` the way to the frame of
    another origin that has the focus; `code` if it is a box of a code, which takes one character.
    """

    origin: Text
    owner: Text
    kind: str
    secret: bool
    code: NotRequired[bool]
    frame: NotRequired[FrameAddress]


class TypedAnswer(TypedDict):
    """`typed`: `taken` if the field took the focus and the text; `same` if it holds that now, or is gone."""

    taken: bool
    same: bool


class CodeBoxAnswer(TypedDict):
    """`codeBox`: `ok` if a further box of a code gets the next key.

    Else `elsewhere` is the line of what has the focus instead, `gone` if the boxes left the document. `room` is
    the number of boxes from the first on.
    """

    ok: bool
    gone: NotRequired[bool]
    elsewhere: NotRequired[Line]
    room: int


class CodeHeldAnswer(HeldAnswer):
    """`codeHeld`: what the boxes of a code hold.

    `arrived` counts the characters that are there, `wrong` is the place of the first box that holds another one, `line`
    that of what has the focus.
    """

    arrived: int
    wrong: NotRequired[int]
    line: NotRequired[Line]
