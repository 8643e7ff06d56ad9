"""The parts of all tests: every test file is in one of them."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from tests import parts

TESTS = Path(__file__).parents[1]


def test_every_test_file_is_in_one_part() -> None:
    """A new folder of tests is put into a part."""
    files = [PurePosixPath(path.relative_to(TESTS).as_posix()) for path in TESTS.rglob("test_*.py")]
    found = {
        file: [part for part, places in parts.FOLDERS.items() if any(file.is_relative_to(one) for one in places)]
        for file in files
    }
    assert {str(file): of for file, of in found.items() if len(of) != 1} == {}


def test_the_folders_of_parts_exist() -> None:
    """A folder that is renamed is renamed here, too."""
    assert [one for places in parts.FOLDERS.values() for one in places if not (TESTS / one).exists()] == []


def test_the_readme_of_the_tests_lists_the_folders_of_each_part() -> None:
    """The table has a row for each part, with its folders in order."""
    rows = re.findall(r"^\| (\w+) \| (.*) \|$", (TESTS / "README.md").read_text("utf-8"), re.MULTILINE)
    listed = {part: tuple(re.findall(r"`([\w./]+)`", cell)) for part, cell in rows if part in parts.FOLDERS}
    assert listed == parts.FOLDERS


def test_an_unknown_part_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is run."""
    assert parts.main(["page", "pages"]) == 2
    assert capsys.readouterr().err == "There is no part pages: page, remotes, life, doors, project, clock.\n"
