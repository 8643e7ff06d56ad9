"""What readers are shown is what they get: the calls on pages, and the programs under examples/."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import transcripts

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("page", transcripts.pages(), ids=lambda page: page.name)
def test_calls_on_a_page_answer_as_shown(page: Path) -> None:
    """A reader who makes the calls of a page, in order, gets the answers that stand there, but for times and ids."""
    with transcripts.reader() as someone:
        for block in transcripts.blocks(page):
            for call in transcripts.calls(block):
                now = transcripts.lasting(someone.answer(call))
                assert now == transcripts.lasting(call.answer), f"{call.shown}\nIf {page.name} is stale: make docs"


def test_two_users_over_mcp(tmp_path: Path) -> None:
    """Two users write to each other in one call, and each reads what the other one wrote."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "two_users_over_mcp" / "main.py")],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["ann: 7 of 7 steps ", "ben: 7 of 7 steps "], done.stdout + done.stderr
    assert done.returncode == 0


def test_every_example_is_run() -> None:
    """A folder under examples/ is run by a test of this module."""
    shown = Path(__file__).read_text("utf-8") + Path(transcripts.__file__).read_text("utf-8")
    assert [folder.name for folder in EXAMPLES.iterdir() if f'"{folder.name}"' not in shown] == []
