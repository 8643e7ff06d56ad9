"""New Session, asked for in a thread of its own: whoever waits can leave, and what comes of it later is ended."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.errors import DeviceBusy, OrchestratorError, ProviderAuth, SessionLost, StartFailed, Unreached
from orchestrator.webdriver import unreached
from orchestrator.webdriver.remote import Remote

_LATE = 600.0
"""Seconds for which a remote end that was given up is listened to: a session that nobody waits for is ended there."""
_END = 5.0
_LOOK = 0.1
_DEVICE_TAKEN = re.compile(
    r"\bdevice\b[^.]*\b(in use|busy|occupied|taken|already (used|has|running|being))\b", re.IGNORECASE
)
"""How remote ends say that somebody else has the device: each has words of its own, and no error code."""
_NOWHERE = frozenset({"unknown command", "unknown method", "HTTP 404", "HTTP 405"})
"""What is answered where nothing takes New Session."""


class Creation:
    """A session that its remote end was asked for.

    Args:
        remote: The client of the session to come; it has no session id yet.
        capabilities: What is asked for, as `alwaysMatch`.
        patience: Seconds that are waited for it.
        given_up: For a remote end that drops a request when nobody waits for its answer any more: what is done after
            the connection was closed, in a thread. Without it the answer is listened for, and its session ended.
        over: What is done once a creation that was left has come to its end: nothing comes of it any more.
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
        self._left = False
        self._given_up = given_up
        self._over = over

    @property
    def left(self) -> bool:
        """Whether it was left: `over` is then called, in its thread or in that of who left it."""
        return self._left

    def wait(self, check: Callable[[], None]) -> dict[str, Any]:
        """Ask, and wait for the answer; returns the capabilities that the session was given.

        `check` is called while it is waited for: what it raises leaves the creation.

        Raises:
            ProviderAuth: The remote end refused our credentials.
            DeviceBusy: It said that the device has a session already.
            StartFailed: It refused, or answered something else.
        """
        threading.Thread(target=self._ask, name=f"start-{self._remote.name}", daemon=True).start()
        try:
            while not self._answered.wait(_LOOK):
                check()
        except BaseException:
            self._leave()
            raise
        return self._taken()

    def _ask(self) -> None:
        try:
            self._answer = self._remote.execute("newSession", limit=self._patience + _LATE, capabilities=self._body)
            self._remote.remote_session_id = str(self._answer["sessionId"])
        except BaseException as error:  # noqa: BLE001 — raised in the thread that waits
            self._error = error
        with self._lock:
            self._answered.set()
            left = self._left
        if left:
            self._end()
            if self._given_up and not self._remote.remote_session_id:
                with contextlib.suppress(OrchestratorError):
                    self._given_up()
            self._finish()

    def _leave(self) -> None:
        with self._lock:
            self._left = True
            answered = self._answered.is_set()
        if answered:
            self._end()
            self._finish()
        elif self._given_up:
            self._remote.hang_up()

    def _end(self) -> None:
        if self._remote.remote_session_id:
            with contextlib.suppress(OrchestratorError):
                self._remote.delete(_END)

    def _finish(self) -> None:
        if self._over:
            with contextlib.suppress(OrchestratorError):
                self._over()

    def _taken(self) -> dict[str, Any]:
        name, error = self._remote.name, self._error
        if isinstance(error, ProviderAuth):
            raise error.in_session(name) from None
        if isinstance(error, OrchestratorError):
            raise failed(self._remote, error) from error
        found = None if error else self._answer.get("capabilities")
        if not isinstance(found, dict):
            hint = "Check that the URL is that of a WebDriver endpoint."
            raise StartFailed(
                f"Session {name!r} could not be started: the answer of {self._remote.url} is none of WebDriver.",
                hint=hint,
                session_id=name,
            ) from error
        return found


def failed(remote: Remote, error: OrchestratorError) -> OrchestratorError:
    """The error of a start, for what its remote end answered, or why it did not."""
    name, beginning = remote.name, f"Session {remote.name!r} could not be started"
    if isinstance(error, (SessionLost, Unreached)):
        said, hint = unreached.why(remote.url, error.__cause__)
        return StartFailed(f"{beginning}: {said if error.__cause__ else error.reason}.", hint=hint, session_id=name)
    said = f"{beginning}. {error.message}"
    if _DEVICE_TAKEN.search(error.message):
        return DeviceBusy(said, hint="Wait until it is free, or ask for another device.", session_id=name)
    hint = "Check the capabilities and options of the start."
    if "only supports" in said or "version of ChromeDriver" in said:
        hint = "Browser and driver differ in version: install matching ones, or set chrome_binary and chromedriver."
    elif error.details.get("error") in _NOWHERE:
        hint = f"Check the path of the URL: {remote.url}/session takes no sessions."
    return StartFailed(said, hint=hint, session_id=name)
