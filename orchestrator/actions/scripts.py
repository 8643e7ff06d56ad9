"""The caller's JavaScript: in the page (`execute_script`) or a script world (`run_script`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.actions.base import ALL_TYPES, Action, HasTimeout
from orchestrator.automation import reporting
from orchestrator.automation.browser.element_errors import element_error
from orchestrator.automation.browser.finder import Finder
from orchestrator.automation.browser.locator import Locator
from orchestrator.automation.browser.selector import parse_selector
from orchestrator.automation.scene import Scene
from orchestrator.automation.scripting import engine
from orchestrator.errors import (
    InvalidArgument,
    OrchestratorError,
    RemoteFailure,
    ScriptThrew,
    TimedOut,
    Unsupported,
    quoted,
)
from orchestrator.models.results import Acted, Outcome, ScriptResult, ScriptValue
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet
from orchestrator.snapshot.answers import CrossOriginAnswer, RefusedAnswer
from orchestrator.snapshot.methods import is_cross_origin, is_refused
from orchestrator.snapshot.web.page import Interrupted
from orchestrator.system.deadline import Deadline

_MOBILE = "mobile:"
_TIMED_OUT = "webdriver-orchestrator: timeout"

_MOST_JSON = 1_000_000
"""Characters of JSON that a page returns at most, see script.js."""
_DEFAULT_TIMEOUT_MS = 30_000
"""Default timeout of a script of actions."""
_UNCUT = 100_000_000
"""`max_output` of actions inside a script: their results are not cut."""


class ExecuteScript(HasTimeout, Action[ScriptValue]):
    """Run JavaScript in the page (a function body; return, await), or in an app a command such as mobile: shell."""

    verb: ClassVar[str] = "execute_script"
    title: ClassVar[str] = "Run JavaScript"
    toolset: ClassVar[ToolSet] = "script"
    by_default: ClassVar[bool] = True
    long_result: ClassVar[bool] = True
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    destructive: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ScriptValue

    script: str = Field(min_length=1)
    args: list[Any] = Field(
        default_factory=list, repr=False, description='{"ref": "e12"} or {"selector": …} is an element.'
    )

    def perform(self, scene: Scene) -> ScriptValue:
        """Run it in one script call; a promise is awaited until timeout (30 s)."""
        if self.script.startswith(_MOBILE):
            return self._command(scene)
        if scene.native:
            raise Unsupported(
                "An app's own screen runs no JavaScript.",
                hint='Use a driver command such as "mobile: deviceInfo", or switch_context to a web view.',
            )
        scene.check_page_stayed()
        limit = scene.seconds(round(scene.settings.command_timeout * 900) if self.timeout is None else self.timeout)
        try:
            with scene.finder.in_session_frame() as frames:
                args = [_located(arg, scene.finder, frames) for arg in self.args]
                answer = scene.web_page.evaluate(self.script, args, limit_ms=round(limit * 1000), late=_TIMED_OUT)
        except Interrupted:
            # The dialog may still be open: querying the page handles it, so that this call reports it.
            warnings = reporting.add_url_and_title(scene, Acted()).warnings
            return ScriptValue(warnings=["The script was interrupted: it opened a dialog or left the page.", *warnings])
        except RemoteFailure as error:
            raise _refused(error, limit) from error
        if is_refused(answer) or is_cross_origin(answer):
            raise _without_element(answer, scene)
        return ScriptValue(**fit_into_output(answer["value"], scene, is_cut=answer.get("cut", False)))

    def _command(self, scene: Scene) -> ScriptValue:
        """Run a command of the Appium driver; elements in its arguments become their remote ids."""
        if scene.record.type is SessionType.BROWSER:
            raise Unsupported(f"{self.script} is a command for apps.", hint="In a browser, give JavaScript.")
        limit = scene.settings.command_timeout if self.timeout is None else self.timeout / 1000
        args = [_as_element(arg, scene) for arg in self.args]
        answer = scene.remote.execute("w3cExecuteScript", script=self.script, args=args, limit=limit)
        return ScriptValue(**fit_into_output(answer, scene))


def _as_element(arg: Any, scene: Scene) -> Any:
    """The argument with elements replaced by their remote ids, which driver commands take as `elementId`."""
    if isinstance(arg, list):
        return [_as_element(item, scene) for item in arg]
    if isinstance(arg, dict):
        if set(arg) in ({"selector"}, {"ref"}) and isinstance(given := next(iter(arg.values())), str):
            if not scene.native:
                raise Unsupported("In a web view, driver commands cannot take elements.")
            with scene.element(given, "present", None):
                return next(iter(scene.screen.handle().values()))
        return {name: _as_element(item, scene) for name, item in arg.items()}
    return arg


def _located(arg: Any, find: Finder, frames: tuple[Locator, ...]) -> Any:
    """The argument with its selectors parsed, relative to the frames that the session has switched to."""
    if isinstance(arg, list):
        return [_located(item, find, frames) for item in arg]
    if isinstance(arg, dict):
        if set(arg) == {"selector"} and isinstance(arg["selector"], str):
            located = find.build_locator(parse_selector(arg["selector"]).inside(frames))
            return {"locator": {**located, "given": arg["selector"]}}
        return {name: _located(item, find, frames) for name, item in arg.items()}
    return arg


def _without_element(answer: RefusedAnswer | CrossOriginAnswer, scene: Scene) -> OrchestratorError:
    """The error for a selector in the arguments that matched no element; it is queried once, without waiting."""
    given = answer.get("given", "")
    if is_cross_origin(answer):
        return Unsupported(f"{quoted(given)} is in a frame of another origin, where the script cannot reach it.")
    return element_error(parse_selector(given), answer, scene.record, Deadline(0))


def _refused(error: RemoteFailure, limit: float) -> Exception:
    message = error.message
    if _TIMED_OUT in message:
        return TimedOut(f"The script was not done after {limit:g} s.", hint="Raise timeout, or return sooner.")
    if error.details.get("error") == "javascript error":
        thrown = message.partition("javascript error: ")[2] or message
        thrown = thrown.rstrip(".")
        return ScriptThrew(f"The script threw: {thrown}.", thrown)
    return error


def fit_into_output(value: Any, scene: Scene, *, is_cut: bool = False) -> dict[str, Any]:
    """Fields of `ScriptValue` for a script's value; a value that is too long becomes the beginning of its JSON.

    Secrets are masked before the cut: half a secret would not be recognized.

    Args:
        value: The value.
        scene: The scene of the script.
        is_cut: True if the page returned only the beginning of the value.

    Raises:
        InvalidArgument: There is room for more than the page returns.
    """
    room = scene.settings.body_room
    text = json.dumps(value, ensure_ascii=False)
    if is_cut and len(text) <= room:
        raise InvalidArgument(
            f"The script's value is too large: more than {_MOST_JSON:,} characters of JSON.",
            hint="Return it in parts, by one call for each.",
        )
    if len(text) <= room:
        return {"value": value}
    number = f"more than {len(text) - room}" if is_cut else f"{len(text) - room} more"
    cut = f"Cut: {number} characters of JSON. Return less, or raise the setting max_output."
    return {"value": scene.redactor.beginning(text, room), "next": cut}


class RunScript(HasTimeout, Action[ScriptResult]):
    """Run JavaScript that calls actions: await page.clickElement({selector}), loops, conditions, lasting vars.

    Globals persist between calls.
    """

    verb: ClassVar[str] = "run_script"
    title: ClassVar[str] = "Run a script of actions"
    toolset: ClassVar[ToolSet] = "script"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    destructive: ClassVar[bool] = True
    scriptable: ClassVar[bool] = False
    requires: ClassVar[tuple[str, ...]] = engine.MODULES
    result: ClassVar[type[Outcome]] = ScriptResult

    script: str = Field(min_length=1, max_length=200_000)

    def perform(self, scene: Scene) -> ScriptResult:
        """Run the script to its end; its actions run in this turn, one after the other."""
        seconds = scene.seconds(_DEFAULT_TIMEOUT_MS if self.timeout is None else self.timeout)
        facts = {
            "sessionId": scene.record.id,
            "type": scene.record.type,
            "capabilities": scene.record.capabilities,
        }
        world = scene.world
        with _within_script(scene, seconds):
            ended = world.run(self.script, seconds, _SceneSession(scene), scene.vars, facts)
        scene.tabs.refresh()
        if ended.error:
            raise ended.error
        value = fit_into_output(ended.value, scene)
        return ScriptResult(**value, console=ended.console or None, warnings=ended.warnings)


class _SceneSession:
    """The session as its script uses it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.check = scene.check

    def act(self, verb: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Perform an action; its result as data."""
        return self._scene.act(verb, fields).data()


@contextmanager
def _within_script(scene: Scene, seconds: float) -> Iterator[None]:
    """Perform actions in this block like calls of their own, within the script's deadline and with uncut results."""
    settings, scene.settings = scene.settings, scene.settings.model_copy(update={"max_output": _UNCUT})
    try:
        with scene.scoped(deadline=Deadline(seconds), in_sequence=False, warn=None):
            yield
    finally:
        scene.settings = settings


ACTIONS: list[type[Action[Any]]] = [ExecuteScript, RunScript]
