"""Answers of the page engine about a press and a drop."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.snapshot.answers import Line


class PressedAnswer(TypedDict):
    """`pressed`, `arrived`: what the pointer met instead of the element it was meant for; `moved` if that moved away.

    `lost` if nothing in the page heard of the press, `held` if nothing heard of its release. `leaves` if the page is
    about to be replaced or closed, `begun` if a navigation has begun. `cover` took what was dropped, in front of the
    target.
    """

    missed: NotRequired[Line]
    moved: NotRequired[Literal[True]]
    lost: NotRequired[Literal[True]]
    held: NotRequired[Literal[True]]
    leaves: NotRequired[Literal[True]]
    begun: NotRequired[Literal[True]]
    cover: NotRequired[Line]


class DroppedAnswer(TypedDict):
    """`dropped`: `untrusted` if a drag was ended by events of ours, since the browser had not ended it."""

    untrusted: NotRequired[Literal[True]]
