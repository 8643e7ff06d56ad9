"""Runs the page engine in a sandbox of WebDriver BiDi, apart from the page, in Firefox."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from orchestrator.errors import DialogOpen, NoAnswer, PageLeft, RemoteFailure
from orchestrator.snapshot.web.world import (
    ELEMENT,
    HOOKS,
    LONGEST_FAULT,
    MISSING,
    WORLD,
    engine_key,
    engine_source,
    with_engine,
)
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.prompts import OpenPrompts
from orchestrator.webdriver.remote import DIALOGS_IN_A_ROW, Remote
from orchestrator.webdriver.websocket import Watch

_MEETS_DIALOG = "getTitle"
"""A command that an open dialog, a closed tab or a lost browser stops, and that costs nothing otherwise."""
_GONE = frozenset({"no such frame", "no such window"})
_WITHOUT_STACK = "Missing stack, unable to build exceptionDetails for exception: "
_WINDOW = "return window"
_LOOKS_EVERY = 1.0
"""Seconds after which a call without an answer looks for a dialog."""
_SHALLOW = {"maxDomDepth": 0}


def preload_engine(bidi: Bidi, remote_session_id: str) -> None:
    """Load the page engine into every document of the browser from its start, in all tabs and frames.

    Raises:
        NoAnswer, RemoteFailure: As `Bidi.call`.
    """
    source = engine_source(engine_key(remote_session_id))
    bidi.call("script.addPreloadScript", functionDeclaration=_function(source), sandbox=WORLD)
    bidi.call("script.addPreloadScript", functionDeclaration=_function(HOOKS))


class SandboxWorld:
    """The world of the page engine in the current frame of a session, see `EngineWorld`: the page has no access to it.

    A sandbox sees the page as the browser made it (Xrays): what a page puts in place of the browser's functions is not
    there. BiDi answers while a classic command waits, and knows nothing of dialogs: while one is open, a script that
    waits never ends. So an open dialog is met by a classic command before each call, and one that opens ends the wait.

    Source: https://www.w3.org/TR/webdriver-bidi/#command-script-callFunction.

    Args:
        remote: The client of the session.
        bidi: Its BiDi connection.
    """

    def __init__(self, remote: Remote, bidi: Bidi) -> None:
        self._remote = remote
        self._bidi = bidi
        self._prompts = OpenPrompts()
        self._hears_prompts = False
        self._in_frame = False
        self._tab: str | None = None
        self._context: str | None = None
        self.key = engine_key(remote.remote_session_id)

    def run_command(self, body: str, args: list[Any]) -> None:
        """Return None: Firefox has no CDP."""
        del body, args

    def run(self, body: str, args: list[Any]) -> Any:
        """Run a function body with `engine` in its sandbox of the current frame, and return its JSON value.

        Raises:
            PageLeft: The document went away.
            OrchestratorError: As `Remote.execute`.
        """
        return _json_value(self._run(body, args))

    def run_in_page(self, body: str, args: list[Any]) -> Any:
        """Run a function body in the page's own world of the current frame, with its hooks there.

        Raises:
            OrchestratorError: As `run`.
        """
        answer = self._call(body, args, sandboxed=False).get("value")
        if answer != MISSING:
            return answer
        self._install()
        return self._call(body, args, sandboxed=False).get("value")

    def element(self, body: str, args: list[Any]) -> Any:
        """Run a function body that returns an element of the current document; return the remote end's reference.

        Firefox's classic commands name elements as its BiDi does. None where it returns null.
        """
        found = self._run(body, args)
        return {ELEMENT: found["sharedId"]} if "sharedId" in found else None

    def enter_frame(self) -> None:
        """Note that the remote end has switched to a frame."""
        self._in_frame, self._context = True, None

    def enter_top(self) -> None:
        """Note that the remote end has switched to a top document, perhaps that of another tab."""
        self._in_frame, self._tab, self._context = False, None, None

    def expect_new_document(self) -> None:
        """Note nothing: the browser says at the next call that the document is gone."""

    def sandbox_target(self, context: str) -> dict[str, str]:
        """Return the target of a `script.callFunction` that calls the engine in a browsing context."""
        return {"context": context, "sandbox": WORLD}

    def _run(self, body: str, args: list[Any]) -> Mapping[str, Any]:
        script = with_engine(self.key, body)
        found = self._call(script, args)
        if found.get("value") == MISSING:
            self._install()
            found = self._call(script, args)
        return found

    def _install(self) -> None:
        """Load engine and hooks into the current document, which has been there before they were registered."""
        self._call(engine_source(self.key), [])
        self._call(HOOKS, [], sandboxed=False)

    def _call(self, script: str, args: list[Any], *, sandboxed: bool = True) -> Mapping[str, Any]:
        """Call a function in the current frame; return BiDi's remote value, empty if a dialog opens meanwhile."""
        self._remote.check_page()
        if not self._hears_prompts:
            self._bidi.listen_all(self._prompts.listeners)
            self._hears_prompts = True
            self._remote.execute(_MEETS_DIALOG)  # one may be open already
        tab, context = self._place()
        # Firefox's dialog that asks for a user and a password is told by no event.
        watch = Watch(self._await_no_dialog(tab), lambda: self._remote.execute(_MEETS_DIALOG), _LOOKS_EVERY)
        try:
            answer = self._bidi.call(
                "script.callFunction",
                watch=watch,
                limit=self._remote.timeout,
                functionDeclaration=_function(script),
                arguments=[_local_value(arg) for arg in args],
                target={"context": context, **({"sandbox": WORLD} if sandboxed else {})},
                awaitPromise=True,
                serializationOptions=_SHALLOW,
            )
        except NoAnswer as lost:
            if self._bidi.is_open:
                raise self._remote.unanswered(lost) from lost
            raise self._left() from lost
        except RemoteFailure as refused:
            if refused.details.get("error") in _GONE:
                raise self._left() from refused
            raise _thrown(refused) from refused
        if answer is None:
            return {}
        self._remote.note_page_answered()
        return _read(answer)

    def _await_no_dialog(self, tab: str) -> Future[None]:
        """Meet the dialogs that are open in a tab; return a future that is done when the next one opens."""
        for _ in range(DIALOGS_IN_A_ROW):
            opened = self._prompts.next_in(tab)
            if not opened.done():
                return opened
            count = self._prompts.count(tab)
            self._remote.execute(_MEETS_DIALOG)
            self._prompts.note_closed(tab, count)
        raise DialogOpen("", endless=True)

    def _place(self) -> tuple[str, str]:
        """Return the ids of the current tab and of its current frame, which classic commands name the same way."""
        if self._tab is None:
            self._tab = str(self._remote.execute("w3cGetCurrentWindowHandle"))
        if self._context is None:
            self._context = str(next(iter(self._remote.script(_WINDOW).values()))) if self._in_frame else self._tab
        return self._tab, self._context

    def _left(self) -> PageLeft:
        """Return the error of a document that went away; a closed tab or a lost session is met here."""
        self._remote.execute(_MEETS_DIALOG)
        return PageLeft("The page was left before it had answered.", hint="Try again.", error="no such frame")


def _function(body: str) -> str:
    return f"function () {{\n{body}\n}}"


def _read(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the result of a call.

    Raises:
        RemoteFailure: The function has thrown.
    """
    if answer["type"] == "exception":
        raise _error_of(str(answer["exceptionDetails"].get("text", "")))
    result: Mapping[str, Any] = answer["result"]
    return result


def _thrown(refused: RemoteFailure) -> RemoteFailure:
    """Return what the function has thrown, where Firefox finds no stack of it, or the refusal itself."""
    _, lacks_stack, thrown = refused.message.partition(_WITHOUT_STACK)
    return _error_of(thrown.removesuffix(".")) if lacks_stack else refused


def _error_of(thrown: str) -> RemoteFailure:
    return RemoteFailure(f"javascript error: {thrown[:LONGEST_FAULT]}.", error="javascript error")


def _json_value(value: Mapping[str, Any]) -> Any:
    """Return a remote value as JSON (https://www.w3.org/TR/webdriver-bidi/#type-script-RemoteValue)."""
    content = value.get("value")
    if value.get("type") == "array":
        return [_json_value(one) for one in content or ()]
    if value.get("type") == "object":
        return {name: _json_value(one) for name, one in content or ()}
    return content


def _local_value(value: Any) -> dict[str, Any]:
    """Return a JSON value as an argument (https://www.w3.org/TR/webdriver-bidi/#type-script-LocalValue)."""
    if value is None:
        return {"type": "null"}
    if isinstance(value, bool):
        return {"type": "boolean", "value": value}
    if isinstance(value, int | float):
        return {"type": "number", "value": value}
    if isinstance(value, list):
        return {"type": "array", "value": [_local_value(one) for one in value]}
    if isinstance(value, dict):
        return {"type": "object", "value": [[name, _local_value(one)] for name, one in value.items()]}
    return {"type": "string", "value": value}
