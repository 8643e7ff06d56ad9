"""Every error raised on purpose: one tree of classes, each with a stable code.

A message says what happened, a hint what to do next. The codes are those of the wire contract; every
front door renders any of these errors and needs to know none of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol, Self, runtime_checkable


class OrchestratorError(Exception):
    """The base of all errors that callers read.

    Attributes:
        code: Stable, machine-readable name of the situation.
        retryable: True when the same call can succeed later without a change.
        hint: The next step, as a sentence; empty when there is nothing to add.
        session_id: The session that it happened in, if any.
        details: Further facts for the caller as JSON data (`candidates`, `expected`, `actual`, …).
        url: The URL of the page that it happened in, if any.
    """

    code: ClassVar[str] = "remote_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", session_id: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.session_id = session_id
        self.details = details
        self.url: str | None = None

    @property
    def sentence(self) -> str:
        """The message and the hint, without the facts."""
        return f"{self.message} {self.hint}".strip()

    def in_session(self, session_id: str) -> OrchestratorError:
        """Name the session in which this happened, unless it is named already."""
        self.session_id = self.session_id or session_id
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled without calling the constructor, whose arguments may be facts instead of the message.
        return _restore, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        """The message and the hint, then a line for each fact that they lack: what is near, what differs, the URL."""
        sentence = self.sentence
        facts = [line for name in _SHOWN for line in _list_fact(name, self.details.get(name), sentence)]
        if self.url and self.url not in sentence:
            facts.append(f"URL: {self.url}")
        return "\n".join([sentence, *facts])


_SHOWN = ("candidates", "expected", "actual")
"""Facts that an error shows as a string; a page may have written them."""


def _list_fact(name: str, value: Any, sentence: str) -> Iterator[str]:
    if isinstance(value, list | tuple):
        lines = [f"- {_spelled(item)}" for item in value if _spelled(item) not in sentence]
        yield from [f"{name.capitalize()}:", *lines] if lines else []
    elif isinstance(value, Mapping):
        lacking = {key: _spelled(item) for key, item in value.items() if _spelled(item) not in sentence}
        yield from (f"{name.capitalize()} {key}: {item}" for key, item in lacking.items())
    elif value is not None and _spelled(value) not in sentence:
        yield f"{name.capitalize()}: {_spelled(value)}"


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _restore(kind: type[OrchestratorError], args: tuple[Any, ...]) -> OrchestratorError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


def _open_sessions(open_ids: Sequence[str]) -> str:
    return f"Open sessions: {', '.join(open_ids)}." if open_ids else "No session is open."


class NoSession(OrchestratorError):
    """The call named no session, and the caller has no current one."""

    code = "no_session"

    def __init__(self, open_ids: Sequence[str] = (), *, because: str = "") -> None:
        hint = "Pass sessionId or call set_current_session." if open_ids else "Start one with start_browser."
        where = f"none active for a call without sessionId: {because}" if because else "none active"
        super().__init__(f"No session: {where}. {_open_sessions(open_ids)}", hint=hint, open=list(open_ids))


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
    """The id belongs to a session that is not closed."""

    code = "session_exists"

    def __init__(self, session_id: str, state: str = "active") -> None:
        super().__init__(
            f"Session '{session_id}' already exists ({state}).",
            hint="Use it by its sessionId, close it with close_session, or choose another name.",
            session_id=session_id,
        )


class SessionClaimed(OrchestratorError):
    """Someone else has claimed the session, and the call would change it under its own name."""

    code = "session_claimed"
    retryable = True

    def __init__(self, session_id: str, label: str, until: float) -> None:
        ends = datetime.fromtimestamp(until, UTC).strftime("%H:%M:%S")
        super().__init__(
            f"Session '{session_id}' is claimed by {label} until {ends} UTC.",
            hint="Look without changing it, wait with claim_session and its wait, or use a session of your own.",
            session_id=session_id,
        )


class SessionLost(OrchestratorError):
    """The session's remote end is gone or no longer responds."""

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
    """The remote end did not respond: the session counts as lost, though it may respond again."""


class RecordUnreadable(SessionLost):
    """The session's record cannot be read: another version wrote it, or it is damaged."""

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(session_id, f"its record cannot be read ({reason})")
        self.hint = (
            "Another version of webdriver-orchestrator wrote it: use that version, or close the session with "
            "close_session."
        )


class SessionLimit(OrchestratorError):
    """There is no room for another session: by max_sessions, or on this machine by max_local_browsers."""

    code = "session_limit"
    retryable = True

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why, hint=hint)

    @classmethod
    def of_namespace(cls, limit: int, open_ids: Sequence[str]) -> Self:
        """Return the error of a namespace that holds as many sessions as the setting allows."""
        why = f"{limit} sessions are open and max_sessions is {limit}. {_open_sessions(open_ids)}"
        return cls(why, "Close one with close_session, or raise max_sessions.")


class StartFailed(OrchestratorError):
    """The remote end created no session."""

    code = "start_failed"


class DeviceBusy(OrchestratorError):
    """The requested device already has a session."""

    code = "device_busy"
    retryable = True


class ElementNotFound(OrchestratorError):
    """No element on the page matched the selector within the timeout."""

    code = "element_not_found"
    retryable = True


class NotActionable(OrchestratorError):
    """The element exists, but cannot be acted on."""

    code = "not_actionable"
    retryable = True


class PressMissed(NotActionable):
    """The pointer met something else than its element, and the press was kept from that.

    Args:
        missed: The element's line, and what the pointer met instead.
        moved: True if the element moved away, False if something was in front of it.
        lost: True if nothing in the page heard of the press.
        held: True if only its release was lost: the page may have acted on the press.
    """

    def __init__(self, missed: str, *, moved: bool, lost: bool = False, held: bool = False) -> None:
        self.moved = moved
        self.lost = lost
        self.held = held
        super().__init__(
            f"The pointer did not reach {missed}.",
            hint="Close or move what is in its way, wait until the page is at rest, or raise timeout.",
        )


class StaleRef(OrchestratorError):
    """The ref names no existing element of the session's pages."""

    code = "stale_ref"


class ExpectationFailed(OrchestratorError, AssertionError):
    """The expected condition was not met within the timeout."""

    code = "expectation_failed"
    retryable = True


class TimedOut(OrchestratorError, TimeoutError):
    """A wait, a sequence or a page load exceeded its timeout."""

    code = "timeout"
    retryable = True


class PageBroken(TimedOut):
    """The page hung or crashed: its tab was closed, and another tab is current."""


class PageBusy(TimedOut):
    """The page or its driver did not answer in time; the tab stays as it is."""


class NavigationWaits(TimedOut):
    """The page is about to be left, and the server of the next one has not answered yet.

    Attributes:
        reason: What goes on, as a clause.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"{reason[0].upper()}{reason[1:]}: the page cannot be read meanwhile.",
            hint="wait_for goes on waiting; navigate gives it up and goes elsewhere.",
        )


class DialogOpen(OrchestratorError):
    """A JavaScript dialog blocks the page, and the session's policy leaves it open."""

    code = "dialog_open"

    def __init__(self, text: str, *, endless: bool = False) -> None:
        once = "Answer it with handle_dialog, then repeat the call."
        ever = "The page opens one after another: navigate elsewhere."
        super().__init__(
            f"A dialog is open and blocks the page: {text!r}.", hint=ever if endless else once, dialog=text
        )


class InvalidArgument(OrchestratorError, ValueError):
    """The input is invalid; nothing was changed."""

    code = "invalid_argument"


class FileQuota(InvalidArgument):
    """A client's files have no room for another one."""

    def __init__(self, why: str) -> None:
        super().__init__(why, hint="Remove some (DELETE /files/ID), or wait until their time is over (keep_uploads).")


class ScriptThrew(InvalidArgument):
    """The caller's script threw an exception; `thrown` is its text, in the message, which a page may have written."""

    def __init__(self, message: str, thrown: str) -> None:
        super().__init__(message, hint="Correct the script.")
        self.thrown = thrown


class Denied(OrchestratorError):
    """A safety setting of the server refuses this; nothing of it was done.

    The setting stands in `setting`. The caller cannot change it; whoever runs the server can, and the hint says how.

    Args:
        message: What was refused.
        setting: The setting that decides it.
        value: The value that would allow it, as on the command line; empty if no single one does.
        instead: What the caller can do without it, as a sentence.
    """

    code = "denied"

    def __init__(self, message: str, *, setting: str, value: str = "", instead: str = "") -> None:
        option = f"--{setting.replace('_', '-')}{value and ' '}{value}"
        allow = f"Only whoever runs this server can allow it: the setting {setting} ({option} of orchestrator serve)."
        super().__init__(message, hint=f"{instead} {allow}".strip(), setting=setting)
        self.setting = setting


class ToolDenied(Denied):
    """A setting or a token refuses this tool: called, as a step and in scripts.

    Args:
        verb: The tool.
        by: What refuses it.
        setting: What whoever runs the server can change: `deny_tools` or `tokens`.
    """

    def __init__(self, verb: str, by: str, *, setting: str) -> None:
        super().__init__(f"{verb} is denied by {by}, as a tool, as a step and in scripts.", setting=setting)
        self.hint = "Nothing was run. Do without it, or ask whoever runs this server to allow it."


class SecretDenied(Denied):
    """A secret is not typed into this page: the origins of its entry, which whoever runs the server gives, lack it.

    Args:
        message: What was refused.
        allow: How whoever runs the server can allow it, as a sentence.
    """

    def __init__(self, message: str, *, allow: str) -> None:
        super().__init__(message, setting="secrets_file")
        self.hint = allow


class Unsupported(OrchestratorError):
    """The request is valid, but this session or provider cannot do it."""

    code = "unsupported"


class ProviderFailure(OrchestratorError):
    """The provider could not be loaded, or could not prepare the session."""

    code = "provider_error"


class ProviderAuth(OrchestratorError):
    """The remote end requires credentials; this process has none, or wrong ones."""

    code = "provider_auth"


_UNKNOWN_COMMAND = frozenset({"unknown command", "unknown method", "HTTP 404", "HTTP 405"})


class RemoteFailure(OrchestratorError):
    """The remote end returned an error that has no code of its own.

    `details['error']` is the W3C error code, as the remote end spelled it.
    """

    code = "remote_error"

    @property
    def is_unknown_command(self) -> bool:
        """True if the remote end does not know the command, or there is nothing that speaks WebDriver."""
        return self.details.get("error") in _UNKNOWN_COMMAND


class BuiltinsReplaced(RemoteFailure):
    """The page has replaced functions of the browser, and the driver's own scripts fail in it."""

    def __init__(self, reason: str, *, error: str | None) -> None:
        super().__init__(
            f"The driver cannot do that in this page, which has replaced functions of the browser ({reason}).",
            hint="Looking, clicking and typing do without them; navigate leaves the page.",
            error=error,
        )


class Unreached(RemoteFailure):
    """The connection to the remote end failed, in the network or a proxy. The session may live on."""

    retryable = True

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(
            message, hint="The session may live on, and the command may have run: check its page, then continue."
        )
        self.reason = reason


class TurnLost(RemoteFailure):
    """Another server took the session over while this one stood still; nothing more of the call is run or written."""

    retryable = True

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"Session '{session_id}': another server took over while this one stood still; the call was stopped.",
            hint="Look at its page, which the other one may have changed, then repeat what is missing.",
            session_id=session_id,
        )


class OutOfResources(RemoteFailure):
    """This server lacks open files, memory or local ports: what it asked for was not asked, and the session lives on.

    Args:
        shortage: What is lacking, as a clause.
        undone: What could not be done, as a clause.
    """

    retryable = True

    def __init__(self, shortage: str, undone: str) -> None:
        super().__init__(
            f"{shortage[0].upper()}{shortage[1:]}: {undone}.",
            hint="Close sessions that are not needed, or raise the limit (ulimit -n for open files), then try again.",
        )


class StoreFailed(RemoteFailure):
    """The store of sessions cannot be used: its disk is full, or another process has locked it."""

    retryable = True


class StoreDamaged(StoreFailed):
    """The store of sessions is damaged; sessions that this process has used can still be closed."""

    retryable = False


class AppEnded(RemoteFailure):
    """The session's app is not running, though nothing ended it on purpose."""

    def __init__(self, reason: str, *, error: str | None) -> None:
        hint = "Start it again: manage_app with action activate."
        super().__init__(f"The app has ended: {reason}.", hint=hint, error=error)


class PlaceGone(RemoteFailure):
    """The current tab or frame is gone: another tab, or the top of the page, is current now."""


class PageLeft(PlaceGone):
    """The page navigated away before it answered."""


def quoted(text: str) -> str:
    """Quote the caller's text unchanged; `repr` would alter quotes and backslashes."""
    return f"'{text}'"


def brief(text: str, longest: int) -> str:
    """Return the first `longest` characters of a text, with an ellipsis if it is longer."""
    return text if len(text) <= longest else f"{text[:longest]}…"


@runtime_checkable
class MayHaveFailed(Protocol):
    """An outcome that has data even if it is that of a failure."""

    def failure(self) -> OrchestratorError | None:
        """Return the error, if it is one."""
        ...
