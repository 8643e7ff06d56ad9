"""A run of a script: evaluate it, and perform the actions that it calls, one by one."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from orchestrator.automation.scripting.declarations import Script
from orchestrator.automation.scripting.engine import OutOfMemory, TookTooLong, UncaughtScriptError
from orchestrator.automation.scripting.kernel import BROKEN, OWN_CALL_SECONDS, Kernel
from orchestrator.automation.scripting.vars import Vars
from orchestrator.errors import InvalidArgument, OrchestratorError, ScriptThrew, SessionLost, TimedOut, TurnLost

_INTERVAL = 0.05
"""Seconds between two checks for cancellation while a script waits for its timers."""


Binding = tuple[str, str, str]
"""A name that a script imports: the module's path, its export (`*` for all), and the local name."""


class ScriptSession(Protocol):
    """The session in which a script runs."""

    def act(self, verb: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Perform an action; its result as data."""
        ...

    def check(self) -> None:
        """Raise if the call was cancelled."""
        ...


@dataclass
class FinishedScript:
    """The outcome of a script."""

    value: Any = None
    error: OrchestratorError | None = None
    console: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class ScriptRun:
    """A script under way."""

    def __init__(self, kernel: Kernel, seconds: float, session: ScriptSession, variables: Vars) -> None:
        self._kernel = kernel
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._session = session
        self._vars = variables
        self._loaded = variables.all()
        self._failed: dict[int, OrchestratorError] = {}

    def run_to_end(self, script: Script, bindings: Sequence[Binding], facts: Mapping[str, Any]) -> FinishedScript:
        """Run the script; errors that it causes are in the outcome."""
        warnings = (
            [] if script.readable else ["The script's declarations were not understood: they end with this call."]
        )
        try:
            self._begin(script, bindings, facts)
            finished = self._steps()
        except (TookTooLong, OutOfMemory, UncaughtScriptError) as stopped:
            finished = self._stopped(stopped)
        except BaseException:
            self._salvage()
            self._kernel.shut_down("a script was interrupted")
            raise
        finished.warnings = [*warnings, *finished.warnings]
        return finished

    def _begin(self, script: Script, bindings: Sequence[Binding], facts: Mapping[str, Any]) -> None:
        engine = self._kernel.engine
        begin = f"{self._kernel.code('begin', self._loaded, script.names)};"
        if bindings:
            begin += f"{self._kernel.code('bind', bindings)};"
        if script.functions:
            engine.evaluate(begin, OWN_CALL_SECONDS)
            engine.evaluate(f"{script.functions}\n{script.source_url_comment}", OWN_CALL_SECONDS)
            begin = ""
        head = f"{begin}{self._kernel.name}.run({script.number}, {json.dumps(facts)}, async function () {{"
        engine.evaluate(f"{head}{script.body}\n}});\n{script.source_url_comment}", self._left, self._session.check)

    @property
    def _left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def _steps(self) -> FinishedScript:
        while True:
            self._session.check()
            step = self._kernel.call_for_object("step", seconds=self._left, check=self._session.check)
            self._save_vars(step)
            if "console" in step:
                return self._finished(step)
            if not self._left:
                raise TookTooLong("it takes too long")
            match step:
                case {"act": {"number": int(number), "verb": str(verb), "parameters": dict(parameters)}}:
                    self._act(number, verb, parameters)
                case {"wait": int() | float() as pause}:
                    time.sleep(min(pause / 1000, _INTERVAL, self._left))
                    self._kernel.call("tick", seconds=self._left, check=self._session.check)
                case _:
                    raise UncaughtScriptError(BROKEN)

    def _act(self, number: int, verb: str, parameters: dict[str, Any]) -> None:
        try:
            answer = self._session.act(verb, parameters)
        except (SessionLost, TurnLost):
            raise
        except OrchestratorError as error:
            self._failed[number] = error
            facts = {"code": error.code, "message": error.message, "hint": error.hint, "retryable": error.retryable}
            self._settle("refuse", number, facts)
        else:
            self._settle("answer", number, answer)

    def _settle(self, method: str, number: int, answer: Mapping[str, Any]) -> None:
        """Resolve or reject the promise of an action, after loading vars that the action changed."""
        if (current := self._vars.all()) != self._loaded:
            self._loaded = current
            self._kernel.call("load", current)
        self._kernel.call(method, number, answer, seconds=self._left, check=self._session.check)

    def _save_vars(self, step: Mapping[str, Any]) -> None:
        match step:
            case {"vars": dict(changed)}:
                self._loaded = changed
                self._vars.replace(changed)
            case {"vars": _}:
                raise UncaughtScriptError(BROKEN)

    def _finished(self, step: Mapping[str, Any]) -> FinishedScript:
        console = _console_lines(step)
        match step:
            case {"error": dict(thrown)}:
                finished = FinishedScript(error=self._error(thrown), console=console)
            case {"stuck": True}:
                finished = FinishedScript(error=_stuck(), console=console)
            case {"value": value, "warnings": list(warnings)}:
                finished = FinishedScript(value=value, console=console, warnings=[str(text) for text in warnings])
            case _:
                raise UncaughtScriptError(BROKEN)
        if finished.error:
            finished.error.details.update(_console_detail(console))
        return finished

    def _error(self, thrown: Mapping[str, Any]) -> OrchestratorError:
        earlier = " of an earlier script" if thrown.get("earlier") else ""
        at = f"line {thrown['line']}{earlier}" if thrown.get("line") else ""
        if error := self._failed.get(thrown.get("number", 0)):
            error.details.update({"script": at} if at else {})
            return error
        text = str(thrown.get("text"))
        return ScriptThrew(f"The script threw {text}{f' ({at})' if at else ''}.", text)

    def _stopped(self, stopped: Exception) -> FinishedScript:
        console = self._salvage()
        reset = "Its world was reset; vars are still there."
        error: OrchestratorError
        if isinstance(stopped, TookTooLong):
            self._kernel.shut_down("a script took too long")
            error = TimedOut(
                f"The script was not done after {self._seconds:g} s.", hint=f"{reset} Raise timeout, or do less."
            )
        elif isinstance(stopped, OutOfMemory):
            self._kernel.shut_down("a script took too much memory")
            error = InvalidArgument(
                f"The script exceeded its memory limit of {self._kernel.memory}.",
                hint=f"{reset} Keep less in globals.",
            )
        else:
            self._kernel.shut_down("a script broke it")
            error = InvalidArgument(f"The script broke its world: {stopped}.", hint=reset)
        error.details.update(_console_detail(console))
        return FinishedScript(error=error)

    def _salvage(self) -> list[str]:
        """Save the vars of a script that was stopped; its console lines."""
        step = self._kernel.finish_after_stop()
        with suppress(InvalidArgument, UncaughtScriptError):
            self._save_vars(step)
        return _console_lines(step)


def _console_lines(step: Mapping[str, Any]) -> list[str]:
    lines = step.get("console")
    return [str(line) for line in lines] if isinstance(lines, list) else []


def _console_detail(lines: list[str]) -> dict[str, list[str]]:
    return {"console": lines} if lines else {}


def _stuck() -> OrchestratorError:
    return InvalidArgument(
        "The script waits for a promise that nothing will ever settle.", hint="Await actions, or timers."
    )
