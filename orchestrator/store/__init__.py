"""Records that outlive every process of ours."""

from orchestrator.store.base import Change as Change
from orchestrator.store.base import ChangeAmong as ChangeAmong
from orchestrator.store.base import Entry as Entry
from orchestrator.store.base import Holder as Holder
from orchestrator.store.base import Ticket as Ticket
from orchestrator.store.sqlite import SqliteStore as SqliteStore
