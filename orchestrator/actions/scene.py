"""What an action works with: its session's remote end and page, its turn in the lane, and what it may report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any

from orchestrator.actions.deadline import Deadline
from orchestrator.actions.finding import Finder, Hit, Turn
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.tabbing import Tabbing
from orchestrator.actions.watch import Watch
from orchestrator.errors import DialogOpen, PlaceGone, RemoteFailure
from orchestrator.models import SessionRecord
from orchestrator.secrets import Redactor
from orchestrator.settings import Settings
from orchestrator.snapshot.page import Interrupted, Page
from orchestrator.webdriver.remote import Remote

_NEAR, _FAR = 5.0, 15.0
"""Seconds that an action waits for its element unless the caller says otherwise: here, and on far remotes."""
STABILITY, STABILITY_LIMIT = 0.15, 5.0
"""Seconds without a change that count as settled, and how long that is waited for, unless the caller says otherwise."""


class Scene:
    """One call's view of its session. It lives for one turn in the lane and is used by one thread."""

    def __init__(self, remote: Remote, page: Page, turn: Turn, settings: Settings, redactor: Redactor) -> None:
        self.remote = remote
        self.page = page
        self.settings = settings
        self.redactor = redactor
        self.find = Finder(remote, page, turn)
        self.observed = False
        """True inside a sequence: what the steps changed is reported once, for all of them."""
        self.until: Deadline | None = None
        """When the sequence that this is a part of must end."""
        self.reported = True
        """False where nobody reads what one step alone says of the page."""
        self.events: list[str] = []
        self._turn = turn
        self._unseen = False
        self.tabs = Tabbing(remote, self.find.frames, turn, self.event)
        remote.on_dialog = self._answer_dialog
        remote.on_gone = self.tabs.replace
        remote.on_broken = self.tabs.renew
        page.on_stopped = self._tell_stopped

    @property
    def record(self) -> SessionRecord:
        """The session's record as it stands in this turn."""
        return self._turn.record

    def change(self, **fields: Any) -> None:
        """Change the record when the turn ends."""
        self._turn.change(**fields)

    def check(self) -> None:
        """Raise when this call should not go on: cancelled, or its session closed or lost."""
        self._turn.check()

    def seconds(self, timeout_ms: int | None) -> float:
        """How long an action waits, in seconds."""
        usual = _NEAR if self.record.provider == "local" else _FAR
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

    def element(self, given: str, need: str, timeout_ms: int | None, **params: Any) -> AbstractContextManager[Hit]:
        """Wait for an element, see `Finder.element`; inside the block its frame is current."""
        return self.find.element(given, need, self.seconds(timeout_ms), **params)

    def observing(self, observe: Observe, act: Callable[[], Acted]) -> Acted:
        """Act, and report as much as `observe` says."""
        if observe == "none":
            return self._with_place(act())
        watch = Watch.begin(self, "call")
        report = act()
        found = watch.end(self, stability=STABILITY, limit=STABILITY_LIMIT)
        self.tabs.look()
        if observe == "outline" and not found.get("dialog"):
            shown = self.ask("snapshot", scope="viewport", limit=200, offset=0)
            found["outline"] = "\n".join(shown["lines"])
        found.pop("dialog", None)
        found["warnings"] = [*report.warnings, *found.get("warnings", ())]
        return report.model_copy(update=found)

    def glance(self) -> None:
        """Look at the page if the step before did not: a dialog that it opened is answered as the policy says."""
        if self._unseen:
            self._unseen = False
            with suppress(DialogOpen):
                self.ask("state")

    def _with_place(self, report: Acted) -> Acted:
        if report.url is not None:
            return report
        if not self.reported:
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
        url, title = self.redactor.text(place["url"]), self.redactor.text(place["title"])
        if (url, title) != (self.record.url, self.record.title):
            self.change(url=url, title=title)

    def event(self, text: str) -> None:
        """Report something that happened on the session and that nobody asked for."""
        self.events.append(text)

    def _answer_dialog(self, text: str) -> bool:
        """Answer an open dialog as it was armed, or as the policy says; False leaves it open."""
        armed, policy = self.record.armed, self.record.dialogs
        if armed is None and policy == "manual":
            return False
        accept = armed.accept if armed else policy == "accept"
        if armed and armed.accept and armed.prompt_text is not None:
            self.fill_prompt(armed.prompt_text)
        try:
            self.remote.execute("w3cAcceptAlert" if accept else "w3cDismissAlert")
        except RemoteFailure:
            return True  # it closed by itself meanwhile: the next command tells
        if armed:
            self.change(armed=None)
        how = "accepted" if accept else "dismissed"
        told = "" if armed else " To answer the next one otherwise, call handle_dialog before the call that opens it."
        self.event(f"A dialog was {how}: {text!r}.{told}")
        return True

    def _tell_stopped(self, url: str) -> None:
        self.event(f"The page wanted another program to open {url!r}; that was stopped.")

    def fill_prompt(self, text: str) -> None:
        """Type into the open dialog; one that takes no text is told as an event."""
        try:
            self.remote.execute("w3cSetAlertValue", text=text)
        except RemoteFailure as error:
            self.event(f"The dialog takes no text ({error.details['error']}).")
