"""The methods of the page engine and of an app's screen, with the types of their answers."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter
from typing_extensions import TypeForm, TypeIs

from orchestrator.errors import PressMissed
from orchestrator.snapshot.answers import (
    AssignAnswer,
    BoxesAnswer,
    CrossOriginAnswer,
    EditingAnswer,
    FileInputAnswer,
    FrameWayAnswer,
    HeldAnswer,
    LoadedAnswer,
    MarkedAnswer,
    OfferedAnswer,
    OutwardsAnswer,
    ReadyAnswer,
    RefusedAnswer,
    ReturnedAnswer,
    ScriptAnswer,
    ScrolledAnswer,
    ScrollInfoAnswer,
    ShotAnswer,
    SliderAnswer,
    SnapshotAnswer,
    SourceAnswer,
    StateAnswer,
    SurplusAnswer,
    TakenAnswer,
    TextAnswer,
    TogglesAnswer,
    UploadedAnswer,
    ViewAnswer,
    WaitAnswer,
)
from orchestrator.snapshot.audit_answers import AuditedAnswer, AuditWayAnswer, UnknownRuleAnswer
from orchestrator.snapshot.change_answers import DeltaAnswer, MarkAnswer, SettleAnswer
from orchestrator.snapshot.focus_answers import CodeBoxAnswer, CodeHeldAnswer, FocusedAnswer, TypedAnswer
from orchestrator.snapshot.press_answers import DroppedAnswer, PressedAnswer
from orchestrator.snapshot.watch_answers import ClockAnswer, WatchAnswer

AnswerT = TypeVar("AnswerT")
FoundT = TypeVar("FoundT")


class PageMethod(Generic[AnswerT]):
    """A method by its name on the wire, with the type that its answers are checked against.

    Args:
        name: The name that the engine has for it.
        answer: The type of its answer.
    """

    def __init__(self, name: str, answer: TypeForm[AnswerT]) -> None:
        self.name = name
        self._type = answer

    def read(self, facts: dict[str, Any]) -> AnswerT:
        """Return the answer once it is checked.

        Raises:
            ValidationError: It does not fit the type.
        """
        return self._adapter.validate_python(facts, strict=True)

    @cached_property
    def _adapter(self) -> TypeAdapter[AnswerT]:
        """The validator, built with the method's first answer."""
        return TypeAdapter(self._type)


class LocatingMethod(PageMethod[FoundT | RefusedAnswer | CrossOriginAnswer], Generic[FoundT]):
    """A method that takes a locator: it may find nothing usable, or a frame in which another engine goes on."""

    def __init__(self, name: str, answer: TypeForm[FoundT]) -> None:
        super().__init__(name, answer)

    def read(self, facts: dict[str, Any]) -> FoundT | RefusedAnswer | CrossOriginAnswer:
        """Return the answer once it is checked against the type of its own kind.

        Raises:
            ValidationError: It does not fit.
        """
        if "crossOrigin" in facts:
            return _CROSS_ORIGIN.read(facts)
        if facts.get("ok") is False and "reason" in facts:
            return _REFUSED.read(facts)
        return super().read(facts)


class PressMethod(PageMethod[PressedAnswer]):
    """Tells where a press arrived; if it missed, the call that it is sent with is not made."""

    def read(self, facts: dict[str, Any]) -> PressedAnswer:
        """Return the answer once it is checked.

        Raises:
            ValidationError: It does not fit.
            PressMissed: The press met something else.
        """
        answer = super().read(facts)
        if missed := answer.get("missed"):
            raise PressMissed(
                missed,
                moved=answer.get("moved", False),
                lost=answer.get("lost", False),
                held=answer.get("held", False),
            )
        return answer


_REFUSED = PageMethod("refused", RefusedAnswer)
_CROSS_ORIGIN = PageMethod("crossOrigin", CrossOriginAnswer)

STATE = PageMethod("state", StateAnswer)
SNAPSHOT = LocatingMethod("snapshot", SnapshotAnswer)
TEXT = LocatingMethod("text", TextAnswer)
SOURCE_TEXT = LocatingMethod("source", SourceAnswer)

READY = LocatingMethod("ready", ReadyAnswer)
INTO_VIEW = LocatingMethod("intoView", ReadyAnswer)
WAIT = LocatingMethod("wait", WaitAnswer)
WATCH = PageMethod("watchFor", WatchAnswer)
CLOCK = PageMethod("clock", ClockAnswer)
FRAME_WAY = LocatingMethod("frameWay", FrameWayAnswer)
OUTWARDS = LocatingMethod("outwards", OutwardsAnswer)
PRESSED = PressMethod("pressed", PressedAnswer)
ARRIVED = PressMethod("arrived", PressedAnswer)
DROPPED = PageMethod("dropped", DroppedAnswer)

MARK = PageMethod("mark", MarkAnswer)
SETTLE = PageMethod("settle", SettleAnswer)
DELTA = PageMethod("delta", DeltaAnswer)
LOADED = PageMethod("loaded", LoadedAnswer)

VERIFY = PageMethod("verify", HeldAnswer)
OPTIONS_HELD = PageMethod("optionsHeld", HeldAnswer)
COMBOBOX_HELD = PageMethod("comboboxHeld", HeldAnswer)
OFFERED = PageMethod("offered", OfferedAnswer)
SURPLUS = PageMethod("surplus", SurplusAnswer)
EDITED = PageMethod("edited", HeldAnswer)
EDITING = PageMethod("editing", EditingAnswer)
PASTED = PageMethod("pasted", TakenAnswer)
PREFILLED = PageMethod("prefilled", TakenAnswer)
INSERTED = PageMethod("inserted", TakenAnswer)
ASSIGN = PageMethod("assign", AssignAnswer)
SLIDER = PageMethod("slider", SliderAnswer)
TOGGLES = PageMethod("toggles", TogglesAnswer)
UPLOADED = PageMethod("uploaded", UploadedAnswer)
FOCUSED = PageMethod("focused", FocusedAnswer)
TYPED = PageMethod("typed", TypedAnswer)
CODE_BOX = PageMethod("codeBox", CodeBoxAnswer)
CODE_HELD = PageMethod("codeHeld", CodeHeldAnswer)

SCROLL_INFO = LocatingMethod("scrollInfo", ScrollInfoAnswer)
SCROLLED = PageMethod("scrolled", ScrolledAnswer)

VIEW = PageMethod("shot", ViewAnswer)
SHOT = LocatingMethod("shot", ShotAnswer)
MARKED = PageMethod("marked", MarkedAnswer)
BOXES = LocatingMethod("boxes", BoxesAnswer)

AUDIT = LocatingMethod("audit", AuditWayAnswer)
AUDITED = PageMethod("audited", AuditedAnswer)
"""`PageEngine.audit`."""
UNKNOWN_RULE = PageMethod("audited", UnknownRuleAnswer)
"""`PageEngine.audit`, of a rule or tag that does not exist."""

SCRIPT = LocatingMethod("script", ScriptAnswer)
"""`PageEngine.evaluate`: a script is no method of the engine, and is answered like one."""
RETURNED = PageMethod("returned", ReturnedAnswer)
"""The elements in the value of such a script."""
FILE_INPUT = PageMethod("picked", FileInputAnswer)
"""`PageEngine.describe_file_input`."""


def is_unknown_rule(answer: AuditedAnswer | UnknownRuleAnswer) -> TypeIs[UnknownRuleAnswer]:
    """True if axe-core lacks a rule or tag that was asked for."""
    return "unknown" in answer


def is_refused(answer: FoundT | RefusedAnswer | CrossOriginAnswer) -> TypeIs[RefusedAnswer]:
    """True if the locator found no usable element."""
    return isinstance(answer, dict) and answer.get("ok") is False and "reason" in answer


def is_cross_origin(answer: FoundT | RefusedAnswer | CrossOriginAnswer) -> TypeIs[CrossOriginAnswer]:
    """True if the locator leads into a frame of another origin."""
    return isinstance(answer, dict) and "crossOrigin" in answer
