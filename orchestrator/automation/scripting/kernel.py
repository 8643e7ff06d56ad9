"""The kernel of a script world: its engine, and the functions that scripts call."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from orchestrator.automation.scripting.engine import Engine, OutOfMemory, TookTooLong, UncaughtScriptError
from orchestrator.automation.scripting.vars import ROOM
from orchestrator.errors import Unsupported

OWN_CALL_SECONDS = 5.0
"""Timeout of the kernel's own evaluations."""
_START = 30.0
"""Seconds that an engine's process may take to start."""
_LIMITS = {"lines": 200, "line": 2000, "vars": ROOM}
"""Limits of a script's console and vars."""
_SHORT = 1.0
"""Timeout of an evaluation after another one was stopped."""
BROKEN = "it changed the prototypes of built-in objects, or nests too deeply"
"""Reason why a script's answer cannot be read."""
_MB = 1024 * 1024


@dataclass(frozen=True)
class ScriptFunction:
    """An action as scripts call it: `click_element(…)`, or `page.clickElement(…)` (or `context`, `browser`)."""

    verb: str
    object: str

    @property
    def method(self) -> str:
        """Its name as a method, such as clickElement."""
        first, *rest = self.verb.split("_")
        return first + "".join(word.capitalize() for word in rest)


class Kernel:
    """The engine of a world. Used by one thread at a time.

    Args:
        functions: The actions that scripts can call.
        memory: The engine's limit in bytes.

    Attributes:
        id: A random id.
        lost_reason: The reason why it cannot be used any more; empty if it can.
        busy: True while a script runs.
    """

    def __init__(self, functions: Iterable[ScriptFunction], memory: int) -> None:
        self.id = secrets.token_hex(8)
        self.lost_reason = ""
        self.busy = False
        self.memory = f"{memory // _MB} MB"
        self.engine = Engine(memory)
        # A const is not a property of the global object, and no script can guess the name.
        self.name = f"kernel_{self.id}"
        listed = [{"verb": each.verb, "object": each.object, "method": each.method} for each in functions]
        source = f"const {self.name} = {_SOURCE}({json.dumps(listed)}, {json.dumps(_LIMITS)}); 0"
        try:
            self.engine.evaluate(source, _START)
        except (TookTooLong, OutOfMemory):
            self.engine.close()
            raise Unsupported("The JavaScript engine does not start.", hint="Run: orchestrator doctor") from None

    def call(
        self, method: str, *arguments: Any, seconds: float = OWN_CALL_SECONDS, check: Callable[[], None] = lambda: None
    ) -> Any:
        """Call a function of the kernel.

        Raises:
            TookTooLong, OutOfMemory, UncaughtScriptError: A script made it fail.
        """
        return self.engine.evaluate(self.code(method, *arguments), seconds, check)

    def code(self, method: str, *arguments: Any) -> str:
        """The JavaScript expression of that call."""
        return f"{self.name}.call({json.dumps(method)}, {json.dumps(json.dumps(arguments))})"

    def call_for_object(
        self, method: str, seconds: float = OWN_CALL_SECONDS, check: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """Call a function of the kernel that returns an object as JSON.

        Raises:
            TookTooLong, OutOfMemory, UncaughtScriptError: A script made it fail.
        """
        return _object(self.call(method, seconds=seconds, check=check))

    def finish_after_stop(self) -> dict[str, Any]:
        """The vars and console lines of a script that was stopped; empty if the engine does not answer."""
        with suppress(TookTooLong, OutOfMemory, UncaughtScriptError):
            return _object(self.engine.evaluate_after_stop(f"{self.name}.finish()", _SHORT))
        return {}

    def shut_down(self, reason: str) -> None:
        """End the engine, now or as soon as the running script has ended."""
        self.lost_reason = reason
        if not self.busy:
            self.engine.close()


def _object(text: Any) -> dict[str, Any]:
    """Parse a kernel function's answer, which a script can spoil by changing prototypes."""
    try:
        answer = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise UncaughtScriptError(BROKEN)
    return answer


def _source() -> str:
    folder = files("orchestrator.automation.scripting")
    parts = (
        files("orchestrator.snapshot.web").joinpath("scripts", "portable.js"),
        folder.joinpath("values.js"),
        folder.joinpath("kernel.js"),
    )
    body = "\n".join(part.read_text("utf-8") for part in parts)
    return f"((functions, limits) => {{\n'use strict';\nconst {{ stringify, parse }} = JSON;\n{body}\n}})"


_SOURCE = _source()
