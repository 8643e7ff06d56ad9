"""Client of one remote session: commands by selenium's names, errors of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from typing import Any, Protocol

from orchestrator.errors import (
    AppEnded,
    BuiltinsReplaced,
    DialogOpen,
    NoAnswer,
    OrchestratorError,
    PageBroken,
    PageBusy,
    PageLeft,
    PlaceGone,
    ProviderAuth,
    RemoteFailure,
    SessionLost,
    TimedOut,
    Unreached,
    brief,
)
from orchestrator.models.session import NATIVE
from orchestrator.system.deadline import Deadline
from orchestrator.system.secrets import without_path
from orchestrator.webdriver import commands, connection_errors
from orchestrator.webdriver.credentials import Credentials
from orchestrator.webdriver.response import DIALOG_TEXT, RemoteResponse
from orchestrator.webdriver.transport import HttpTransport

_BUSY_HINT = "Wait, then try again. If it is still busy after the next call, its tab is closed."
_AT_LEAST = 0.01
"""Seconds of a command that is sent when the time of the start is over: it fails, and says so."""
_PAUSE = 0.5
"""Seconds between two attempts to end a session."""
DIALOGS_IN_A_ROW = 20
"""Dialogs that are answered before they are reported, if the page runs no script of ours to its end meanwhile."""
_LEFT = (
    *("aborted by navigation", "no such execution context"),
    *("Callback was not called before the unload event", "Document was unloaded"),
    "message reply cannot be cloned",
)
"""Parts of the messages of chromedriver, WebKitWebDriver and Firefox when a document went away under a script."""
_NO_PAGE = "Not attached to an active page"
"""Part of Chromium's message while one page takes the place of another."""
_SWAPS, _BETWEEN = 2.0, 0.02
"""Seconds that this may take, and between two attempts."""
_UNREAD = ("call function result missing", "Runtime.callFunctionOn")
"""Parts of chromedriver's messages when a page has changed what its own scripts answer."""
_SCRIPTS = frozenset({"w3cExecuteScript", "w3cExecuteScriptAsync", "executeCdpCommand"})
_UNAUTHORIZED = frozenset({"HTTP 401", "HTTP 403"})


def _wait() -> None:
    """Do nothing but wait for an answer."""


class CommandListener(Protocol):
    """Handles what hinders a command."""

    @property
    def deferred(self) -> Sized:
        """Work that has to be done before the next command; `run_deferred` is called unless it is empty."""
        ...

    def check_place(self) -> None:
        """Raise if the session is not this call's any more; called before each command."""
        ...

    def await_document(self) -> None:
        """Wait for the answer to a navigation, before a command of `commands.asks_page`.

        Raises:
            NavigationWaits: It takes too long.
        """
        ...

    def check_navigation(self) -> None:
        """Raise once a navigation takes too long that began while such a command was sent; called until it answers.

        Raises:
            NavigationWaits: The driver answers the command with that navigation, which nobody waits for.
        """
        ...

    def run_deferred(self) -> None:
        """Do the deferred work, by commands of its own."""
        ...

    def answer_dialog(self, text: str) -> bool:
        """Answer the open dialog; False leaves it open."""
        ...

    def replace_window(self) -> str:
        """Make another window current, since the current one is closed; a clause that names it."""
        ...

    def outlasts_command(self) -> bool:
        """Return True if the driver and the browser live, so that only the page or its events keep them busy."""
        ...

    def replace_page(self) -> str:
        """Replace the tab of a page that lets no command through; a clause as above, empty where that is impossible."""
        ...


class Remote:
    """Client of one session at its remote end, by address alone; it keeps no other state of the session.

    A command that is not answered within its timeout is given up alone if the listener knows that the driver lives. If
    the session does not answer in the next call either, the tab of its page is replaced. Where that is impossible, the
    session is lost: a remote end that is silent for longer than the driver's own limits does not recover.

    Commands of one session must not overlap, which the lane ensures; `delete` may be called beside them.

    Source: W3C WebDriver, https://www.w3.org/TR/webdriver2/#endpoints.

    Args:
        url: The remote URL, which may hold user and password.
        remote_session_id: The session's id there; empty before New Session.
        name: The session's id here, for errors.
        timeout: Seconds that a command may take.
        credentials: Those for a `url` without them; those in `url` are kept there.
    """

    def __init__(
        self, url: str, remote_session_id: str, *, name: str, timeout: float, credentials: Credentials | None = None
    ) -> None:
        self._credentials = credentials or Credentials()
        self._address = url
        self.url = self._credentials.remember(url)
        self.shown = without_path(url)
        self.remote_session_id = remote_session_id
        self.name = name
        self.timeout = timeout
        self._listener: CommandListener | None = None
        self._recoveries: set[str] = set()
        self._gave_up: CommandListener | None = None
        self._transport = HttpTransport(self.url, self._credentials.find(url))
        self.dialogs_answered = 0
        """Dialogs that were answered since the page last ran a script of ours to its end, or since the call began."""
        self.deadline: Deadline | None = None
        """The end of the time that all further commands together may take: that of the session's start."""

    @contextmanager
    def listening(self, listener: CommandListener) -> Iterator[None]:
        """Call `listener` for what hinders the commands that are sent inside the block."""
        before, self._listener = self._listener, listener
        self.dialogs_answered = 0
        try:
            yield
        finally:
            self._listener = before

    def execute(self, command: str, *, limit: float | None = None, **params: Any) -> Any:
        """Send a command by its selenium name (`selenium.webdriver.remote.command.Command`); return its value.

        `limit` overrides the timeout, in seconds.

        Raises:
            SessionLost: The remote end is gone, does not know the session, or did not answer in time.
            Unreached: A network or a proxy between here and there failed.
            PageBusy: The page did not answer in time.
            PageBroken: It did not answer to the call before either, or crashed, and the listener has replaced its tab.
            DialogOpen: A dialog is open and the listener left it open.
            PlaceGone: The current tab or frame is gone; the listener made another one current.
            NavigationWaits: The page is about to be left, and cannot be read meanwhile.
            TimedOut: The driver's own limit for scripts or page loads passed.
            TurnLost: Another process drives the session now.
            RemoteFailure: Any other W3C error.
        """
        self.make_ready()
        if self._listener and commands.asks_page(command, params):
            self._listener.await_document()
        answer = self._send_to_page(command, params, limit)
        while self.dialogs_answered < DIALOGS_IN_A_ROW and self._answer_dialog(answer, limit):
            # W3C handles user prompts before a command runs, so this one was not executed and may be sent again.
            self.dialogs_answered += 1
            answer = self._send(command, params, limit)
        if answer.error == "unexpected alert open" and self.dialogs_answered >= DIALOGS_IN_A_ROW:
            raise DialogOpen(self._dialog_text(answer), endless=True)
        if answer.error is None:
            # The answer is null where a dialog opened under a script.
            if answer.value is not None and command != commands.CDP and commands.asks_page(command, params):
                self.note_page_answered()
            return _checked(command, answer.value)
        if answer.error == "no such window" and self._listener and "window" not in self._recoveries:
            raise self._replace_window(self._listener)
        raise self._failure(answer, command)

    def make_ready(self) -> None:
        """Do what comes before each command, also before one that is sent beside this client.

        Raises:
            OrchestratorError: As `execute`.
        """
        if self._listener:
            self._listener.check_place()
        if self._gave_up and "page" not in self._recoveries:
            self.check_page()
            self.await_page(self.timeout)
        if self._listener and self._listener.deferred:
            self._listener.run_deferred()

    def note_page_answered(self) -> None:
        """Note that the page has run a script of ours to its end: further dialogs are no endless row of them."""
        self.dialogs_answered = 0

    def _answer_dialog(self, answer: RemoteResponse, limit: float | None) -> bool:
        """Answer the dialog that blocked a command; False if there is none, or it stays open."""
        if answer.left_beforeunload_open:
            self._send("w3cAcceptAlert", {}, limit)
            return True
        is_open = answer.error == "unexpected alert open"
        return is_open and self._listener is not None and self._listener.answer_dialog(answer.dialog)

    def _dialog_text(self, answer: RemoteResponse) -> str:
        """Return the text of the dialog that blocked a command; it is asked for where the answer lacks it."""
        if answer.dialog:  # geckodriver drops it, and so may a proxy
            return answer.dialog
        text = self._send("w3cGetAlertText", {}, None).value
        return brief(text, DIALOG_TEXT) if isinstance(text, str) else ""

    def capabilities(self) -> dict[str, Any]:
        """Return the session's capabilities; empty where the remote end does not report them after New Session.

        The standard has no command for it; Appium and older drivers answer `GET /session/{id}`.
        """
        try:
            answer = self.execute(commands.CAPABILITIES)
        except RemoteFailure:
            return {}
        capabilities = answer.get("capabilities", answer) if isinstance(answer, dict) else {}
        return capabilities if isinstance(capabilities, dict) else {}

    def status(self, limit: float) -> dict[str, Any]:
        """Return the remote end's status (Status); empty if there is none within `limit` seconds."""
        try:
            answer = self.get("/status", limit=limit)
        except OrchestratorError:
            return {}
        return answer if isinstance(answer, dict) else {}

    def context(self) -> str:
        """Return an app session's current context (Appium's `GET /context`): `NATIVE_APP` or a web view's name.

        A remote end without contexts is always in `NATIVE_APP`.
        """
        from orchestrator.webdriver.app_driver import AppDriver  # noqa: PLC0415 — Appium's client loads with apps

        try:
            return str(AppDriver(self.execute).current_context or NATIVE)
        except RemoteFailure:
            return NATIVE

    def ping(self) -> None:
        """Keep the session alive at its remote end, without a change to it.

        Sends Get Timeouts, the only command of the standard that neither an open dialog nor a closed window blocks.

        Raises:
            SessionLost: The remote end does not know the session; `NoAnswer` if it did not answer.
        """
        self.execute("getTimeouts")

    def check_page(self) -> None:
        """Refuse the rest of a call after a command that its page did not answer.

        Raises:
            PageBusy: There was such a command.
        """
        if self._gave_up and self._gave_up is self._listener and "page" not in self._recoveries:
            raise PageBusy("The page is still busy, and its tab stays as it is.", hint=_BUSY_HINT)

    def unanswered(self, lost: NoAnswer) -> OrchestratorError:
        """Return the error of a page that did not answer a command that was sent beside this client, in time."""
        if self._gave_up is not None:
            self._gave_up = None
            return self._replace_page("does not answer any more", lost)
        return self._give_up_command(f"did not answer within {self.timeout:g} s", lost)

    def await_page(self, seconds: float) -> None:
        """Wait until a page that was too busy for the last command answers again.

        Raises:
            PageBroken: It takes longer, and the listener has replaced its tab.
            SessionLost: It takes longer, and its tab cannot be replaced.
        """
        if self._gave_up is None:
            return
        self._gave_up = None
        try:
            # The driver itself may be free: what the page did not answer may have been sent beside it.
            self.with_own_connection(seconds).script("")
        except NoAnswer as lost:
            raise self._replace_page("does not answer any more", lost) from None
        except SessionLost:
            raise
        except OrchestratorError:
            return  # an open dialog, a closed window or frame: the next command says so

    def leave_page(self) -> bool:
        """Replace the tab of a page that hangs and cannot be left by a navigation; False where that is impossible."""
        self._gave_up = None
        return isinstance(self._replace_page("cannot be left", NoAnswer(self.name, "it hangs")), PageBroken)

    def with_own_connection(self, timeout: float) -> Remote:
        """Return a client of the same session with a connection of its own, a timeout in seconds and no callbacks."""
        return Remote(
            self._address, self.remote_session_id, name=self.name, timeout=timeout, credentials=self._credentials
        )

    def script(self, script: str, args: Sequence[Any] = ()) -> Any:
        """Run a function body in the current browsing context; a promise is awaited (Execute Script)."""
        return self.execute("w3cExecuteScript", script=script, args=list(args))

    def script_list(self, script: str, length: int) -> list[Any]:
        """Run a script of ours as `script` does; return its answer, a list of this many values.

        Raises:
            RemoteFailure: The remote end answers with something else.
        """
        answer = self.script(script)
        if not isinstance(answer, list) or len(answer) != length:
            raise _not_webdriver(f"a script was answered with {commands.describe_kind(answer)} instead of its list")
        return answer

    def cdp(self, command: str, **params: Any) -> Any:
        """Send a Chrome DevTools Protocol command to the current tab; Chromium only."""
        return self.execute(commands.CDP, cmd=command, params=params)

    def get(self, path: str, *, limit: float) -> Any:
        """Return the value of a GET below the remote URL that belongs to no session.

        Raises:
            OrchestratorError: As `execute`.
        """
        answer = self._exchange("GET", path, {}, limit)
        if answer.error is not None:
            raise self._failure(answer)
        return answer.value

    def close(self) -> None:
        """Close the connection that is kept between commands; the session, and a command in flight, go on."""
        self._transport.close()

    def cancel_commands(self) -> None:
        """Cancel the command in flight, from another thread, and refuse all later ones."""
        self._transport.cancel()

    def delete(self, limit: float) -> None:
        """End the session at its remote end (Delete Session), within `limit` seconds.

        Uses a connection of its own, so that it does not wait for the command in flight. Tries again where a proxy or
        the network fails, since a session that is not ended stays open there.
        """
        deadline, is_retry = Deadline(limit), False
        while True:
            try:
                self.with_own_connection(limit).execute("quit")
            except Unreached:
                if deadline.seconds_left < _PAUSE:
                    raise
            except SessionLost:
                if not is_retry:
                    raise
                return  # the first request was served, and only its answer was lost
            else:
                return
            is_retry = True
            time.sleep(_PAUSE)

    def _send_to_page(self, command: str, params: Mapping[str, Any], limit: float | None) -> RemoteResponse:
        """Send a command, again where it came between two pages: nothing was done then."""
        deadline = Deadline(_SWAPS)
        while True:
            answer = self._send(command, params, limit)
            if _NO_PAGE not in answer.message or not deadline.seconds_left:
                return answer
            time.sleep(_BETWEEN)

    def _send(self, command: str, params: Mapping[str, Any], limit: float | None) -> RemoteResponse:
        method, path, body = commands.resolve(command, self.remote_session_id, params)
        listener = self._listener if commands.asks_page(command, params) else None
        return self._exchange(method, path, body, limit, listener.check_navigation if listener else _wait)

    def _exchange(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any],
        limit: float | None,
        meanwhile: Callable[[], object] = _wait,
    ) -> RemoteResponse:
        timeout = limit or self.timeout
        if self.deadline is not None:
            timeout = min(timeout, max(self.deadline.seconds_left, _AT_LEAST))
        try:
            return self._transport.send(method, path, body, timeout, meanwhile)
        except TimeoutError:
            meanwhile()
            lost = NoAnswer(self.name, f"the remote end did not answer within {timeout:g} s")
            raise self._give_up_command(f"did not answer within {timeout:g} s", lost) from None
        except OSError as cause:
            raise connection_errors.connection_error(self.name, self.shown, cause) from cause

    def _give_up_command(self, failure: str, lost: SessionLost) -> OrchestratorError:
        """Return the error of a command without an answer, after which its page may be busy."""
        listener = self._listener
        if listener is None or "page" in self._recoveries:
            return lost
        with self._recovering("page"):
            is_busy = listener.outlasts_command()
        if is_busy:
            self._gave_up = listener
            return PageBusy(f"The page {failure}: it is busy, and its tab stays as it is.", hint=_BUSY_HINT)
        return self._replace_page(failure, lost)

    @contextmanager
    def _recovering(self, failure: str) -> Iterator[None]:
        """Report the same failure of the commands inside as it is, without another recovery."""
        self._recoveries.add(failure)
        try:
            yield
        finally:
            self._recoveries.discard(failure)

    def _replace_window(self, listener: CommandListener) -> PlaceGone:
        """Make another tab or context current; return the error that names it."""
        with self._recovering("window"):
            place = listener.replace_window()
        hint = "Call get_visible_elements, then continue there."
        return PlaceGone(
            f"The tab, frame or web view of this call was closed: {place}.", hint=hint, error="no such window"
        )

    def _replace_page(self, failure: str, lost: SessionLost) -> OrchestratorError:
        """Replace the tab of a page that blocks all commands; return the error, `lost` where that is impossible."""
        if self._listener is None or "page" in self._recoveries:
            return lost
        try:
            with self._recovering("page"):
                place = self._listener.replace_page()
        except OrchestratorError:
            return lost
        if not place:
            return lost
        hint = "The same page may fail again."
        return PageBroken(f"The page {failure}, and its tab was closed: {place}.", hint=hint)

    def _failure(self, answer: RemoteResponse, command: str = "") -> OrchestratorError:
        if answer.session_lost_reason is not None:
            return SessionLost(self.name, answer.session_lost_reason or "the remote end no longer knows it")
        if answer.error == "tab crashed":
            return self._replace_page("crashed", SessionLost(self.name, answer.message))
        if answer.error == "unexpected alert open":
            return DialogOpen(self._dialog_text(answer))
        if answer.error in _UNAUTHORIZED:
            return ProviderAuth(
                f"The remote end at {self.shown} refused our credentials ({answer.error}).",
                hint="Give the URL as https://user:password@host: to the start, or to attach_session for an open one.",
            )
        if answer.error in connection_errors.GATEWAY:
            return connection_errors.gateway_error(self.shown, answer.error)
        return _refused(answer, command)


def _checked(command: str, value: Any) -> Any:
    if wrong := commands.explain_wrong_answer(command, value):
        raise _not_webdriver(wrong)
    return value


def _not_webdriver(wrong: str) -> RemoteFailure:
    hint = "The remote end does not do what WebDriver demands there: use another version of its driver."
    return RemoteFailure(f"The remote end's answer cannot be used: {wrong}.", hint=hint)


def _refused(answer: RemoteResponse, command: str) -> OrchestratorError:
    is_script_of_driver = answer.error == "javascript error" and command not in _SCRIPTS
    if is_script_of_driver or any(unread in answer.message for unread in _UNREAD):
        return BuiltinsReplaced(answer.message, error=answer.error)
    if any(left in answer.message for left in _LEFT):
        return PageLeft("The page was left before it had answered.", hint="Try again.", error=answer.error)
    if "possibly crashed" in answer.message:  # WebDriverAgent, for every command that reads the app
        return AppEnded(answer.message, error=answer.error)
    if answer.error in {"timeout", "script timeout"}:
        return TimedOut(f"The remote end gave up: {answer.message}.", hint="Raise the timeout or try again.")
    return RemoteFailure(f"The remote end answered {answer.error!r}: {answer.message}.", error=answer.error)
