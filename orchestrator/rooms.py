"""What an orchestrator has while it is open."""

from __future__ import annotations

from dataclasses import dataclass

import anyio.abc

from orchestrator.attaching import Attacher
from orchestrator.closing import Closer
from orchestrator.keeping import Keeping
from orchestrator.leaving import Leaving
from orchestrator.runner import Runner
from orchestrator.sessions import Book
from orchestrator.starting import Starter
from orchestrator.together import Together
from orchestrator.upkeep import Upkeep


@dataclass(frozen=True, slots=True)
class Rooms:
    """Who does what for it, and the tasks that do not end before it does."""

    group: anyio.abc.TaskGroup
    book: Book
    runner: Runner
    together: Together
    starter: Starter
    attacher: Attacher
    closer: Closer
    keeping: Keeping
    leaving: Leaving
    upkeep: Upkeep
