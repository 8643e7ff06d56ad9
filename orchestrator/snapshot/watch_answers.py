"""The answers of the page engine about times: its clock, and when conditions began to hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from orchestrator.snapshot.answers import Count, Number, NumberPair, PageAddress


class ClockAnswer(TypedDict):
    """`clock`: the time in this document, in milliseconds since its navigation began.

    `document` is a number of the document, another one for each; `acted` is when somebody last acted in it.
    """

    now: Number
    document: Number
    acted: Number | None


class WatchState(TypedDict):
    """A watch: whether its conditions hold, and when they began to: how often, and the last of these times.

    Each time is the earliest and the latest one that it can have been.
    """

    holds: bool
    count: Count
    rises: Annotated[list[NumberPair], Field(max_length=50)]


class WatchAnswer(ClockAnswer, PageAddress):
    """`watchFor`: the state of each watch."""

    states: list[WatchState]
