"""The types of the store: a ticket, its holder, a position in a lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from orchestrator.errors import RecordUnreadable, StoreFailed
from orchestrator.models.session import Caller, SessionRecord
from orchestrator.system import process_identity

Change = Callable[[SessionRecord], SessionRecord]
"""Makes the new record from the present one. It runs inside the transaction and must not call the store."""
ChangeAmong = Callable[[SessionRecord, list[SessionRecord]], SessionRecord]
"""Makes the new record from the present one and the other living sessions' records."""


Holder = process_identity.ProcessKey
"""The process that holds a place in a lane."""


_UNWRITTEN = 0
"""The number of no ticket in the store: those begin with 1."""


class Ticket(NamedTuple):
    """A place in a lane; lower numbers come first.

    `session` identifies one life of the id, `claim` is the end of the name of a claim under which it is used.
    """

    number: int
    session: int
    namespace: str
    id: str
    claim: str = ""

    @property
    def is_written(self) -> bool:
        """False for a call that only looks while the store cannot be written: it has no place in the lane."""
        return self.number != _UNWRITTEN

    @classmethod
    def unwritten(cls, namespace: str, session_id: str) -> Ticket:
        """Return the ticket of a call without a place."""
        return cls(_UNWRITTEN, 0, namespace, session_id)


class Closer(NamedTuple):
    """The closer of a session: a name, for whoever has claimed it, and a key.

    Of a claimed session, it closes only one that the caller of this key owns; of any owner if the key is None.
    """

    label: str
    key: str | None

    @classmethod
    def of(cls, caller: Caller) -> Closer:
        """Return the closer that a caller is: a person and an administrator may close any session."""
        return cls(caller.label, None if caller.may_override else caller.key)


class LanePosition(NamedTuple):
    """A record and a place in its lane, read in one transaction; `first` is true if no living process is ahead."""

    record: SessionRecord
    ticket: Ticket
    first: bool


class Overview(NamedTuple):
    """The open sessions of a namespace: records, an error for each unreadable one, and the caller's current session.

    With a `failure` the store could not be read, and the records are those that this process read last.
    """

    records: list[SessionRecord]
    unreadable: list[RecordUnreadable]
    current: str | None
    failure: StoreFailed | None = None
