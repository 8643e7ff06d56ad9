"""The rules that keep the code small, portable and quick to import. The direction of imports is import-linter's."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import orchestrator
import orchestrator_providers

ROOT = Path(__file__).parents[1]
PYTHON = sorted(path for top in ("orchestrator", "providers") for path in (ROOT / top).rglob("*.py"))
SOURCES = PYTHON + sorted(path for top in ("orchestrator", "providers") for path in (ROOT / top).rglob("*.js"))

MAX_MODULE = 300
WRITTEN = {"orchestrator/methods.py"}
"""Written from the catalogue: nobody has to keep it in mind."""
MAX_FUNCTION = 60

MAY_BE_POSIX = {"orchestrator/ending.py", "orchestrator/processes.py"}
POSIX_ONLY = re.compile(
    r"(fcntl|grp|posix|pty|pwd|resource|syslog|termios|tty)(\..+)?"
    r"|os\.(chown|chroot|fchmod|fork|forkpty|get(e?[gu]id|groups|pgid|pgrp|sid)|killpg|mkfifo|nice|pidfd_open"
    r"|posix_spawnp?|set(e?[gu]id|pgid|priority|sid)|statvfs|uname|wait[34]?|waitid|WNOHANG)"
    r"|signal\.(SIG(ALRM|CHLD|CONT|HUP|KILL|PIPE|QUIT|STOP|TSTP|USR1|USR2)|alarm|pause|pthread_\w+|setitimer|sigwait)"
    r"|socket\.AF_UNIX"
    r"|.+\.(add_signal_handler|preexec_fn)"
)

HEAVY = {"PIL", "appium", "lxml", "mcp", "selenium", "starlette", "typer"}


def relative(path: Path) -> str:
    """A source's path as people write it."""
    return path.relative_to(ROOT).as_posix()


sources = pytest.mark.parametrize("path", SOURCES, ids=relative)
python_sources = pytest.mark.parametrize("path", PYTHON, ids=relative)


def tree(path: Path) -> ast.Module:
    """A source as Python reads it."""
    return ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("path", [path for path in SOURCES if relative(path) not in WRITTEN], ids=relative)
def test_module_stays_small(path: Path) -> None:
    """A module over 300 lines is two modules."""
    assert len(path.read_text("utf-8").splitlines()) <= MAX_MODULE


@python_sources
def test_functions_stay_small(path: Path) -> None:
    """A function over 60 lines is two functions."""
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > MAX_FUNCTION} == {}


@python_sources
def test_first_line_says_why_the_module_exists(path: Path) -> None:
    """A module opens with its docstring, and the docstring with a sentence."""
    assert re.match(r'"""\w', path.read_text("utf-8"))


@sources
def test_nothing_is_left_to_do(path: Path) -> None:
    """Undone work is an issue, not a comment."""
    assert re.findall(r"\b(?:TODO|FIXME|XXX)\b", path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", [path for path in PYTHON if relative(path) not in MAY_BE_POSIX], ids=relative)
def test_runs_on_every_platform(path: Path) -> None:
    """What only POSIX has is called where processes are owned, and nowhere else."""
    assert posix_only(tree(path)) == []


def posix_only(module: ast.Module) -> list[str]:
    """Name what a module takes of POSIX alone."""
    return [name for node in ast.walk(module) for name in dotted_names(node) if POSIX_ONLY.fullmatch(name)]


def dotted_names(node: ast.AST) -> list[str]:
    """What one node names, as `os.killpg` is spelled with `import os`."""
    match node:
        case ast.Import(names=names):
            return [name.name for name in names]
        case ast.ImportFrom(module=str(origin), names=names):
            return [f"{origin}.{name.name}" for name in names]
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return [f"{owner}.{name}"]
        case ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return [f"_.{name}"]
        case _:
            return []


def test_posix_only_calls_are_seen() -> None:
    """However they are spelled."""
    code = "import fcntl\nfrom os import killpg, kill\nfrom pwd import getpwnam\nsignal.SIGKILL\nf(1, preexec_fn=g)"
    assert posix_only(ast.parse(code)) == ["fcntl", "os.killpg", "pwd.getpwnam", "signal.SIGKILL", "_.preexec_fn"]


def loaded_by(statement: str) -> set[str]:
    """The packages beside the standard library that a statement imports."""
    code = f"import sys; before = {{*sys.modules}}; {statement}; print(*({{*sys.modules}} - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()} - sys.stdlib_module_names


def test_importing_is_cheap() -> None:
    """Who only wants the version or an error's class waits for no other package."""
    assert loaded_by("import orchestrator, orchestrator.errors") == {"orchestrator"}


@pytest.mark.parametrize("place", ["orchestrator", "orchestrator.sync"])
def test_a_script_waits_for_what_it_needs(place: str) -> None:
    """The API brings neither MCP nor a command line, and drivers and pictures come with the first use."""
    assert loaded_by(f"from {place} import Orchestrator") & HEAVY == set()


def modules() -> Iterator[ModuleType]:
    """Import every module of both packages, except those that run when imported."""
    for package in (orchestrator, orchestrator_providers):
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def public_methods(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The methods and properties of a module's public classes that are declared in it."""
    for name, declared in vars(module).items():
        if inspect.isclass(declared) and declared.__module__ == module.__name__ and not name.startswith("_"):
            for method, value in vars(declared).items():
                if not method.startswith("_") and isinstance(
                    value, FunctionType | classmethod | staticmethod | property
                ):
                    yield f"{module.__name__}.{name}.{method}", getattr(declared, method)


def test_public_methods_are_documented() -> None:
    """A method has a docstring, or overrides one that has. Modules, classes and functions are ruff's (D100 to D104)."""
    methods = dict(found for module in modules() for found in public_methods(module))
    assert [name for name, method in methods.items() if not inspect.getdoc(method)] == []


def declared_dependencies() -> set[str]:
    """Every distribution that pyproject.toml names, for running, building and developing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = [
        project["build-system"]["requires"],
        project["project"]["dependencies"],
        *project["project"].get("optional-dependencies", {}).values(),
        *project["dependency-groups"].values(),
    ]
    return {re.split(r"[^\w.-]", requirement)[0] for group in groups for requirement in group}


def test_every_dependency_has_its_reason() -> None:
    """A dependency that nobody can justify goes; a reason whose dependency went goes too."""
    rows = re.findall(
        r"^\| `([^`]+)` \| (.+?) \|$", (ROOT / "docs" / "dependencies.md").read_text("utf-8"), re.MULTILINE
    )
    assert {name for name, _ in rows} == declared_dependencies()
    assert len(rows) == len({name for name, _ in rows})


def test_every_dependency_is_pinned_by_major() -> None:
    """A new major version is taken on purpose (mcp 2.0 renamed its server class)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    loose = [needed for needed in project["dependencies"] if not re.search(r">=[\d.]+,<\d+$", needed)]
    assert loose == []


def test_the_page_engine_declares_each_name_once() -> None:
    """Its files become one script: a second function of a name would replace the first one without a word."""
    folder = ROOT / "orchestrator" / "snapshot" / "page"
    declared = [
        name
        for path in sorted(folder.glob("*.js"))
        for name in re.findall(
            r"^(?:async )?(?:function\*?|class|const|let) (\w+)", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert sorted(name for name in set(declared) if declared.count(name) > 1) == []
