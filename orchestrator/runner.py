"""The one path of every action: its turn in the lane, the scene it works with, what is told afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from orchestrator.actions.downloads import Downloads
from orchestrator.actions.finding import Turn
from orchestrator.actions.pickers import Pickers
from orchestrator.actions.results import Outcome, SessionLabel
from orchestrator.actions.scene import Scene
from orchestrator.errors import OrchestratorError
from orchestrator.models import SessionRecord
from orchestrator.reach import Reach
from orchestrator.secrets import Redactor
from orchestrator.sessions.lanes import Lanes
from orchestrator.settings import Settings
from orchestrator.snapshot.native.screen import Screen
from orchestrator.snapshot.page import Page
from orchestrator.store import SqliteStore
from orchestrator.webdriver.bidi import Bidi
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

    def __init__(self, remote: Remote, bidi: Bidi | None, record: SessionRecord, refs: RefBlock) -> None:
        self.remote = remote
        self.bidi = bidi
        self.page = Page(remote.script, refs)
        self._screen = functools.partial(Screen, remote, record.type, refs)
        self.downloads = Downloads()
        self.pickers = Pickers()
        self.strange = False
        """True until it was used: whoever drove the session before may have stopped inside a frame."""

    @functools.cached_property
    def screen(self) -> Screen:
        """The screens of an app session."""
        return self._screen()


class Runner:
    """Runs what is to be done in a session, one thing at a time."""

    def __init__(self, lanes: Lanes, store: SqliteStore, reach: Reach, settings: Settings, redactor: Redactor) -> None:
        self._lanes = lanes
        self._reach = reach
        self._store = store
        self._settings = settings
        self._redactor = redactor
        self._attached: dict[str, Attached] = {}

    async def run(self, session_id: str | None, work: Callable[[Scene], OutcomeT]) -> OutcomeT:
        """Do it in the next turn of the session, the caller's current one when none is given.

        The outcome also tells what happened on the session since its last one.
        """
        return await self._lanes.run(session_id, lambda turn: self.within(turn, work))

    def attach(self, record: SessionRecord, remote: Remote, *, strange: bool = False) -> None:
        """Keep the client of a session that was just started, or of a `strange` one that others drove before."""
        self._keep(remote, record, strange=strange)

    def detach(self, record: SessionRecord) -> None:
        """Forget the client of a session."""
        kept = self._attached.pop(record.remote_session_id, None)
        if kept is not None and kept.bidi is not None:
            kept.bidi.close()

    def within(self, turn: Turn, work: Callable[[Scene], OutcomeT]) -> OutcomeT:
        """Do it in a turn that has come, in its thread."""
        record = turn.record
        attached = self._client(record)
        scene = Scene(attached, turn, self._settings, self._redactor)
        try:
            if attached.strange:
                attached.strange = not scene.resume()
            attached.pickers.listen(scene)
            outcome = work(scene)
            attached.pickers.tell(scene)
            attached.downloads.bring(scene)
        except OrchestratorError as error:
            if scene.events:
                error.details["events"] = scene.events
            error.in_session(record.id)
            raise
        events = [*record.events, *outcome.events, *scene.events]
        if record.events:
            turn.change(events=())
        return outcome.model_copy(update={"events": events}) if events else outcome

    def _client(self, record: SessionRecord) -> Attached:
        kept = self._attached.get(record.remote_session_id)
        if kept is None:
            kept = self._keep(self._reach.of(record), record, strange=True)
        return kept

    def _keep(self, remote: Remote, record: SessionRecord, *, strange: bool) -> Attached:
        kept = Attached(remote, self._reach.bidi(record), record, RefBlock(self._store, record))
        kept.strange = strange
        self._attached[record.remote_session_id] = kept
        return kept


def labelled(outcome: OutcomeT, scene: Scene) -> OutcomeT:
    """The outcome with the session that was chosen for the caller."""
    label = SessionLabel(session_id=scene.record.id, session_type=scene.record.type)
    return outcome.model_copy(update={"session": label})
