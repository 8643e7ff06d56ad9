"""Who is in which browser: sessions that share one, how a start finds it, and how one leaves it to the others."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

from pydantic.alias_generators import to_camel

from orchestrator import abilities, ids, processes
from orchestrator.actions.owning import own
from orchestrator.errors import InvalidArgument, OrchestratorError, Unsupported
from orchestrator.models import Instance, SessionRecord, SessionState, SessionType, StartRequest
from orchestrator.provider import Provider, SessionOptions
from orchestrator.sessions import Turn
from orchestrator.settings import DEBUGGER
from orchestrator.webdriver.chromium import Chromium
from orchestrator.webdriver.devtools import debugger_address
from orchestrator.webdriver.remote import Remote

_POLL = 0.03
"""Seconds between two looks at a browser that another start is launching."""
_SAVES = 3.0
"""Seconds that a browser may take to write its profile down."""
_OF_BROWSER = ("browser_version", "args", "capabilities", "profile")
"""What of a request is the browser's, beside its name, its mode and whether it has a window."""


def checked(request: StartRequest, provider: Provider) -> StartRequest:
    """A request with the mode that it means.

    Raises:
        InvalidArgument: Its mode and what belongs to another one are both given, or a name is none.
        Unsupported: The provider or the browser has no such mode, or cannot isolate contexts.
    """
    context = ids.context_of(ids.session_id(request.session_id or "")) if request.session_id else ""
    mode = request.mode or ("attached" if request.debugger_address else "persistent" if request.profile else None)
    if request.profile is not None and (mode != "persistent" or not ids.profile(request.profile)):
        raise InvalidArgument(f"A session of mode {mode} has no profile.", hint="Leave profile away, or the mode.")
    if request.debugger_address is not None and mode != "attached":
        raise InvalidArgument(
            f"A session of mode {mode} has no debuggerAddress.", hint="Leave debuggerAddress away, or the mode."
        )
    if mode not in {None, *provider.modes} or (mode and request.type is not SessionType.BROWSER):
        raise Unsupported(
            f"Provider {provider.name!r} has no {mode} {request.type} sessions.",
            hint="Those are of browsers on this machine: start_browser.",
        )
    if mode == "persistent":
        abilities.need("profile", request.browser)
    if mode == "attached":
        _check_attached(request)
    if context:
        _check_context(request, provider, mode, context)
    name = ids.DEFAULT if mode == "persistent" and request.profile is None else request.profile
    return request.model_copy(update={"mode": mode, "profile": name})


def _check_attached(request: StartRequest) -> None:
    if request.debugger_address is not None and not re.fullmatch(DEBUGGER, request.debugger_address):
        raise InvalidArgument("debuggerAddress is no host:port.", hint="Write for example 127.0.0.1:9222.")
    if asked := [name for name in ("args", "headless", "browser_version") if getattr(request, name)]:
        raise InvalidArgument(
            f"{' and '.join(map(to_camel, asked))} cannot be given to a browser that runs.",
            hint="Leave that away, or the mode.",
        )
    abilities.need("attached", request.browser)


def _check_context(request: StartRequest, provider: Provider, mode: str | None, context: str) -> None:
    instead = f"Start a session of its own, for example {(request.session_id or '').replace(':', '-')}."
    if request.type is not SessionType.BROWSER or not provider.contexts:
        what = "apps have none" if request.type is not SessionType.BROWSER else "its browsers are not ours to share"
        raise Unsupported(f"Provider {provider.name!r} cannot isolate context {context!r}: {what}.", hint=instead)
    abilities.need("contexts", request.browser)
    if mode == "persistent":
        raise Unsupported(
            f"Context {context!r} cannot be persistent: a profile keeps its default context alone.", hint=instead
        )
    if mode == "attached":
        raise Unsupported(f"Context {context!r} cannot be attached: that browser is the user's.", hint=instead)


class Sharing:
    """Which browser a start is in: one that runs, or one of its own that others can share.

    Args:
        request: What is asked for, as `checked` left it.
        options: The provider's, checked.
        headless: Whether the browser is to have no window.
        turn: That of the start.
    """

    def __init__(self, request: StartRequest, options: SessionOptions, *, headless: bool, turn: Turn) -> None:
        self._request = request
        self._turn = turn
        self._given, self._wishes = _wishes(request, options, headless=headless)
        self._of_browser = _of_browser(options)
        self._host: SessionRecord | None = None
        self._starting = False

    @staticmethod
    def able(request: StartRequest, provider: Provider) -> bool:
        """Whether the browser of such a start can be shared."""
        ours = provider.contexts and request.type is SessionType.BROWSER and request.mode != "attached"
        return ours and abilities.able("contexts", request.browser)

    def join(self, wait: Callable[[], None]) -> SessionRecord | None:
        """The record of a session whose browser this one shares from now on; None where it launches its own.

        `wait` is called while another start launches the browser; what it raises passes.

        Raises:
            InvalidArgument: The browser that runs is another one than is asked for.
        """
        while True:
            self._turn.among(self._choose)
            if not self._starting:
                return self._host
            wait()
            time.sleep(_POLL)

    def _choose(self, record: SessionRecord, others: Iterable[SessionRecord]) -> SessionRecord:
        """In one transaction: of several starts that find no browser, one launches it."""
        found = [one for one in others if one.instance is not None and self._is_mine(record, one)]
        host = next((one for one in found if one.instance and one.instance.ready and _runs(one)), None)
        self._host = host
        self._starting = host is None and any(one.instance and not one.instance.ready for one in found)
        if host is None or host.instance is None:
            mine = Instance(wishes=self._wishes, profile=self._profile, root=True)
            return record if self._starting else record.changed(instance=mine)
        self._compare(record, host, host.instance)
        # Named by this record from now on, the browser outlives the session that it is shared with. When it is gone,
        # whoever comes back first starts one like it.
        shared = host.instance.model_copy(update={"root": False, "ready": False, "context": ""})
        alike = self._wishes == host.instance.wishes
        request = record.request if alike else _with_browser(record.request, host.request, self._of_browser)
        return record.changed(instance=shared, processes=host.processes, request=request)

    def _is_mine(self, record: SessionRecord, other: SessionRecord) -> bool:
        same_profile = other.instance is not None and other.instance.profile == self._profile != ""
        here = record.namespace == other.namespace
        return same_profile or (here and ids.instance_of(other.id) == ids.instance_of(record.id))

    @property
    def _profile(self) -> str:
        return profile_of(self._request)

    def _compare(self, record: SessionRecord, host: SessionRecord, instance: Instance) -> None:
        differ = [to_camel(name) for name in self._given if self._wishes.get(name) != instance.wishes.get(name)]
        if differ:
            raise InvalidArgument(
                f"{record.id!r} would share the browser of {host.id!r}, which differs in {', '.join(sorted(differ))}.",
                hint=f"Leave that away, close {host.id!r} and what shares its browser first, or take another name.",
            )


def profile_of(request: StartRequest) -> str:
    """A kept profile by browser and name, as its folder is called; empty where none is asked for."""
    return f"{abilities.browser(request.browser)}/{request.profile}" if request.mode == "persistent" else ""


def settle(
    record: SessionRecord, host: SessionRecord | None, request: StartRequest, remote: Remote
) -> tuple[dict[str, Any], str]:
    """Give a session its place in the browser: what its record must say of that, and the handle of its tab.

    Raises:
        NoAnswer: The browser is gone.
    """
    place = record.instance or Instance()
    with Chromium(debugger_address((host or record).capabilities), name=record.id) as browser:
        if host is None:
            handle = remote.execute("w3cGetCurrentWindowHandle")
            default = context = browser.pages()[handle].context
        else:
            default = place.default
            context = default if request.mode == "persistent" else browser.isolate()
            handle = browser.open(context, window=True)
    return {"instance": place.model_copy(update={"default": default, "context": context, "ready": True})}, handle


def leave(record: SessionRecord, remote: Remote | None, limit: float) -> None:
    """End what a session has in a browser that stays with others: its tabs or context, then its driver session.

    The driver session that launched the browser stays: it would take the browser with it.

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
            for tab in own(browser.pages(), record):
                browser.close(tab)
    if remote is not None and not place.root:
        remote.delete(limit)


def save(record: SessionRecord) -> None:
    """Have a browser whose profile is kept end by itself: it writes down what it would lose if it were ended."""
    if record.instance is None or not record.instance.profile:
        return
    with contextlib.suppress(OrchestratorError), Chromium(debugger_address(record.capabilities), name=record.id) as one:
        one.quit()
        until = time.monotonic() + _SAVES
        while time.monotonic() < until and any(processes.alive(one) for one in record.processes if not one.folder):
            time.sleep(_POLL)


def _runs(record: SessionRecord) -> bool:
    return record.state is not SessionState.LOST and all(map(processes.alive, record.processes))


def _wishes(request: StartRequest, options: SessionOptions, *, headless: bool) -> tuple[set[str], dict[str, str]]:
    """The names of what was asked for of the browser, and digests of all that it is to be: it may hold secrets."""
    asked = {name: getattr(options, name) for name in _of_browser(options)}
    asked |= {name: getattr(request, name) or asked.get(name) for name in _OF_BROWSER}
    given = {name for name, value in asked.items() if value or (name in options.model_fields_set and value is not None)}
    given |= {name for name in ("headless", "mode") if getattr(request, name) is not None}
    given |= request.model_fields_set & {"browser"}
    asked |= {"browser": abilities.browser(request.browser), "headless": headless, "mode": request.mode or "incognito"}
    return given, {name: _digest(value) for name, value in asked.items()}


def _of_browser(options: SessionOptions) -> set[str]:
    """The names of the options that are a browser's, and not its sessions'."""
    return set(type(options).model_fields) - set(SessionOptions.model_fields)


def _with_browser(
    mine: dict[str, Any] | None, theirs: dict[str, Any] | None, of_browser: set[str]
) -> dict[str, Any] | None:
    """A request with the browser that another one asked for, as records keep them; None where one is not kept.

    A profile is whose it is: a context has none.
    """
    if mine is None or theirs is None:
        return None
    names = of_browser | set(map(to_camel, of_browser))
    own = {name: value for name, value in mine.get("options", {}).items() if name not in names}
    options = own | {name: value for name, value in theirs.get("options", {}).items() if name in names}
    browser = {name: theirs[name] for name in ("browser", "headless", *_OF_BROWSER[:-1]) if name in theirs}
    return {**mine, **browser, "options": options}


def _digest(value: Any) -> str:
    # What is said to be off is as what was not said.
    text = json.dumps(value or None, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
