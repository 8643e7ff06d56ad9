"""The page about the code (`docs/code.md`): its list of modules, the places that it names, its size limits."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.generators import code_map
from tests.generators.code_map import ROOT
from tests.project.test_architecture import MAX_CLASS, MAX_FUNCTION, MAX_MODULE, MAX_PACKAGE

LONGEST_SENTENCE = 90
BASES = (code_map.PACKAGE, ROOT)
"""Folders that the page's paths are relative to."""

_PLACE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:js|md|py|toml)|(?:[\w.-]+/)+)(?::([\w.]+))?`")


def text() -> str:
    """The page."""
    return code_map.PAGE.read_text("utf-8")


def places() -> list[tuple[str, str]]:
    """Return each path in the hand-written part of the page, with the definition in it; empty for a path alone."""
    before, _, rest = text().partition(code_map.BEGINS)
    return sorted(set(_PLACE.findall(before + rest.partition(code_map.ENDS)[2])))


def diffs() -> list[str]:
    """Return the diffs of the page, without their headings."""
    return re.findall(r"```diff\n(.*?)```", text(), re.DOTALL)


def found(path: str) -> Path | None:
    """Return the file or folder of a path on the page."""
    return next((base / path for base in BASES if (base / path).exists()), None)


def defines(body: list[ast.stmt], name: str) -> bool:
    """Return True if these statements define a name, such as `Runner.run`."""
    first, _, rest = name.partition(".")
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == first:
            return not rest or defines(node.body, rest)
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if not rest and any(isinstance(target, ast.Name) and target.id == first for target in targets):
            return True
    return False


def test_the_list_of_modules_on_the_code_page_is_up_to_date() -> None:
    """The list matches the modules' docstrings: run `make docs`."""
    assert text() == code_map.page(), "stale: run `make docs`"


def test_the_code_page_lists_every_module_once() -> None:
    """A module at the top of the package without a band would be missing."""
    listed = re.findall(r"^ *[\w/]+(?:\.py|/) +\S", code_map.every_module(), re.MULTILINE)
    assert len(listed) == len(code_map.modules())


def test_the_bands_of_the_code_page_are_the_layers_of_import_linter() -> None:
    """The page and `pyproject.toml` name the same modules in the same order."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    named = [name.strip() for layer in layers for name in layer.split("|")]
    assert [name for names in code_map.BANDS.values() for name in names if name != "__init__"] == named


def test_the_bands_of_the_code_page_name_their_parts_in_the_table(subtests: pytest.Subtests) -> None:
    """The row of a band in the table has every part of the list below."""
    lines = text().splitlines()
    for title, parts in code_map.BANDS.items():
        with subtests.test(title):
            row = next(line for line in lines if line.startswith(f"| [{title}]("))
            named = re.findall(r"`([\w]+)(?:/|\.py)`", row.split("|")[2])
            assert named == [name for name in parts if not name.startswith("__")]


def test_the_first_sentence_of_every_module_fits_on_a_line_of_the_code_page() -> None:
    """A longer sentence describes more than the module's content."""
    sentences = {path: code_map.first_sentence(path) for path in code_map.modules()}
    assert [str(path) for path, said in sentences.items() if len(said) > LONGEST_SENTENCE] == []


def test_every_place_named_on_the_code_page_exists(subtests: pytest.Subtests) -> None:
    """A file or folder exists, and defines the name given on the page."""
    for path, name in places():
        with subtests.test(f"{path}:{name}" if name else path):
            place = found(path)
            assert place
            assert not name or defines(ast.parse(place.read_text("utf-8")).body, name)


def test_the_code_page_gives_the_size_limits_that_tests_hold() -> None:
    """The numbers on the page are those of the tests."""
    sizes = re.search(r"- \*\*Sizes\.\*\* (.*?)\n(?=- )", text(), re.DOTALL)
    assert sizes
    assert re.findall(r"\d+", sizes[1]) == [str(most) for most in (MAX_MODULE, MAX_CLASS, MAX_FUNCTION, MAX_PACKAGE)]


def test_the_diffs_of_the_code_page_apply_and_touch_two_files_at_most(subtests: pytest.Subtests) -> None:
    """The removed and the unchanged lines are in the file, in this order."""
    for diff in diffs():
        parts = re.split(r"^--- a/", diff, flags=re.MULTILINE)[1:]
        with subtests.test(diff.partition("\n")[0]):
            assert 1 <= len(parts) <= 2
        for part in parts:
            file, *hunks = part.split("\n@@\n")
            name = file.splitlines()[0]
            source = (ROOT / name).read_text("utf-8")
            for hunk in hunks:
                old = [line[1:] for line in hunk.splitlines() if not line.startswith("+")]
                with subtests.test(name):
                    assert "\n".join(old).strip("\n") in source


def test_the_code_page_has_a_diff_for_each_of_five_tasks() -> None:
    """An action, an option of a provider, a policy, an error and a setting."""
    assert len(diffs()) == 5
