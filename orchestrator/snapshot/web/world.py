"""Runs the page engine in a world of its own, where the browser has one."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, Final

from orchestrator.errors import NoAnswer, PageLeft, PlaceGone, RemoteFailure
from orchestrator.models import browser_support
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.remote import Remote
from orchestrator.webdriver.storage import storage_script
from orchestrator.webdriver.websocket import Command

WORLD: Final = storage_script.WORLD
"""The name of the isolated world, and of the BiDi sandbox, which are the same world in Chromium."""
PARTS = (
    "channel", "native", "json", "words", "looking", "requests", "cluster", "lens", "box", "image_map", "refs",
    "role", "name", "state", "place", "outline", "line", "text", "transcript", "locate", "told", "ignore", "patience",
    "point", "press", "drop", "ready", "choice", "combobox", "grouped", "control", "editor", "code", "focus", "files",
    "snapshot", "candidates", "selector", "asks", "leave", "settle", "stream", "messages", "settled", "alignment",
    "digest", "importance", "validity", "delta", "conditions", "watch", "scroll", "opening", "values", "source",
    "shot", "audit", "engine",
)  # fmt: skip
"""The files of the engine, each after those that it builds on."""

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key of a reference to an element (W3C WebDriver, web element identifier)."""
_MOST_FRAMES = 1_000
"""Frames that are remembered; a page can make up as many as it likes."""
MISSING = "!"
"""Answer of a script where the engine, or the hooks, are not there yet."""
_CALL_FUNCTION = "Runtime.callFunctionOn"
_NO_FRAME = "No frame"
"""Begins what Chromium says of a frame that another process shows."""
_FRAME_LIMIT = 5.0
"""Seconds for a call by BiDi, whose slices last one second: a dialog that opens meanwhile holds the answer back."""
_SILENT, _PAUSE = 3.0, 0.02
"""Seconds for which Chromium may call no event listener in a page that opens windows, and between two attempts."""
_ROOT = "return document.documentElement"
LONGEST_FAULT = 300
"""Characters of an error of the engine that are reported."""


def read_script(name: str) -> str:
    """Return the source of one of the engine's files."""
    return files("orchestrator.snapshot.web").joinpath("scripts", f"{name}.js").read_text("utf-8")


def _join(*parts: str) -> str:
    return "\n".join(map(read_script, parts))


HOOKS: Final = (
    f"(() => {{\n'use strict';\n{_join('channel', 'json', 'hooks', 'timers', 'portable', 'script', 'pickers')}\n"
    "hookPage(window);\nserveScripts();\nservePickers();\n})();\n"
)
"""The script for the page's own world, see hooks.js and script.js."""
_ENGINE: Final = _join(*PARTS)
_UNLESS_THERE: Final = _join("there")


def engine_source(key: str) -> str:
    """Return the engine as one script, which installs it in its window under this name, unless it is there."""
    # In a sandbox of Firefox, a name of the global scope is searched for at each use, through the page's window.
    return (
        f"((KEY, window, undefined) => {{\n'use strict';\n{_UNLESS_THERE}\n{_ENGINE}\n}})({json.dumps(key)}, window);\n"
    )


def with_engine(key: str, body: str) -> str:
    """Return a function body with `engine`, which returns `MISSING` where it is not there."""
    return f"const engine = window[{json.dumps(key)}];\nif (!engine) return {json.dumps(MISSING)};\n{body}"


def engine_key(remote_session_id: str) -> str:
    """Return the name of a session's engine in its window, which its pages cannot know."""
    return f"{WORLD} {hashlib.sha256(remote_session_id.encode()).hexdigest()[:24]}"


def install_page_engine(remote: Remote, capabilities: Mapping[str, Any]) -> None:
    """Load the page engine into every document of the current tab from its start.

    Without CDP, the engine is loaded into each document with its first call.
    """
    # geckodriver would refuse it without reading it, which resets the connection.
    if not browser_support.may_have_cdp(capabilities.get("browserName")):
        return
    source = engine_source(engine_key(remote.remote_session_id))
    with suppress(RemoteFailure):
        remote.cdp("Page.addScriptToEvaluateOnNewDocument", source=source, worldName=WORLD)
        remote.cdp("Page.addScriptToEvaluateOnNewDocument", source=HOOKS)


def _function_call(context: int, script: str, args: list[Any], *, by_value: bool) -> dict[str, Any]:
    """Return the parameters of a call of a function body in an execution context."""
    return {
        "functionDeclaration": f"function () {{\n{script}\n}}",
        "executionContextId": context,
        "arguments": [{"value": arg} for arg in args],
        "awaitPromise": True,
        "returnByValue": by_value,
    }


class PageWorld:
    """The world of the page engine in the current frame of a session.

    In Chromium the page has no access to it: an isolated world by CDP (`Page.createIsolatedWorld`), in a frame that
    another process shows a sandbox by BiDi (`script.callFunction`). Where there is neither, it is the page's own world.

    A world ends with its document. An execution context's number may be that of another context after a navigation, so
    that the engine has a name that no page can know: a page's own object never answers for it.

    Args:
        remote: The client of the session.
        bidi: Its BiDi connection, if there is one.
        isolated: False for browsers without isolated worlds; also found out by the first refusal.
    """

    def __init__(self, remote: Remote, bidi: Bidi | None, *, isolated: bool) -> None:
        self._remote = remote
        self._bidi = bidi
        self._isolated = isolated
        self._was_isolated = False
        self._frame: str | None = None
        self._top: str | None = None
        self._contexts: dict[str | None, int] = {}
        self._far_frames: set[str | None] = set()
        self.key = engine_key(remote.remote_session_id)

    def run(self, body: str, args: list[Any]) -> Any:
        """Run a function body in the engine's world of the current frame and return its JSON value.

        `engine` is defined there; a promise is awaited.

        Raises:
            PageLeft: The document went away, or a dialog opened.
            OrchestratorError: As `Remote.execute`.
        """
        script = with_engine(self.key, body)
        answer = self._call(script, args)
        if answer == MISSING:
            self._install()
            answer = self._call(script, args)
        return answer

    def run_command(self, body: str, args: list[Any]) -> Command | None:
        """Return the command of CDP by which `run` would call the current frame now; None without one.

        Context ids are the same in all CDP sessions of a tab.
        """
        context = self._contexts.get(self._frame)
        if context is None or self._frame in self._far_frames:
            return None
        return _CALL_FUNCTION, _function_call(context, with_engine(self.key, body), args, by_value=True)

    def run_in_page(self, body: str, args: list[Any]) -> Any:
        """Run a function body in the page's own world of the current frame (Execute Script).

        If it returns `!`, it is run again once engine and hooks are there.

        Raises:
            OrchestratorError: As `Remote.execute`.
        """
        answer = self._remote.script(body, args)
        if answer != MISSING:
            return answer
        self.run("return true;", [])  # an engine that hears what the hooks report
        deadline = Deadline(_SILENT)
        while (answer := self._remote.script(HOOKS + body, args)) == MISSING and deadline.seconds_left:
            time.sleep(_PAUSE)
        return answer

    def element(self, body: str, args: list[Any]) -> Any:
        """Run a function body that returns an element of the current document; return the remote end's reference.

        None where it returns null.
        """
        script = with_engine(self.key, body)
        found = self._find_element(script, args)
        if found == MISSING:
            self._install()
            found = self._find_element(script, args)
        return found

    def sandbox_target(self, context: str) -> dict[str, str]:
        """Return the target of a `script.callFunction` that calls the engine in a browsing context."""
        return {"context": context, "sandbox": WORLD} if self._isolated else {"context": context}

    def enter_frame(self) -> None:
        """Note that the remote end has switched to a frame."""
        if self._isolated:
            self._frame = self._root_id().split(".")[1]

    def enter_top(self) -> None:
        """Note that the remote end has switched to a top document, perhaps that of another tab."""
        self._frame = None

    def expect_new_document(self) -> None:
        """Note that the documents of the current tab are about to be replaced: their worlds end with them."""
        self._contexts.clear()

    @property
    def _shares_page_world(self) -> bool:
        """True if the engine of the current frame is in the page's own world."""
        return not self._isolated or (self._bidi is None and self._frame in self._far_frames)

    def _install(self) -> None:
        """Load engine and hooks into the current document, which has been there before they were registered."""
        self._call(engine_source(self.key), [])
        self._remote.script(HOOKS)

    def _find_element(self, script: str, args: list[Any]) -> Any:
        """Return the reference to a function's element; another value as it is."""
        if self._shares_page_world:
            return self._remote.script(script, args)
        found = self._call_by_cdp(script, args, by_value=False)
        if found is None:
            found = self._call_by_bidi(script, args)
            return {ELEMENT: found["sharedId"]} if "sharedId" in found else found.get("value")
        if "objectId" not in found:
            return found.get("value")
        node = self._cdp("DOM.describeNode", objectId=found["objectId"])["node"]
        # As chromedriver names it: f.FRAME.d.DOCUMENT.e.NODE.
        return {ELEMENT: f"{self._root_id().rpartition('.')[0]}.{node['backendNodeId']}"}

    def _root_id(self) -> str:
        """Return the remote end's id of the current document's root element."""
        # Appium names it twice, as the JSON Wire Protocol did, too.
        return str(self._remote.script(_ROOT)[ELEMENT])

    def _call(self, script: str, args: list[Any]) -> Any:
        if not self._shares_page_world:
            result = self._call_by_cdp(script, args)
            if result is not None:
                return result.get("value")
        if self._shares_page_world:
            return self._remote.script(script, args)
        return self._call_by_bidi(script, args).get("value")

    def _call_by_cdp(self, script: str, args: list[Any], *, by_value: bool = True) -> Mapping[str, Any] | None:
        """Call a function in the current frame's world; None if that is impossible by CDP, or here at all."""
        frame = self._frame
        if frame in self._far_frames:
            return None
        known = self._contexts.pop(frame, None)
        if known is not None:
            with suppress(PageLeft):
                result = self._call_in_context(known, script, args, by_value=by_value)
                if result.get("value") != MISSING:
                    self._contexts[frame] = known
                    return result
            # It was the context of a document that is gone.
        context = self._create_world(frame)
        if context is None:
            return None
        result = self._call_in_context(context, script, args, by_value=by_value)
        self._contexts[frame] = context
        if len(self._contexts) > _MOST_FRAMES:
            del self._contexts[next(iter(self._contexts))]
        return result

    def _create_world(self, frame: str | None) -> int | None:
        """Return the number of a frame's world, which is created where it is missing; None if that is impossible."""
        for _ in range(2):
            self._top = self._top or self._cdp("Page.getFrameTree")["frameTree"]["frame"]["id"]
            try:
                world = self._cdp("Page.createIsolatedWorld", frameId=frame or self._top, worldName=WORLD)
            except PlaceGone:
                raise
            except RemoteFailure as error:
                if _NO_FRAME not in error.message:
                    if self._was_isolated:
                        raise
                    self._isolated = False
                    return None
                if frame is not None:
                    if len(self._far_frames) >= _MOST_FRAMES:
                        self._far_frames.clear()
                    self._far_frames.add(frame)
                    return None
                self._top = None  # it was another tab's
            else:
                self._was_isolated = True
                return int(world["executionContextId"])
        raise PageLeft("The page was left before it could be read.", hint="Try again.", error="no such frame")

    def _call_in_context(self, context: int, script: str, args: list[Any], *, by_value: bool) -> Mapping[str, Any]:
        """Return CDP's remote object.

        Source: https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-callFunctionOn.
        """
        answer = self._cdp(_CALL_FUNCTION, **_function_call(context, script, args, by_value=by_value))
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"].get("exception", {}).get("description", "")
            raise RemoteFailure(f"The page could not be read: {thrown[:LONGEST_FAULT]}", error="javascript error")
        result: Mapping[str, Any] = answer["result"]
        self._remote.note_page_answered()
        return result

    def _cdp(self, command: str, **params: Any) -> dict[str, Any]:
        answer = self._remote.cdp(command, **params)
        if not isinstance(answer, dict):
            raise PageLeft("A dialog opened before the page had answered.", hint="Try again.", error="no answer")
        return answer

    def _call_by_bidi(self, script: str, args: list[Any]) -> Mapping[str, Any]:
        """Call a function in the sandbox of a frame that another process shows; return BiDi's remote value.

        Source: https://www.w3.org/TR/webdriver-bidi/#command-script-callFunction.
        """
        if self._bidi is None or self._frame is None:
            return {}
        function = f"(args) => (function () {{\n{script}\n}}).apply(null, JSON.parse(args))"
        try:
            answer = self._bidi.call(
                "script.callFunction",
                limit=_FRAME_LIMIT,
                functionDeclaration=function,
                arguments=[{"type": "string", "value": json.dumps(args)}],
                target={"context": self._frame, "sandbox": WORLD},
                awaitPromise=True,
            )
        except (NoAnswer, RemoteFailure) as error:
            # A dialog may have opened, which the next command meets.
            raise PageLeft("The frame gave no answer.", hint="Try again.", error="no such frame") from error
        result: Mapping[str, Any] = answer.get("result", {})
        return result
