"""Sequences with tools for sessions as steps: they start, choose and close sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

from orchestrator.actions.base import Catalogue, suggest_tools
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, OrchestratorError, TimedOut
from orchestrator.execution.runner import Runner
from orchestrator.execution.sequence import (
    SYNC,
    ExecuteSequence,
    FailedStep,
    NoBarrier,
    PlannedStep,
    SequenceResult,
    SequenceTask,
    SessionChange,
    StepReport,
    error_data,
    errors_of_step,
    read_flags,
    read_step,
)
from orchestrator.execution.time_plan import PlacedStep, TimePlan
from orchestrator.execution.timing import Latency, WatchedStep, begin_watching
from orchestrator.models.identifiers import split_claim
from orchestrator.models.results import Outcome, Quote, SessionLabel
from orchestrator.models.session import Caller, SessionRecord
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.rows import Claimed, ClaimFacts, CloseResult, CurrentSession, Released, SessionRow
from orchestrator.system.deadline import Deadline

_SESSION_ID = ("sessionId", "session_id")
_SESSION_IDS = ("sessionIds", "session_ids")


class SessionStep(Protocol):
    """A checked step that works on sessions as a whole."""

    @property
    def verb(self) -> str:
        """The tool's name."""
        ...

    @property
    def destructive(self) -> bool:
        """True if it ends sessions: it is not interrupted then."""
        ...

    async def run(self, of_sequence: str | None, acting: str | None, claims: Mapping[str, str]) -> Outcome:
        """Run it.

        Args:
            of_sequence: The session that the sequence is for, if it names one.
            acting: The session that the steps go to now, if the sequence names, started or claimed it.
            claims: The names of claims that the sequence has made, by the ids of their sessions.
        """
        ...


class SessionSteps(Protocol):
    """The tools for sessions, as the steps of one caller's sequences."""

    @property
    def verbs(self) -> frozenset[str]:
        """The names of all tools for sessions, also of those that cannot be steps."""
        ...

    def parse(self, verb: str, fields: Mapping[str, Any]) -> SessionStep:
        """Check a step.

        Raises:
            InvalidArgument: The tool cannot be a step, or its parameters are wrong.
        """
        ...


@dataclass(frozen=True)
class ActingSteps:
    """Successive steps in one session, which run in one turn of its lane.

    Attributes:
        index: That of the first of them in the sequence.
        session_id: The session that the steps name; None for the one that the sequence goes to.
    """

    index: int
    session_id: str | None
    steps: list[PlannedStep] = field(default_factory=list)

    def numbered(self) -> list[tuple[int, PlannedStep]]:
        """The steps with their indexes in the caller's list."""
        return [*enumerate(self.steps, self.index)]


@dataclass(frozen=True)
class SessionPart:
    """A step that works on sessions as a whole."""

    index: int
    step: SessionStep
    optional: bool


Part = ActingSteps | SessionPart


def plan_parts(sequence: ExecuteSequence, actions: Catalogue, tools: SessionSteps) -> list[Part]:
    """Check a sequence that holds tools for sessions, before its first step runs.

    Raises:
        InvalidArgument: A step is unknown or wrong; it is named by its index, and nothing is run.
    """
    parts: list[Part] = []
    for index, step in enumerate(sequence.actions):
        with errors_of_step(index):
            verb = read_verb(step, actions, tools.verbs)
            if verb in tools.verbs:
                fields = {name: value for name, value in step.items() if name not in {"action", "optional"}}
                parts.append(SessionPart(index, tools.parse(verb, fields), read_flags(step, actions).optional))
                continue
            session_id, rest = _split_address(step)
            last = parts[-1] if parts else None
            if not isinstance(last, ActingSteps) or last.session_id != session_id:
                last = ActingSteps(index, session_id)
                parts.append(last)
            last.steps.append(read_step(rest, actions))
    return parts


def read_verb(step: Mapping[str, Any], actions: Catalogue, tools: Collection[str]) -> str:
    """Read the name of a step's action, or of a tool for sessions.

    Raises:
        Denied: It is refused.
        InvalidArgument: There is neither; the nearest name is offered.
    """
    verb = step.get("action")
    if verb is None:
        raise InvalidArgument("A step needs action: the name of a tool.", hint="describe_actions lists them all.")
    if not isinstance(verb, str) or verb not in {SYNC, *actions, *tools}:
        raise InvalidArgument(f"{verb!r} is not an action.", hint=suggest_tools(str(verb), [*actions, *tools]))
    actions.check_allowed(verb)
    return verb


def named_sessions(sequence: ExecuteSequence) -> list[str]:
    """Return the session ids in a sequence: its own and those of its steps."""
    named = [sequence.session_id, *(step.get(name) for step in sequence.actions for name in _SESSION_ID)]
    several = [step.get(name) for step in sequence.actions for name in _SESSION_IDS]
    named += [one for ids in several if isinstance(ids, list) for one in ids]
    return [one for one in named if isinstance(one, str)]


def names_sessions(sequence: ExecuteSequence) -> bool:
    """True if a step says in which session it runs."""
    return any(step.get(name) is not None for step in sequence.actions for name in _SESSION_ID)


def _split_address(step: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Split a step into the session that it names and the rest."""
    rest = {name: value for name, value in step.items() if name not in _SESSION_ID}
    given = [str(step[name]) for name in _SESSION_ID if step.get(name) is not None]
    return given[0] if given else None, rest


@dataclass(frozen=True)
class WatchTask:
    """Begins to watch the page of a session for what it is expected to show (`execution.runner.SessionTask`)."""

    steps: Sequence[WatchedStep]
    verb: str = "execute_sequence"
    reads: bool = True

    def log_arguments(self) -> dict[str, Any]:
        """The number of expectations, which are logged by themselves."""
        return {"watches": len(self.steps)}

    def check_supports(self, record: SessionRecord) -> None:
        """Accept every session: the expectation itself refuses an app's screen."""

    def perform(self, scene: Scene) -> Outcome:
        """Begin."""
        begin_watching(scene, self.steps)
        return Outcome()


class SessionSequence:
    """The progress of a sequence that holds tools for sessions.

    Each run of other steps takes a turn of its session's lane; between the turns no lane is held. A session that a step
    claimed is used under the claim by the steps after it.
    """

    def __init__(self, caller: Caller, sequence: ExecuteSequence, *, runner: Runner, registry: SessionRegistry) -> None:
        self._caller = caller
        self._registry = registry.for_caller(caller)
        self._sequence = sequence
        self._runner = runner
        self._deadline = Deadline(sequence.timeout / 1000)
        self._started: SessionLabel | None = None
        self._claims: dict[str, str] = {}
        self._acted: list[tuple[SessionChange, SequenceResult]] = []
        self._completed = 0
        self._failed: FailedStep | None = None
        self._stopped_by: OrchestratorError | None = None
        self._reports: list[StepReport] = []
        self._latencies: list[Latency] = []
        self._warnings: list[str] = []
        self._events: list[str] = []

    async def run(self, parts: list[Part]) -> SequenceResult:
        """Run part after part, until a step that is not optional fails."""
        acting = [part for part in parts if isinstance(part, ActingSteps)]
        times = TimePlan(
            [
                PlacedStep(("", index), part.session_id or self._sequence.session_id, step)
                for part in acting
                for index, step in part.numbered()
            ]
        )
        for part in parts:
            if isinstance(part, ActingSteps):
                await self._begin_watching(part, acting, times)
                await self._act(part, times)
            else:
                await self._use_tool(part)
            if self._failed:
                break
        return self._build_result()

    @property
    def _target(self) -> str | None:
        """The session of steps that name none; None for the caller's current one."""
        return self._sequence.session_id or (self._started.session_id if self._started else None)

    async def _begin_watching(self, part: ActingSteps, acting: Sequence[ActingSteps], times: TimePlan) -> None:
        """Watch the pages of the sessions in which later parts time something from this one."""
        timed = times.timed_from(index for index, _ in part.numbered())
        for other in acting:
            indexes = {index for index, _ in other.numbered()}
            here = [one for one in timed if one.index in indexes]
            if other is not part and here:
                # Where there is no such session yet, its own part watches as soon as it can.
                with suppress(OrchestratorError):
                    target = other.session_id or self._target
                    self._add_notes(await self._runner.run(self._claiming, target, WatchTask(here)))

    @property
    def _claiming(self) -> Caller:
        return self._caller.with_claims(self._claims.values())

    async def _act(self, part: ActingSteps, times: TimePlan) -> None:
        session_id = part.session_id or self._target
        timing = times.make_timing("", (index for index, _ in part.numbered()))
        task = SequenceTask(
            part.steps, self._sequence, NoBarrier(), first=part.index, deadline=self._deadline, timing=timing
        )
        try:
            result = await self._runner.run(self._claiming, session_id, task)
        except OrchestratorError as error:
            done = error.details.get("completed", 0)
            self._completed += done
            self._fail(part.index + done, part.steps[done].verb, error)
            return
        label = result.session or self._started
        if label is not None and not (part.session_id or self._sequence.session_id):
            result = result.model_copy(update={"session": label})
        acted_in = split_claim(session_id)[0] if session_id else label.session_id if label else ""
        change = SessionChange(session_id=acted_in, index=part.index, state_change=result.state_change)
        self._acted.append((change, result))
        self._completed += result.completed
        self._failed, self._stopped_by = result.failed, result.stopped_by
        self._reports += result.steps or []
        self._latencies += result.latencies or []
        self._add_notes(result)

    async def _use_tool(self, part: SessionPart) -> None:
        started, verb = time.monotonic(), part.step.verb
        try:
            outcome = await self._run_in_time(part.step)
        except OrchestratorError as error:
            if self._sequence.verbose:
                self._report(part, error_data(error), error.sentence, started)
            if part.optional:
                self._warnings.append(f"Optional step {part.index} ({verb}) failed: {error.sentence}")
            else:
                self._fail(part.index, verb, error)
            return
        self._completed += 1
        self._report(part, outcome.data(), " ".join(outcome.lines()), started, outcome.quotes())
        self._add_notes(outcome, lambda text: f"Step {part.index} ({verb}): {text}")
        self._follow(outcome)

    async def _run_in_time(self, step: SessionStep) -> Outcome:
        late = TimedOut(f"The sequence took longer than {self._sequence.timeout} ms.", hint="Raise timeout.")
        left = self._deadline.seconds_left
        if not left:
            raise late
        try:
            with anyio.fail_after(None if step.destructive else left):
                return await step.run(self._sequence.session_id, await self._find_acting(), self._claims)
        except TimeoutError:
            raise late from None

    async def _find_acting(self) -> str | None:
        """Return the session that steps without one go to; of the caller's current one only if it was claimed here."""
        if self._target or not self._claims:
            return self._target
        _, current = await self._registry.list_with_current()
        return current if current in self._claims else None

    def _follow(self, outcome: Outcome) -> None:
        """Go on in the session that was started or attached; in the current one if that was closed or one was set."""
        self._follow_claims(outcome)
        match outcome:
            case SessionRow():
                self._started = SessionLabel(session_id=outcome.session_id, session_type=outcome.type)
            case CurrentSession():
                self._started = None
            case CloseResult() if self._started and self._started.session_id in [*outcome.closed, *outcome.detached]:
                self._started = None

    def _follow_claims(self, outcome: Outcome) -> None:
        match outcome:
            case Claimed():
                self._claims[split_claim(outcome.session_id)[0]] = outcome.session_id
            case SessionRow(claim=ClaimFacts()):
                self._claims[outcome.session_id] = outcome.as_claimed().session_id
            case Released() | CloseResult():
                ended = outcome.released if isinstance(outcome, Released) else [*outcome.closed, *outcome.detached]
                self._claims = {plain: name for plain, name in self._claims.items() if plain not in ended}

    def _fail(self, index: int, verb: str, error: OrchestratorError) -> None:
        self._failed = FailedStep(index=index, action=verb, error=error_data(error))
        self._stopped_by = error

    def _add_notes(self, outcome: Outcome, place: Callable[[str], str] = str) -> None:
        self._warnings += map(place, outcome.warnings)
        self._events += outcome.events

    def _report(
        self, part: SessionPart, result: dict[str, Any], text: str, started: float, told: Sequence[Quote] = ()
    ) -> None:
        duration, verb = round((time.monotonic() - started) * 1000), part.step.verb
        self._reports.append(
            StepReport(index=part.index, action=verb, result=result, duration_ms=duration, text=text, told=[*told])
        )

    def _build_result(self) -> SequenceResult:
        """Make the result: what changed in the end is that of the last steps that acted."""
        changes = [change for change, _ in self._acted]
        last = self._acted[-1][1] if self._acted else SequenceResult(completed=0)
        return last.model_copy(
            update={
                "completed": self._completed,
                "failed": self._failed,
                "stopped_by": self._stopped_by,
                "steps": self._reports or None,
                "latencies": self._latencies or None,
                "changes": changes if len(changes) > 1 else None,
                "warnings": self._warnings,
                "events": self._events,
            }
        )
