"""Answers of the page engine about changes of the page: marks, differences, settling."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from orchestrator.snapshot.answers import Count, Line, PageAddress, Text


class MarkAnswer(PageAddress):
    """`mark`: the page before something is done to it, and how many lines it has.

    `digest` and `saved`, the first lines, are there with `keep`: the page forgets them when it is left.
    """

    lines: Count
    digest: NotRequired[Annotated[str, Field(max_length=20_000)]]
    saved: NotRequired[Annotated[list[Line], Field(max_length=300)]]


ChangedText = TypedDict("ChangedText", {"from": Text, "to": Text})
"""A URL or title before and after."""


class RefusedField(TypedDict):
    """A field for which the browser refused a form, by its name or line, and the browser's sentence."""

    field: Line
    message: Line


class DeltaAnswer(TypedDict):
    """`delta`: what differs from a mark, in a new document from the one before.

    `kept` counts lines of a new document that are as they were; `gone` are places in the digest of the one before;
    `cameAndWent` are messages that were shown since the mark and are gone.
    """

    sameDocument: bool
    now: PageAddress
    url: ChangedText | None
    title: ChangedText | None
    redrawn: Count
    invalid: list[RefusedField]
    appeared: list[Line]
    disappeared: list[Line]
    gone: NotRequired[list[Count]]
    kept: NotRequired[Count]
    cameAndWent: NotRequired[list[Line]]
    changed: list[Line]
    more: Count | None


class SettledAnswer(TypedDict):
    """`settle`: nothing is left to wait for; with a `limit` also what differs, and the milliseconds that took."""

    settled: Literal[True]
    quietFor: Count
    delta: NotRequired[DeltaAnswer]
    deltaMs: NotRequired[Count]


class UnsettledAnswer(TypedDict):
    """`settle`: the slice of time is over, and what goes on, in words."""

    settled: Literal[False]
    quietFor: Count
    reason: Text


SettleAnswer: TypeAlias = Annotated[SettledAnswer | UnsettledAnswer, Field(discriminator="settled")]
"""`settle`."""
