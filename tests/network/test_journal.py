"""Journals of recordings: written by several processes, one of which may die while it writes."""

from __future__ import annotations

from pathlib import Path

from orchestrator.network.journal import Journal


def test_a_half_written_journal_line_costs_that_line_alone(tmp_path: Path) -> None:
    """Entries behind a half-written line are read, and a lone surrogate is replaced."""
    journal = Journal(tmp_path / "hars" / "ann.journal")
    journal.create()
    journal.write("page", {"id": "1"})
    with journal.path.open("a") as file:
        file.write('\n{"entry":{"request"')
    Journal(journal.path).write("entry", {"n": "half \ud83d"})
    assert journal.read() == [("page", {"id": "1"}), ("entry", {"n": "half ?"})]


def test_a_removed_journal_is_not_recreated_by_a_later_write(tmp_path: Path) -> None:
    """Writing to a journal that was removed writes nothing."""
    journal = Journal(tmp_path / "hars" / "ann.journal")
    journal.create()
    journal.remove()
    journal.write("page", {"id": "1"})
    assert not journal.path.exists()
