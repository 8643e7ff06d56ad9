"""The one path of every action: its turn in the lane, the scene it works with, what is told afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from orchestrator import neighbours
from orchestrator.actions import downloads, pickers
from orchestrator.actions.beginning import begin
from orchestrator.actions.results import Outcome, SessionLabel
from orchestrator.actions.scene import Scene
from orchestrator.activity import Activity, Doing
from orchestrator.ears.ears import Ears
from orchestrator.errors import DialogOpen, InvalidArgument, NoAnswer, OrchestratorError, RemoteFailure, TimedOut
from orchestrator.house import House
from orchestrator.models import SessionRecord, SessionState
from orchestrator.network import archive
from orchestrator.network.traffic import Traffic
from orchestrator.reach import Reach
from orchestrator.restoring import Restored, Restorer
from orchestrator.secrets import Redactor
from orchestrator.sessions import Lanes, Turn
from orchestrator.settings import Settings
from orchestrator.snapshot.native.screen import Screen
from orchestrator.snapshot.page import Page
from orchestrator.store import Holder, SqliteStore
from orchestrator.webdriver.chromium import Beside
from orchestrator.webdriver.devtools import debugger_address
from orchestrator.webdriver.remote import Remote

OutcomeT = TypeVar("OutcomeT", bound=Outcome)
_REFS_AT_ONCE = 500
"""Ref numbers that a process sets apart for itself at a time: whatever happens to it, none is given twice."""


class RefBlock:
    """Ref numbers of one session that only this process may give out."""

    def __init__(self, store: SqliteStore, record: SessionRecord) -> None:
        self._store = store
        self._record = record
        self.next = 0
        self.end = 0

    def more(self, n: int) -> None:
        """Set apart at least `n` further numbers; what is left of the old ones is given up."""
        self.next, self.end = self._store.reserve_refs(self._record.namespace, self._record.id, max(n, _REFS_AT_ONCE))


class Attached:
    """The client of a session's remote end, kept from call to call; it can be made anew from the record at any time."""

    def __init__(self, remote: Remote, ears: Ears, traffic: Traffic, record: SessionRecord, refs: RefBlock) -> None:
        self.record = record
        self.remote = remote
        self.beside = Beside(debugger_address(record.capabilities), name=record.id)
        self.ears = ears
        self.traffic = traffic
        self.page = Page(remote.script, refs)
        self._screen = functools.partial(Screen, remote, record.type, refs)
        self.devtools: Callable[[], str] | None = None
        self.downloads = downloads.Downloads()
        self.strange = False
        """True until it was used: whoever drove the session before may have stopped inside a frame."""

    def close(self) -> None:
        """Close the connections; the session is left as it is."""
        self.traffic.close()
        self.ears.close()
        self.beside.leave()
        self.remote.close()

    @functools.cached_property
    def screen(self) -> Screen:
        """The screens of an app session."""
        return self._screen()


class Runner:
    """Runs what is to be done in a session, one thing at a time.

    Attributes:
        on_end: Called when a call ended, however it did.
    """

    def __init__(
        self,
        lanes: Lanes,
        store: SqliteStore,
        reach: Reach,
        restorer: Restorer,
        house: House,
        settings: Settings,
        redactor: Redactor,
        activity: Activity,
    ) -> None:
        self.activity = activity
        self._lanes = lanes
        self._reach = reach
        self._restorer = restorer
        self._store = store
        self._settings = settings
        self._redactor = redactor
        self._house = house
        self._attached: dict[str, Attached] = {}
        self.on_end: Callable[[], None] = lambda: None

    async def run(self, session_id: str | None, doing: Doing, work: Callable[[Scene], OutcomeT]) -> OutcomeT:
        """Do it in the next turn of the session, the caller's current one when none is given.

        The outcome also tells what happened on the session since its last one.
        """
        try:
            return await self._lanes.run(session_id, lambda turn: self.within(turn, doing, work))
        finally:
            self.on_end()

    def attach(self, record: SessionRecord, remote: Remote, *, strange: bool = False) -> None:
        """Keep the client of a session that was just started, or of a `strange` one that others drove before."""
        self._keep(remote, record, strange=strange)

    def renew(self, record: SessionRecord) -> None:
        """Forget the client of a session, which no call may be using: the next one makes it anew."""
        kept = self._attached.pop(record.remote_session_id, None)
        if kept is not None:
            kept.close()

    def detach(self, record: SessionRecord) -> None:
        """Forget the client of a session that ends here, and the world of its scripts."""
        self.renew(record)
        self._house.worlds.forget(record.id)

    def recorded(self, record: SessionRecord) -> str:
        """Write what a session recorded that is being closed; a sentence about it."""
        kept = self._attached.get(record.remote_session_id)
        return archive.finish(record, self._settings.home, kept.traffic.drain() if kept else ())

    def close(self) -> None:
        """Leave every session to others: what this process does beside its calls ends."""
        while self._attached:
            self._attached.popitem()[1].close()

    def within(self, turn: Turn, doing: Doing, work: Callable[[Scene], OutcomeT]) -> OutcomeT:
        """Do it in a turn that has come, in its thread, and write it into the session's log."""
        return self.activity.noted(turn.record, doing, lambda: self._done(turn, work))

    def begin(self, turn: Turn) -> None:
        """Tell a browser that has just started what its record says of it; nobody called for that by itself."""
        self._done(turn, begin)

    def _done(self, turn: Turn, work: Callable[[Scene], OutcomeT]) -> OutcomeT:
        """Do it; a session that is parked is brought back first."""
        back = self._restorer.restore(turn) if turn.record.state is SessionState.PARKED else None
        told = [back.told] if back else []
        if back:
            self.activity.note(turn.record, Doing("restore"), back.told)
        record = turn.record
        if back and not back.whole:
            self.attach(record, self._reach.of(record))
        attached = self._client(record, back.remote if back else None)
        scene = self._house.scene(Scene(attached, turn, self._settings, self._redactor, self.activity, self._house))
        attached.ears.wait()
        scene.hear(record.tabs)
        try:
            if attached.strange:
                attached.strange = not scene.resume()
            if back:
                _come_back(scene, back)
            else:
                _follow(scene)
            outcome = _driven(scene, work)
            if scene.loaded and record.instance is not None:
                neighbours.loaded(record, self._store.usage(record.namespace, Holder.here()), self._reach)
            pickers.tell(scene)
            attached.downloads.bring(scene)
        except OrchestratorError as error:
            downloads.tell(scene)
            if back:
                error.details |= {"restored": back.whole, "recovered": back.recovered}
            if told or scene.events:
                error.details["events"] = [*told, *scene.events]
            error.in_session(record.id)
            raise
        events = [*told, *record.events, *outcome.events, *scene.events]
        if record.events:
            turn.change(events=())
        more = {"restored": back.whole, "recovered": back.recovered} if back else {}
        return outcome.model_copy(update={**more, "events": events}) if events else outcome

    def _forget_closed(self, namespace: str) -> None:
        """Forget what is kept of sessions that another process has closed, or has started again."""
        with suppress(OrchestratorError):
            kept = [*self._attached.values()]  # before the records are read: these have all that were kept by then
            open_now = {one.id: one for one in self._store.open(namespace)}
            for one in kept:
                now = open_now.get(one.record.id)
                if now is None:
                    self.detach(one.record)
                # While a session starts, its record does not say yet where it is.
                elif now.remote_session_id not in {"", one.record.remote_session_id}:
                    self.renew(one.record)

    def _client(self, record: SessionRecord, remote: Remote | None) -> Attached:
        kept = self._attached.get(record.remote_session_id)
        if kept is None:
            kept = self._keep(remote or self._reach.of(record), record, strange=True)
        return kept

    def _keep(self, remote: Remote, record: SessionRecord, *, strange: bool) -> Attached:
        self.renew(record)  # that of a session which was lost, and is taken in once more
        self._forget_closed(record.namespace)
        look = functools.partial(self._store.get, record.namespace, record.id)
        traffic = Traffic(self._reach.cdp(record), look, self._settings.home, self._redactor.data)
        ears = Ears(self._reach.bidi(record), self._redactor)
        kept = Attached(remote, ears, traffic, record, RefBlock(self._store, record))
        kept.strange, kept.devtools = strange, self._reach.devtools(record)
        self._attached[record.remote_session_id] = kept
        ears.open()
        return kept


def _driven(scene: Scene, work: Callable[[Scene], OutcomeT]) -> OutcomeT:
    """Do it; a driver that waits for a page of another session is not taken for one that is gone."""
    try:
        return work(scene)
    except NoAnswer as error:
        if scene.record.instance is None or not neighbours.hold_up(scene.record):
            raise
        raise TimedOut(
            f"{error.reason[0].upper()}{error.reason[1:]}: a page of another session in this browser stands still.",
            hint="A dialog may be open there, or a script does not end: use that session, then try again.",
        ) from error


def _follow(scene: Scene) -> None:
    try:
        scene.follow()
    except (RemoteFailure, InvalidArgument) as error:
        scene.event(f"What route and har asked for is not done: {error.message}")


def _come_back(scene: Scene, back: Restored) -> None:
    """Have a browser that was parked as its record says; a fresh one before it goes to its first page."""
    if not back.whole:
        begin(scene)
    # While a dialog is open nothing is asked of the tabs: the call may be its answer.
    with suppress(DialogOpen):
        scene.tabs.come_back()
    _follow(scene)
    if back.page:
        # A session without its first page is better than none: the result tells where it is.
        with suppress(RemoteFailure, TimedOut, DialogOpen):
            scene.remote.execute("get", url=back.page)


def labelled(outcome: OutcomeT, scene: Scene) -> OutcomeT:
    """The outcome with the session that was chosen for the caller."""
    label = SessionLabel(session_id=scene.record.id, session_type=scene.record.type)
    return outcome.model_copy(update={"session": label})
