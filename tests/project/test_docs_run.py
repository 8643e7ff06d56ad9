"""Programs and commands on pages of the documentation run as they are written, each page in an empty home."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.generators import transcripts
from tests.needed import needed
from tests.servers import grid
from tests.servers.mcp import processes_below
from tests.servers.ports import free_port
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

DOCS = Path(__file__).parents[2] / "docs"
GRID_PORT = "4444"
"""The port of a Grid on the pages; here it gets a free one."""

_PROGRAM = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
"""A program, and the text below it: what it prints."""
_COMMANDS = re.compile(r"^```(sh|sh fails|yaml)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
"""Commands, with the error below those that are marked as failing; or a file, which begins with its name."""


def programs() -> list[tuple[str, str]]:
    """Return the programs of the page about Python, each with its output."""
    return _PROGRAM.findall((DOCS / "python.md").read_text("utf-8"))


def sections() -> dict[str, str]:
    """Return the sections of the page about the command line that have commands, by title."""
    parts = re.split(r"^## (.+)\n", (DOCS / "cli.md").read_text("utf-8"), flags=re.MULTILINE)
    return {title: text for title, text in zip(parts[1::2], parts[2::2], strict=True) if "```sh" in text}


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of somebody who just installed: an empty home, no settings; nothing of it runs afterwards."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    environment |= {"PATH": path, "HOME": str(tmp_path / "home"), "XDG_DATA_HOME": "", "XDG_RUNTIME_DIR": ""}
    (tmp_path / "home").mkdir()
    yield environment
    for file, words in (("sessions.db", ["close-sessions", "--all"]), ("grid.json", ["grid", "down"])):
        if list((tmp_path / "home").rglob(file)):
            run(["orchestrator", *words], tmp_path, environment)
    until(lambda: not processes_below(tmp_path), "the end of everything that the page started")


def run(words: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip


@pytest.mark.parametrize(("program", "output"), programs(), ids=range(len(programs())))
def test_a_program_of_the_python_page_prints_what_stands_below_it(
    program: str, output: str, tmp_path: Path, reader: dict[str, str]
) -> None:
    """Pasted into a file of an empty folder, it runs alone and prints exactly the text below it."""
    with transcripts.guest_book() as address:
        (tmp_path / "program.py").write_text(program.replace(transcripts.ADDRESS, address), "utf-8")
        done = run([sys.executable, "program.py"], tmp_path, reader)
    assert (done.stdout, done.returncode) == (output or "?", 0), done.stderr


def test_the_python_page_has_its_programs() -> None:
    """Every Python block of the page is one of the programs that the test above runs."""
    assert len(programs()) == (DOCS / "python.md").read_text("utf-8").count("```python") >= 6


@pytest.mark.parametrize("title", sections())
def test_the_commands_of_a_section_of_the_page_about_the_command_line_run(
    title: str, tmp_path: Path, reader: dict[str, str]
) -> None:
    """Typed in order into a shell, all succeed, but those marked: they fail with the error below them."""
    text = sections()[title]
    if "grid up" in text:
        needed(grid.missing())
    port = str(free_port())
    with transcripts.guest_book() as address:
        for kind, block, error in _COMMANDS.findall(text):
            here = block.replace(transcripts.ADDRESS, address).replace(GRID_PORT, port)
            if kind == "yaml":
                (tmp_path / block.splitlines()[0].removeprefix("# ")).write_text(here, "utf-8")
                continue
            done = run(["sh", "-e", "-c", here], tmp_path, reader)
            assert (done.returncode == 0) == (kind == "sh"), f"{here}\n{done.stdout}{done.stderr}"
            if kind == "sh fails":
                assert done.stderr.replace(port, GRID_PORT) == error


def test_the_page_about_the_command_line_has_its_commands() -> None:
    """Every block of commands on the page is one of those that the test above runs."""
    page = (DOCS / "cli.md").read_text("utf-8")
    found = [kind for text in sections().values() for kind, _, _ in _COMMANDS.findall(text)]
    assert sum(kind.startswith("sh") for kind in found) == page.count("```sh") >= 10
