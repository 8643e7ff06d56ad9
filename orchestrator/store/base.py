"""The values that a store hands out: a process that holds turns, a place in a lane, a record with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from orchestrator import living
from orchestrator.models import SessionRecord

Change = Callable[[SessionRecord], SessionRecord]
"""Makes a new record of one that was just read. It runs inside the transaction and must not call the store."""
ChangeAmong = Callable[[SessionRecord, list[SessionRecord]], SessionRecord]
"""The same, of a record among others."""


Holder = living.Process
"""The process that holds a place in a lane."""


class Ticket(NamedTuple):
    """A place in a lane. Lower numbers come first; `session` is one life of the id, never a later one's."""

    number: int
    session: int
    namespace: str
    id: str


class Entry(NamedTuple):
    """A record as it was read together with the place in its lane."""

    record: SessionRecord
    ticket: Ticket
    first: bool
