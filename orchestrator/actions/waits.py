"""Wait for a condition (`wait_for`) or assert one (`expect`), polled inside the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, HasTimeout, Selector, SelectorAliases
from orchestrator.automation.browser.element_errors import SELECTOR_HINT, element_error
from orchestrator.automation.browser.finder import count_matches
from orchestrator.automation.browser.selector import Selector as ParsedSelector
from orchestrator.automation.scene import Scene
from orchestrator.errors import ExpectationFailed, InvalidArgument, StaleRef, TimedOut, Unsupported, quoted
from orchestrator.models.results import ConditionMet, Outcome
from orchestrator.models.session import SessionType, Wire
from orchestrator.settings import ToolSet
from orchestrator.snapshot.answers import RefusedAnswer, WaitAnswer
from orchestrator.snapshot.methods import WAIT, is_refused
from orchestrator.system.deadline import Deadline

State = Literal["visible", "hidden", "enabled", "gone"]
_SHORT = 200
"""Characters of a value that an error shows."""


class WaitFor(SelectorAliases, HasTimeout, Action[ConditionMet]):
    """Wait for an element's state, a text, URL, title, or quietMs without a change."""

    verb: ClassVar[str] = "wait_for"
    title: ClassVar[str] = "Wait for"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ConditionMet

    selector: Selector | None = None
    state: State | None = None
    text: str | None = None
    url: str | None = Field(default=None, description="Glob: **/cart*.")
    title_: str | None = Field(default=None, alias="title")
    quiet_ms: int | None = Field(default=None, ge=0, le=60_000)

    @model_validator(mode="after")
    def _something(self) -> WaitFor:
        if all(given is None for given in (self.selector, self.text, self.url, self.title_, self.quiet_ms)):
            raise ValueError("give at least one of selector, text, url, title, quietMs")
        if self.timeout is not None and self.quiet_ms is not None and self.timeout < self.quiet_ms:
            raise ValueError("timeout must be longer than quietMs")
        if self.state is not None and self.selector is None:
            raise ValueError("state needs selector")
        return self

    def perform(self, scene: Scene) -> ConditionMet:
        """Poll until all conditions hold at once."""
        answer, deadline = _poll(scene, self.selector, self._conditions(), self.timeout, negate=False)
        if answer["ok"]:
            return _met(scene, answer, deadline)
        raise TimedOut(
            f"Timed out after {deadline.elapsed_ms} ms: {_describe_unmet(self.selector, answer)}.",
            hint="Check with get_visible_elements, or raise timeout.",
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
        if self.quiet_ms is not None:
            conditions["quiet"] = self.quiet_ms
        return conditions


class Attribute(Wire):
    """An attribute that must be present, with this value if one is given."""

    name: str = Field(min_length=1)
    value: str | None = Field(default=None, repr=False)


class Expect(SelectorAliases, HasTimeout, Action[ConditionMet]):
    """Check (assert) what an element or the page shows; retries until timeout."""

    verb: ClassVar[str] = "expect"
    title: ClassVar[str] = "Expect"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ConditionMet

    selector: Selector | None = None
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

    def perform(self, scene: Scene) -> ConditionMet:
        """Poll until all conditions hold at once, or with `not`, until they no longer do."""
        conditions = self._conditions()
        answer, deadline = _poll(scene, self.selector, conditions, self.timeout, negate=self.not_)
        if answer["ok"]:
            return _met(scene, answer, deadline)
        failed = [] if is_refused(answer) else answer["failed"]
        reason = (
            _describe_still_true(self.selector, conditions) if self.not_ else _describe_unmet(self.selector, answer)
        )
        raise ExpectationFailed(
            f"Not as expected after {deadline.elapsed_ms} ms: {reason}.",
            hint="Compare with get_visible_elements; raise timeout if the page needs more time.",
            expected={check["condition"]: check["expected"] for check in failed},
            actual={check["condition"]: check["actual"] for check in failed},
            **_near(answer),
        )

    def asked(self, scene: Scene) -> dict[str, Any]:
        """The engine's question: conditions, negation, and the locator if there is one.

        Raises:
            InvalidArgument: The selector is none.
        """
        conditions = self._conditions()
        locator = _build_locator(scene, self.selector, conditions)
        return {"conditions": conditions, "not": self.not_, **({"locator": locator[1]} if locator else {})}

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

_OF_PAGES = {"url": "url", "title_": "title"}


def _poll(
    scene: Scene, selector: str | None, conditions: dict[str, Any], timeout: int | None, *, negate: bool
) -> tuple[WaitAnswer | RefusedAnswer, Deadline]:
    """Poll in slices until the conditions hold; an invalid selector ends the polling at once."""
    if scene.native and "url" in conditions:
        raise Unsupported("An app's own screen has no URL.", hint="Use title, text or selector.")
    quiet_ms = conditions.get("quiet", 0)
    deadline = Deadline(scene.seconds(timeout) + (quiet_ms / 1000 if timeout is None else 0))
    found = _build_locator(scene, selector, conditions)
    parsed, locator = found or (None, None)
    since = {"since": deadline.started} if quiet_ms else {}
    answer = scene.finder.poll(WAIT, deadline, locator, conditions=conditions, **{"not": negate}, **since)
    if not is_refused(answer):
        return answer, deadline
    given = quoted(selector or "")
    if parsed and answer["reason"] == "ambiguous":
        raise element_error(parsed, answer, scene.record, deadline)
    if answer["reason"] == "invalid":
        raise InvalidArgument(f"{given} is not a valid selector: {answer['detail']}.", hint=SELECTOR_HINT)
    if answer["reason"] == "stale":
        raise StaleRef(
            f"Ref {given} no longer names an element of this page.",
            hint="Call get_visible_elements and use a ref from its outline.",
        )
    return answer, deadline


def _build_locator(
    scene: Scene, selector: str | None, conditions: Mapping[str, Any]
) -> tuple[ParsedSelector, dict[str, Any]] | None:
    """Parse the selector of conditions, and make a locator of it; None if they are about the page as a whole."""
    in_frame = scene.finder.is_inside_frame and not conditions.keys().isdisjoint({"pageText", "quiet"})
    if selector is None and not in_frame:
        return None
    parsed = scene.finder.parse_selector(selector)
    # These conditions allow several matches, also in a session with strict selectors.
    several = (
        "count" in conditions or conditions.get("state") in {"gone", "hidden"} or conditions.get("visible") is False
    )
    return parsed, parsed.data() if several else scene.finder.build_locator(parsed)


def _met(scene: Scene, answer: WaitAnswer, deadline: Deadline) -> ConditionMet:
    scene.record_url_and_title(answer)
    return ConditionMet(
        url=answer["url"],
        title=answer["title"],
        waited_ms=deadline.elapsed_ms,
        matches=count_matches(answer),
    )


def _describe_unmet(selector: str | None, answer: Mapping[str, Any]) -> str:
    """The failed conditions, as in `'#total': text should be 'a' but is 'b'`."""
    failed = answer.get("failed") or []
    reason = "; ".join(_describe_failure(check) for check in failed)
    return _subject(selector) + (reason or str(answer.get("detail") or "the page was navigating"))


def _describe_failure(check: Mapping[str, Any]) -> str:
    name, expected = check["condition"], _short(check["expected"])
    if name == "pageText":
        return f"the text {expected} did not appear"
    if name == "quiet":
        return f"no {expected} ms passed without a change: {check['actual']}"
    wanted = f"text should contain {expected}" if name == "containsText" else f"{name} should be {expected}"
    return f"{wanted} but is {_short(check['actual'])}"


def _describe_still_true(selector: str | None, conditions: Mapping[str, Any]) -> str:
    """The conditions of `not` that still hold, as in `'#total': still true: text is 'a'`."""
    checks = (
        f"{'text contains' if name == 'containsText' else f'{name} is'} {_short(value)}"
        for name, value in conditions.items()
    )
    return f"{_subject(selector)}still true: {', '.join(checks)}"


def _subject(selector: str | None) -> str:
    return f"{quoted(selector)}: " if selector is not None else ""


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]}…"


def _near(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"candidates": list(answer["near"])} if answer.get("near") else {}


ACTIONS: list[type[Action[Any]]] = [WaitFor, Expect]
