"""Modules that scripts import from a folder of the operator's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.automation.scripting.conftest import Scripts


@pytest.fixture
def importing(tmp_path: Path) -> Iterator[Scripts]:
    """A world whose scripts can import from a folder, beside which lies a file that they cannot."""
    folder = tmp_path / "modules"
    (folder / "lib").mkdir(parents=True)
    (tmp_path / "outside.js").write_text("export const secret = 1;", "utf-8")
    (folder / "link.js").symlink_to(tmp_path / "outside.js")
    (folder / "notes.txt").write_text("no module", "utf-8")
    (folder / "lib" / "cache.js").write_text(
        "let runs = 0; export const cache = []; export { runs as count };", "utf-8"
    )
    helper = "import {{ cache }} from '{0}';\nexport default function {1}(what) {{ cache.push(what); return cache; }}"
    (folder / "one.js").write_text(helper.format("./lib/cache.js", "keep"), "utf-8")
    (folder / "two.mjs").write_text(helper.format("lib/cache.js", "put"), "utf-8")
    (folder / "all.js").write_text(
        "export * from './lib/cache.js';\nexport { default as keep } from './one.js';", "utf-8"
    )
    (folder / "here.js").write_text("import './there.js';", "utf-8")
    (folder / "there.js").write_text("import './here.js';", "utf-8")
    (folder / "broken.js").write_text("throw new Error('no tea')", "utf-8")
    scripts = Scripts(folder)
    yield scripts
    scripts.world.shut_down("the test is over")


def test_a_module_that_two_files_import_is_one_module_in_a_world(importing: Scripts) -> None:  # F52 F53
    """Scripts and modules that import a helper share its cache; what a module does not export is nobody else's."""
    assert importing.value("import keep from 'one.js';\nreturn keep('tea').length") == 1
    assert importing.value("import put from './two.mjs'; put('mint'); return typeof runs") == "undefined"
    kept = "import { cache, count as times } from 'lib/cache.js'; import * as all from 'all.js';"
    assert importing.value(f"{kept} return [cache, times, all.cache === cache, all.keep('ice').length]") == [
        ["tea", "mint", "ice"], 0, True, 3
    ]  # fmt: skip
    assert importing.value("return [typeof keep, cache.length]") == ["function", 3]
    assert importing.error("import keep from 'one.js';\nreturn missing").message.endswith("(line 2).")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("import x from 'missing.js'", "There is no module 'missing.js'"),
        ("import x from '../outside.js'", "There is no module '../outside.js'"),
        ("import x from 'link.js'", "There is no module 'link.js'"),
        ("import x from 'notes.txt'", "There is no module 'notes.txt'"),
        ("import 'here.js'", "Modules import each other: here.js → there.js → here.js"),
        ("import 'broken.js'", "The module broken.js fails: broken.js:1: Error: no tea"),
        ("import { tea } from 'one.js'", "the module one.js does not export tea"),
        ("import page from 'one.js'", "The script imports page, a built-in object"),
    ],
)
def test_an_import_that_is_no_module_of_the_folder_is_refused(importing: Scripts, script: str, expected: str) -> None:
    """Nothing outside of the folder is read, by dots, links or other endings; the error names the module."""
    assert expected in str(importing.error(script))


def test_scripts_import_nothing_without_a_folder(scripts: Scripts) -> None:
    """Without the setting script_modules an import is refused, and the error names the setting."""
    error = scripts.error("import x from 'x.js'")
    assert "A script can import nothing here" in error.message
    assert "script_modules" in error.hint
