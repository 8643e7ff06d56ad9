"""One session's script world: reads and runs its scripts, and keeps their globals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from orchestrator.errors import InvalidArgument, TimedOut
from orchestrator.world.declarations import Script, read
from orchestrator.world.engine import OutOfMemory, Thrown, TookTooLong, WrongSyntax
from orchestrator.world.kernel import OWN, Function, Kernel
from orchestrator.world.run import Company, Finished, Run
from orchestrator.world.vars import Vars

_OURS = frozenset({"page", "context", "browser", "request", "vars", "console"})


class World(Kernel):
    """JavaScript globals of one session, in this process alone.

    Attributes:
        used: When it was last wanted, by the clock of whoever keeps it.
    """

    def __init__(self, functions: Iterable[Function], memory: int) -> None:
        super().__init__(functions, memory)
        self.used = 0.0
        self._count = 0

    def run(self, source: str, seconds: float, company: Company, variables: Vars, facts: Mapping[str, Any]) -> Finished:
        """Run a script to its end, with its actions one after the other in this thread.

        Whatever cuts it short ends the world with it.

        Raises:
            InvalidArgument: It cannot be read; nothing was run.
            TimedOut: The world does not answer; nothing was run.
            Exception: Whatever `company.check` raises.
        """
        if self.busy:
            raise InvalidArgument("A script of this session runs already.", hint="Call a function of it instead.")
        self.busy = True
        try:
            return Run(self, seconds, company, variables).whole(self._read(source), facts)
        except (TookTooLong, OutOfMemory):
            self.lose("it did not answer")
            raise TimedOut("The script world does not answer.", hint="Call again: it gets a new one.") from None
        finally:
            self.busy = False
            if self.lost:
                self.lose(self.lost)

    def get(self, name: str) -> Any:
        """A global as JSON data, as a script would return it; None where there is none.

        Raises:
            InvalidArgument: It cannot be read.
        """
        try:
            return json.loads(self.call("global", name))
        except (TookTooLong, OutOfMemory, Thrown) as error:
            raise InvalidArgument(f"The global {name!r} cannot be read: {error}.") from None

    def set(self, name: str, value: Any) -> None:
        """Set a global to a JSON value.

        Raises:
            InvalidArgument: It cannot be set.
        """
        try:
            self.call("setGlobal", name, value)
        except (TookTooLong, OutOfMemory, Thrown) as error:
            raise InvalidArgument(f"The global {name!r} cannot be set: {error}.") from None

    def _read(self, source: str) -> Script:
        self._count += 1
        script = read(source, self._count)
        try:
            self._look_at(script)
        except WrongSyntax as error:
            at = f" (line {error.line})" if error.line else ""
            raise InvalidArgument(f"The script cannot be read: {error.said}{at}.", hint="Nothing was run.") from None
        if taken := sorted(_OURS.intersection(script.names)):
            raise InvalidArgument(
                f"The script declares {taken[0]}, which is the session's own.", hint="Choose another name."
            )
        return script

    def _look_at(self, script: Script) -> None:
        """Have the engine read it as it was written: a mistake there must not become right by being rewritten."""
        with suppress(Thrown):
            # What closes our function and opens another one could be read; it must not run.
            self.engine.evaluate(f"throw 0; (async function () {{{script.source}\n}});\n{script.mark}", OWN)
        if not script.readable:
            try:
                self.engine.evaluate(f"(async () => {{}}).constructor({json.dumps(script.source)}); 0", OWN)
            except Thrown:
                raise WrongSyntax("it closes a brace that it did not open", None) from None
