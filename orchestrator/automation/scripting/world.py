"""A session's script world: parse and run its scripts, and keep their globals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from orchestrator.automation.scripting.declarations import Script, parse_script
from orchestrator.automation.scripting.engine import OutOfMemory, TookTooLong, UncaughtScriptError, WrongSyntax
from orchestrator.automation.scripting.kernel import OWN_CALL_SECONDS, Kernel, ScriptFunction
from orchestrator.automation.scripting.modules import Module, ScriptModules, read_import
from orchestrator.automation.scripting.run import Binding, FinishedScript, ScriptRun, ScriptSession
from orchestrator.automation.scripting.vars import Vars
from orchestrator.errors import InvalidArgument, TimedOut

_BUILT_IN = frozenset({"page", "context", "browser", "request", "vars", "console"})


class World(Kernel):
    """The JavaScript globals of a session, in this process only.

    Attributes:
        used: The time of its last use, by the pool's clock.
    """

    def __init__(self, functions: Iterable[ScriptFunction], memory: int, modules: ScriptModules) -> None:
        super().__init__(functions, memory)
        self.used = 0.0
        self._count = 0
        self._modules = modules
        self._defined: frozenset[str] = frozenset()

    def run(
        self, source: str, seconds: float, session: ScriptSession, variables: Vars, facts: Mapping[str, Any]
    ) -> FinishedScript:
        """Run a script to its end, with its actions one after the other in this thread.

        An interruption also ends the world.

        Raises:
            InvalidArgument: The script is invalid; nothing was run.
            TimedOut: The world does not answer; nothing was run.
            Exception: Any that `session.check` raises.
        """
        if self.busy:
            raise InvalidArgument("A script of this session is running already.", hint="Call its functions instead.")
        self.busy = True
        try:
            script = self._parse(source)
            bindings = self._import(script)
            return ScriptRun(self, seconds, session, variables).run_to_end(script, bindings, facts)
        except (TookTooLong, OutOfMemory):
            self.shut_down("it did not answer")
            raise TimedOut("The script world does not answer.", hint="Call again: it gets a new one.") from None
        finally:
            self.busy = False
            if self.lost_reason:
                self.shut_down(self.lost_reason)

    def get(self, name: str) -> Any:
        """A global as JSON data, as a script would return it; None if there is none.

        Raises:
            InvalidArgument: It cannot be read.
        """
        try:
            return json.loads(self.call("global", name))
        except (TookTooLong, OutOfMemory, UncaughtScriptError) as error:
            raise InvalidArgument(f"The global {name!r} cannot be read: {error}.") from None

    def set(self, name: str, value: Any) -> None:
        """Set a global to a JSON value.

        Raises:
            InvalidArgument: It cannot be set.
        """
        try:
            self.call("setGlobal", name, value)
        except (TookTooLong, OutOfMemory, UncaughtScriptError) as error:
            raise InvalidArgument(f"The global {name!r} cannot be set: {error}.") from None

    def _parse(self, source: str) -> Script:
        self._count += 1
        script = parse_script(source, self._count)
        try:
            self._check_syntax(script)
        except WrongSyntax as error:
            at = f" (line {error.line})" if error.line else ""
            raise InvalidArgument(f"The script is invalid: {error.message}{at}.", hint="Nothing was run.") from None
        if taken := sorted(_BUILT_IN.intersection(script.names)):
            raise InvalidArgument(
                f"The script declares {taken[0]}, which is a built-in object.", hint="Choose another name."
            )
        return script

    def _import(self, script: Script) -> list[Binding]:
        """Evaluate the modules that a script imports, each once in this world; return what it takes from them.

        Raises:
            InvalidArgument: One is not there, or fails.
        """
        bindings = []
        for declared in filter(None, map(read_import, script.imports)):
            path = self._modules.resolve(declared.specifier)
            for module in self._modules.load(path, self._defined):
                self._define(module)
            bindings += [(path, taken, local) for local, taken in declared.names.items()]
        script.names += [local for _, _, local in bindings]
        if taken := sorted(_BUILT_IN.intersection(script.names)):
            raise InvalidArgument(
                f"The script imports {taken[0]}, a built-in object.", hint="Import it as another name."
            )
        return bindings

    def _define(self, module: Module) -> None:
        code = f"{self.name}.define({json.dumps(module.path)}, function (exports$, imported$) {{{module.body}\n}}); 0"
        try:
            self.engine.evaluate(f"{code}\n//# sourceURL={module.path}", OWN_CALL_SECONDS)
        except (WrongSyntax, UncaughtScriptError) as error:
            raise InvalidArgument(f"The module {module.path} fails: {error}.", hint="Correct the file.") from None
        self._defined |= {module.path}

    def _check_syntax(self, script: Script) -> None:
        """Parse the original source in the engine: rewriting must not turn an invalid script into a valid one."""
        with suppress(UncaughtScriptError):
            # A script that closes our function and opens another one is valid here: `throw` keeps it from running.
            self.engine.evaluate(
                f"throw 0; (async function () {{{script.source}\n}});\n{script.source_url_comment}", OWN_CALL_SECONDS
            )
        if not script.readable:
            try:
                self.engine.evaluate(
                    f"(async () => {{}}).constructor({json.dumps(script.source)}); 0", OWN_CALL_SECONDS
                )
            except UncaughtScriptError:
                raise WrongSyntax("it closes a brace that it did not open", None) from None
