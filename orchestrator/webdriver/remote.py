"""Our thin client of one remote session: selenium's commands and connection below, our errors above."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.errors import (
    AppEnded,
    DialogOpen,
    NoAnswer,
    OrchestratorError,
    PageBroken,
    PageLeft,
    PlaceGone,
    ProviderAuth,
    RemoteFailure,
    SessionLost,
    TimedOut,
    Unreached,
)
from orchestrator.models import NATIVE
from orchestrator.secrets import credentials, without_credentials
from orchestrator.webdriver import unreached
from orchestrator.webdriver.answer import Answer
from orchestrator.webdriver.line import Line

if TYPE_CHECKING:
    from selenium.webdriver.remote.remote_connection import RemoteConnection

_CDP_COMMAND = "executeCdpCommand"
_CAPABILITIES_COMMAND = "getCapabilities"
_LOCATION_COMMAND = "setLocation"
_CONTEXT_COMMAND = "getContext"
FULL_PAGE = "fullPageScreenshot"
"""Firefox's own picture of a whole page (GET /moz/screenshot/full)."""
_PAUSE = 0.5
"""Seconds until a session is asked to end once more."""
_DIALOGS_IN_A_ROW = 20
"""A page that opens dialogs in a loop is answered this often in one command, then reported."""
_LEFT = (
    *("aborted by navigation", "no such execution context"),
    "Callback was not called before the unload event",
)
"""What chromedriver and WebKitWebDriver say, as a part of other errors, when a document went away under a script."""
_UNAUTHORIZED = frozenset({"HTTP 401", "HTTP 403"})
_credentials: dict[str, tuple[str, str]] = {}
"""User and password by remote URL, of the URLs that this process was given: no record holds them."""


def know(url: str) -> str:
    """Keep the credentials of a URL in this process, for every session there; returns the URL without them."""
    plain = without_credentials(url)
    if own := credentials(url):
        _credentials[plain] = own
    return plain


class Remote:
    """One session at its remote end, by address alone; it keeps no other state of it.

    A command is answered within its timeout or the session counts as lost: a remote end that stays silent for longer
    than the driver's own limits is never heard of again. Commands of one session must not overlap (the lane sees to
    that); `delete` may be called beside them. `before` is called before each.

    Source: W3C WebDriver, https://www.w3.org/TR/webdriver2/#endpoints.
    """

    def __init__(self, url: str, remote_session_id: str, *, name: str, timeout: float) -> None:
        self.url = know(url)
        self.remote_session_id = remote_session_id
        self.name = name
        self.timeout = timeout
        self.on_dialog: Callable[[str], bool] | None = None
        self.on_gone: Callable[[], str] | None = None
        self.on_broken: Callable[[], str] | None = None
        self.before: Callable[[], None] | None = None
        self._kept: RemoteConnection | None = None
        self._line = Line()

    def execute(self, command: str, *, limit: float | None = None, **params: Any) -> Any:
        """Send one command by its selenium name (`selenium.webdriver.remote.command.Command`); return its value.

        `limit` overrides the timeout, in seconds.

        Raises:
            SessionLost: The remote end is gone, does not know the session, or did not answer in time.
            Unreached: A network or a proxy between here and there failed.
            PageBroken: The page did not answer in time, or crashed, and `on_broken` has replaced its tab.
            DialogOpen: A dialog is open and `on_dialog` did not answer it.
            PlaceGone: The current tab or frame is gone; `on_gone` has found another place and says which.
            TimedOut: The driver's own limit for scripts or page loads passed.
            RemoteFailure: Any other W3C error.
        """
        if self.before:
            self.before()
        answer = self._send(command, params, limit)
        for _ in range(_DIALOGS_IN_A_ROW):
            # W3C handles user prompts before a command runs, so this one was not executed and may be sent again.
            if answer.error != "unexpected alert open" or self.on_dialog is None or not self.on_dialog(answer.dialog):
                break
            answer = self._send(command, params, limit)
        else:
            if answer.error == "unexpected alert open":
                raise DialogOpen(answer.dialog, endless=True)
        if answer.error is None:
            return answer.value
        if answer.error == "no such window" and self.on_gone:
            raise self._moved(self.on_gone)
        raise self._failure(answer)

    def capabilities(self) -> dict[str, Any]:
        """The session's capabilities, as far as the remote end can be asked for them after New Session.

        The standard has no command for it; Appium and older drivers answer `GET /session/{id}`.
        """
        try:
            answer = self.execute(_CAPABILITIES_COMMAND)
        except RemoteFailure:
            return {}
        found = answer.get("capabilities", answer) if isinstance(answer, dict) else {}
        return found if isinstance(found, dict) else {}

    def status(self, limit: float) -> dict[str, Any]:
        """What the remote end says of itself (Status), within `limit` seconds; empty when it says nothing."""
        try:
            answer = self.get("/status", limit=limit)
        except OrchestratorError:
            return {}
        return answer if isinstance(answer, dict) else {}

    def context(self) -> str:
        """Where an app session's commands go, as Appium tells it (`GET /context`).

        It is `NATIVE_APP` or a web view's name; a remote end that knows no contexts has the first one alone.
        """
        try:
            return str(self.execute(_CONTEXT_COMMAND) or NATIVE)
        except RemoteFailure:
            return NATIVE

    def touch(self) -> None:
        """Have the remote end know that the session is needed; nothing in it is changed.

        It is Get Timeouts: of the standard's commands the one that no open dialog and no closed window hinders.

        Raises:
            SessionLost: It does not know the session; NoAnswer where it did not answer.
        """
        self.execute("getTimeouts")

    def apart(self, timeout: float) -> Remote:
        """The same session over a connection of its own, with a timeout in seconds and without what is called here."""
        return Remote(self.url, self.remote_session_id, name=self.name, timeout=timeout)

    def script(self, script: str, args: Sequence[Any] = ()) -> Any:
        """Run a function body in the current browsing context; a promise is awaited (Execute Script)."""
        return self.execute("w3cExecuteScript", script=script, args=list(args))

    def cdp(self, command: str, **params: Any) -> Any:
        """Send a Chrome DevTools Protocol command to the current tab; Chromium only."""
        return self.execute(_CDP_COMMAND, cmd=command, params=params)

    def get(self, path: str, *, limit: float) -> Any:
        """The value that the remote end answers to a GET below its URL: of itself, and of no session."""
        self._connection().add_command(path, "GET", path)
        return self.execute(path, limit=limit)

    def close(self) -> None:
        """Close the connection that is kept between commands; the session, and a command in flight, go on."""
        if self._kept is not None:
            self._kept.close()

    def hang_up(self) -> None:
        """Close the connection under the command in flight, and for good; may be called beside it."""
        self._line.cut()

    def delete(self, limit: float) -> None:
        """End the session at its remote end (Delete Session), within `limit` seconds.

        It has a connection of its own: closing does not wait for the command in flight. A proxy or network that fails
        is tried again, for what is not ended now runs on there.
        """
        until, again = time.monotonic() + limit, False
        while True:
            try:
                self.apart(limit).execute("quit")
            except Unreached:
                if time.monotonic() + _PAUSE > until:
                    raise
            except SessionLost:
                if not again:
                    raise
                return  # the first time it came through, and only its answer did not
            else:
                return
            again = True
            time.sleep(_PAUSE)

    def _send(self, command: str, params: Mapping[str, Any], limit: float | None) -> Answer:
        import urllib3.exceptions  # noqa: PLC0415 — selenium and urllib3 load with the first session, not with us

        connection = self._connection()
        connection._client_config.timeout = limit or self.timeout  # noqa: SLF001 — no public way per command
        try:
            raw = connection.execute(command, {**params, "sessionId": self.remote_session_id})
        except urllib3.exceptions.NewConnectionError as cause:  # to urllib3 a refused connection is a timeout, too
            raise unreached.lost(self.name, self.url, cause) from cause
        except (urllib3.exceptions.ReadTimeoutError, urllib3.exceptions.ConnectTimeoutError, TimeoutError):
            waited = limit or self.timeout
            lost = NoAnswer(self.name, f"the remote end did not answer within {waited:g} s")
            raise self._without_tab(f"did not answer within {waited:g} s", lost) from None
        except (urllib3.exceptions.HTTPError, OSError) as cause:
            raise unreached.lost(self.name, self.url, cause) from cause
        return Answer.read(raw)

    def _connection(self) -> RemoteConnection:
        if self._kept is None:
            self._kept = _connect(self.url)
            self._line.hold(self._kept, self.url)
        return self._kept

    def _moved(self, find: Callable[[], str]) -> PlaceGone:
        """Go to another place; what fails on the way there fails as usual."""
        self.on_gone = None
        try:
            now = find()
        finally:
            self.on_gone = find
        hint = "Look with get_visible_elements, then go on there."
        return PlaceGone(f"What this call worked in was closed: {now}.", hint=hint, error="no such window")

    def _without_tab(self, what: str, lost: SessionLost) -> OrchestratorError:
        """The error for a page that lets no command through: the session lives on where its tab can be replaced."""
        find, self.on_broken = self.on_broken, None
        try:
            now = find() if find else ""
        except OrchestratorError:
            return lost
        finally:
            self.on_broken = find
        if not now:
            return lost
        hint = "The same page may do the same again."
        return PageBroken(f"The page {what}, and its tab was closed: {now}.", hint=hint)

    def _failure(self, answer: Answer) -> OrchestratorError:
        if answer.gone is not None:
            return SessionLost(self.name, answer.gone or "the remote end no longer knows it")
        if answer.error == "tab crashed":
            return self._without_tab("crashed", SessionLost(self.name, answer.message))
        if answer.error == "unexpected alert open":
            return DialogOpen(answer.dialog)
        if answer.error in _UNAUTHORIZED:
            return ProviderAuth(
                f"The remote end at {self.url} refused our credentials ({answer.error}).",
                hint="Give the URL as https://user:password@host: to the start, or to attach_session for an open one.",
            )
        if answer.error in unreached.GATEWAY:
            return unreached.between(self.url, answer.error)
        return _refused(answer)


def _refused(answer: Answer) -> OrchestratorError:
    if any(left in answer.message for left in _LEFT):
        return PageLeft("The page was left before it had answered.", hint="Try again.", error=answer.error)
    if "possibly crashed" in answer.message:  # WebDriverAgent, to every command that looks at the app
        return AppEnded(answer.message, error=answer.error)
    if answer.error in {"timeout", "script timeout"}:
        return TimedOut(f"The remote end gave up: {answer.message}.", hint="Raise the timeout or try again.")
    return RemoteFailure(f"The remote end answered {answer.error!r}: {answer.message}.", error=answer.error)


def _connect(url: str) -> RemoteConnection:
    from selenium.webdriver.remote.client_config import ClientConfig  # noqa: PLC0415 — see _send
    from selenium.webdriver.remote.remote_connection import RemoteConnection  # noqa: PLC0415

    # The nesting is selenium's; without it a GET is silently sent again three times after a timeout.
    pool = {"init_args_for_pool_manager": {"retries": False, "maxsize": 1}}
    user, password = _credentials.get(url, (None, None))
    connection = RemoteConnection(
        client_config=ClientConfig(
            remote_server_addr=url.rstrip("/"), init_args_for_pool_manager=pool, username=user, password=password
        )
    )
    # selenium shares one table of commands between all connections of a process.
    connection._commands = dict(connection._commands)  # noqa: SLF001
    connection.add_command(_CDP_COMMAND, "POST", "/session/$sessionId/goog/cdp/execute")
    connection.add_command(_CAPABILITIES_COMMAND, "GET", "/session/$sessionId")
    connection.add_command(_LOCATION_COMMAND, "POST", "/session/$sessionId/location")
    connection.add_command(_CONTEXT_COMMAND, "GET", "/session/$sessionId/context")
    connection.add_command(FULL_PAGE, "GET", "/session/$sessionId/moz/screenshot/full")
    return connection
