"""Knows a session's tabs: names them, notices those that come and go, and makes one current."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from orchestrator.actions.deadline import Deadline
from orchestrator.actions.emulator import Emulator
from orchestrator.actions.fitting import prepare
from orchestrator.actions.frames import Frames
from orchestrator.actions.handles import Handles
from orchestrator.actions.turn import Turn
from orchestrator.errors import InvalidArgument, OrchestratorError, RemoteFailure, SessionLost, brief
from orchestrator.models import SessionType, Tab
from orchestrator.secrets import without_credentials
from orchestrator.webdriver.devtools import DevTools, debugger_address

_TOLD = 5
"""New tabs that are told one by one."""
_FREE, _PAUSE = 5.0, 0.02
"""Seconds in which a driver is free again once the tab that held it is closed, and between two looks."""
_URL, _TITLE = 2000, 200
"""Characters of an address and of a title that are told."""
_BLANK = "about:blank"
_TITLES = "return [location.href, document.title]"


class Tabbing:
    """The tabs of one session, as its record has them; a name is never used again."""

    def __init__(
        self, handles: Handles, frames: Frames, turn: Turn, event: Callable[[str], None], emulator: Emulator
    ) -> None:
        self.handles = handles
        self._remote = handles.remote
        self._frames = frames
        self._turn = turn
        self._event = event
        self._emulator = emulator
        self.on_new: Callable[[Tab], None] = lambda _: None

    @property
    def current(self) -> str:
        """The name of the current tab; empty while none is known."""
        used = self._turn.record.tabs_used
        return used[-1] if used else ""

    def look(self) -> tuple[Tab, ...]:
        """The tabs that are there now (Get Window Handles); who came or went without being asked is told."""
        if self._turn.record.type is not SessionType.BROWSER:
            return ()
        if not self._turn.record.tabs:
            self.add(self._remote.execute("w3cGetCurrentWindowHandle"), prepared=True)
            self._use(self._turn.record.tabs[0].name)
        handles = self.handles.all()
        known = {tab.handle for tab in self._turn.record.tabs}
        for tab in self._turn.record.tabs:
            if tab.handle not in handles and tab.name != self.current:
                self._drop(tab.name)
                self._event(f"Tab {tab.name} was closed by the page.")
        opened = [self.add(handle) for handle in handles if handle not in known]
        if opened:
            self._meet(opened)
        return self._turn.record.tabs

    def _meet(self, opened: list[str]) -> None:
        """Do with tabs that the page has opened what the policy says, and tell it."""
        policy, last = self._turn.record.policies.new_tabs, opened[-1]
        some = f"tab {last}" if len(opened) == 1 else f"{len(opened)} tabs, {opened[0]} to {last}"
        if policy == "deny":
            for name in opened:
                self.close(name)
            self._event(f"The page opened {some}; closed, as the policy says.")
            return
        if policy == "allow":
            self._event(f"The page opened {some}; tab {last} is current now, as the policy says.")
            self.select(last)
            return
        if len(opened) > _TOLD:
            self._event(f"The page opened {some}; tabs lists and closes them.")
        for name in opened if len(opened) <= _TOLD else ():
            self._event(f"The page opened tab {name}; to go there: tabs with action select, tab {name}.")
        self._show()

    def find(self, name: str) -> Tab:
        """The open tab of this name.

        Raises:
            InvalidArgument: There is none.
        """
        tabs = {tab.name: tab for tab in self._turn.record.tabs}
        if name not in tabs:
            was = name.startswith("t") and name[1:].isdecimal() and 0 < int(name[1:]) < self._turn.record.tab_next
            raise InvalidArgument(
                f"Tab {name!r} {'is closed' if was else 'was never there'}.", hint=f"Open tabs: {', '.join(tabs)}."
            )
        return tabs[name]

    def add(self, handle: str, *, prepared: bool = False) -> str:
        """Name a tab that is new; its name."""
        record = self._turn.record
        name = f"t{record.tab_next}"
        tab = Tab(name=name, handle=handle, prepared=prepared)
        if prepared:
            tab = tab.model_copy(update={"viewport": record.viewport, "emulation": record.emulation})
        else:
            self.on_new(tab)
        self._turn.change(tabs=(*record.tabs, tab), tab_next=record.tab_next + 1)
        return name

    def select(self, name: str) -> None:
        """Make a tab current and ready to be driven, as the session's first one was at its start."""
        tab = self.find(name)
        self.handles.go(tab.handle)
        self._use(name)
        self._show()
        if not tab.prepared:
            prepare(self._remote)
        self._put(self._emulator.selected(tab).model_copy(update={"prepared": True}))

    def told(self) -> None:
        """Note that the current tab has the size that the record says, and pretends what it says."""
        record = self._turn.record
        for tab in record.tabs:
            if tab.name == self.current:
                self._put(tab.model_copy(update={"viewport": record.viewport, "emulation": record.emulation}))

    def _put(self, tab: Tab) -> None:
        self._turn.change(tabs=tuple(tab if one.name == tab.name else one for one in self._turn.record.tabs))

    def close(self, name: str) -> None:
        """Close a tab; when it is the current one, the one that was current before it becomes so."""
        tab, current = self.find(name), self.current
        try:
            self.handles.close(tab.handle, self.find(current).handle)
        finally:
            if name != current:
                self._frames.forget()
        self._drop(name)
        if name == current:
            self.select(self._before())

    def replace(self) -> str:
        """Put the tab that was current before in the place of the current one, which is gone; where that leads.

        Raises:
            SessionLost: No tab is left, and the browser opens no other.
        """
        gone = self.current
        handles = self.handles.all()
        if any(tab.name == gone and tab.handle in handles for tab in self._turn.record.tabs):
            self._remote.execute("switchToFrame", id=None)
            self._frames.forget()
            return "it was a frame, and the top of the page is current now"
        for tab in self._turn.record.tabs:
            if tab.handle not in handles:
                self._drop(tab.name)
        known = {tab.handle for tab in self._turn.record.tabs}
        for handle in (one for one in handles if one not in known):
            self.add(handle)
        if not handles:
            self.add(self._fresh(gone))
        now = self._before()
        self._turn.change(url=None, title=None)  # those of the tab that is gone
        closed = f"Tab {gone}" if gone else "The current tab"
        self._event(f"{closed} was closed; {'tab' if handles else 'a new one,'} {now} is current now.")
        self.select(now)
        return f"tab {now} is current now"

    def come_back(self) -> None:
        """Close the tabs that lost their page while nobody was there (Chromium); with none left, open a fresh one."""
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
            self._event(f"Tab {name} came back without its page and was closed; {self.current} is current now.")

    def _had_page(self, tab: Tab) -> bool:
        return tab.had_page or (tab.name == self.current and self._turn.record.url not in {None, _BLANK})

    def address(self) -> str:
        """The URL of the current tab as a browser of ours tells it beside its driver; empty where that cannot be."""
        browser = self._browser()
        handles = {tab.name: tab.handle for tab in self._turn.record.tabs}
        try:
            there = browser.tabs() if browser else {}
        except OSError:
            return ""
        return there.get(handles.get(self.current, "")) or (next(iter(there.values())) if len(there) == 1 else "")

    def renew(self) -> str:
        """Close the current tab at the browser itself, since its page lets no command through; where that leads.

        Empty where the browser is not ours and on this machine, or a tab more would not help.
        """
        browser = self._browser()
        if browser is None:
            return ""
        known = {tab.name: tab.handle for tab in self._turn.record.tabs}
        try:
            there = browser.tabs()
            gone = known.get(self.current) or (next(iter(there)) if len(there) == 1 else "")
            if gone not in there:
                return ""
            if len(there) == 1:
                browser.open()
            browser.close(gone)
        except OSError:
            return ""
        if not known:
            self._use(self.add(gone))
        patience = Deadline(_FREE)
        while gone in self.handles.all(limit=_FREE):
            if not patience.left:
                return ""
            time.sleep(_PAUSE)
        return self.replace()

    def _browser(self) -> DevTools | None:
        """The browser beside its driver, where it is ours and on this machine."""
        record = self._turn.record
        address = debugger_address(record.capabilities)
        return DevTools(address) if address and record.owned and not record.far else None

    def facts(self) -> list[dict[str, Any]]:
        """Name, address and title of every tab. Chromium tells them at once; elsewhere each tab is asked."""
        shown = self._told() or self._asked()
        return [
            {
                "tab": tab.name,
                "url": shown[tab.handle][0],
                "title": shown[tab.handle][1],
                "current": tab.name == self.current,
            }
            for tab in self._turn.record.tabs
            if tab.handle in shown
        ]

    def _show(self) -> None:
        """Bring the current tab to the front: Chromium draws nothing in one behind, and input waits for that."""
        with suppress(RemoteFailure):
            self._remote.cdp("Page.bringToFront")

    def _told(self) -> dict[str, tuple[str, str]]:
        try:
            targets = self._remote.cdp("Target.getTargets")["targetInfos"]
        except RemoteFailure:
            return {}
        shown = {one["targetId"]: _place(one["url"], one["title"]) for one in targets}
        return shown if any(tab.handle in shown for tab in self._turn.record.tabs) else {}

    def _asked(self) -> dict[str, tuple[str, str]]:
        shown = {}
        try:
            for tab in self._turn.record.tabs:
                self._remote.execute("switchToWindow", handle=tab.handle)
                shown[tab.handle] = _place(*self._remote.script(_TITLES))
        finally:
            self._remote.execute("switchToWindow", handle=self.find(self.current).handle)
            self._frames.forget()
        return shown

    def _fresh(self, gone: str) -> str:
        try:
            return self.handles.open()
        except OrchestratorError as error:
            reason = f"its last tab {gone} was closed, and the browser opens no other ({error.message.rstrip('.')})"
            raise SessionLost(self._turn.record.id, reason) from error

    def _before(self) -> str:
        """The open tab that was current last."""
        record = self._turn.record
        return record.tabs_used[-1] if record.tabs_used else record.tabs[-1].name

    def _use(self, name: str) -> None:
        used = tuple(one for one in self._turn.record.tabs_used if one != name)
        self._frames.forget()
        self._turn.change(tabs_used=(*used, name), frame=())

    def _drop(self, name: str) -> None:
        record = self._turn.record
        self._turn.change(
            tabs=tuple(tab for tab in record.tabs if tab.name != name),
            tabs_used=tuple(one for one in record.tabs_used if one != name),
        )


def _place(url: str, title: str) -> tuple[str, str]:
    """Address and title of a tab as the page's engine tells them: no longer, and without user and password."""
    return brief(without_credentials(str(url)), _URL), brief(str(title), _TITLE)
