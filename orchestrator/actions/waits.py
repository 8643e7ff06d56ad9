"""Waiting for something to hold, and expecting that it does; both look inside the page, in slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, Aimed, Timed
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.finding import several
from orchestrator.actions.results import Met, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.actions.unmet import FORMS, unmet
from orchestrator.errors import ExpectationFailed, InvalidArgument, StaleRef, TimedOut, Unsupported, quoted
from orchestrator.models import SessionType, Wire
from orchestrator.settings import ToolSet

State = Literal["visible", "hidden", "enabled", "gone"]
_SHORT = 200
"""Characters of a value that an error shows."""


class WaitFor(Aimed, Timed, Action[Met]):
    """Wait until an element is visible, hidden, enabled or gone, or until text, URL or title are there."""

    verb: ClassVar[str] = "wait_for"
    title: ClassVar[str] = "Wait for"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Met

    selector: str | None = None
    state: State | None = None
    text: str | None = None
    url: str | None = Field(default=None, description="A glob such as **/cart*.")
    title_: str | None = Field(default=None, alias="title")

    @model_validator(mode="after")
    def _something(self) -> WaitFor:
        if self.selector is None and self.text is None and self.url is None and self.title_ is None:
            raise ValueError("give at least one of selector, text, url, title")
        if self.state is not None and self.selector is None:
            raise ValueError("state needs selector")
        return self

    def perform(self, scene: Scene) -> Met:
        """All of it must hold at once."""
        answer, deadline = _poll(scene, self.selector, self._conditions(), self.timeout, negate=False)
        if answer.get("ok"):
            return _met(scene, answer, deadline)
        raise TimedOut(
            f"Waited {deadline.elapsed_ms} ms in vain: {_unmet(self.selector, answer)}.",
            hint="Look with get_visible_elements, or raise timeout.",
            **_near(answer),
        )

    def _conditions(self) -> dict[str, Any]:
        conditions: dict[str, Any] = {}
        if self.selector is not None and (self.state is not None or self.text is None):
            conditions["state"] = self.state or "visible"
        if self.text is not None:
            conditions["containsText" if self.selector is not None else "pageText"] = self.text
        if self.url is not None:
            conditions["url"] = self.url
        if self.title_ is not None:
            conditions["title"] = self.title_
        return conditions


class Attribute(Wire):
    """An attribute that must be there."""

    name: str = Field(min_length=1)
    value: str | None = Field(default=None, repr=False)


class Expect(Aimed, Timed, Action[Met]):
    """Check (assert) what an element or the page shows; retries until timeout."""

    verb: ClassVar[str] = "expect"
    title: ClassVar[str] = "Expect"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Met

    selector: str | None = None
    visible: bool | None = None
    text: str | None = None
    contains_text: str | None = None
    value: str | None = Field(default=None, repr=False)
    enabled: bool | None = None
    checked: bool | None = None
    count: int | None = Field(default=None, ge=0)
    attribute: Attribute | None = None
    url: str | None = None
    title_: str | None = Field(default=None, alias="title")
    not_: bool = Field(default=False, alias="not")

    @model_validator(mode="after")
    def _something(self) -> Expect:
        if not self._conditions():
            raise ValueError("give what to expect: with selector any of visible, text, value, …; or url, title")
        about_element = [name for name in _OF_ELEMENTS if getattr(self, name) is not None]
        if about_element and self.selector is None:
            raise ValueError(f"{_OF_ELEMENTS[about_element[0]]} needs selector")
        return self

    def perform(self, scene: Scene) -> Met:
        """All of it must hold at once, or with `not` not hold."""
        conditions = self._conditions()
        answer, deadline = _poll(scene, self.selector, conditions, self.timeout, negate=self.not_)
        if answer.get("ok"):
            return _met(scene, answer, deadline)
        failed = answer.get("failed") or []
        told = f"this still holds: {_told(conditions)}" if self.not_ else _unmet(self.selector, answer)
        about = f"{quoted(self.selector)}: " if self.selector and self.not_ else ""
        raise ExpectationFailed(
            f"Not as expected after {deadline.elapsed_ms} ms: {about}{told}.",
            hint="Compare with get_visible_elements; raise timeout if it only takes longer.",
            expected={one["condition"]: one["expected"] for one in failed},
            actual={one["condition"]: one["actual"] for one in failed},
            **_near(answer),
        )

    def _conditions(self) -> dict[str, Any]:
        given = {name: getattr(self, field) for field, name in (_OF_ELEMENTS | _OF_PAGES).items()}
        given["attribute"] = self.attribute and self.attribute.model_dump(exclude_none=True)
        conditions = {name: value for name, value in given.items() if value is not None}
        return conditions or ({"visible": True} if self.selector is not None else {})


_OF_ELEMENTS = {
    "visible": "visible",
    "text": "text",
    "contains_text": "containsText",
    "value": "value",
    "enabled": "enabled",
    "checked": "checked",
    "count": "count",
    "attribute": "attribute",
}
_WORDS = {"pageText": "the page should show the text", "containsText": "text should contain"}
_OF_PAGES = {"url": "url", "title_": "title"}


def _poll(
    scene: Scene, selector: str | None, conditions: dict[str, Any], timeout: int | None, *, negate: bool
) -> tuple[dict[str, Any], Deadline]:
    """Ask in slices until it holds; a selector that can never match anything ends it at once."""
    if scene.native and "url" in conditions:
        raise Unsupported("An app's own screen has no URL.", hint="Ask for its title, a text or an element.")
    deadline = Deadline(scene.seconds(timeout))
    needed = selector is not None or (scene.find.inside and "pageText" in conditions)
    parsed = scene.find.read(selector) if needed else None
    # How many there are may be asked of a strict session, too, and whether none is left.
    several = (
        "count" in conditions or conditions.get("state") in {"gone", "hidden"} or conditions.get("visible") is False
    )
    locator = None if parsed is None else parsed.data() if several else scene.find.locator(parsed)
    answer = scene.find.poll("wait", deadline, locator, conditions=conditions, **{"not": negate})
    given = quoted(selector or "")
    if parsed and answer.get("reason") == "ambiguous":
        raise unmet(parsed, answer, scene.record, deadline)
    if answer.get("reason") == "invalid":
        raise InvalidArgument(f"{given} is not a valid selector: {answer.get('detail')}.", hint=FORMS)
    if answer.get("reason") == "stale":
        raise StaleRef(
            f"Ref {given} no longer names an element of this page.",
            hint="Call get_visible_elements and use a ref from its outline.",
        )
    return answer, deadline


def _met(scene: Scene, answer: Mapping[str, Any], deadline: Deadline) -> Met:
    scene.remember(answer)
    return Met(
        url=answer["url"],
        title=answer["title"],
        waited_ms=deadline.elapsed_ms,
        matches=several(answer),
    )


def _unmet(selector: str | None, answer: Mapping[str, Any]) -> str:
    """What failed, as `selector: text: expected 'a', it is 'b'`."""
    failed = answer.get("failed") or []
    told = "; ".join(_told({one["condition"]: one["expected"]}) + _instead(one) for one in failed)
    about = f"{quoted(selector)}: " if selector is not None else ""
    return about + (told or str(answer.get("detail") or "the page was navigating"))


def _instead(failed: Mapping[str, Any]) -> str:
    return "" if failed["condition"] == "pageText" else f", it is {_short(failed['actual'])}"


def _told(conditions: Mapping[str, Any]) -> str:
    return ", ".join(f"{_WORDS.get(name, f'{name} should be')} {_short(value)}" for name, value in conditions.items())


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]}…"


def _near(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"candidates": list(answer["near"])} if answer.get("near") else {}


ACTIONS: list[type[Action[Any]]] = [WaitFor, Expect]
