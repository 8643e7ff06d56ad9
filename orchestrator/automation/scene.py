"""The scene that an action works in: remote end, record, page, finder, memory, events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Condition
from typing import Any, Protocol

from orchestrator.automation import file_choosers
from orchestrator.automation.browser.emulator import Emulator
from orchestrator.automation.browser.finder import Finder, FoundElement
from orchestrator.automation.browser.frames import Frames
from orchestrator.automation.browser.opening import NavigationWatch
from orchestrator.automation.browser.pageless_tabs import PagelessTabs
from orchestrator.automation.browser.permissions import Permissions
from orchestrator.automation.browser.record_access import RecordAccess, wait_for_change
from orchestrator.automation.browser.selector import parse_selector
from orchestrator.automation.browser.settling import LateOpening
from orchestrator.automation.browser.storage import BrowserStorage
from orchestrator.automation.browser.tabs import SessionTabs
from orchestrator.automation.browser.window_handles import WindowHandles
from orchestrator.automation.scripting.pool import WorldPool
from orchestrator.automation.scripting.vars import Vars
from orchestrator.automation.scripting.world import World
from orchestrator.errors import DialogOpen, NavigationWaits, NoAnswer, OrchestratorError, PlaceGone, RemoteFailure
from orchestrator.models import browser_support
from orchestrator.models.results import Outcome
from orchestrator.models.session import SessionRecord, SessionType, Tab
from orchestrator.network.interception import Traffic
from orchestrator.settings import Settings
from orchestrator.snapshot.answers import PageAddress, ReadyAnswer
from orchestrator.snapshot.methods import STATE, AnswerT, PageMethod
from orchestrator.snapshot.native.screen import Screen
from orchestrator.snapshot.view import View
from orchestrator.snapshot.web.page import Interrupted, NavigationPending, PageEngine
from orchestrator.system.activity import ActivityLog
from orchestrator.system.deadline import Deadline
from orchestrator.system.file_access import FileAccess
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.chromium import BrowserConnection
from orchestrator.webdriver.events.subscriptions import EventSubscriptions
from orchestrator.webdriver.remote import Remote

_WAIT_LOCAL, _WAIT_REMOTE = 5.0, 15.0
"""Seconds that an action waits for its element unless a setting says otherwise: here, and at a far remote end."""


class ScriptActions(Protocol):
    """The actions that scripts and other actions call, and the script worlds of this process."""

    worlds: WorldPool

    def act(self, scene: Any, verb: str, fields: Mapping[str, Any]) -> Outcome:
        """Perform an action by its verb."""
        ...


@dataclass(frozen=True)
class SceneServices:
    """Services that the scenes of all sessions share."""

    settings: Settings
    activity: ActivityLog
    script_actions: ScriptActions
    files: FileAccess


class SceneConnection(Protocol):
    """The connection to a session's remote end, with the state that is kept between calls."""

    remote: Remote
    page: PageEngine
    subscriptions: EventSubscriptions
    traffic: Traffic
    browser_connection: BrowserConnection
    redactor: SessionRedactor
    find_devtools: Callable[[], str] | None
    pointer: tuple[int, int] | None

    @property
    def screen(self) -> Screen:
        """The screens of an app session."""
        ...


@dataclass
class CallScope:
    """The mode in which actions run inside a call: alone, as steps of a sequence, or called by a script.

    Attributes:
        deadline: When the whole call must end; None where each action has only its own timeout.
        in_sequence: True for steps of a sequence: changes are reported once, at its end.
        warn: Takes a warning that comes after its step is over; None where each step's result is shown.
        page_unread: True when a step has left the page unread, which may have opened a dialog.
        opening: The menu or the like that the last step may open late; None once it was waited for.
        page_gone: The error of a page that went away with the step before, so that another is current now.
        rest: True when a press has missed because its element moved: for the next one it must be at rest.
        target: Role and name of the first element that the running action found, if by a ref, else empty.
    """

    deadline: Deadline | None = None
    in_sequence: bool = False
    warn: Callable[[str], None] | None = None
    page_unread: bool = False
    opening: LateOpening | None = None
    page_gone: PlaceGone | None = None
    rest: bool = False
    target: str | None = None


class Scene:
    """A call's view of its session. It lives for one turn in the lane and is used by one thread.

    Attributes:
        remote: The client of the remote end.
        web_page: The engine of the document that is current in a browser or web view.
        subscriptions: Events of the session that this process has received.
        bidi: WebDriver BiDi of the session, connected at its first use; None without a socket.
        traffic: Routes and recording of the session's requests.
        finder: Finds elements in the page or on the screen.
        tabs: The session's tabs.
        navigations: Watches whether another document is requested for the current tab.
        settings: The settings that hold for this call.
        files: Tells whether the caller is limited to what the settings allow, as models are.
        redactor: Masks secrets in what the session shows.
        events: Unrequested things that happened during this call, as sentences.
        scope: How the running action is embedded in the call.
        has_navigated: True once the session went to another page.
    """

    def __init__(self, connection: SceneConnection, turn: RecordAccess, services: SceneServices) -> None:
        self.remote = connection.remote
        self.web_page = connection.page
        self.subscriptions = connection.subscriptions
        self.bidi = connection.subscriptions.bidi
        self.traffic = connection.traffic
        self.settings = services.settings
        self.files = services.files
        self.redactor = connection.redactor
        self.redactor.learn(turn.record.typed)
        self.activity = services.activity
        self.events: list[str] = []
        self.scope = CallScope()
        self.has_navigated = False
        self._connection = connection
        self._turn = turn
        self._script_actions = services.script_actions
        frames = Frames(self.remote, self.web_page, holds_input=self.browser == "firefox")
        self.finder = Finder(lambda: self.page, frames, turn, self.event)
        pageless = PagelessTabs(
            turn, connection.browser_connection, self.subscriptions, self.event, self.settings.command_timeout
        )
        handles = WindowHandles(self.remote, connection.browser_connection, turn, pageless)
        self.navigations = NavigationWatch(self.subscriptions, turn, handles, connection.browser_connection)
        self.tabs = SessionTabs(
            handles,
            self.finder.frames,
            turn,
            self.event,
            on_new=self._prepare_new_tab,
            on_selected=self._prepare_selected_tab,
        )

    # The session's record

    @property
    def record(self) -> SessionRecord:
        """The session's record as it stands in this turn."""
        return self._turn.record

    def change(self, **fields: Any) -> None:
        """Change the record when the turn ends."""
        self._turn.change(**fields)

    def write(self, **fields: Any) -> None:
        """Change the record now, for other threads and processes."""
        self._turn.write(**fields)

    def check(self) -> None:
        """Raise if this call has to stop: it was cancelled, or its session was closed or lost."""
        self._turn.check()

    def wait_for_change(self, changed: Condition, deadline: Deadline) -> None:
        """Wait until another call notifies a condition that is held, the time is up, or it is time to check again.

        Raises:
            OrchestratorError: This call has to stop.
        """
        wait_for_change(self._turn, changed, deadline)

    def check_place(self) -> None:
        """Raise if another process has got the session, since this one stood still."""
        self._turn.check_place()

    def mask_typed(self, secret: str) -> None:
        """Mask from now on, in any process, what is about to be typed into the session as a secret."""
        if (typed := self.redactor.add(secret)) is not None:
            self.write(typed=typed)

    @contextmanager
    def masking_errors(self) -> Iterator[None]:
        """Mask secrets in an error that leaves the block."""
        try:
            yield
        except OrchestratorError as error:
            self.redactor.error(error)
            raise

    @property
    def native(self) -> bool:
        """True while the session shows an app's own screen."""
        return self.record.native

    @property
    def pointer(self) -> tuple[int, int] | None:
        """The point to which the pointer was moved last; None if this process has not moved it."""
        return self._connection.pointer

    @pointer.setter
    def pointer(self, point: tuple[int, int] | None) -> None:
        self._connection.pointer = point

    @property
    def browser(self) -> str:
        """The browser's name in `models.browser_support`; empty on a device and for an unknown browser."""
        if self.record.type is not SessionType.BROWSER:
            return ""
        return browser_support.normalize_browser_name(self.record.capabilities.get("browserName"))

    @property
    def firefox_bidi(self) -> Bidi | None:
        """BiDi of a Firefox, which does by it what Chromium does by CDP; None in any other browser."""
        return self.bidi if self.browser == "firefox" else None

    @property
    def awaits_document(self) -> bool:
        """True while Firefox requests a document for the current tab: no other browser answers meanwhile."""
        if self.firefox_bidi is None:
            return False
        current, pending = self.tabs.current_name, self.subscriptions.pending_navigation
        return any(pending(tab.handle) for tab in self.record.tabs if tab.name == current)

    def require_ability(self, ability: str) -> None:
        """Refuse what this session's browser lacks, see `models.browser_support`.

        Raises:
            Unsupported: The browser lacks it.
        """
        browser_support.require_ability(ability, self.browser)

    # The page or screen

    @property
    def page(self) -> View:
        """The current view: a page, or an app's screen."""
        return self._connection.screen if self.native else self.web_page

    @property
    def screen(self) -> Screen:
        """The native screen of an app session."""
        return self._connection.screen

    @property
    def browser_connection(self) -> BrowserConnection:
        """The connection to the browser beside its driver."""
        return self._connection.browser_connection

    def query_page(self, method: PageMethod[AnswerT], **params: Any) -> AnswerT:
        """Query the page without waiting; repeated when a navigation or dialog cuts it short.

        Raises:
            NavigationWaits: The page is about to be left, and cannot be read meanwhile.
        """
        patience = Deadline(self.settings.command_timeout)
        while True:
            self.check()
            try:
                return self.page.call(method, **params)
            except NavigationPending:
                self.navigations.await_document()
            except (Interrupted, PlaceGone) as left:
                self.scope.page_gone = left if isinstance(left, PlaceGone) else None
                if not patience.seconds_left:
                    raise RemoteFailure("The page keeps interrupting scripts.", hint="Navigate elsewhere.") from None

    def defer_query(self, method: PageMethod[AnswerT], on_answer: Callable[[AnswerT], None], **params: Any) -> None:
        """Query the page together with the next query, or before the next other command.

        An app's screen is queried at once.
        """
        if self.native:
            on_answer(self.query_page(method, **params))
        else:
            self.web_page.queue_call(method, params, on_answer)

    def run_deferred_queries(self) -> None:
        """Send the deferred queries now. What prevents them, a dialog or a navigation, is met by the next one, too."""
        if self.web_page.queued_calls:
            with suppress(DialogOpen, NavigationWaits):
                self.query_page(STATE)

    def check_unread_page(self) -> None:
        """Read the page if a step left it unread: a dialog that the step opened is handled by the policy."""
        if self.scope.page_unread or self.web_page.queued_calls:
            self.scope.page_unread = False
            with suppress(DialogOpen, NavigationWaits):
                self.query_page(STATE)

    def check_page_stayed(self) -> None:
        """Refuse what is meant for a page that went away with the step before, since another is current now."""
        if self.scope.page_gone is not None:
            raise self.scope.page_gone

    def record_url_and_title(self, place: PageAddress) -> None:
        """Keep the page's URL and title in the record."""
        # A form can send a password as a part of the address.
        url, title = self.redactor.text(place["url"]) or None, self.redactor.text(place["title"])
        self.has_navigated = self.has_navigated or url != self.record.url
        if (url, title) != (self.record.url, self.record.title):
            self.change(url=url, title=title)

    @property
    def _usual_wait(self) -> float:
        """Seconds that an action waits unless its caller says otherwise."""
        return self.settings.default_timeout or (_WAIT_REMOTE if self.record.is_remote else _WAIT_LOCAL)

    def seconds(self, timeout_ms: int | None) -> float:
        """Seconds that an action may wait: the given timeout or the default, within the scope's deadline."""
        given = self._usual_wait if timeout_ms is None else timeout_ms / 1000
        return given if self.scope.deadline is None else min(given, self.scope.deadline.seconds_left)

    @contextmanager
    def element(self, given: str, need: str, timeout_ms: int | None, **params: Any) -> Iterator[FoundElement]:
        """Wait for an element, see `Finder.element`; inside the block its frame is current."""
        if not self.native and timeout_ms is not None and timeout_ms / 1000 > self._usual_wait:
            params["patient"] = True
        with self.finder.element(given, need, self.seconds(timeout_ms), **params) as found:
            if self.scope.target is None:
                is_ref = parse_selector(given).ref is not None
                self.scope.target = _describe(found.facts) if is_ref else ""
            yield found

    def switch_context(self, context: str) -> None:
        """Make a context of an app current: its own screens, or one of its web views (Switch Context)."""
        self.remote.execute("switchToContext", name=context)
        self.finder.frames.reset_to_top()
        self.change(context=context, frame=(), url=None, title=None)

    # The browser

    @cached_property
    def emulator(self) -> Emulator:
        """Emulation of devices, places and conditions."""
        return Emulator(self.remote, self.bidi, self._turn)

    @cached_property
    def permissions(self) -> Permissions:
        """The permissions of the session's pages."""
        by_origin = self.subscriptions.origin_permissions
        return Permissions(self.remote, self.bidi, by_origin, self._turn, self.event)

    @property
    def storage(self) -> BrowserStorage:
        """Cookies and local storage of the browser."""
        return BrowserStorage(self.remote, self.record, self._connection.find_devtools, self.bidi)

    def apply_routing(self) -> None:
        """Route and record the session's requests as the record says now.

        Raises:
            RemoteFailure: The browser's DevTools do not answer.
        """
        self.traffic.apply_record(self.record, self.write)

    def watch_files(self) -> None:
        """See to it that pages which are files load only files that callers may name, where DevTools can."""
        if self.traffic.watches_files and not self.record.opens_files:
            self.write(opens_files=True)
            self.apply_routing()

    def subscribe_to_tabs(self, tabs: Iterable[Tab]) -> None:
        """Receive events of these tabs only, in a browser whose windows the session shares with others."""
        if self.bidi is not None and self.bidi.by_tab:
            with suppress(RemoteFailure, NoAnswer):  # reading events reports the failure
                self.bidi.set_tabs([tab.handle for tab in tabs])

    def _prepare_new_tab(self, tab: Tab) -> Tab:
        """Set up a tab that the browser has opened, and subscribe to its events."""
        self.subscribe_to_tabs([*self.record.tabs, tab])
        self.emulator.prepare_new_tab(tab)
        if self.record.policies.file_pickers == "manual":
            file_choosers.apply_picker_policy(self, [tab])
        here = [one.handle for one in self.record.tabs if one.name == self.tabs.current_name]
        return self._bring_passkeys(tab, here[0]) if here else tab

    def _prepare_selected_tab(self, tab: Tab) -> Tab:
        """Emulate in a tab what the record says."""
        return self._bring_passkeys(self.emulator.update_selected_tab(tab), tab.handle)

    def _bring_passkeys(self, tab: Tab, current: str) -> Tab:
        """Bring the session's passkeys, if there are any, into a tab; without them if the driver refuses."""
        if not self.tabs.authenticators.are_used:
            return tab
        try:
            return self.tabs.authenticators.bring_to(tab, current)
        except RemoteFailure as error:
            self.event(f"Passkeys do not work in tab {tab.name}: {error.message}")
            return tab

    # The call

    def event(self, text: str) -> None:
        """Report something that happened in the session unrequested."""
        self.events.append(text)

    @contextmanager
    def scoped(self, **changes: Any) -> Iterator[CallScope]:
        """Change fields of the scope for a block."""
        before = self.scope
        self.scope = replace(before, **changes)
        try:
            yield self.scope
        finally:
            before.page_unread, before.page_gone = self.scope.page_unread, self.scope.page_gone
            self.scope = before

    # Scripts

    @cached_property
    def vars(self) -> Vars:
        """The strings that the session keeps, also for its scripts."""
        return Vars(self.record.vars, lambda kept: self.change(vars=kept))

    @property
    def world(self) -> World:
        """The world of the session's scripts in this process, with `get` and `set` for its globals.

        Raises:
            Unsupported: There is no engine for it.
        """
        world, new = self._script_actions.worlds.get_or_create(self.record.id, self.record.remote_session_id)
        if world.id != self.record.world:
            if new and self.record.world:
                self.event("The script world is a new one: globals of earlier scripts are not in it; vars are.")
            self.change(world=world.id)
        return world

    def act(self, verb: str, fields: Mapping[str, Any]) -> Outcome:
        """Perform another action of this session in this turn, by its verb and parameters.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        return self._script_actions.act(self, verb, fields)


def _describe(found: ReadyAnswer) -> str:
    """Return role and name of an element as its line has them."""
    return f"{found['role']} {json.dumps(found['name'], ensure_ascii=False)}" if found["name"] else found["role"]
