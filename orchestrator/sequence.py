"""Several steps in one turn of a session's lane, and several sessions side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import ConfigDict, Field

from orchestrator.actions.base import AnyAction
from orchestrator.actions.catalogue import Catalogue
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.results import Outcome, Settled
from orchestrator.actions.scene import Scene
from orchestrator.actions.watch import Watch
from orchestrator.activity import Doing
from orchestrator.arguments import read
from orchestrator.errors import InvalidArgument, OrchestratorError, SessionLost, TimedOut
from orchestrator.models import Wire

SYNC = "sync"
Step = dict[str, Any]
Steps = Iterable[Mapping[str, Any] | AnyAction]
"""Steps as `{"action": "click_element", "selector": "#save"}` or as `ClickElement(selector="#save")`, mixed at will."""
_BRIEF = 300
"""Characters of a step's result in the text of a verbose sequence; the data has all of it."""


class Options(Wire):
    """How a sequence is run, for one session or several."""

    stability_ms: int = Field(default=150, ge=0, le=60_000)
    stability_timeout_ms: int = Field(default=5_000, ge=0, le=600_000)
    timeout: int = Field(default=120_000, ge=1, le=3_600_000, description="ms for the whole.")
    verbose: bool = False


class ExecuteSequence(Options):
    """Run several steps in one session without anything in between; stops at the first failure that is not optional."""

    session_id: str | None = None
    actions: list[Step] = Field(min_length=1, max_length=100)


class Manner(Wire):
    """What a step says besides what it does."""

    optional: bool = False


class Failed(Wire):
    """The step that a sequence stopped at; `index` counts from 0."""

    index: int
    action: str
    error: dict[str, Any]


class StepReport(Wire):
    """One step that ran."""

    action: str
    result: dict[str, Any]
    duration_ms: int


class SequenceResult(Settled):
    """How far a sequence came, and what it changed."""

    completed: int
    failed: Failed | None = None
    steps: list[StepReport] | None = None
    stopped_by: OrchestratorError | None = Field(default=None, exclude=True, repr=False)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def data(self) -> dict[str, Any]:
        """The result as JSON data; `stateChange` is there even when nothing changed."""
        return {"stateChange": None, **super().data()}

    def failure(self) -> OrchestratorError | None:
        """The error of the step that it stopped at."""
        return self.stopped_by

    def lines(self) -> list[str]:
        """How far it came, what stopped it, what changed."""
        lines = [f"Completed {self.completed} steps."]
        if self.failed:
            error = self.failed.error
            lines.append(f"Step {self.failed.index} ({self.failed.action}) failed: {error['code']}: {error['message']}")
        for index, step in enumerate(self.steps or []):
            lines.append(f"{index}. {step.action} ({step.duration_ms} ms): {_brief(step.result)}")
        return [*lines, *self.change_lines()]


class Stopped(Exception):
    """The sequence shall not go on, though no step of it failed."""


@dataclass(frozen=True)
class Stepped:
    """A step that was done, or why it failed where that stops the sequence; `index` counts from 0."""

    index: int
    verb: str
    error: OrchestratorError | None = None


class Sync(Protocol):
    """Where sequences of one call wait for each other."""

    def arrive(self, name: str, scene: Scene, deadline: Deadline) -> None:
        """Wait until all sequences that have this step are there."""
        ...

    def stepped(self, stepped: Stepped, scene: Scene, settle: Callable[[], object], deadline: Deadline) -> None:
        """A step is over; `settle` waits until the page is at rest.

        Raises:
            Stopped: The sequence shall not go on.
        """
        ...


class Alone:
    """A sequence without companions waits for nobody."""

    def arrive(self, name: str, scene: Scene, deadline: Deadline) -> None:
        """Go on."""

    def stepped(self, stepped: Stepped, scene: Scene, settle: Callable[[], object], deadline: Deadline) -> None:
        """Go on."""


class PlannedStep:
    """A step that was checked: an action, or a barrier."""

    def __init__(self, verb: str, action: AnyAction | None, name: str, *, optional: bool) -> None:
        self.verb = verb
        self.action = action
        self.name = name
        self.optional = optional

    def told(self) -> dict[str, Any]:
        """What was given, as a log may keep it."""
        return self.action.told() if self.action else {"name": self.name}

    def run(self, scene: Scene, sync: Sync, deadline: Deadline) -> Outcome:
        """Do it."""
        if self.action is None:
            scene.glance()
            sync.arrive(self.name, scene, deadline)
            return Outcome()
        if not self.action.asks:
            scene.ask_owed()
        self.action.check(scene.record)
        result: Outcome = self.action.perform(scene)
        return result


def plan(steps: list[Step], actions: Catalogue) -> list[PlannedStep]:
    """Check a whole list before its first step runs.

    Raises:
        InvalidArgument: A step is unknown or wrong; it is named by its index, and nothing is run.
    """
    return [_planned(index, step, actions) for index, step in enumerate(steps)]


def _planned(index: int, step: Mapping[str, Any], actions: Catalogue) -> PlannedStep:
    try:
        return _read(step, actions)
    except InvalidArgument as error:
        raise InvalidArgument(f"Step {index}: {error.message}", hint=f"{error.hint} Nothing was run.".strip()) from None


def _read(step: Mapping[str, Any], actions: Catalogue) -> PlannedStep:
    manner = read(Manner, {name: step[name] for name in Manner.model_fields if name in step})
    fields = {name: value for name, value in step.items() if name not in Manner.model_fields}
    if any(fields.pop(name, None) is not None for name in ("sessionId", "session_id")):
        raise InvalidArgument("A step has no sessionId.", hint="Give it to the sequence.")
    if fields.get("action") == SYNC:
        return PlannedStep(SYNC, None, _sync_name(fields), optional=manner.optional)
    action = actions.step(fields)
    return PlannedStep(action.verb, action, "", optional=manner.optional)


def _sync_name(fields: Mapping[str, Any]) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not name or set(fields) != {"action", "name"}:
        raise InvalidArgument("sync takes a name and nothing else.", hint='Write {"action": "sync", "name": "ready"}.')
    return name


def run(scene: Scene, steps: list[PlannedStep], options: Options, sync: Sync) -> SequenceResult:
    """Run checked steps in this turn, wait until the page has settled, and say what they changed.

    Raises:
        Unsupported: A step is none for such a session; nothing was run.
        OrchestratorError: The session is gone, or the others did not come; how far it came stands in the details.
    """
    for action in (step.action for step in steps if step.action):
        action.check(scene.record, planned=True)
    deadline = Deadline(options.timeout / 1000)
    scene.observed, scene.until = True, deadline
    watch = Watch.begin(scene, "sequence")

    def settle() -> dict[str, Any]:
        return watch.end(scene, stability=options.stability_ms / 1000, limit=options.stability_timeout_ms / 1000)

    progress = Progress(settle, verbose=options.verbose)
    try:
        progress.run(scene, steps, sync, deadline)
    except OrchestratorError as error:
        error.details.update(completed=progress.completed)
        raise
    changed = settle()
    scene.tabs.look()
    return SequenceResult(
        completed=progress.completed,
        failed=progress.failed,
        stopped_by=progress.stopped_by,
        steps=progress.reports if options.verbose else None,
        stable=changed.get("stable", False),
        stability_wait_ms=changed.get("stability_wait_ms", 0),
        unstable_reason=changed.get("unstable_reason") or ("a dialog is open" if "dialog" in changed else None),
        state_change=changed.get("state_change"),
        warnings=[*progress.warnings, *changed.get("warnings", ())],
    )


class Progress:
    """How far a sequence has come."""

    def __init__(self, settle: Callable[[], object], *, verbose: bool) -> None:
        self._settle = settle
        self._verbose = verbose
        self.completed = 0
        self.failed: Failed | None = None
        self.stopped_by: OrchestratorError | None = None
        self.reports: list[StepReport] = []
        self.warnings: list[str] = []

    def run(self, scene: Scene, steps: list[PlannedStep], sync: Sync, deadline: Deadline) -> None:
        """Run step after step until one that is not optional fails, or whoever waits for this sequence stops it."""
        try:
            for index, step in enumerate(steps):
                error = self._do(index, step, scene, sync, deadline)
                sync.stepped(Stepped(index, step.verb, error), scene, self._settle, deadline)
                if error:
                    return
        except Stopped:
            return

    def _do(
        self, index: int, step: PlannedStep, scene: Scene, sync: Sync, deadline: Deadline
    ) -> OrchestratorError | None:
        """Run one step; the error that stops the sequence."""
        started = time.monotonic()
        try:
            scene.check()
            if not deadline.left:
                raise TimedOut(f"The sequence took longer than {deadline.elapsed_ms} ms.", hint="Raise timeout.")
            scene.late = None if self._verbose else lambda said: self._warn(index, step, said)
            doing = Doing(step.verb, step.told(), index)
            outcome = scene.activity.noted(scene.record, doing, lambda: step.run(scene, sync, deadline))
        except SessionLost:
            raise
        except OrchestratorError as error:
            self._note(step, error_data(error), started)
            if step.optional:
                self.warnings.append(f"Optional step {index} ({step.verb}) failed: {error}")
                return None
            self.failed = Failed(index=index, action=step.verb, error=error_data(error))
            self.stopped_by = error.in_session(scene.record.id)
            return self.stopped_by
        self.completed += 1
        self._warn(index, step, *outcome.warnings)
        self._note(step, outcome.data(), started)
        return None

    def _warn(self, index: int, step: PlannedStep, *said: str) -> None:
        self.warnings += [f"Step {index} ({step.verb}): {warning}" for warning in said]

    def _note(self, step: PlannedStep, result: dict[str, Any], started: float) -> None:
        took = round((time.monotonic() - started) * 1000)
        self.reports.append(StepReport(action=step.verb, result=result, duration_ms=took))


def error_data(error: OrchestratorError) -> dict[str, Any]:
    """An error as a step reports it."""
    return {"code": error.code, "message": error.message, "hint": error.hint}


def _brief(result: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}: {value}" for name, value in result.items())
    return shown if len(shown) <= _BRIEF else f"{shown[:_BRIEF]}…"
