"""Sequences: several steps in one turn of a session's lane."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from orchestrator.actions.base import Action, AnyAction, Catalogue
from orchestrator.automation.browser.settling import ChangeObserver
from orchestrator.automation.scene import Scene
from orchestrator.errors import Denied, InvalidArgument, OrchestratorError, SessionLost, TimedOut, TurnLost
from orchestrator.execution.timing import UNTIMED, Latency, StepTiming, Within
from orchestrator.models.arguments import names_of, parse_arguments
from orchestrator.models.results import Outcome, Quote, Settled, StateChange, quote_lines
from orchestrator.models.session import SessionRecord, Wire
from orchestrator.sessions.turn import CallCancelled
from orchestrator.system.activity import LoggedAction
from orchestrator.system.deadline import Deadline

SYNC = "sync"
_EXPECT = "expect"
_ANY_OBJECT = {"type": "object", "additionalProperties": True}
"""The schema of what docs describe: every listed word costs each model that connects."""


def _as_step(step: Any) -> Any:
    """Return an action as a step, where its own parameter `action` is named `do`; a mapping is a step already."""
    if not isinstance(step, Action):
        return step
    given = step.model_dump(by_alias=True, exclude_unset=True)
    return {"action": step.verb, **{"do" if name == "action" else name: value for name, value in given.items()}}


Step = Annotated[dict[str, Any], BeforeValidator(_as_step)]
Steps = Iterable[Mapping[str, Any] | AnyAction]
"""Steps as `{"action": "click_element", "selector": "#save"}` or as `ClickElement(selector="#save")`, mixed at will."""
_BRIEF = 300
"""Characters of a step's result in the text of a verbose sequence; the data has it whole."""


class SequenceOptions(Wire):
    """Options of a sequence, for one session or several."""

    stability_ms: int = Field(default=150, ge=0, le=60_000)
    stability_timeout_ms: int = Field(default=5_000, ge=0, le=600_000)
    timeout: int = Field(default=120_000, ge=1, le=3_600_000, description="ms for the whole.")
    verbose: bool = False


class ExecuteSequence(SequenceOptions):
    """Run several steps in one session without anything in between; stops at the first failure that is not optional."""

    session_id: str | None = None
    actions: list[Step] = Field(min_length=1, max_length=100)


class StepFlags(Wire):
    """The fields of a step beside those of its action."""

    optional: bool = False
    name: str | None = Field(default=None, min_length=1, max_length=100)
    within: Within | None = None


class FailedStep(Wire):
    """The step that a sequence stopped at; `index` counts from 0."""

    index: int
    action: str
    error: dict[str, Any]


class StepReport(Wire):
    """A step that ran; `text` and `quotes` are its result for readers, if that is told whole."""

    index: int
    action: str
    result: dict[str, Any]
    duration_ms: int
    text: str = Field(default="", exclude=True, repr=False)
    told: list[Quote] | None = Field(default=None, exclude=True, repr=False)

    def line(self) -> str:
        """The step and our words about its result."""
        return f"{self.index}. {self.action} ({self.duration_ms} ms){': ' if self.text else ''}{self.text}"

    def quotes(self) -> list[Quote]:
        """Quotes of the page, else of the beginning of the result's data."""
        heading = f"step {self.index} ({self.action}):"
        if self.told is not None:
            return [replace(quote, heading=heading) for quote in self.told]
        return [replace(quote, heading=heading) for quote in quote_lines([_brief(self.result)] if self.result else [])]


class SessionChange(Wire):
    """The change of a session in one of several turns of a sequence; `index` is that of the turn's first step."""

    session_id: str
    index: int
    state_change: StateChange | None = None

    def heading(self) -> str:
        """The session and the step as text."""
        return f"In {self.session_id}, from step {self.index} on:"

    def lines(self) -> list[str]:
        """The change in our words."""
        return self.state_change.lines() if self.state_change else ["Nothing visible changed."]

    def quotes(self) -> list[Quote]:
        """The change in the page's words."""
        lines = self.state_change.page_lines() if self.state_change else []
        return [replace(quote, heading=self.heading()) for quote in quote_lines(lines)]


class SequenceResult(Settled):
    """The result of a sequence: the steps that were completed, and the changes."""

    completed: int
    failed: FailedStep | None = None
    steps: list[StepReport] | None = None
    changes: list[SessionChange] | None = None
    latencies: list[Annotated[Latency, WithJsonSchema(_ANY_OBJECT)]] | None = None
    stopped_by: OrchestratorError | None = Field(default=None, exclude=True, repr=False)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def described_failure(self) -> OrchestratorError | None:
        """Return the step's error with the result and the place of the step; None without one."""
        error = self.failure()
        if error is not None:
            error.details["result"] = self.data()
            if self.failed:
                error.add_note(f"Step {self.failed.index} ({self.failed.action}); {self.completed} were completed.")
        return error

    def data(self) -> dict[str, Any]:
        """The result as JSON data; it tells the change and the rest of the page even where there were none."""
        data = {"stateChange": None, **super().data()}
        data.setdefault("stable", True)
        data.setdefault("stabilityWaitMs", 0)
        return data

    def failure(self) -> OrchestratorError | None:
        """The error of the step that stopped it."""
        return self.stopped_by

    def lines(self) -> list[str]:
        """The completed steps, the failure, the changes."""
        lines = [f"Completed {self.completed} steps."]
        if self.failed:
            error = self.failed.error
            lines.append(f"Step {self.failed.index} ({self.failed.action}) failed: {error['code']}: {error['message']}")
        lines += [step.line() for step in self.steps or ()]
        lines += [latency.line() for latency in self.latencies or ()]
        for change in (self.changes or ())[:-1]:
            lines += [change.heading(), *(f"  {line}" for line in change.lines())]
        lines += [self.changes[-1].heading()] if self.changes else []
        return [*lines, *self.change_lines()]

    def quotes(self) -> list[Quote]:
        """Quotes of the pages: of each step that is told, and of each change."""
        of_steps = [quote for step in self.steps or () for quote in step.quotes()]
        before = [quote for change in (self.changes or ())[:-1] for quote in change.quotes()]
        last = self.changes[-1].heading() if self.changes else ""
        return [*of_steps, *before, *(replace(quote, heading=last) for quote in super().quotes())]


@dataclass(frozen=True)
class FinishedStep:
    """A step that ran, with the error that stops the sequence if it failed; `index` counts from 0."""

    index: int
    verb: str
    error: OrchestratorError | None = None


class StepBarrier(Protocol):
    """A sequence's side of the points at which the sequences of a call wait for each other."""

    def wait_for_others(self, name: str, scene: Scene, deadline: Deadline) -> None:
        """Wait at a `sync` step until all sequences that have it are there.

        Raises:
            TimedOut: Some did not come in time, or ended before.
        """
        ...

    def before_step(self, index: int, scene: Scene, deadline: Deadline) -> None:
        """Wait until this step, which is no `sync`, may begin.

        Raises:
            TimedOut: It may not in time.
        """
        ...

    def after_step(self, step: FinishedStep, scene: Scene, settle: Callable[[], object], deadline: Deadline) -> bool:
        """Meet the others after a step; False if the sequence must not go on.

        Args:
            step: The step that ran.
            scene: The scene of this sequence.
            settle: Waits until the page has settled.
            deadline: The end of the sequence.
        """
        ...


class NoBarrier:
    """The barrier of a sequence that waits for nobody."""

    def wait_for_others(self, name: str, scene: Scene, deadline: Deadline) -> None:
        """Go on."""

    def before_step(self, index: int, scene: Scene, deadline: Deadline) -> None:
        """Go on."""

    def after_step(self, step: FinishedStep, scene: Scene, settle: Callable[[], object], deadline: Deadline) -> bool:  # noqa: ARG002 (the protocol's)
        """Go on."""
        return True


@dataclass(frozen=True)
class PlannedStep:
    """A checked step: an action, or without one a `sync` of this name.

    `label` is the name that the caller gave to an action, empty without one; `within` is there if an expectation is
    timed from another step.
    """

    verb: str
    action: AnyAction | None
    name: str
    optional: bool
    label: str = ""
    within: Within | None = None

    def log_arguments(self) -> dict[str, Any]:
        """The arguments, as a log may keep them."""
        return self.action.log_arguments() if self.action else {"name": self.name}

    def run(self, index: int, scene: Scene, barrier: StepBarrier, timing: StepTiming, deadline: Deadline) -> Outcome:
        """Perform the action, or wait for the other sequences."""
        if self.action is None:
            scene.check_unread_page()
            barrier.wait_for_others(self.name, scene, deadline)
            return Outcome()
        barrier.before_step(index, scene, deadline)
        if self.action.queries_page:
            scene.scope.page_gone = None
        else:
            scene.run_deferred_queries()
        self.action.check_supports(scene.record)
        with scene.masking_errors(), timing.noting(index, scene, deadline):
            if timing.is_timed(index):
                return timing.expect(index, scene, deadline)
            result: Outcome = self.action.perform(scene)
        return result


def plan(steps: list[Step], actions: Catalogue) -> list[PlannedStep]:
    """Check a whole list before its first step runs.

    Raises:
        InvalidArgument: A step is unknown or wrong; it is named by its index, and nothing is run.
    """
    planned = []
    for index, step in enumerate(steps):
        with errors_of_step(index):
            planned.append(read_step(step, actions))
    return planned


@contextmanager
def errors_of_step(index: int) -> Iterator[None]:
    """Name the step in errors about it."""
    try:
        yield
    except Denied as error:
        error.message = f"Step {index}: {error.message}"
        raise
    except InvalidArgument as error:
        raise InvalidArgument(f"Step {index}: {error.message}", hint=f"{error.hint} Nothing was run.".strip()) from None


def read_flags(step: Mapping[str, Any], actions: Catalogue) -> StepFlags:
    """Read the fields of a step beside those of its action.

    Raises:
        InvalidArgument: One is wrong.
    """
    names = StepFlags.model_fields.keys() - ({"name"} if _has_name(step.get("action"), actions) else set())
    return parse_arguments(StepFlags, {name: step[name] for name in names if name in step})


def read_step(step: Mapping[str, Any], actions: Catalogue) -> PlannedStep:
    """Check one step in a session.

    Raises:
        InvalidArgument: It is unknown or wrong.
    """
    flags, verb = read_flags(step, actions), step.get("action")
    own = {"name"} if _has_name(verb, actions) else set()
    fields = {name: value for name, value in step.items() if name not in StepFlags.model_fields.keys() - own}
    if any(fields.pop(name, None) is not None for name in ("sessionId", "session_id")):
        raise InvalidArgument("A step has no sessionId.", hint="Give it to the sequence.")
    if flags.within is not None and verb != _EXPECT:
        raise InvalidArgument("Only expect takes within.", hint="It times what a page shows after another step.")
    if verb == SYNC:
        return PlannedStep(SYNC, None, _sync_name(fields), optional=flags.optional)
    action = actions.parse_step(fields)
    return PlannedStep(action.verb, action, "", flags.optional, flags.name or "", flags.within)


def _has_name(verb: object, actions: Catalogue) -> bool:
    """True for an action whose own parameter is called `name`: its steps cannot be named."""
    return verb == SYNC or (isinstance(verb, str) and verb in actions and "name" in names_of(actions[verb]))


def _sync_name(fields: Mapping[str, Any]) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not name or set(fields) != {"action", "name"}:
        raise InvalidArgument("sync takes a name and nothing else.", hint='Write {"action": "sync", "name": "ready"}.')
    return name


@dataclass(frozen=True)
class SequenceTask:
    """Checked steps to run in one turn of a session (`execution.runner.SessionTask`).

    Attributes:
        first: The index of the first of them in the caller's list.
        deadline: The end of the whole; None if its time begins with these steps.
        timing: The times from other steps that are measured.
    """

    steps: list[PlannedStep]
    options: SequenceOptions
    barrier: StepBarrier
    verb: str = "execute_sequence"
    first: int = 0
    deadline: Deadline | None = None
    timing: StepTiming = UNTIMED

    @property
    def reads(self) -> bool:
        """True if every step only reads."""
        return all(step.action is None or step.action.reads for step in self.steps)

    def log_arguments(self) -> dict[str, Any]:
        """The number of steps; each step is logged by itself."""
        return {"steps": len(self.steps)}

    def check_supports(self, record: SessionRecord) -> None:
        """Refuse a session that a step cannot run in, before the first one runs.

        Raises:
            Unsupported: Nothing was run.
        """
        for step in self.steps:
            if step.action:
                step.action.check_supports(record, planned=True)

    def perform(self, scene: Scene) -> SequenceResult:
        """Run the steps, wait until the page has settled, and report the changes.

        Raises:
            OrchestratorError: The session is gone, or other sequences did not come; its details have `completed`.
        """
        deadline = self.deadline or Deadline(self.options.timeout / 1000)
        with scene.scoped(in_sequence=True, deadline=deadline):
            run = SequenceRun(
                scene, ChangeObserver.start(scene, "sequence"), self.options, deadline, timing=self.timing
            )
            try:
                self.timing.begin(scene)
                run.run_steps(enumerate(self.steps, self.first), self.barrier)
            except OrchestratorError as error:
                error.details.update(completed=run.completed)
                raise
            except CallCancelled as error:
                error.where = f"in step {run.index}; {run.completed} steps were completed"
                raise
            changes = run.settle()
            self.timing.end(scene)
        scene.tabs.refresh()
        return run.build_result(changes)


class SequenceRun:
    """The progress of a sequence that is running; `index` is that of the step that it is at."""

    def __init__(
        self,
        scene: Scene,
        observer: ChangeObserver,
        options: SequenceOptions,
        deadline: Deadline,
        *,
        timing: StepTiming,
    ) -> None:
        self.completed = 0
        self.index = 0
        self._timing = timing
        self._scene = scene
        self._observer = observer
        self._options = options
        self._deadline = deadline
        self._failed: FailedStep | None = None
        self._stopped_by: OrchestratorError | None = None
        self._reports: list[StepReport] = []
        self._warnings: list[str] = []

    def run_steps(self, steps: Iterable[tuple[int, PlannedStep]], barrier: StepBarrier) -> None:
        """Run step after step, until one that is not optional fails or the barrier stops the sequence."""
        for index, step in steps:
            error = self._run_step(index, step, barrier)
            finished = FinishedStep(index, step.verb, error)
            self._timing.after_step(index, self._scene)
            if not barrier.after_step(finished, self._scene, self.settle, self._deadline) or error:
                return

    def settle(self) -> dict[str, Any]:
        """Wait until the page has settled; the changes since the sequence began."""
        opening, self._scene.scope.opening = self._scene.scope.opening, None
        return self._observer.report_changes(
            self._scene,
            stability=self._options.stability_ms / 1000,
            limit=self._options.stability_timeout_ms / 1000,
            opening=opening,
        )

    def build_result(self, changes: dict[str, Any]) -> SequenceResult:
        """Make the result of a sequence that has ended."""
        return SequenceResult(
            completed=self.completed,
            failed=self._failed,
            stopped_by=self._stopped_by,
            steps=self._reports if self._options.verbose else None,
            latencies=self._timing.latencies or None,
            stable=changes.get("stable", False),
            stability_wait_ms=changes.get("stability_wait_ms", 0),
            unstable_reason=changes.get("unstable_reason") or ("a dialog is open" if "dialog" in changes else None),
            state_change=changes.get("state_change"),
            warnings=[*self._warnings, *changes.get("warnings", ())],
        )

    def _run_step(self, index: int, step: PlannedStep, barrier: StepBarrier) -> OrchestratorError | None:
        """Run one step; the error that stops the sequence."""
        scene, started = self._scene, time.monotonic()
        self.index = index
        try:
            scene.check()
            if not self._deadline.seconds_left:
                raise TimedOut(f"The sequence took longer than {self._deadline.elapsed_ms} ms.", hint="Raise timeout.")
            scene.scope.warn = None if self._options.verbose else lambda warning: self._warn(index, step, warning)
            doing = LoggedAction(step.verb, step.log_arguments(), index)
            with scene.activity.log_call(scene.record, doing) as call:
                outcome = call.outcome = step.run(index, scene, barrier, self._timing, self._deadline)
        except (SessionLost, TurnLost):
            raise
        except OrchestratorError as error:
            self._report(index, step, error_data(error), started)
            if step.optional:
                self._warnings.append(f"Optional step {index} ({step.verb}) failed: {error.sentence}")
                return None
            self._failed = FailedStep(index=index, action=step.verb, error=error_data(error))
            self._stopped_by = error.in_session(scene.record.id)
            return self._stopped_by
        self.completed += 1
        self._warn(index, step, *outcome.warnings)
        self._report(index, step, outcome.data(), started)
        return None

    def _warn(self, index: int, step: PlannedStep, *warnings: str) -> None:
        self._warnings += [f"Step {index} ({step.verb}): {warning}" for warning in warnings]

    def _report(self, index: int, step: PlannedStep, result: dict[str, Any], started: float) -> None:
        duration = round((time.monotonic() - started) * 1000)
        self._reports.append(StepReport(index=index, action=step.verb, result=result, duration_ms=duration))


def error_data(error: OrchestratorError) -> dict[str, Any]:
    """An error as a step reports it."""
    return {"code": error.code, "message": error.message, "hint": error.hint}


def _brief(result: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}: {value}" for name, value in result.items())
    return shown if len(shown) <= _BRIEF else f"{shown[:_BRIEF]}…"
