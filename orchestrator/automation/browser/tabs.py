"""The tabs of a session: their names, opened and closed ones, the current one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from orchestrator.automation.browser.frames import Frames
from orchestrator.automation.browser.passkeys import Authenticators
from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.automation.browser.window_handles import WindowHandles
from orchestrator.errors import InvalidArgument, OrchestratorError, RemoteFailure, SessionLost, brief
from orchestrator.models.session import SessionType, Tab
from orchestrator.snapshot.web.world import install_page_engine
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.secrets import without_credentials
from orchestrator.webdriver.devtools import DevTools, debugger_address

_MOST = 40
"""Tabs of a session that its pages can open."""
_NAMED_SINGLY = 5
"""New tabs that are reported one by one at most."""
_DRIVER_FREE, _POLL = 5.0, 0.02
"""Seconds until a driver is free again once its hung tab is closed, and between two polls."""
_URL, _TITLE = 2000, 200
"""Characters of a reported URL and title."""
_BLANK = "about:blank"
_TITLES = "return [location.href, document.title]"


class SessionTabs:
    """The tabs of one session, as its record has them; a name is never used again.

    Args:
        handles: The window handles of the remote end.
        frames: The current frame, which is the top one after each switch.
        turn: The record.
        event: Reports what happened unrequested.
        on_new: Sets up a tab that the browser has opened.
        on_selected: Applies the session's emulation to a tab that becomes current; returns the tab as it is then.
    """

    def __init__(
        self,
        handles: WindowHandles,
        frames: Frames,
        turn: RecordAccess,
        event: Callable[[str], None],
        *,
        on_new: Callable[[Tab], Tab],
        on_selected: Callable[[Tab], Tab],
    ) -> None:
        self.handles = handles
        self._remote = handles.remote
        self._frames = frames
        self._turn = turn
        self._event = event
        self._on_new = on_new
        self._on_selected = on_selected
        self.authenticators = Authenticators(handles, turn, frames.reset_to_top)

    @property
    def current_name(self) -> str:
        """The name of the current tab; empty while none is known."""
        used = self._turn.record.tabs_used
        return used[-1] if used else ""

    def refresh(self) -> tuple[Tab, ...]:
        """Read the open tabs (Get Window Handles); report those that were opened or closed unrequested."""
        if self._turn.record.type is not SessionType.BROWSER:
            return ()
        if not self._turn.record.tabs:
            self.add(self._remote.execute("w3cGetCurrentWindowHandle"), prepared=True)
            self._mark_current(self._turn.record.tabs[0].name)
        handles = self.handles.all()
        known = {tab.handle for tab in self._turn.record.tabs}
        for tab in self._turn.record.tabs:
            if tab.handle not in handles and tab.name != self.current_name:
                self._drop(tab.name)
                self._event(f"Tab {tab.name} was closed by the page.")
        new = [handle for handle in handles if handle not in known]
        room = max(_MOST - len(self._turn.record.tabs), 0)
        opened = [self.add(handle) for handle in new[:room]]
        if opened:
            self._apply_new_tab_policy(opened)
        if len(new) > room:
            self._close_excess(new[room:])
        return self._turn.record.tabs

    def _close_excess(self, handles: list[str]) -> None:
        """Close tabs that the page has opened beyond those that a session keeps, and report them."""
        current = self.find(self.current_name).handle
        try:
            for handle in handles:
                self.handles.close(handle, current)
        finally:
            self._frames.reset_to_top()
        count = "A tab" if len(handles) == 1 else f"{len(handles)} tabs"
        self._event(
            f"{count} that the page opened {'was' if len(handles) == 1 else 'were'} closed: "
            f"pages open no more once a session has {_MOST}; tabs closes those that are not needed."
        )

    def _apply_new_tab_policy(self, opened: list[str]) -> None:
        """Apply the policy to tabs that the page has opened, and report them."""
        policy, last = self._turn.record.policies.new_tabs, opened[-1]
        some = f"tab {last}" if len(opened) == 1 else f"{len(opened)} tabs, {opened[0]} to {last}"
        if policy == "deny":
            for name in opened:
                self.close(name)
            self._event(f"The page opened {some}; closed by policy.")
            return
        if policy == "allow":
            self._event(f"The page opened {some}; tab {last} is current now, as the policy says.")
            self.select(last)
            return
        if len(opened) > _NAMED_SINGLY:
            self._event(f"The page opened {some}; tabs lists and closes them.")
        for name in opened if len(opened) <= _NAMED_SINGLY else ():
            self._event(f"The page opened tab {name}; to go there: tabs with action select, tab {name}.")
        self._bring_to_front()

    def find(self, name: str) -> Tab:
        """Return the open tab of this name.

        Raises:
            InvalidArgument: No open tab has it.
        """
        tabs = {tab.name: tab for tab in self._turn.record.tabs}
        if name not in tabs:
            was = name.startswith("t") and name[1:].isdecimal() and 0 < int(name[1:]) < self._turn.record.tab_next
            raise InvalidArgument(
                f"Tab {name!r} {'is closed' if was else 'was never there'}.", hint=f"Open tabs: {', '.join(tabs)}."
            )
        return tabs[name]

    def add(self, handle: str, *, prepared: bool = False) -> str:
        """Name a new tab; return its name."""
        record = self._turn.record
        name = f"t{record.tab_next}"
        tab = Tab(name=name, handle=handle, prepared=prepared)
        if prepared:
            tab = tab.model_copy(update={"viewport": record.viewport, "emulation": record.emulation})
        else:
            tab = self._on_new(tab)
        self._turn.change(tabs=(*record.tabs, tab), tab_next=record.tab_next + 1)
        return name

    def select(self, name: str) -> None:
        """Make a tab current and prepare it, as the first tab was at the start."""
        tab = self.find(name)
        self.handles.switch_to(tab.handle)
        self._mark_current(name)
        self._bring_to_front()
        if not tab.prepared:
            install_page_engine(self._remote, self._turn.record.capabilities)
        self._replace(self._on_selected(tab).model_copy(update={"prepared": True}))

    def bring_passkeys(self) -> None:
        """Give the current tab an authenticator with the passkeys of all tabs."""
        tab = self.find(self.current_name)
        self._replace(self.authenticators.bring_to(tab, tab.handle))

    def remove_passkeys(self, credential_id: str | None) -> bool:
        """Remove a passkey from all tabs, or all of them with their authenticators; False if none was there."""
        found = self.authenticators.remove(credential_id, self.find(self.current_name).handle)
        if credential_id is None:
            bare = (tab.model_copy(update={"authenticator": ""}) for tab in self._turn.record.tabs)
            self._turn.change(tabs=tuple(bare))
        return found

    def record_current_emulation(self) -> None:
        """Record that the current tab has the record's viewport and emulation."""
        record = self._turn.record
        for tab in record.tabs:
            if tab.name == self.current_name:
                self._replace(tab.model_copy(update={"viewport": record.viewport, "emulation": record.emulation}))

    def _replace(self, tab: Tab) -> None:
        self._turn.change(tabs=tuple(tab if one.name == tab.name else one for one in self._turn.record.tabs))

    def close(self, name: str) -> None:
        """Close a tab; if it is current, the tab before it becomes current."""
        tab, current = self.find(name), self.current_name
        try:
            self.handles.close(tab.handle, self.find(current).handle)
        finally:
            if name != current:
                self._frames.reset_to_top()
        self._drop(name)
        if name == current:
            self.select(self._previous())

    def replace_gone_tab(self) -> str:
        """Make the previous tab current, since the current one is gone; return a clause that names it.

        Raises:
            SessionLost: No tab is left, and the browser opens no other one.
        """
        gone = self.current_name
        handles = self.handles.all()
        if any(tab.name == gone and tab.handle in handles for tab in self._turn.record.tabs):
            self._remote.execute("switchToFrame", id=None)
            self._frames.reset_to_top()
            return "it was a frame, and the top of the page is current now"
        for tab in self._turn.record.tabs:
            if tab.handle not in handles:
                self._drop(tab.name)
        known = {tab.handle for tab in self._turn.record.tabs}
        for handle in (one for one in handles if one not in known):
            self.add(handle)
        if not handles:
            self.add(self._open_tab(gone))
        now = self._previous()
        self._turn.change(url=None, title=None)  # those of the tab that is gone
        closed = f"Tab {gone}" if gone else "The current tab"
        self._event(f"{closed} was closed; {'tab' if handles else 'a new one,'} {now} is current now.")
        self.select(now)
        return f"tab {now} is current now"

    def close_tabs_without_page(self) -> None:
        """Close the tabs that lost their page while the session was parked (Chromium); open one if none is left."""
        try:
            targets = self._remote.cdp("Target.getTargets")["targetInfos"]
        except RemoteFailure:
            return
        tabs, blank = self._turn.record.tabs, {one["targetId"] for one in targets if one["url"] == _BLANK}
        empty = [tab.name for tab in tabs if tab.handle in blank and self._had_page(tab)]
        if empty and len(empty) == len(tabs):
            self.add(self.handles.open())
        for name in empty:
            self.close(name)
            self._event(f"Tab {name} came back without its page and was closed; {self.current_name} is current now.")

    def _had_page(self, tab: Tab) -> bool:
        return tab.had_page or (tab.name == self.current_name and self._turn.record.url not in {None, _BLANK})

    def read_current_url(self) -> str:
        """Read the current tab's URL from the browser, beside its driver; empty where that is impossible."""
        browser = self._browser()
        handles = {tab.name: tab.handle for tab in self._turn.record.tabs}
        try:
            there = browser.tabs() if browser else {}
        except OSError:
            return ""
        return there.get(handles.get(self.current_name, "")) or (next(iter(there.values())) if len(there) == 1 else "")

    def replace_hung_tab(self) -> str:
        """Close the current tab by DevTools, since its page blocks the driver; return a clause that names the next tab.

        Empty if the browser is not a local one of this session, or another tab would not help.
        """
        browser = self._browser()
        if browser is None:
            return ""
        known = {tab.name: tab.handle for tab in self._turn.record.tabs}
        try:
            there = browser.tabs()
            gone = known.get(self.current_name) or (next(iter(there)) if len(there) == 1 else "")
            if gone not in there:
                return ""
            if len(there) == 1:
                browser.open_tab()
            browser.close_tab(gone)
        except OSError:
            return ""
        if not known:
            self._mark_current(self.add(gone))
        is_closed = poll_until(
            lambda: gone not in self.handles.all(limit=_DRIVER_FREE), Deadline(_DRIVER_FREE), every=_POLL
        )
        return self.replace_gone_tab() if is_closed else ""

    def is_browser_alive(self) -> bool:
        """Return True if the browser answers beside its driver; False where it cannot be asked."""
        browser = self._browser()
        try:
            return browser is not None and bool(browser.tabs())
        except OSError:
            return False

    @property
    def devtools_address(self) -> str:
        """Host and port of the browser's DevTools, if it is a local one of this session; else empty."""
        record = self._turn.record
        return debugger_address(record.capabilities) if record.owned and not record.is_remote else ""

    def _browser(self) -> DevTools | None:
        """The DevTools of the browser, if it is a local one of this session."""
        address = self.devtools_address
        return DevTools(address) if address else None

    def facts(self) -> list[dict[str, Any]]:
        """List name, URL and title of every tab: in Chromium by one command, elsewhere by switching to each."""
        shown = self._places_from_devtools() or self._places_by_switching()
        return [
            {
                "tab": tab.name,
                "url": shown[tab.handle][0],
                "title": shown[tab.handle][1],
                "current": tab.name == self.current_name,
            }
            for tab in self._turn.record.tabs
            if tab.handle in shown
        ]

    def _bring_to_front(self) -> None:
        """Bring the current tab to the front: Chromium draws no background tab, and input waits for drawing."""
        with suppress(RemoteFailure):
            self._remote.cdp("Page.bringToFront")

    def _places_from_devtools(self) -> dict[str, tuple[str, str]]:
        try:
            targets = self._remote.cdp("Target.getTargets")["targetInfos"]
        except RemoteFailure:
            return {}
        shown = {one["targetId"]: _place(one["url"], one["title"]) for one in targets}
        return shown if any(tab.handle in shown for tab in self._turn.record.tabs) else {}

    def _places_by_switching(self) -> dict[str, tuple[str, str]]:
        shown = {}
        try:
            for tab in self._turn.record.tabs:
                self._remote.execute("switchToWindow", handle=tab.handle)
                shown[tab.handle] = _place(*self._remote.script_list(_TITLES, 2))
        finally:
            self._remote.execute("switchToWindow", handle=self.find(self.current_name).handle)
            self._frames.reset_to_top()
        return shown

    def _open_tab(self, gone: str) -> str:
        try:
            return self.handles.open()
        except OrchestratorError as error:
            reason = f"its last tab {gone} was closed, and the browser opens no other ({error.message.rstrip('.')})"
            raise SessionLost(self._turn.record.id, reason) from error

    def _previous(self) -> str:
        """The name of the open tab that was current last."""
        record = self._turn.record
        return record.tabs_used[-1] if record.tabs_used else record.tabs[-1].name

    def _mark_current(self, name: str) -> None:
        used = tuple(one for one in self._turn.record.tabs_used if one != name)
        self._frames.reset_to_top()
        self._turn.change(tabs_used=(*used, name), frame=())

    def _drop(self, name: str) -> None:
        record = self._turn.record
        self._turn.change(
            tabs=tuple(tab for tab in record.tabs if tab.name != name),
            tabs_used=tuple(one for one in record.tabs_used if one != name),
        )


def _place(url: str, title: str) -> tuple[str, str]:
    """Shorten a tab's URL and title as the page engine does; without user and password."""
    return brief(without_credentials(str(url)), _URL), brief(str(title), _TITLE)
