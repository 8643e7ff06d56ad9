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
from orchestrator.world.kernel import BROKEN, OWN, Kernel
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
        begin = f"{self._kernel.code('begin', self._told, script.names)};"
        if script.functions:
            engine.evaluate(begin, OWN)
            engine.evaluate(f"{script.functions}\n{script.mark}", OWN)
            begin = ""
        head = f"{begin}{self._kernel.name}.run({script.number}, {json.dumps(facts)}, async function () {{"
        engine.evaluate(f"{head}{script.body}\n}});\n{script.mark}", self._left, self._company.check)

    @property
    def _left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def _steps(self) -> Finished:
        while True:
            self._company.check()
            step = self._kernel.ask("step", seconds=self._left, check=self._company.check)
            self._take(step)
            if "console" in step:
                return self._finished(step)
            if not self._left:
                raise TookTooLong("it takes too long")
            match step:
                case {"act": {"number": int(number), "verb": str(verb), "parameters": dict(parameters)}}:
                    self._act(number, verb, parameters)
                case {"wait": int() | float() as pause}:
                    time.sleep(min(pause / 1000, _PAUSE, self._left))
                    self._kernel.call("tick", seconds=self._left, check=self._company.check)
                case _:
                    raise Thrown(BROKEN)

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
        match said:
            case {"vars": dict(kept)}:
                self._told = kept
                self._vars.replace(kept)
            case {"vars": _}:
                raise Thrown(BROKEN)

    def _finished(self, said: Mapping[str, Any]) -> Finished:
        console = _lines(said)
        match said:
            case {"error": dict(told)}:
                finished = Finished(error=self._error(told), console=console)
            case {"stuck": True}:
                finished = Finished(error=_waits_for_nothing(), console=console)
            case {"value": value, "warnings": list(warnings)}:
                finished = Finished(value=value, console=console, warnings=[str(one) for one in warnings])
            case _:
                raise Thrown(BROKEN)
        if finished.error:
            finished.error.details.update(_console(console))
        return finished

    def _error(self, told: Mapping[str, Any]) -> OrchestratorError:
        earlier = " of an earlier script" if told.get("earlier") else ""
        at = f"line {told['line']}{earlier}" if told.get("line") else ""
        if error := self._failed.get(told.get("number", 0)):
            error.details.update({"script": at} if at else {})
            return error
        return InvalidArgument(
            f"The script threw {told.get('text')}{f' ({at})' if at else ''}.", hint="Mend the script."
        )

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
        with suppress(InvalidArgument, Thrown):
            self._take(said)
        return _lines(said)


def _lines(said: Mapping[str, Any]) -> list[str]:
    lines = said.get("console")
    return [str(one) for one in lines] if isinstance(lines, list) else []


def _console(lines: list[str]) -> dict[str, list[str]]:
    return {"console": lines} if lines else {}


def _waits_for_nothing() -> OrchestratorError:
    return InvalidArgument(
        "The script waits for a promise that nothing will ever settle.", hint="Await actions, or timers."
    )
