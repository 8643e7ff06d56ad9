"""Navigation: open a URL, go back or forward, reload."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from orchestrator.actions.base import Action, WaitingPageAction
from orchestrator.actions.console import catch_up_events
from orchestrator.automation.browser.opening import open_by_bidi
from orchestrator.automation.scene import Scene
from orchestrator.errors import (
    DialogOpen,
    NavigationWaits,
    OrchestratorError,
    PageBroken,
    PageLeft,
    RemoteFailure,
    TimedOut,
)
from orchestrator.models.paths import PageUrl
from orchestrator.models.results import Acted
from orchestrator.settings import ToolSet
from orchestrator.snapshot.answers import LoadedAnswer
from orchestrator.snapshot.methods import LOADED
from orchestrator.snapshot.web.page import Interrupted
from orchestrator.system.deadline import Deadline

History = Literal["back", "forward", "reload"]
WaitUntil = Literal["load", "none", "interactive"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NET_ERROR = re.compile(
    r"net::\w+|(?:NS|SEC|SSL|MOZILLA_PKIX)_ERROR_\w+|(?<=about:neterror\?e=)\w+|(?<=Error: )deniedPortAccess\b"
)
"""The code of an error page in the messages of chromedriver, of Firefox's BiDi, and of geckodriver."""
_READY = {"interactive": ["interactive", "complete"], "load": ["complete"]}
_COMMANDS = {"back": "goBack", "forward": "goForward", "reload": "refresh"}
_ATTEMPTS = 10
"""Attempts to open a page while the previous one navigates elsewhere by itself at the same moment."""
_RELOADS = 8
"""Documents that went away under as many looks, after which the previous page counts as reloading itself for ever."""
_SHOWS, _PAUSE = 1.0, 0.02
"""Seconds in which the browser shows an error page, and between two looks at its URL."""
_HISTORY_SECONDS = 2.0
"""Limit of a history step in browsers without the Navigation API: no change by then means no page to go to."""

_FREE = 1.0
"""Seconds in which a page that was too busy for a command must answer when it is left, or its tab is replaced."""
_REPLACED = "The previous page hung and its tab was closed: try again."

_STILL_SHOWN = "The previous page is still shown; raise timeout or try again."

_HISTORY_STATE = """
const able = self.navigation ? {back: navigation.canGoBack, forward: navigation.canGoForward, reload: true} : null;
return [performance.timeOrigin, location.href, able];
"""


def check_url(url: str) -> None:
    """Raise ValueError for a URL that browsers cannot navigate to."""
    if not _SCHEME.match(url.strip()):
        raise ValueError("url must be absolute, for example https://example.com")
    if url.strip().lower().startswith("javascript:"):
        raise ValueError("url cannot be javascript:, use execute_script")


class Navigate(WaitingPageAction):
    """Open a URL in the browser, or go back, forward or reload."""

    verb: ClassVar[str] = "navigate"
    title: ClassVar[str] = "Navigate"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "To open a deep link in an app, use manage_device with action open_url."
    toolset: ClassVar[ToolSet] = "core"
    always_loaded: ClassVar[bool] = True

    url: PageUrl | None = None
    history: History | None = None
    wait_until: WaitUntil = "load"

    @model_validator(mode="after")
    def _one_of_both(self) -> Navigate:
        if (self.url is None) == (self.history is None):
            raise ValueError("give either url or history")
        if self.url is not None:
            check_url(self.url)
        return self

    def act(self, scene: Scene) -> Acted:
        """Load the page, then wait for `waitUntil`; the default timeout is the setting `command_timeout`."""
        timeout = round(scene.settings.command_timeout * 1000) if self.timeout is None else self.timeout
        deadline = Deadline(scene.seconds(timeout))
        warnings: list[str] = []
        if scene.record.frame:
            scene.change(frame=())
        if self.url is not None:
            with suppress(PageBroken):  # a page that is left need not be waited for
                scene.remote.await_page(_FREE)
        with nullcontext() if scene.navigations.bidi else _page_load_limit(scene, self.timeout):
            try:
                self._go(scene, deadline, warnings)
            except DialogOpen as dialog:
                self._replace_blocking_tab(scene, dialog)
                self._go(scene, deadline, warnings)
        if scene.traffic.watches_origins:
            scene.traffic.check_page(scene.tabs.read_current_url())  # where redirects led
        scene.has_navigated = True
        return Acted(warnings=warnings)

    def _go(self, scene: Scene, deadline: Deadline, warnings: list[str]) -> None:
        for _ in range(_ATTEMPTS):
            if self.url is not None:
                self._open(scene, self.url.strip(), deadline)
            elif self.history and not self._step(scene, self.history, deadline):
                warnings.append(f"There is no page to go {self.history} to.")
            if self.wait_until == "none" or not self._await(scene, deadline, warnings):
                return
            if not deadline.seconds_left:
                break
        warnings.append("The previous page went elsewhere at the same moment, each time: check which page is shown.")

    def _replace_blocking_tab(self, scene: Scene, dialog: DialogOpen) -> None:
        """Replace the tab of a page that cannot be left because it opens one dialog after the other."""
        stays = self.url is None or scene.tabs.read_current_url().rstrip("/") == self.url.strip().rstrip("/")
        if stays or scene.record.policies.dialogs == "manual" or not scene.tabs.replace_hung_tab():
            raise dialog
        scene.event(f"The previous page kept opening dialogs ({dialog.details['dialog']!r}).")

    def _open(self, scene: Scene, url: str, deadline: Deadline) -> None:
        if url.lower().startswith("file:"):
            scene.watch_files()
        try:
            # The rest of loading is waited for in the page, in slices.
            waits, meet = self.wait_until != "none", partial(_meet_dialogs, scene)
            if scene.navigations.bidi:
                scene.navigations.open(url, deadline, is_waited_for=waits, meet_dialog=meet)
            elif scene.firefox_bidi:
                open_by_bidi(scene.remote, scene.firefox_bidi, url, deadline, is_waited_for=waits, meet_dialog=meet)
            else:
                scene.remote.execute("get", url=url)
        except PageBroken:
            raise
        except TimedOut as error:
            raise _timed_out(scene, url, deadline) from error
        except RemoteFailure as error:
            net_error = _NET_ERROR.search(error.message)
            if net_error is None:
                raise
            scene.traffic.check_page(_read_failed_url(scene))
            raise _not_loaded(scene, url, net_error[0]) from error

    def _step(self, scene: Scene, history: History, deadline: Deadline) -> bool:
        """Go one step in history, or reload; False if there is no page to go to."""
        before = None
        with suppress(NavigationWaits):
            before = scene.web_page.run(_HISTORY_STATE)
        able = before[2] if before else None
        if able and not able[history]:
            return False
        scene.remote.execute(_COMMANDS[history])
        limit = Deadline(deadline.seconds_left if able else min(_HISTORY_SECONDS, deadline.seconds_left))
        while limit.seconds_left:
            if scene.navigations.wait(limit):
                scene.navigations.stop()
                raise TimedOut(f"history {history} did not answer in time.", hint=_STILL_SHOWN)
            scene.check()
            after = scene.web_page.run(_HISTORY_STATE)
            if after and (not before or after[:2] != before[:2]):
                return True
        return bool(able)

    def _await(self, scene: Scene, deadline: Deadline, warnings: list[str]) -> bool:
        """Wait for `waitUntil`; True if the previous page navigated elsewhere at the same moment."""
        asked = self.url and self.url.strip()
        wanted = {"states": _READY[self.wait_until], "asked": asked, "before": scene.record.url}
        lost = 0
        while True:
            scene.check()
            found: LoadedAnswer | None = None
            scene.navigations.wait(deadline)  # the page may lead on to another one
            with suppress(Interrupted, PageLeft):
                found = scene.page.call(LOADED, slice=deadline.slice_ms(), trip=deadline.started, **wanted)
            if found and "failed" in found:
                raise _not_loaded(scene, asked or f"history {self.history}", found["failed"])
            if found and found["there"] and not (found.get("leaves") and scene.awaits_document):
                if asked and found["stayed"]:
                    warnings.append("The URL opened no page: the previous one is still shown.")
                return found["overtaken"]
            if not deadline.seconds_left:
                raise _half_loaded(asked or f"history {self.history}", deadline)
            lost += found is None
            if asked and lost >= _RELOADS and scene.tabs.read_current_url() == scene.record.url:
                return True


@contextmanager
def _page_load_limit(scene: Scene, timeout_ms: int | None) -> Iterator[None]:
    """Set the driver's page load timeout for this block, if the caller gave a shorter one."""
    usual = scene.record.capabilities.get("timeouts", {}).get("pageLoad")
    if timeout_ms is None or usual is None or timeout_ms >= usual:
        yield
        return
    scene.remote.execute("setTimeouts", pageLoad=max(timeout_ms, 1))
    try:
        yield
    finally:
        scene.remote.execute("setTimeouts", pageLoad=usual)


def _meet_dialogs(scene: Scene) -> None:
    """Send a command that an open dialog keeps from running, or a crash, but neither a load nor a busy page.

    In Chromium it is sent once more after each dialog: a page that opens them in a loop cannot be left there.
    """
    if scene.navigations.bidi is None:
        scene.remote.execute("getTitle")
        return
    met = -1
    while met != scene.remote.dialogs_answered:
        if met >= 0:
            time.sleep(_PAUSE)
        met = scene.remote.dialogs_answered
        scene.remote.cdp("Page.getNavigationHistory")


def _read_failed_url(scene: Scene) -> str:
    """Read the URL of the error page, which the browser shows a moment after it has told of the error."""
    deadline = Deadline(_SHOWS if scene.tabs.devtools_address else 0)
    while (url := scene.tabs.read_current_url()) in {"", scene.record.url} and deadline.seconds_left:
        time.sleep(_PAUSE)
    return url


def _timed_out(scene: Scene, url: str, deadline: Deadline) -> TimedOut:
    """The error for a page load that timed out; closes the tab if the previous page hangs and cannot be left."""
    hint = _STILL_SHOWN
    try:
        with suppress(Interrupted):
            if not scene.page.call(LOADED, states=[], slice=0, trip=deadline.started)["stayed"]:
                return _half_loaded(url, deadline)
    except PageBroken:
        hint = _REPLACED
    except TimedOut:
        if scene.tabs.read_current_url().rstrip("/") == url.strip().rstrip("/"):
            return _half_loaded(url, deadline)  # the new page is slow
        if scene.remote.leave_page():
            hint = _REPLACED
    return TimedOut(f"{url} did not answer in time.", hint=hint)


def _half_loaded(url: str, deadline: Deadline) -> TimedOut:
    return TimedOut(
        f"{url} did not load within {deadline.elapsed_ms} ms.",
        hint="The page stays as far as it has loaded; raise timeout, or use waitUntil interactive or none.",
    )


def _not_loaded(scene: Scene, url: str, reason: str) -> RemoteFailure:
    reason = reason or _find_network_failure(scene) or "it was blocked by the browser"
    hint = "Check the address, and that its server is running and reachable from the browser."
    if "INVALID_AUTH" in reason:
        hint = "It requires a user and a password: give them in the address, as https://user:password@host/path."
    return RemoteFailure(f"{url} could not be loaded: {reason}.", hint=hint, error=reason)


def _find_network_failure(scene: Scene) -> str | None:
    """The last failure of a document request, from network events: not every browser's error page names it."""
    with suppress(OrchestratorError):
        catch_up_events(scene)
    failed = scene.subscriptions.requests.find(0, None, "failed").entries
    documents = [request for request in failed if request.type == "document"]
    return documents[-1].failure if documents else None


ACTIONS: list[type[Action[Any]]] = [Navigate]
