"""Browser instances that sessions share: joining one, settling in it, leaving it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from pydantic.alias_generators import to_camel

from orchestrator.automation.browser.shared_browser import find_own_handles
from orchestrator.errors import InvalidArgument, OrchestratorError, Unsupported
from orchestrator.models import browser_support, identifiers
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import Instance, SessionRecord, SessionState, SessionType
from orchestrator.provider import Provider, SessionOptions
from orchestrator.sessions.turn import Turn
from orchestrator.settings.endpoints import DEBUGGER
from orchestrator.system import processes
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.webdriver.chromium import Chromium
from orchestrator.webdriver.devtools import debugger_address
from orchestrator.webdriver.remote import Remote

_POLL = 0.03
"""Seconds between two checks of a browser that another start is launching, or that quits."""
_QUITS_WITHIN = 3.0
"""Seconds that a browser may take to save its profile and quit."""
_OF_BROWSER = ("browser_version", "args", "capabilities", "profile")
"""Fields of a request that belong to the browser, beside browser, mode and headless."""


def resolve_mode(request: StartRequest, provider: Provider) -> StartRequest:
    """Return the request with its mode, and the profile name of a persistent one, filled in.

    Raises:
        InvalidArgument: The mode excludes another argument, or a name is not valid.
        Unsupported: The provider or the browser has no such mode, or cannot isolate contexts.
    """
    context = identifiers.context_of(identifiers.normalize_session_id(request.session_id)) if request.session_id else ""
    mode = request.mode or ("attached" if request.debugger_address else "persistent" if request.profile else None)
    if request.profile is not None and (mode != "persistent" or not identifiers.profile(request.profile)):
        raise InvalidArgument(f"A session of mode {mode} has no profile.", hint="Omit profile or mode.")
    if request.debugger_address is not None and mode != "attached":
        raise InvalidArgument(f"A session of mode {mode} has no debuggerAddress.", hint="Omit debuggerAddress or mode.")
    if mode not in {None, *provider.modes} or (mode and request.type is not SessionType.BROWSER):
        raise Unsupported(
            f"Provider {provider.name!r} has no {mode} {request.type} sessions.",
            hint="Start a browser on this machine: start_browser.",
        )
    if mode == "persistent":
        browser_support.require_ability("profile", request.browser)
    if mode == "attached":
        _check_attached(request)
    if context:
        _check_context(request, provider, mode, context)
    name = identifiers.DEFAULT if mode == "persistent" and request.profile is None else request.profile
    return request.model_copy(update={"mode": mode, "profile": name})


def _check_attached(request: StartRequest) -> None:
    if request.debugger_address is not None and not re.fullmatch(DEBUGGER, request.debugger_address):
        raise InvalidArgument("debuggerAddress is not host:port.", hint="Write for example 127.0.0.1:9222.")
    if given := [name for name in ("args", "headless", "browser_version") if getattr(request, name)]:
        raise InvalidArgument(
            f"{' and '.join(map(to_camel, given))} cannot be given for a running browser.",
            hint=f"Omit {'it' if len(given) == 1 else 'them'}, or omit mode.",
        )
    if request.device is not None:
        raise InvalidArgument("device cannot be given for a running browser.", hint="Omit device, then call emulate.")
    browser_support.require_ability("attached", request.browser)


def _check_context(request: StartRequest, provider: Provider, mode: str | None, context: str) -> None:
    instead = f"Start a session of its own, for example {(request.session_id or '').replace(':', '-')}."
    if request.type is not SessionType.BROWSER or not provider.contexts:
        why = "apps have none" if request.type is not SessionType.BROWSER else "its browsers cannot be shared"
        raise Unsupported(f"Provider {provider.name!r} cannot isolate context {context!r}: {why}.", hint=instead)
    browser_support.require_ability("contexts", request.browser)
    if mode == "persistent":
        raise Unsupported(
            f"Context {context!r} cannot be persistent: a profile has only its default context.", hint=instead
        )
    if mode == "attached":
        raise Unsupported(f"Context {context!r} cannot be attached: that browser is the user's.", hint=instead)


class BrowserSharing:
    """Decides which browser a start uses: a running one, or a new one that others can share.

    Args:
        request: The request, as `resolve_mode` returned it.
        options: The checked options of the provider.
        headless: True for a browser without a window.
        turn: The turn of the start.
    """

    def __init__(self, request: StartRequest, options: SessionOptions, *, headless: bool, turn: Turn) -> None:
        self._request = request
        self._turn = turn
        self._given, self._wishes = _wishes(request, options, headless=headless)
        self._of_browser = _of_browser(options)
        self._host: SessionRecord | None = None
        self._is_launching = False

    @staticmethod
    def can_share(request: StartRequest, options: SessionOptions, provider: Provider) -> bool:
        """Return True if the browser of such a start can be shared."""
        if not options.can_share_browser:
            return False
        shareable = provider.contexts and request.type is SessionType.BROWSER and request.mode != "attached"
        return shareable and browser_support.has_ability("contexts", request.browser)

    def join_browser(self, check: Callable[[], None]) -> SessionRecord | None:
        """Return a session whose browser this one shares from now on; None where it launches its own.

        While another start launches the browser, it waits, and calls `check`, which raises when the time is up.

        Raises:
            InvalidArgument: The running browser differs from the requested one.
        """

        def is_decided() -> bool:
            self._turn.change_among(self._choose)
            if self._is_launching:
                check()
            return not self._is_launching

        poll_until(is_decided, Deadline(math.inf), every=_POLL)
        return self._host

    def _choose(self, record: SessionRecord, others: Iterable[SessionRecord]) -> SessionRecord:
        """Choose in one transaction: of several starts that find no browser, one launches it."""
        _refuse_private(record, others := [*others])
        sharing = [other for other in others if other.instance is not None and self._is_shared_with(record, other)]
        host = next((other for other in sharing if other.instance and other.instance.ready and _runs(other)), None)
        self._host = host
        self._is_launching = host is None and any(other.instance and not other.instance.ready for other in sharing)
        if host is None or host.instance is None:
            new = Instance(wishes=self._wishes, profile=self._profile, root=True)
            return record if self._is_launching else record.with_changes(instance=new)
        self._compare(record, host, host.instance)
        # Named by this record from now on, the browser outlives the session that it is shared with. When it is gone,
        # the first of its sessions that is restored starts one like it.
        shared = host.instance.model_copy(update={"root": False, "ready": False, "context": ""})
        alike = self._wishes == host.instance.wishes
        request = record.request if alike else _with_browser(record.request, host.request, self._of_browser)
        return record.with_changes(instance=shared, processes=host.processes, request=request)

    def _is_shared_with(self, record: SessionRecord, other: SessionRecord) -> bool:
        same_profile = other.instance is not None and other.instance.profile == self._profile != ""
        same_namespace = record.namespace == other.namespace
        same_instance = identifiers.instance_of(other.id) == identifiers.instance_of(record.id)
        return same_profile or (same_namespace and same_instance)

    @property
    def _profile(self) -> str:
        return profile_of(self._request)

    def _compare(self, record: SessionRecord, host: SessionRecord, instance: Instance) -> None:
        differ = [to_camel(name) for name in self._given if self._wishes.get(name) != instance.wishes.get(name)]
        if differ:
            raise InvalidArgument(
                f"{record.id!r} would share the browser of {host.id!r}, which differs in {', '.join(sorted(differ))}.",
                hint=f"Omit that, close {host.id!r} and the sessions in its browser first, or choose another name.",
            )


def _refuse_private(record: SessionRecord, others: Iterable[SessionRecord]) -> None:
    name = identifiers.instance_of(record.id)
    if any(other.is_private and (other.namespace, other.id) == (record.namespace, name) for other in others):
        raise Unsupported(
            f"{record.id!r} cannot share the browser of {name!r}: that is private, without a debugger to share it by.",
            hint=f"Start it under a name of its own, or start {name!r} without options.private.",
        )


def profile_of(request: StartRequest) -> str:
    """Return the folder name of a persistent profile, made of browser and name; empty where none is requested."""
    return (
        f"{browser_support.normalize_browser_name(request.browser)}/{request.profile}"
        if request.mode == "persistent"
        else ""
    )


def settle_in_browser(
    record: SessionRecord, host: SessionRecord | None, request: StartRequest, remote: Remote
) -> tuple[dict[str, Any], str]:
    """Give a session its context and tab in the browser; returns the fields of its record, and the tab's handle.

    Raises:
        NoAnswer: The browser is gone.
    """
    place = record.instance or Instance()
    with Chromium(debugger_address((host or record).capabilities), name=record.id) as browser:
        if host is None:
            handle = remote.execute("w3cGetCurrentWindowHandle")
            default = context = browser.tabs()[handle].context
        else:
            default = place.default
            context = default if request.mode == "persistent" else browser.create_context()
            handle = browser.open_tab(context, window=True)
    return {"instance": place.model_copy(update={"default": default, "context": context, "ready": True})}, handle


def leave_browser(record: SessionRecord, remote: Remote | None, limit: float) -> None:
    """End a session in a browser that others keep using: its tabs or context, then its driver session.

    The driver session that launched the browser stays, since the browser would end with it.

    Raises:
        OrchestratorError: It could not be ended.
    """
    place = record.instance
    if place is None:
        return
    with Chromium(debugger_address(record.capabilities), name=record.id) as browser:
        if place.isolated:
            browser.dispose(place.context)
        else:
            for tab in find_own_handles(browser.tabs(), record):
                browser.close_tab(tab)
    if remote is not None and not place.root:
        remote.delete(limit)


def quit_to_save_profile(record: SessionRecord) -> None:
    """Quit a browser with a persistent profile, so that it saves what it would lose if its process was ended."""
    if record.instance is None or not record.instance.profile:
        return
    browser_processes = [process for process in record.processes if not process.folder]
    address = debugger_address(record.capabilities)
    with contextlib.suppress(OrchestratorError), Chromium(address, name=record.id) as browser:
        browser.quit()
        poll_until(lambda: not any(map(processes.alive, browser_processes)), Deadline(_QUITS_WITHIN), every=_POLL)


def _runs(record: SessionRecord) -> bool:
    return record.state is not SessionState.LOST and all(map(processes.alive, record.processes))


def _wishes(request: StartRequest, options: SessionOptions, *, headless: bool) -> tuple[set[str], dict[str, str]]:
    """Return the names of the browser's properties that were given, and digests of all: values may hold secrets."""
    values = {name: getattr(options, name) for name in _of_browser(options)}
    values |= {name: getattr(request, name) or values.get(name) for name in _OF_BROWSER}
    given = {
        name for name, value in values.items() if value or (name in options.model_fields_set and value is not None)
    }
    given |= {name for name in ("headless", "mode") if getattr(request, name) is not None}
    given |= request.model_fields_set & {"browser"}
    values |= {
        "browser": browser_support.normalize_browser_name(request.browser),
        "headless": headless,
        "mode": request.mode or "incognito",
    }
    return given, {name: _digest(value) for name, value in values.items()}


def _of_browser(options: SessionOptions) -> set[str]:
    """Return the names of the provider's own options, which belong to the browser and not to a session."""
    return set(type(options).model_fields) - set(SessionOptions.model_fields)


def _with_browser(
    mine: dict[str, Any] | None, theirs: dict[str, Any] | None, of_browser: set[str]
) -> dict[str, Any] | None:
    """Return a recorded request with the browser of another one; None where one of them is not recorded.

    The profile is not taken over: a context has none.
    """
    if mine is None or theirs is None:
        return None
    names = of_browser | set(map(to_camel, of_browser))
    own = {name: value for name, value in mine.get("options", {}).items() if name not in names}
    options = own | {name: value for name, value in theirs.get("options", {}).items() if name in names}
    browser = {name: theirs[name] for name in ("browser", "headless", *_OF_BROWSER[:-1]) if name in theirs}
    return {**mine, **browser, "options": options}


def _digest(value: Any) -> str:
    # A value that turns something off equals one that is not given.
    text = json.dumps(value or None, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
