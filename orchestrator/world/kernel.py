"""Our own part of a script world: a few functions that no script can name, and the engine that they are in."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from orchestrator.errors import Unsupported
from orchestrator.world.engine import Engine, OutOfMemory, Thrown, TookTooLong
from orchestrator.world.vars import ROOM

OWN = 5.0
"""Seconds that what we evaluate ourselves may take."""
_START = 30.0
"""Seconds that the process of an engine may take to start."""
_LIMITS = {"lines": 200, "line": 2000, "vars": ROOM}
"""What a script may print and keep."""
_SHORT = 1.0
"""Seconds for a word with an engine that was stopped."""
BROKEN = "it changed what all objects have, or goes too deep"
"""Why what it says cannot be read."""
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


class Kernel:
    """The engine of one world. Used by one thread at a time.

    Args:
        functions: The actions that scripts can call.
        memory: Bytes that it may have.

    Attributes:
        id: Which one it is.
        lost: Why it is of no further use, where that is so.
        busy: Whether a script runs.
    """

    def __init__(self, functions: Iterable[Function], memory: int) -> None:
        self.id = secrets.token_hex(8)
        self.lost = ""
        self.busy = False
        self.memory = f"{memory // _MB} MB"
        self.engine = Engine(memory)
        # What is declared so stands in no list of globals, and no script can guess it.
        self.name = f"kernel_{self.id}"
        known = [{"verb": one.verb, "object": one.object, "method": one.method} for one in functions]
        source = f"const {self.name} = {_SOURCE}({json.dumps(known)}, {json.dumps(_LIMITS)}); 0"
        try:
            self.engine.evaluate(source, _START)
        except (TookTooLong, OutOfMemory):
            self.engine.close()
            raise Unsupported("The JavaScript engine does not start.", hint="Run: orchestrator doctor") from None

    def call(self, method: str, *arguments: Any, seconds: float = OWN, check: Callable[[], None] = lambda: None) -> Any:
        """Call one of its functions.

        Raises:
            TookTooLong, OutOfMemory, Thrown: What a script does made it fail.
        """
        return self.engine.evaluate(self.code(method, *arguments), seconds, check)

    def code(self, method: str, *arguments: Any) -> str:
        """That call as an expression."""
        return f"{self.name}.call({json.dumps(method)}, {json.dumps(json.dumps(arguments))})"

    def ask(self, method: str, seconds: float = OWN, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Call one of its functions that answer with an object as JSON.

        Raises:
            TookTooLong, OutOfMemory, Thrown: What a script does made it fail.
        """
        return _object(self.call(method, seconds=seconds, check=check))

    def last_word(self) -> dict[str, Any]:
        """The vars that a script has set, and what it printed, once it was stopped; empty where nothing answers."""
        with suppress(TookTooLong, OutOfMemory, Thrown):
            return _object(self.engine.last_word(f"{self.name}.finish()", _SHORT))
        return {}

    def lose(self, why: str) -> None:
        """End it, at once or when the script that runs in it has noticed."""
        self.lost = why
        if not self.busy:
            self.engine.close()


def _object(said: Any) -> dict[str, Any]:
    """What a function of ours said; a script may have changed the prototypes that it is made with."""
    try:
        found = json.loads(said)
    except (TypeError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Thrown(BROKEN)
    return found


def _source() -> str:
    own = files("orchestrator.world")
    parts = (
        files("orchestrator.snapshot").joinpath("page", "portable.js"),
        own.joinpath("values.js"),
        own.joinpath("kernel.js"),
    )
    body = "\n".join(part.read_text("utf-8") for part in parts)
    return f"((functions, limits) => {{\n'use strict';\nconst {{ stringify, parse }} = JSON;\n{body}\n}})"


_SOURCE = _source()
