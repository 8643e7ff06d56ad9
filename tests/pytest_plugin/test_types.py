"""Type checkers know every fixture, by the type that the documentation names."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "orchestrator" / "pytest_plugin"
TYPED = Path(__file__).with_name("typed_project.py")
PYRIGHT = "pyright@1.1.414"


def functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a module."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def fixtures() -> dict[str, str]:
    """Return the type of each public fixture, as the plug-in annotates it."""
    found = {}
    for file in (PLUGIN / "fixtures.py", PLUGIN / "own_base_url.py", PLUGIN / "bdd" / "plugin.py"):
        for function in functions(file):
            is_fixture = any(ast.unparse(one).startswith("pytest.fixture") for one in function.decorator_list)
            if is_fixture and function.returns and not function.name.startswith("_"):
                returned = ast.unparse(function.returns)
                found[function.name] = re.sub(r"^Iterator\[(.*)\]$", r"\1", returned)
    return found


def test_each_fixture_is_used_by_its_type() -> None:
    """The project that type checkers read has every fixture; the documentation lists the type of each."""
    used = {
        argument.arg: ast.unparse(argument.annotation)
        for function in functions(TYPED)
        for argument in function.args.args
        if argument.annotation
    }
    assert used == fixtures()
    page = (ROOT / "docs" / "pytest.md").read_text("utf-8").partition("## Types")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+) \| `(.+)` \| (?:`(.+)`)? ?\|$", page, re.MULTILINE)
    listed = {name: (annotation, module) for names, annotation, module in rows for name in re.findall("`(.+?)`", names)}
    assert {name: annotation for name, (annotation, _) in listed.items()} == used
    imported = TYPED.read_text("utf-8")
    for annotation, module in listed.values():
        assert not module or re.search(rf"^from {re.escape(module)} import .*\b{annotation}\b", imported, re.MULTILINE)


@pytest.mark.full
@pytest.mark.browser
@pytest.mark.timeout(300)
@pytest.mark.skipif(not shutil.which("npm"), reason="pyright is installed with npm")
def test_pyright_and_mypy_find_nothing_in_strict_mode(tmp_path: Path) -> None:
    """Both read a project with every fixture, and the example project, in strict mode."""
    read = [str(TYPED), str(ROOT / "examples" / "shop_tests")]
    npm = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(tmp_path), PYRIGHT]
    subprocess.run(npm, check=True, capture_output=True, timeout=200)
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps({"include": read, "typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}))
    pyright = [str(tmp_path / "node_modules" / ".bin" / "pyright"), "--pythonpath", sys.executable, "-p", str(config)]
    for command in (pyright, [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "mypy"), *read]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
