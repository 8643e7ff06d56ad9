"""What an action works with: its session's remote end and page, its turn in the lane, and what it may report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, Protocol, TypeVar

from orchestrator import abilities
from orchestrator.actions import pickers, prompts
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.emulator import Emulator
from orchestrator.actions.finding import Finder, Hit
from orchestrator.actions.frames import Frames
from orchestrator.actions.handles import Handles
from orchestrator.actions.memory import House, Memory
from orchestrator.actions.permissions import Permissions
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.storing import Storing
from orchestrator.actions.tabbing import Tabbing
from orchestrator.actions.turn import Turn
from orchestrator.actions.watch import Watch
from orchestrator.activity import Activity
from orchestrator.ears.ears import Ears
from orchestrator.errors import DialogOpen, NoAnswer, PlaceGone, RemoteFailure
from orchestrator.models import NATIVE, SessionRecord, SessionType, Tab
from orchestrator.network.traffic import Traffic
from orchestrator.secrets import Redactor
from orchestrator.settings import Settings
from orchestrator.snapshot.native.screen import Screen
from orchestrator.snapshot.page import Interrupted, Page
from orchestrator.snapshot.view import View
from orchestrator.webdriver.chromium import Beside
from orchestrator.webdriver.remote import Remote

ActedT = TypeVar("ActedT", bound=Acted)
_NEAR, _FAR = 5.0, 15.0
"""Seconds that an action waits for its element unless the caller says otherwise: here, and on far remotes."""
STABILITY, STABILITY_LIMIT = 0.15, 5.0
"""Seconds without a change that count as settled, and how long that is waited for, unless the caller says otherwise."""


class Client(Protocol):
    """A session's remote end, and what of it is kept between calls."""

    remote: Remote
    page: Page
    ears: Ears
    traffic: Traffic
    beside: Beside
    devtools: Callable[[], str] | None

    @property
    def screen(self) -> Screen:
        """The screens of an app session."""
        ...


class Scene(Memory):
    """One call's view of its session. It lives for one turn in the lane and is used by one thread.

    Attributes:
        web: The engine of the document that is current in a browser or web view.
        ears: What was heard of the session, by this process.
        bidi: WebDriver BiDi of the session, connected with its first use; None where its remote end gave no socket.
        traffic: What the session's requests go through.
    """

    def __init__(
        self, client: Client, turn: Turn, settings: Settings, redactor: Redactor, activity: Activity, house: House
    ) -> None:
        super().__init__(turn, house)
        remote = self.remote = client.remote
        self.ears = client.ears
        self.bidi = client.ears.bidi
        self.traffic = client.traffic
        self.web = client.page
        self._client = client
        self.settings = settings
        self.redactor = redactor
        self.activity = activity
        self.find = Finder(lambda: self.page, Frames(remote, self.web), turn)
        self.observed = False
        """True inside a sequence: what the steps changed is reported once, for all of them."""
        self.until: Deadline | None = None
        """When the sequence that this is a part of must end."""
        self.late: Callable[[str], None] | None = None
        """In a sequence that reports no single steps: takes the warnings of a step that is over."""
        self._unseen = False
        self.loaded = False
        """Whether the session went to another page."""
        self.emulator = Emulator(remote, self.bidi, turn)
        handles = Handles(remote, client.beside, turn)
        self.tabs = Tabbing(handles, self.find.frames, turn, self.event, self.emulator)
        self.permissions = Permissions(remote, self.bidi, turn, self.event)
        self.tabs.on_new = self._meet
        of_app = turn.record.type is not SessionType.BROWSER
        remote.on_dialog = partial(prompts.answer, self)
        remote.on_gone = self._leave_web_view if of_app else self.tabs.replace
        remote.on_broken = None if of_app else self.tabs.renew
        remote.before = self.ask_owed
        self.web.forget()
        self.web.on_stopped = self._tell_stopped
        self.web.on_asked = self.permissions.asked

    @property
    def storing(self) -> Storing:
        """What the browser knows a person by."""
        return Storing(self.remote, self.record, self._client.devtools)

    @property
    def native(self) -> bool:
        """Whether the session shows an app's own screen now."""
        return self.record.native

    @property
    def screen(self) -> Screen:
        """What an app session shows of its own."""
        return self._client.screen

    @property
    def page(self) -> View:
        """What the session shows now: a page, or an app's screen."""
        return self.screen if self.native else self.web

    @property
    def record(self) -> SessionRecord:
        """The session's record as it stands in this turn."""
        return self._turn.record

    def change(self, **fields: Any) -> None:
        """Change the record when the turn ends."""
        self._turn.change(**fields)

    def write(self, **fields: Any) -> None:
        """Change the record now: for what other threads and processes go by at once."""
        self._turn.write(**fields)

    def follow(self) -> None:
        """Have the session's requests go through what the record says now.

        Raises:
            RemoteFailure: The browser's DevTools do not answer.
        """
        self.traffic.follow(self.record, self.write)

    @property
    def browser(self) -> str:
        """The session's browser as `abilities` calls it; empty on a device and for one that is not known."""
        on_device = self.record.type is not SessionType.BROWSER
        return "" if on_device else abilities.browser(self.record.capabilities.get("browserName"))

    def need(self, ability: str) -> None:
        """Refuse what this session's browser cannot do, see `abilities`; on a device they are others.

        Raises:
            Unsupported: It cannot.
        """
        abilities.need(ability, self.browser)

    def check(self) -> None:
        """Raise when this call should not go on: cancelled, or its session closed or lost."""
        self._turn.check()

    def seconds(self, timeout_ms: int | None) -> float:
        """How long an action waits, in seconds."""
        usual = _FAR if self.record.far else _NEAR
        given = usual if timeout_ms is None else timeout_ms / 1000
        return given if self.until is None else min(given, self.until.left)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the page's engine for something that takes no time; repeated when a navigation or dialog cut it short."""
        patience = Deadline(self.settings.command_timeout)
        while True:
            self.check()
            try:
                return self.page.call(method, **params)
            except (Interrupted, PlaceGone):
                if not patience.left:
                    raise RemoteFailure("The page keeps interrupting scripts.", hint="Navigate elsewhere.") from None

    def later(self, method: str, tell: Callable[[Mapping[str, Any]], None], **params: Any) -> None:
        """Ask the page's engine with the next question, or before the next other command; `tell` is told the answer.

        An app's screen is asked at once.
        """
        if self.native:
            tell(self.ask(method, **params))
        else:
            self.web.later(method, params, tell)

    def ask_owed(self) -> None:
        """Ask now what was left for later. A dialog that hinders this hinders what follows, unless that answers it."""
        if self.web.owes:
            with suppress(DialogOpen):
                self.ask("state")

    def element(self, given: str, need: str, timeout_ms: int | None, **params: Any) -> AbstractContextManager[Hit]:
        """Wait for an element, see `Finder.element`; inside the block its frame is current."""
        return self.find.element(given, need, self.seconds(timeout_ms), **params)

    def observing(self, observe: Observe, act: Callable[[], ActedT], *, rides: bool = False) -> ActedT:
        """Act, and report as much as `observe` says; `rides` where acting begins with a question to the page."""
        if observe == "none":
            return self._with_place(act())
        watch = Watch.begin(self, "call")
        if not rides:
            self.ask_owed()
        report = act()
        found = watch.end(self, stability=STABILITY, limit=STABILITY_LIMIT)
        before = self.tabs.current
        self.tabs.look()
        if self.tabs.current != before:
            place = self.ask("state")
            found |= {"url": place["url"], "title": place["title"]}
            self.remember(place)
        if observe == "outline" and not found.get("dialog"):
            shown = self.ask("snapshot", scope="viewport", limit=200, offset=0)
            found["outline"] = "\n".join(shown["lines"])
        found.pop("dialog", None)
        found["warnings"] = [*report.warnings, *found.get("warnings", ())]
        return report.model_copy(update=found)

    def resume(self) -> bool:
        """Go where the record says that the session is, wherever others stopped; False while a dialog hinders."""
        if self.record.type is not SessionType.BROWSER:
            with suppress(RemoteFailure):
                self.remote.execute("switchToContext", name=self.record.context or NATIVE)
        if self.native:
            return True
        return self.tabs.handles.resume() or self.find.frames.from_top()

    def glance(self) -> None:
        """Look at the page if the step before left that: a dialog that it opened is answered as the policy says."""
        if self._unseen or self.web.owes:
            self._unseen = False
            with suppress(DialogOpen):
                self.ask("state")

    def _with_place(self, report: ActedT) -> ActedT:
        # An app's screen has no address, and its title is a whole source of it away.
        if report.url is not None or self.native:
            return report
        if self.late:
            self._unseen = True
            return report
        try:
            place = self.ask("state")
        except DialogOpen as dialog:
            return report.model_copy(update={"warnings": [*report.warnings, str(dialog)]})
        self.remember(place)
        return report.model_copy(update={"url": place["url"], "title": place["title"]})

    def remember(self, place: Mapping[str, Any]) -> None:
        """Keep the page's URL and title in the record."""
        # A form can send a password as a part of the address.
        url, title = self.redactor.text(place["url"]) or None, self.redactor.text(place["title"])
        self.loaded = self.loaded or url != self.record.url
        if (url, title) != (self.record.url, self.record.title):
            self.change(url=url, title=title)

    def hear(self, tabs: Iterable[Tab]) -> None:
        """Hear of these tabs from now on, where the session shares its browser's windows with others."""
        if self.bidi is not None:
            with suppress(RemoteFailure, NoAnswer):  # who asks for what was heard is told
                self.bidi.hear([tab.handle for tab in tabs])

    def event(self, text: str) -> None:
        """Report something that happened on the session and that nobody asked for."""
        self.events.append(text)

    def _meet(self, tab: Tab) -> None:
        """Tell a tab that is new what the browser tells none by itself, and hear it."""
        self.hear([*self.record.tabs, tab])
        self.emulator.meet(tab)
        if self.record.policies.file_pickers == "manual":
            pickers.keep(self, [tab])

    def _leave_web_view(self) -> str:
        """Go back to the app's own screens: the web view is gone. Where that leads."""
        self.enter(NATIVE)
        self.event("The web view is gone; the session is on the app's own screens again.")
        return "the app's own screen is current now"

    def enter(self, context: str) -> None:
        """Make a context of an app current: its own screens, or one of its web views (Switch Context)."""
        self.remote.execute("switchToContext", name=context)
        self.find.frames.forget()
        self.change(context=context, frame=(), url=None, title=None)

    def _tell_stopped(self, url: str) -> None:
        self.event(f"The page wanted another program to open {url!r}; that was stopped.")
