"""Every error raised on purpose: one tree, one stable code a class.

A message says what happened, a hint what to do next. The codes are those of the wire contract; every
front door renders any of these errors and needs to know none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol, runtime_checkable


class OrchestratorError(Exception):
    """The base of every error that callers are meant to read.

    Attributes:
        code: Stable, machine-readable name of the situation.
        retryable: True when the same call can succeed later without a change.
        hint: What to do next, as a sentence; empty when there is nothing to add.
        session_id: The session in which it happened, where there is one.
        details: Further facts for the caller as JSON data (`candidates`, `expected`, `actual`, …).
    """

    code: ClassVar[str] = "remote_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", session_id: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.session_id = session_id
        self.details = details

    def in_session(self, session_id: str) -> OrchestratorError:
        """Name the session in which this happened, unless it is named already."""
        self.session_id = self.session_id or session_id
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Between processes it goes as it is: its class may be made of facts instead of the message.
        return _as_it_was, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        """The sentence and the next move."""
        return f"{self.message} {self.hint}".strip()


def _as_it_was(kind: type[OrchestratorError], args: tuple[Any, ...]) -> OrchestratorError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


def _open_sessions(open_ids: Sequence[str]) -> str:
    return f"Open sessions: {', '.join(open_ids)}." if open_ids else "No session is open."


class NoSession(OrchestratorError):
    """A call named no session and the caller has no current one."""

    code = "no_session"

    def __init__(self, open_ids: Sequence[str] = ()) -> None:
        hint = "Pass sessionId or call set_current_session." if open_ids else "Start one with start_browser."
        super().__init__(f"No session: none active. {_open_sessions(open_ids)}", hint=hint, open=list(open_ids))


class SessionNotFound(OrchestratorError, KeyError):
    """No session with this id is open in the caller's namespace."""

    code = "session_not_found"

    def __init__(self, session_id: str, open_ids: Sequence[str] = ()) -> None:
        near = get_close_matches(session_id, open_ids, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "Call list_sessions, or start one with start_browser."
        super().__init__(
            f"No session: {session_id}. {_open_sessions(open_ids)}",
            hint=hint,
            session_id=session_id,
            open=list(open_ids),
        )


class SessionExists(OrchestratorError):
    """The id is taken by a session that is not closed."""

    code = "session_exists"

    def __init__(self, session_id: str, state: str = "active") -> None:
        super().__init__(
            f"Session '{session_id}' already exists ({state}).",
            hint="Use it by its sessionId, close it with close_session, or choose another name.",
            session_id=session_id,
        )


class SessionLost(OrchestratorError):
    """The remote end of this session is gone, or no longer answers."""

    code = "session_lost"

    def __init__(self, session_id: str, reason: str, *, closed: bool = False) -> None:
        lost = "Close it with close_session, then start a new one; its name is free again after that."
        super().__init__(
            f"Session '{session_id}' is lost: {reason}.",
            hint="Its name is free: start a new one." if closed else lost,
            session_id=session_id,
        )
        self.reason = reason


class NoAnswer(SessionLost):
    """A remote end did not answer: to whoever uses the session it is lost, though it may answer again."""


class RecordUnreadable(SessionLost):
    """What the store says of this session cannot be read: another version wrote it, or it is damaged."""

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(session_id, f"its record cannot be read ({reason})")
        self.hint = (
            "Another version of webdriver-orchestrator wrote it: use that one. To be rid of the session, close it with "
            "close_session."
        )


class SessionLimit(OrchestratorError):
    """The namespace holds as many sessions as the setting max_sessions allows."""

    code = "session_limit"
    retryable = True

    def __init__(self, limit: int, open_ids: Sequence[str]) -> None:
        super().__init__(
            f"{limit} sessions are open and max_sessions is {limit}. {_open_sessions(open_ids)}",
            hint="Close one with close_session, or raise max_sessions.",
        )


class StartFailed(OrchestratorError):
    """The remote end did not give a session."""

    code = "start_failed"


class DeviceBusy(OrchestratorError):
    """The device that was asked for has a session already."""

    code = "device_busy"
    retryable = True


class ElementNotFound(OrchestratorError):
    """Nothing on the page matched the selector within the timeout."""

    code = "element_not_found"
    retryable = True


class NotActionable(OrchestratorError):
    """An element is there, but it cannot be acted on."""

    code = "not_actionable"
    retryable = True


class StaleRef(OrchestratorError):
    """The ref does not name a living element of this session's pages."""

    code = "stale_ref"


class ExpectationFailed(OrchestratorError):
    """What was expected did not come true within the timeout."""

    code = "expectation_failed"
    retryable = True


class TimedOut(OrchestratorError, TimeoutError):
    """A wait, a sequence or a page load took longer than it was allowed to."""

    code = "timeout"
    retryable = True


class PageBroken(TimedOut):
    """The page hung or crashed: its tab was closed, and another one is current."""


class DialogOpen(OrchestratorError):
    """A JavaScript dialog blocks the page and the session's policy leaves it open."""

    code = "dialog_open"

    def __init__(self, text: str, *, endless: bool = False) -> None:
        once = "Answer it with handle_dialog, then repeat the call."
        ever = "The page opens one after the other: navigate elsewhere."
        super().__init__(
            f"A dialog is open and blocks the page: {text!r}.", hint=ever if endless else once, dialog=text
        )


class InvalidArgument(OrchestratorError, ValueError):
    """The caller's input does not mean anything here; nothing was touched."""

    code = "invalid_argument"


class Unsupported(OrchestratorError):
    """The request is understood, and this session or provider cannot do it."""

    code = "unsupported"


class ProviderFailure(OrchestratorError):
    """A provider could not be loaded or could not prepare the session."""

    code = "provider_error"


class ProviderAuth(OrchestratorError):
    """The remote end asks for credentials, and those that this process has are none or wrong."""

    code = "provider_auth"


class RemoteFailure(OrchestratorError):
    """The remote end answered a command with an error that has no better name.

    `details['error']` is the W3C error code, as the remote end spelled it.
    """

    code = "remote_error"


class Unreached(RemoteFailure):
    """Something between here and the remote end failed: a network, a proxy. The session may live on."""

    retryable = True

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(
            message, hint="The session may live on, and may have done what was asked: look at it, then go on there."
        )
        self.reason = reason


class AppEnded(RemoteFailure):
    """The app of the session is not running, and nothing ended it on purpose."""

    def __init__(self, said: str, *, error: str | None) -> None:
        hint = "Start it again: manage_app with action activate."
        super().__init__(f"The app has ended: {said}.", hint=hint, error=error)


class PlaceGone(RemoteFailure):
    """The current tab or frame is gone: another tab, or the top of the page, has taken its place."""


class PageLeft(PlaceGone):
    """The page was left for another one before it had answered."""


def quoted(text: str) -> str:
    """The caller's own words as they were given: a Python literal of them would have other quotes and backslashes."""
    return f"'{text}'"


def brief(text: str, longest: int) -> str:
    """The beginning of a text of that length, and an ellipsis where there is more."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def nearest(name: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'?` for the nearest known name, else the list of known names."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(names)}."


@runtime_checkable
class MayHaveFailed(Protocol):
    """An outcome that can be the outcome of a failure: it has data all the same."""

    def failure(self) -> OrchestratorError | None:
        """The error, if it is one."""
        ...
