"""What becomes of a caller's sessions when it goes: a server's are parked, a script's are ended."""

from __future__ import annotations

from orchestrator.activity import Activity, Doing
from orchestrator.closing import Closer
from orchestrator.keeping import Keeping
from orchestrator.models import SessionRecord
from orchestrator.restoring import Restorer
from orchestrator.saving import Saving
from orchestrator.sessions import Book


class Leaving:
    """The one end of one caller; `parking` says that what it owns may live on without it."""

    def __init__(
        self,
        book: Book,
        closer: Closer,
        restorer: Restorer,
        keeping: Keeping,
        saving: Saving,
        activity: Activity,
        *,
        parking: bool,
    ) -> None:
        self._book = book
        self._closer = closer
        self._restorer = restorer
        self._keeping = keeping
        self._saving = saving
        self._activity = activity
        self._parking = parking
        self._left = False

    async def leave(self) -> None:
        """Park what may live on, which is one transaction, and end the rest: what starts, what is lost."""
        if self._left:
            return
        self._left = True
        if self._parking:
            await self._saving.leave()
        parked = {record.id: record for record in await self._book.park(self._lives_on)}
        for record in parked.values():
            self._activity.note(record, Doing("park"))
        if parked:
            await self._keeping.ensure()
        rest = [record.id for record in await self._book.mine() if record.id not in parked]
        await self._closer.close(rest, "its server is ending")
        await self._closer.finish()
        await self._book.forget()

    def _lives_on(self, record: SessionRecord) -> bool:
        """Whether it may; one that was parked, and that a script only used, is parked again."""
        return self._parking or (record.id, record.created_at) in self._restorer.taken
