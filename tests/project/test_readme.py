"""The README: its calls give the answers shown, and its program runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generators import transcripts

pytestmark = pytest.mark.browser

README = Path(__file__).parents[2] / "README.md"


def test_the_calls_of_the_readme_answer_as_shown() -> None:
    """Made in order, they give the answers on the page, except for times and ids."""
    assert transcripts.blocks(README)
    assert transcripts.stale_calls(README) == []


def test_the_program_of_the_readme_runs_as_printed(tmp_path: Path) -> None:
    """The README's Python program runs unchanged, on the page that it names."""
    (program,) = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    file = tmp_path / "program.py"
    environment = {**os.environ, "HOME": str(tmp_path), "ORCHESTRATOR_NAMESPACE": "readme"}
    with transcripts.guest_book() as address:
        file.write_text(program.replace(transcripts.ADDRESS, address), "utf-8")
        done = subprocess.run(
            [sys.executable, str(file)], env=environment, capture_output=True, text=True, timeout=100, check=False
        )
    assert "'text: Ann: Lovely tea.'" in done.stdout, done.stderr
