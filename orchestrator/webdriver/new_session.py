"""New Session, sent in a thread of its own; a session that comes too late is ended."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.errors import (
    DeviceBusy,
    OrchestratorError,
    OutOfResources,
    ProviderAuth,
    RemoteFailure,
    SessionLost,
    StartFailed,
    Unreached,
)
from orchestrator.webdriver import connection_errors
from orchestrator.webdriver.remote import Remote

_LATE = 600.0
"""Seconds after the patience in which a late answer is still received, so that its session can be ended."""
_END = 5.0
_CHECK_EVERY = 0.1
_DEVICE_TAKEN = re.compile(
    r"\bdevice\b[^.]*\b(in use|busy|occupied|taken|already (used|has|running|being))\b", re.IGNORECASE
)
"""Messages of remote ends for a device that another session has: there is no error code for it."""
_REDIRECTS = frozenset({"HTTP 301", "HTTP 302", "HTTP 303", "HTTP 307", "HTTP 308"})


class NewSessionRequest:
    """A request for a session (New Session) under way.

    Args:
        remote: The client of the session to come; it has no session id yet.
        capabilities: The requested capabilities, as `alwaysMatch`.
        patience: Seconds that the start waits for it.
        given_up: For a remote end that drops a request when its connection is closed: called in a thread after
            an abandoned request was cancelled. Without it the late answer is awaited, and its session ended.
        over: Called once an abandoned request has come to its end, after which no session can come of it.
    """

    def __init__(
        self,
        remote: Remote,
        capabilities: Mapping[str, Any],
        patience: float,
        given_up: Callable[[], None] | None = None,
        over: Callable[[], None] | None = None,
    ) -> None:
        self._remote = remote
        self._patience = patience
        self._body = {"alwaysMatch": dict(capabilities), "firstMatch": [{}]}
        self._answer: Any = None
        self._error: BaseException | None = None
        self._answered = threading.Event()
        self._lock = threading.Lock()
        self._is_abandoned = False
        self._given_up = given_up
        self._over = over

    @property
    def is_abandoned(self) -> bool:
        """True once nobody waits for it: `over` is then called, in its own thread or in the one that waited."""
        return self._is_abandoned

    def send_and_wait(self, check: Callable[[], None]) -> dict[str, Any]:
        """Send the request and wait for the answer; return the capabilities of the session.

        `check` is called while it waits; an exception of it abandons the request.

        Raises:
            ProviderAuth: The remote end refused our credentials.
            DeviceBusy: It reported that the device has a session already.
            StartFailed: It refused, or its answer is not WebDriver's.
        """
        threading.Thread(target=self._send, name=f"start-{self._remote.name}", daemon=True).start()
        try:
            while not self._answered.wait(_CHECK_EVERY):
                check()
        except BaseException:
            self._abandon()
            raise
        return self._result()

    def _send(self) -> None:
        try:
            self._answer = self._remote.execute("newSession", limit=self._patience + _LATE, capabilities=self._body)
            self._remote.remote_session_id = str(self._answer["sessionId"])
        except BaseException as error:  # noqa: BLE001 — raised in the thread that waits
            self._error = error
        with self._lock:
            self._answered.set()
            is_abandoned = self._is_abandoned
        if is_abandoned:
            self._end()
            if self._given_up and not self._remote.remote_session_id:
                with contextlib.suppress(OrchestratorError):
                    self._given_up()
            self._finish()

    def _abandon(self) -> None:
        with self._lock:
            self._is_abandoned = True
            answered = self._answered.is_set()
        if answered:
            self._end()
            self._finish()
        elif self._given_up:
            self._remote.cancel_commands()

    def _end(self) -> None:
        if self._remote.remote_session_id:
            with contextlib.suppress(OrchestratorError):
                self._remote.delete(_END)

    def _finish(self) -> None:
        if self._over:
            with contextlib.suppress(OrchestratorError):
                self._over()

    def _result(self) -> dict[str, Any]:
        name, error = self._remote.name, self._error
        if isinstance(error, ProviderAuth):
            raise error.in_session(name) from None
        if isinstance(error, OrchestratorError):
            raise start_error(self._remote, error) from error
        capabilities = None if error else self._answer.get("capabilities")
        if not isinstance(capabilities, dict):
            hint = "Check that the URL is that of a WebDriver endpoint."
            raise StartFailed(
                f"Session {name!r} could not be started: the answer of {self._remote.shown} is not WebDriver's.",
                hint=hint,
                session_id=name,
            ) from error
        return capabilities


def start_error(remote: Remote, error: OrchestratorError) -> OrchestratorError:
    """Return the error of a start for an error of its remote end."""
    name, beginning = remote.name, f"Session {remote.name!r} could not be started"
    if isinstance(error, OutOfResources):
        return error
    if isinstance(error, (SessionLost, Unreached)):
        reason, hint = connection_errors.explain_failure(remote.shown, error.__cause__)
        return StartFailed(f"{beginning}: {reason if error.__cause__ else error.reason}.", hint=hint, session_id=name)
    message, code = f"{beginning}. {error.message}", error.details.get("error")
    if _DEVICE_TAKEN.search(error.message):
        return DeviceBusy(message, hint="Wait until it is free, or ask for another device.", session_id=name)
    hint = "Check the capabilities and options of the start."
    if "only supports" in message or "version of ChromeDriver" in message:
        hint = "Browser and driver differ in version: install matching ones, or set chrome_binary and chromedriver."
    elif isinstance(error, RemoteFailure) and error.is_unknown_command:
        hint = f"Check the path of the URL: {remote.shown} takes no sessions there."
    elif code in _REDIRECTS:
        hint = f"Give the URL that {remote.shown} redirects to: redirects are not followed."
    return StartFailed(message, hint=hint, session_id=name)
