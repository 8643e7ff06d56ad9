"""A script world of the tests' own, and the session that its scripts act on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.automation.scripting.kernel import ScriptFunction
from orchestrator.automation.scripting.modules import ScriptModules
from orchestrator.automation.scripting.run import FinishedScript
from orchestrator.automation.scripting.vars import Vars
from orchestrator.automation.scripting.world import World
from orchestrator.errors import ElementNotFound, InvalidArgument, OrchestratorError, SessionLost

MEGABYTE = 1024 * 1024
FUNCTIONS = [
    ScriptFunction("click_element", "page"),
    ScriptFunction("fail", "page"),
    ScriptFunction("get_visible_elements", "page"),
    ScriptFunction("cookies", "context"),
    ScriptFunction("tabs", "browser"),
]


class Session:
    """A stand-in for the session's actions: it records them, and one of them always fails."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Mapping[str, Any]]] = []
        self.vars = Vars({}, lambda _: None)
        self.lost = False

    def act(self, verb: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Record the action."""
        self.done.append((verb, fields))
        if verb == "fail":
            raise ElementNotFound("No element matches '#x'.", hint="Look again.")
        return {"verb": verb, "number": len(self.done)}

    def check(self) -> None:
        """Raise an error if the session is gone."""
        if self.lost:
            raise SessionLost("a", "it was closed")


class Scripts:
    """A world and its session."""

    def __init__(self, modules: Path | None = None) -> None:
        self.session = Session()
        self.world = World(FUNCTIONS, 64 * MEGABYTE, ScriptModules(modules))

    def run(self, script: str, seconds: float = 20) -> FinishedScript:
        """Run a script."""
        facts = {"sessionId": "a", "type": "browser", "capabilities": {"browserName": "chrome"}}
        return self.world.run(script, seconds, self.session, self.session.vars, facts)

    def value(self, script: str) -> Any:
        """Return the value of a script that must succeed."""
        done = self.run(script)
        assert done.error is None, done.error
        return done.value

    def error(self, script: str, seconds: float = 20) -> OrchestratorError:
        """Return the error of a script that must fail."""
        try:
            error = self.run(script, seconds).error
        except InvalidArgument as refused:
            return refused
        assert error is not None
        return error


@pytest.fixture
def scripts() -> Iterator[Scripts]:
    """A world of the test's own."""
    scripts = Scripts()
    yield scripts
    scripts.world.shut_down("the test is over")
