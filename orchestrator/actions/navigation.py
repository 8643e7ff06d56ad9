"""Going to a page, and back, forward or over again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from orchestrator.actions.base import Acting, Action
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.hearing import caught_up
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.errors import DialogOpen, OrchestratorError, PageBroken, PageLeft, RemoteFailure, TimedOut
from orchestrator.settings import ToolSet
from orchestrator.snapshot.page import Interrupted

History = Literal["back", "forward", "reload"]
WaitUntil = Literal["load", "none", "interactive"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NET_ERROR = re.compile(r"net::\w+")
_READY = {"interactive": ["interactive", "complete"], "load": ["complete"]}
_COMMANDS = {"back": "goBack", "forward": "goForward", "reload": "refresh"}
_OVERTAKEN = 3
"""How often a page is asked for while the one before it, which leaves by itself, comes instead."""
_HISTORY_SECONDS = 2.0
"""Where a browser cannot tell whether there is a page to go to: a step that has shown nothing by then had none."""

_WHERE = """
const able = self.navigation ? {back: navigation.canGoBack, forward: navigation.canGoForward, reload: true} : null;
return [performance.timeOrigin, location.href, able];
"""


def check_url(url: str) -> None:
    """Raise ValueError for what no browser can be sent to."""
    if not _SCHEME.match(url.strip()):
        raise ValueError("url must be absolute, for example https://example.com")
    if url.strip().lower().startswith("javascript:"):
        raise ValueError("url cannot be javascript:, use execute_script")


class Navigate(Acting):
    """Open a URL in the browser, or go back, forward or reload."""

    verb: ClassVar[str] = "navigate"
    title: ClassVar[str] = "Navigate"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "To open a deep link in an app: manage_device with action open_url."
    toolset: ClassVar[ToolSet] = "core"

    url: str | None = None
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
        """Load it, then wait as `waitUntil` says; a page may take the command deadline unless timeout says less."""
        patience = round(scene.settings.command_timeout * 1000) if self.timeout is None else self.timeout
        deadline = Deadline(scene.seconds(patience))
        warnings: list[str] = []
        if scene.record.frame:
            scene.change(frame=())
        with _page_load_limit(scene, self.timeout):
            try:
                self._go(scene, deadline, warnings)
            except DialogOpen as dialog:
                self._leave(scene, dialog)
                self._go(scene, deadline, warnings)
        scene.loaded = True
        return Acted(warnings=warnings)

    def _go(self, scene: Scene, deadline: Deadline, warnings: list[str]) -> None:
        for _ in range(_OVERTAKEN):
            if self.url is not None:
                self._open(scene, self.url.strip(), deadline)
            elif self.history and not self._step(scene, self.history, deadline):
                warnings.append(f"There is no page to go {self.history} to; nothing happened.")
            if self.wait_until == "none" or not self._await(scene, deadline, warnings):
                break

    def _leave(self, scene: Scene, dialog: DialogOpen) -> None:
        """Give up the tab of a page that opens one dialog after the other: it lets nobody leave it."""
        there = self.url is None or scene.tabs.address().rstrip("/") == self.url.strip().rstrip("/")
        if there or scene.record.policies.dialogs == "manual" or not scene.tabs.renew():
            raise dialog
        scene.event(f"The page before it would not stop opening dialogs ({dialog.details['dialog']!r}).")

    def _open(self, scene: Scene, url: str, deadline: Deadline) -> None:
        try:
            scene.remote.execute("get", url=url)
        except PageBroken:
            raise
        except TimedOut as error:
            raise _timed_out(scene, url, deadline) from error
        except RemoteFailure as error:
            said = _NET_ERROR.search(error.message)
            if said is None:
                raise
            raise _not_loaded(scene, url, said[0]) from error

    def _step(self, scene: Scene, history: History, deadline: Deadline) -> bool:
        before = scene.remote.script(_WHERE)
        able = before[2] if before else None
        if able and not able[history]:
            return False
        scene.remote.execute(_COMMANDS[history])
        patience = Deadline(deadline.left if able else min(_HISTORY_SECONDS, deadline.left))
        while patience.left:
            scene.check()
            now = scene.remote.script(_WHERE)
            if now and (not before or now[:2] != before[:2]):
                return True
        return bool(able)

    def _await(self, scene: Scene, deadline: Deadline, warnings: list[str]) -> bool:
        """Wait until it is as far as wanted; True when the page before it went elsewhere at the same moment."""
        asked = self.url and self.url.strip()
        wanted = {"states": _READY[self.wait_until], "asked": asked, "before": scene.record.url}
        while True:
            scene.check()
            found: Mapping[str, Any] = {}
            with suppress(Interrupted, PageLeft):
                found = scene.page.call("loaded", slice=deadline.slice_ms(), trip=deadline.started, **wanted)
            if "failed" in found:
                raise _not_loaded(scene, asked or f"history {self.history}", found["failed"])
            if found.get("there"):
                if asked and found["stayed"]:
                    warnings.append("No page came of it: the one before it is still there.")
                return bool(found.get("overtaken"))
            if not deadline.left:
                raise _half_loaded(asked or f"history {self.history}", deadline)


@contextmanager
def _page_load_limit(scene: Scene, timeout_ms: int | None) -> Iterator[None]:
    """Make the driver give up on a page after this time, where the caller gave one."""
    usual = scene.record.capabilities.get("timeouts", {}).get("pageLoad")
    if timeout_ms is None or usual is None or timeout_ms >= usual:
        yield
        return
    scene.remote.execute("setTimeouts", pageLoad=max(timeout_ms, 1))
    try:
        yield
    finally:
        scene.remote.execute("setTimeouts", pageLoad=usual)


def _timed_out(scene: Scene, url: str, deadline: Deadline) -> TimedOut:
    """The error for what the driver gave up on. A page that hangs would let nobody leave it: its tab is closed."""
    hint = "The page before it is still there; raise timeout or try again."
    try:
        with suppress(Interrupted):
            if not scene.page.call("loaded", states=[], slice=0, trip=deadline.started)["stayed"]:
                return _half_loaded(url, deadline)
    except TimedOut:
        if scene.tabs.renew():
            hint = "The page before it hung; its tab is closed now, so try again."
    return TimedOut(f"{url} did not answer in time.", hint=hint)


def _half_loaded(url: str, deadline: Deadline) -> TimedOut:
    return TimedOut(
        f"{url} did not load within {deadline.elapsed_ms} ms.",
        hint="The page stays as far as it came; raise timeout, or use waitUntil interactive or none.",
    )


def _not_loaded(scene: Scene, url: str, why: str) -> RemoteFailure:
    why = why or _heard(scene) or "it was blocked by the browser"
    hint = "Check the address, and that its server is running and reachable from the browser."
    if "INVALID_AUTH" in why:
        hint = "It asks for a user and a password: give them in the address, as https://user:password@host/path."
    return RemoteFailure(f"{url} could not be loaded: {why}.", hint=hint, error=why)


def _heard(scene: Scene) -> str | None:
    """Why the last document could not be loaded, where the page that the browser shows instead does not say."""
    with suppress(OrchestratorError):
        caught_up(scene)
    failed = [one for one in scene.ears.network.find(0, None, "failed").entries if one.type == "document"]
    return failed[-1].failure if failed else None


ACTIONS: list[type[Action[Any]]] = [Navigate]
