"""Runs the page engine in a world of its own, where the browser has one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, Final

from orchestrator.errors import NoAnswer, PageLeft, PlaceGone, RemoteFailure
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.remote import Remote

WORLD: Final = "webdriver-orchestrator"
"""The name of the isolated world, and of the BiDi sandbox, which are the same world in Chromium."""
PARTS = (
    "channel", "native", "json", "words", "requests", "cluster", "box", "refs", "role", "name", "state", "place",
    "outline", "line", "text", "transcript", "locate", "ignore", "patience", "point", "press", "ready", "choice",
    "combobox", "control", "editor", "files", "snapshot", "candidates", "selector", "asks", "leave", "settle", "stream",
    "alignment", "digest", "importance", "validity", "delta", "conditions", "scroll", "opening", "values", "source",
    "shot", "engine",
)  # fmt: skip
"""The files of the engine, each after those that it builds on."""

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key of a reference to an element (W3C WebDriver, web element identifier)."""
_MISSING = "!"
_NO_FRAME = "No frame"
"""Begins what Chromium says of a frame that another process shows."""
_FRAME_LIMIT = 5.0
"""Seconds for a call by BiDi, whose slices last one second: a dialog that opens meanwhile holds the answer back."""
_ROOT = "return document.documentElement"
_THROWN = 300
"""Characters of an error of the engine that are reported."""


def read_script(name: str) -> str:
    """Return the source of one of the engine's files."""
    return files("orchestrator.snapshot.web").joinpath("scripts", f"{name}.js").read_text("utf-8")


def _join(*parts: str) -> str:
    return "\n".join(map(read_script, parts))


HOOKS: Final = (
    f"(() => {{\n'use strict';\n{_join('channel', 'json', 'hooks', 'portable', 'script')}\n"
    "hookPage(window);\nserveScripts();\n})();\n"
)
"""The script for the page's own world, see hooks.js and script.js."""
_ENGINE: Final = _join(*PARTS)


def engine_source(key: str) -> str:
    """Return the engine as one script, which installs it in its window under this name, unless it is there."""
    return f"((KEY) => {{\n'use strict';\nif (window[KEY]) return;\n{_ENGINE}\n}})({json.dumps(key)});\n"


def engine_key(remote_session_id: str) -> str:
    """Return the name of a session's engine in its window, which its pages cannot know."""
    return f"{WORLD} {hashlib.sha256(remote_session_id.encode()).hexdigest()[:24]}"


def install_page_engine(remote: Remote) -> None:
    """Load the page engine into every document of the current tab from its start.

    Without CDP, the engine is loaded into each document with its first call.
    """
    source = engine_source(engine_key(remote.remote_session_id))
    with suppress(RemoteFailure):
        remote.cdp("Page.addScriptToEvaluateOnNewDocument", source=source, worldName=WORLD)
        remote.cdp("Page.addScriptToEvaluateOnNewDocument", source=HOOKS)


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
        script = self._with_engine(body)
        answer = self._call(script, args)
        if answer == _MISSING:
            self._install()
            answer = self._call(script, args)
        return answer

    def run_in_page(self, body: str, args: list[Any]) -> Any:
        """Run a function body in the page's own world of the current frame (Execute Script).

        If it returns `!`, it is run again once engine and hooks are there.

        Raises:
            OrchestratorError: As `Remote.execute`.
        """
        answer = self._remote.script(body, args)
        if answer != _MISSING:
            return answer
        self.run("return true;", [])  # an engine that hears what the hooks report
        return self._remote.script(HOOKS + body, args)

    def element(self, body: str, args: list[Any]) -> Any:
        """Run a function body that returns an element of the current document; return the remote end's reference.

        None where it returns null.
        """
        script = self._with_engine(body)
        found = self._find_element(script, args)
        if found == _MISSING:
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

    @property
    def _shares_page_world(self) -> bool:
        """True if the engine of the current frame is in the page's own world."""
        return not self._isolated or (self._bidi is None and self._frame in self._far_frames)

    def _with_engine(self, body: str) -> str:
        return f"const engine = window[{json.dumps(self.key)}];\nif (!engine) return {json.dumps(_MISSING)};\n{body}"

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
            return {_ELEMENT: found["sharedId"]} if "sharedId" in found else found.get("value")
        if "objectId" not in found:
            return found.get("value")
        node = self._cdp("DOM.describeNode", objectId=found["objectId"])["node"]
        # As chromedriver names it: f.FRAME.d.DOCUMENT.e.NODE.
        return {_ELEMENT: f"{self._root_id().rpartition('.')[0]}.{node['backendNodeId']}"}

    def _root_id(self) -> str:
        """Return the remote end's id of the current document's root element."""
        # Appium names it twice, as the JSON Wire Protocol did, too.
        return str(self._remote.script(_ROOT)[_ELEMENT])

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
                if result.get("value") != _MISSING:
                    self._contexts[frame] = known
                    return result
            # It was the context of a document that is gone.
        context = self._create_world(frame)
        if context is None:
            return None
        self._contexts[frame] = context
        return self._call_in_context(context, script, args, by_value=by_value)

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
        answer = self._cdp(
            "Runtime.callFunctionOn",
            functionDeclaration=f"function () {{\n{script}\n}}",
            executionContextId=context,
            arguments=[{"value": arg} for arg in args],
            awaitPromise=True,
            returnByValue=by_value,
        )
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"].get("exception", {}).get("description", "")
            raise RemoteFailure(f"The page could not be read: {thrown[:_THROWN]}", error="javascript error")
        result: Mapping[str, Any] = answer["result"]
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
