"""Running the caller's own JavaScript in the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.actions.base import ALL_TYPES, Action, Timed
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.finding import Finder
from orchestrator.actions.results import Acted, Outcome, Value
from orchestrator.actions.scene import Scene
from orchestrator.actions.unmet import unmet
from orchestrator.errors import InvalidArgument, OrchestratorError, RemoteFailure, TimedOut, Unsupported, quoted
from orchestrator.models import SessionType
from orchestrator.selector import Locator, parse
from orchestrator.settings import ToolSet
from orchestrator.snapshot.page import Interrupted

_ROOM = 0.9
_MOBILE = "mobile:"
_TIMED_OUT = "webdriver-orchestrator: timeout"
_BOUNDED = """
return await engine.timed((async function () {
%s
}).apply(null, args), %d, %s);
"""


class ExecuteScript(Timed, Action[Value]):
    """Run JavaScript in the page (a function body; return, await), or in an app a command such as mobile: shell.

    Use it for what no other tool does.
    """

    verb: ClassVar[str] = "execute_script"
    title: ClassVar[str] = "Run JavaScript"
    toolset: ClassVar[ToolSet] = "script"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    destructive: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Value

    script: str = Field(min_length=1)
    args: list[Any] = Field(
        default_factory=list, repr=False, description='{"ref": "e12"} or {"selector": …} is an element.'
    )

    def perform(self, scene: Scene) -> Value:
        """One script call; a promise is awaited until timeout (30 s)."""
        if self.script.startswith(_MOBILE):
            return self._command(scene)
        if scene.native:
            raise Unsupported(
                "An app's own screen runs no JavaScript.",
                hint='Use a command of the driver such as "mobile: deviceInfo", or switch_context to a web view.',
            )
        limit = scene.seconds(round(scene.settings.command_timeout * 900) if self.timeout is None else self.timeout)
        body = "const args = [...arguments];\n" + _BOUNDED % (self.script, round(limit * 1000), json.dumps(_TIMED_OUT))
        try:
            with scene.find.home() as frames:
                answer = scene.web.evaluate(body, [_located(arg, scene.find, frames) for arg in self.args])
        except Interrupted:
            # A dialog that it opened is still there: looking at the page answers it, so that this call can report it.
            met = scene.observing("none", Acted).warnings
            return Value(warnings=["The script was cut short: it opened a dialog or left the page.", *met])
        except RemoteFailure as error:
            raise _refused(error, limit) from error
        if "given" in answer:
            raise _without_element(answer, scene)
        return Value(**fitting(answer.get("value"), scene))

    def _command(self, scene: Scene) -> Value:
        """A command of the driver's own; elements in its arguments are what Find Element answers for them."""
        if scene.record.type is SessionType.BROWSER:
            raise Unsupported(f"{self.script} is a command for apps.", hint="A browser runs JavaScript.")
        limit = scene.settings.command_timeout if self.timeout is None else self.timeout / 1000
        args = [_as_element(arg, scene) for arg in self.args]
        answer = scene.remote.execute("w3cExecuteScript", script=self.script, args=args, limit=limit)
        return Value(**fitting(answer, scene))


def _as_element(arg: Any, scene: Scene) -> Any:
    """The argument with elements by their remote ids: a driver's own commands take them as `elementId`."""
    if isinstance(arg, list):
        return [_as_element(item, scene) for item in arg]
    if isinstance(arg, dict):
        if set(arg) in ({"selector"}, {"ref"}) and isinstance(given := next(iter(arg.values())), str):
            if not scene.native:
                raise Unsupported("In a web view no element can be given to a command of the driver.")
            with scene.element(given, "present", None):
                return next(iter(scene.screen.handle().values()))
        return {name: _as_element(item, scene) for name, item in arg.items()}
    return arg


def _located(arg: Any, find: Finder, frames: tuple[Locator, ...]) -> Any:
    """The argument with its selectors read, inside the frames that the session has switched to."""
    if isinstance(arg, list):
        return [_located(item, find, frames) for item in arg]
    if isinstance(arg, dict):
        if set(arg) == {"selector"} and isinstance(arg["selector"], str):
            located = find.locator(parse(arg["selector"]).inside(frames))
            return {"locator": {**located, "given": arg["selector"]}}
        return {name: _located(item, find, frames) for name, item in arg.items()}
    return arg


def _without_element(answer: Mapping[str, Any], scene: Scene) -> OrchestratorError:
    """The error for an argument that is no element; it is looked for once, as the script itself would."""
    given = str(answer["given"])
    if "crossOrigin" in answer:
        return Unsupported(f"{quoted(given)} is in a frame of another origin, where the script cannot reach it.")
    return unmet(parse(given), answer, scene.record, Deadline(0))


def _refused(error: RemoteFailure, limit: float) -> Exception:
    said = error.message
    if _TIMED_OUT in said:
        return TimedOut(f"The script was not done after {limit:g} s.", hint="Raise timeout, or return sooner.")
    if error.details.get("error") == "javascript error":
        thrown = said.partition("javascript error: ")[2] or said
        return InvalidArgument(f"The script threw: {thrown.rstrip('.')}.", hint="Mend the script.")
    return error


def fitting(value: Any, scene: Scene) -> dict[str, Any]:
    """A script's value as fields of `Value`; of one that is too long the beginning of its JSON, and how to get less.

    Secrets go first: half of one would not be known as one.
    """
    room = round(scene.settings.max_output * _ROOM)
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > room:
        value = scene.redactor.data(value)
        text = json.dumps(value, ensure_ascii=False)
    if len(text) <= room:
        return {"value": value}
    cut = f"Cut: {len(text) - room} more characters of JSON. Return less, or raise the setting max_output."
    return {"value": text[:room], "next": cut}


ACTIONS: list[type[Action[Any]]] = [ExecuteScript]
