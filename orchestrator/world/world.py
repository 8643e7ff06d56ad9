"""One session's script world: runs its scripts, does the actions that they call, and keeps their globals."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Protocol

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionLost, TimedOut
from orchestrator.world.declarations import Script, read
from orchestrator.world.engine import Engine, OutOfMemory, Thrown, TookTooLong, WrongSyntax
from orchestrator.world.vars import ROOM, Vars

_LIMITS = {"lines": 200, "line": 2000, "vars": ROOM}
"""What a script may print and keep."""
_OURS = ("page", "context", "browser", "request", "vars", "console")
_SHORT = 0.2
"""Seconds for a word with an engine that was stopped."""
_PAUSE = 0.05
"""Seconds between two looks at whether a script that waits for its timers was cancelled."""
_OWN = 5.0
"""Seconds that what we evaluate ourselves may take."""
_MB = 1024 * 1024


@dataclass(frozen=True)
class Function:
    """An action as scripts call it: `click_element(…)`, and `clickElement` of `page`, `context` or `browser`."""

    verb: str
    object: str

    @property
    def method(self) -> str:
        """Its name in an object."""
        first, *rest = self.verb.split("_")
        return first + "".join(word.capitalize() for word in rest)


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


class World:
    """JavaScript globals of one session, in this process alone. Used by one thread at a time.

    Args:
        functions: The actions that scripts can call.
        memory: Bytes that it may have.

    Attributes:
        id: Which one it is.
        used: When a script last ran in it, by `time.monotonic`.
        busy: Whether one runs.
        lost: Why it is of no further use, where that is so.
    """

    def __init__(self, functions: Iterable[Function], memory: int) -> None:
        self.id = secrets.token_hex(8)
        self.used = time.monotonic()
        self.busy = False
        self.lost = ""
        self._memory = memory
        self._engine = Engine(memory)
        # A name that no script can know: what is declared so stands in no list of globals.
        self._kernel = f"kernel_{self.id}"
        self._count = 0
        known = [{"verb": one.verb, "object": one.object, "method": one.method} for one in functions]
        self._engine.evaluate(f"const {self._kernel} = {_SOURCE}({json.dumps(known)}, {json.dumps(_LIMITS)}); 0", _OWN)

    def run(self, source: str, seconds: float, company: Company, variables: Vars, facts: Mapping[str, Any]) -> Finished:
        """Run a script to its end, with its actions one after the other in this thread.

        Whatever cuts it short ends the world with it.

        Raises:
            InvalidArgument: It cannot be read; nothing was run.
            Exception: Whatever `company.check` raises.
        """
        if self.busy:
            raise InvalidArgument("A script of this session runs already.", hint="Call functions instead.")
        self.busy = True
        try:
            return _Run(self, seconds, company, variables).whole(self._read(source), facts)
        finally:
            self.busy, self.used = False, time.monotonic()

    def get(self, name: str) -> Any:
        """A global as JSON data; None where there is none, or it is not JSON."""
        text = self.call("global", name)
        return json.loads(text)

    def set(self, name: str, value: Any) -> None:
        """Set a global to a JSON value."""
        self.call("setGlobal", name, value)

    def lose(self, why: str) -> None:
        """End it."""
        self.lost = why
        self._engine.close()

    def last_word(self) -> dict[str, Any]:
        """The vars that a script has set, and what it printed, once it was stopped; empty where nothing answers."""
        with suppress(TookTooLong, OutOfMemory, Thrown):
            said: dict[str, Any] = json.loads(self._engine.last_word(f"{self._kernel}.finish()", _SHORT))
            return said
        return {}

    def call(
        self, method: str, *arguments: Any, seconds: float = _OWN, check: Callable[[], None] = lambda: None
    ) -> Any:
        """Call a function of the kernel."""
        given = ", ".join(json.dumps(one) for one in arguments)
        return self._engine.evaluate(f"{self._kernel}.{method}({given})", seconds, check)

    def begin(self, script: Script, facts: Mapping[str, Any], seconds: float, check: Callable[[], None]) -> None:
        """Begin a script that was read."""
        self.call("declare", script.names)
        if script.functions:
            self._engine.evaluate(f"{script.functions}\n{self._name}", _OWN)
        head = f"{self._kernel}.run({self._count}, {json.dumps(facts)}, async function () {{"
        self._engine.evaluate(f"{head}{script.body}\n}});\n{self._name}", seconds, check)

    @property
    def too_much(self) -> str:
        """What a script is told that takes too much memory."""
        return f"The script took more memory than the {self._memory // _MB} MB that it may."

    def _read(self, source: str) -> Script:
        self._count += 1
        script = read(source)
        try:
            self._look_at(source, script)
        except WrongSyntax as error:
            at = f" (line {error.line})" if error.line else ""
            raise InvalidArgument(f"The script cannot be read: {error.said}{at}.", hint="Nothing was run.") from None
        if taken := sorted({*script.names} & {*_OURS}):
            raise InvalidArgument(
                f"The script declares {taken[0]}, which is the session's own.", hint="Choose another name."
            )
        return script

    def _look_at(self, source: str, script: Script) -> None:
        """Have the engine read it as it was written: a mistake there must not become right by being rewritten."""
        with suppress(Thrown):
            # What closes our function and opens another one could be read; it must not run.
            self._engine.evaluate(f"throw 0; (async function () {{{source}\n}});\n{self._name}", _OWN)
        if not script.readable:
            try:
                self._engine.evaluate(f"(async () => {{}}).constructor({json.dumps(source)}); 0", _OWN)
            except Thrown:
                raise WrongSyntax("it closes a brace that it did not open", None) from None

    @property
    def _name(self) -> str:
        """What errors call the script that is read or run now."""
        return f"//# sourceURL=script-{self._count}"


class _Run:
    """One script on its way to its end."""

    def __init__(self, world: World, seconds: float, company: Company, variables: Vars) -> None:
        self._world = world
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
            self._world.call("load", self._told)
            self._world.begin(script, facts, self._left, self._company.check)
            finished = self._steps()
            self._end_of(finished)
        except (TookTooLong, OutOfMemory, Thrown) as stopped:
            finished = self._stopped(stopped)
        except BaseException:
            self._salvage()
            self._world.lose("a script was cut short")
            raise
        finished.warnings = [*warnings, *finished.warnings]
        return finished

    @property
    def _left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def _steps(self) -> Finished:
        while True:
            self._company.check()
            step = json.loads(self._world.call("step", seconds=self._left, check=self._company.check))
            self._take(step)
            if not self._left:
                raise TookTooLong
            if "act" in step:
                self._act(**step["act"])
            elif "wait" in step:
                time.sleep(min(step["wait"] / 1000, _PAUSE, self._left))
                self._world.call("tick", seconds=self._left, check=self._company.check)
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
            self._world.call("load", now)
        self._world.call(method, number, answer, seconds=self._left, check=self._company.check)

    def _take(self, said: Mapping[str, Any]) -> None:
        if "vars" in said:
            self._told = said["vars"]
            self._vars.replace(self._told)

    def _end_of(self, finished: Finished) -> None:
        said = json.loads(self._world.call("finish"))
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
            self._world.lose("a script took too long")
            said, hint = f"The script was not done after {self._seconds:g} s.", f"{kept} Raise timeout, or do less."
            error = TimedOut(said, hint=hint)
        elif isinstance(stopped, OutOfMemory):
            self._world.lose("a script took too much memory")
            error = InvalidArgument(self._world.too_much, hint=f"{kept} Keep less in globals.")
        else:
            self._world.lose("a script broke it")
            error = InvalidArgument(f"The script broke its world: {stopped}.", hint=kept)
        error.details.update(_console(console))
        return Finished(error=error)

    def _salvage(self) -> list[str]:
        """Save the vars that it has set; what it printed."""
        said = self._world.last_word()
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


def _source() -> str:
    folder = files("orchestrator.world")
    body = "\n".join(folder.joinpath(f"{part}.js").read_text("utf-8") for part in ("values", "kernel"))
    return f"((functions, limits) => {{\n'use strict';\nconst {{ stringify, parse }} = JSON;\n{body}\n}})"


_SOURCE = _source()
