"""The answers of the page engine about the accessibility of a page."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from orchestrator.snapshot.answers import Count, FrameAddress, FramePath, Line, PageAddress, Ref

RuleId: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
"""The id of a rule of axe-core, or one of its tags."""


class AuditFrame(FrameAddress):
    """A visible frame in the part of a page to check; `closed` if it is of another origin."""

    line: Line
    closed: bool


class AuditWayAnswer(PageAddress):
    """`audit`: the way to the document of what is to be checked, and to the frames in it."""

    matches: Count
    path: FramePath
    frames: list[AuditFrame]


class AuditedElementFacts(TypedDict):
    """An element that breaks a rule, and how."""

    ref: Ref
    line: Line
    problem: Line


class ViolationFacts(TypedDict):
    """A rule that `total` elements of a document break, and the first of them."""

    rule: RuleId
    impact: Literal["critical", "serious", "moderate", "minor"]
    help: Line
    helpUrl: Annotated[str, Field(max_length=300, pattern=r"^https://[!-~]+$")]
    total: Count
    elements: list[AuditedElementFacts]


class AuditedAnswer(TypedDict):
    """Results of axe-core for a document: rules that are broken, kept, left to a human, and skipped as too slow."""

    version: RuleId
    skipped: list[RuleId]
    passed: list[RuleId]
    incomplete: list[RuleId]
    violations: list[ViolationFacts]


class UnknownRuleAnswer(TypedDict):
    """The rule or tag that axe-core does not have, and those that it has."""

    unknown: str
    known: list[RuleId]
