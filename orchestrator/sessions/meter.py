"""Measures what happens to sessions: turns and their waits, starts, losses."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from orchestrator.models.session import SessionRecord


@dataclass
class TurnNote:
    """A turn of a session, for a meter.

    Attributes:
        name: What is done in it.
        session_id: The session, known at the end; empty if there was none.
        waited: Seconds for which the call waited for its turn, known at the end.
    """

    name: str
    session_id: str = ""
    waited: float = 0.0


class Meter:
    """A meter that measures nothing, for whom nobody watches. Its methods are called in any thread."""

    def measure_turn(self, _: TurnNote) -> AbstractContextManager[object]:
        """Measure a caller's turn, from the moment on at which it was asked for."""
        return nullcontext()

    def measure_start(self, _: SessionRecord) -> AbstractContextManager[object]:
        """Measure the start of a session while the block runs; an error that leaves it is the start's."""
        return nullcontext()

    def count_loss(self, _: SessionRecord) -> None:
        """Count a session that was lost just now."""
