"""One script on its way to its end: between two evaluations its actions are done, one after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionLost, TimedOut
from orchestrator.world.declarations import Script
from orchestrator.world.engine import OutOfMemory, Thrown, TookTooLong
from orchestrator.world.kernel import OWN, Kernel
from orchestrator.world.vars import Vars

_PAUSE = 0.05
"""Seconds between two looks at whether a script that waits for its timers was cancelled."""


class Company(Protocol):
    """The session that a script runs in."""

    def act(self, verb: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Do an action; its result as data."""
        ...

    def check(self) -> None:
        """Raise when the call should not go on."""
        ...


@dataclass
class Finished:
    """What a script came to."""

    value: Any = None
    error: OrchestratorError | None = None
    console: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Run:
    """One script on its way to its end."""

    def __init__(self, kernel: Kernel, seconds: float, company: Company, variables: Vars) -> None:
        self._kernel = kernel
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._company = company
        self._vars = variables
        self._told = variables.all()
        self._failed: dict[int, OrchestratorError] = {}

    def whole(self, script: Script, facts: Mapping[str, Any]) -> Finished:
        """Run it."""
        warnings = (
            [] if script.readable else ["The script's declarations were not understood: they end with this call."]
        )
        try:
            self._begin(script, facts)
            finished = self._steps()
            self._end_of(finished)
        except (TookTooLong, OutOfMemory, Thrown) as stopped:
            finished = self._stopped(stopped)
        except BaseException:
            self._salvage()
            self._kernel.lose("a script was cut short")
            raise
        finished.warnings = [*warnings, *finished.warnings]
        return finished

    def _begin(self, script: Script, facts: Mapping[str, Any]) -> None:
        engine = self._kernel.engine
        self._kernel.call("load", self._told)
        self._kernel.call("declare", script.names)
        if script.functions:
            engine.evaluate(f"{script.functions}\n{script.mark}", OWN)
        head = f"{self._kernel.name}.run({script.number}, {json.dumps(facts)}, async function () {{"
        engine.evaluate(f"{head}{script.body}\n}});\n{script.mark}", self._left, self._company.check)

    @property
    def _left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def _steps(self) -> Finished:
        while True:
            self._company.check()
            step = json.loads(self._kernel.call("step", seconds=self._left, check=self._company.check))
            self._take(step)
            if not self._left:
                raise TookTooLong("it takes too long")
            if "act" in step:
                self._act(**step["act"])
            elif "wait" in step:
                time.sleep(min(step["wait"] / 1000, _PAUSE, self._left))
                self._kernel.call("tick", seconds=self._left, check=self._company.check)
            elif "error" in step:
                return Finished(error=self._error(**step["error"]))
            elif "stuck" in step:
                return Finished(error=_waits_for_nothing())
            else:
                warned = [f"{one['name']} was not awaited, and failed: {one['said']}" for one in step["unheard"]]
                return Finished(value=step["value"], warnings=warned)

    def _act(self, number: int, verb: str, parameters: dict[str, Any]) -> None:
        try:
            answer = self._company.act(verb, parameters)
        except SessionLost:
            raise
        except OrchestratorError as error:
            self._failed[number] = error
            told = {"code": error.code, "message": error.message, "hint": error.hint, "retryable": error.retryable}
            self._tell("refuse", number, told)
        else:
            self._tell("answer", number, answer)

    def _tell(self, method: str, number: int, answer: Mapping[str, Any]) -> None:
        if (now := self._vars.all()) != self._told:
            self._told = now
            self._kernel.call("load", now)
        self._kernel.call(method, number, answer, seconds=self._left, check=self._company.check)

    def _take(self, said: Mapping[str, Any]) -> None:
        if "vars" in said:
            self._told = said["vars"]
            self._vars.replace(self._told)

    def _end_of(self, finished: Finished) -> None:
        said = json.loads(self._kernel.call("finish"))
        self._take(said)
        finished.console = said["console"]
        if finished.error:
            finished.error.details.update(_console(finished.console))

    def _error(self, text: str, line: int = 0, *, earlier: bool = False, number: int = 0) -> OrchestratorError:
        at = f"line {line}" + (" of an earlier script" if earlier else "") if line else ""
        if number in self._failed:
            error = self._failed[number]
            error.details.update({"script": at} if at else {})
            return error
        return InvalidArgument(f"The script threw {text}{f' ({at})' if at else ''}.", hint="Mend the script.")

    def _stopped(self, stopped: Exception) -> Finished:
        console = self._salvage()
        kept = "Its world was reset; vars are still there."
        error: OrchestratorError
        if isinstance(stopped, TookTooLong):
            self._kernel.lose("a script took too long")
            said, hint = f"The script was not done after {self._seconds:g} s.", f"{kept} Raise timeout, or do less."
            error = TimedOut(said, hint=hint)
        elif isinstance(stopped, OutOfMemory):
            self._kernel.lose("a script took too much memory")
            error = InvalidArgument(
                f"The script took more memory than the {self._kernel.memory} that it may.",
                hint=f"{kept} Keep less in globals.",
            )
        else:
            self._kernel.lose("a script broke it")
            error = InvalidArgument(f"The script broke its world: {stopped}.", hint=kept)
        error.details.update(_console(console))
        return Finished(error=error)

    def _salvage(self) -> list[str]:
        """Save the vars that it has set; what it printed."""
        said = self._kernel.last_word()
        with suppress(InvalidArgument):
            self._take(said)
        lines: list[str] = said.get("console", [])
        return lines


def _console(lines: list[str]) -> dict[str, list[str]]:
    return {"console": lines} if lines else {}


def _waits_for_nothing() -> OrchestratorError:
    return InvalidArgument(
        "The script waits for a promise that nothing will ever settle.", hint="Await actions, or timers."
    )
