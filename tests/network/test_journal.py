"""What was recorded so far: written by several processes, one of which may die while it writes."""

from __future__ import annotations

from pathlib import Path

from orchestrator.network.journal import Journal


def test_half_a_line_costs_that_line_alone(tmp_path: Path) -> None:
    """The next process goes on behind it; halves of characters are no text, and hinder nobody."""
    journal = Journal(tmp_path / "hars" / "ann.journal")
    journal.begin()
    journal.write("page", {"id": "1"})
    with journal.path.open("a") as file:
        file.write('\n{"entry":{"request"')
    Journal(journal.path).write("entry", {"n": "half \ud83d"})
    assert journal.read() == [("page", {"id": "1"}), ("entry", {"n": "half ?"})]


def test_what_was_taken_away_does_not_come_back(tmp_path: Path) -> None:
    """Whoever still writes writes nothing."""
    journal = Journal(tmp_path / "hars" / "ann.journal")
    journal.begin()
    journal.remove()
    journal.write("page", {"id": "1"})
    assert not journal.path.exists()
