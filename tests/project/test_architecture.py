"""The rules that keep the code small, portable and quick to import. The direction of imports is import-linter's."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType, UnionType

import pytest

import orchestrator
import orchestrator_providers

ROOT = Path(__file__).parents[2]
PYTHON = sorted(path for top in ("orchestrator", "providers") for path in (ROOT / top).rglob("*.py"))
SOURCES = PYTHON + sorted(path for top in ("orchestrator", "providers") for path in (ROOT / top).rglob("*.js"))

MAX_MODULE = 500
WRITTEN = {"orchestrator/session_methods.py", "orchestrator/orchestrator_methods.py"}
"""Generated files, exempt from the limits."""
MAX_CLASS = 250
MAX_FUNCTION = 40
"""Lines without signatures and docstrings."""
MAX_PACKAGE = 21
SAME_NAMES = {"Orchestrator", "Session"}
"""Names of classes that exist twice: with `await`, and without it in `orchestrator.sync`."""

MAY_BE_POSIX = {
    "orchestrator/system/host/life_locks.py",
    "orchestrator/system/host/private_files.py",
    "orchestrator/system/host/shortages.py",
    "orchestrator/system/process_termination.py",
    "orchestrator/system/processes.py",
}
POSIX_ONLY = re.compile(
    r"(fcntl|grp|posix|pty|pwd|resource|syslog|termios|tty)(\..+)?"
    r"|os\.(chown|chroot|fchmod|fork|forkpty|get(e?[gu]id|groups|pgid|pgrp|sid)|killpg|mkfifo|nice|pidfd_open"
    r"|posix_spawnp?|set(e?[gu]id|pgid|priority|sid)|statvfs|uname|wait[34]?|waitid|WNOHANG)"
    r"|signal\.(SIG(ALRM|CHLD|CONT|HUP|KILL|PIPE|QUIT|STOP|TSTP|USR1|USR2)|alarm|pause|pthread_\w+|setitimer|sigwait)"
    r"|socket\.AF_UNIX"
    r"|.+\.(add_signal_handler|preexec_fn)"
)

MAKES_FILES = {
    "orchestrator/system/host/private_files.py",
    "orchestrator/system/folders.py",
    # Pages that a person asked for, in a project that others may read.
    "orchestrator/cli/skills.py",
    "orchestrator/demo/device_server.py",
    "orchestrator/demo/mcp_client.py",
    "orchestrator/demo/chat/scenario.py",
    "orchestrator/demo/shop/bundle.py",
    "orchestrator/demo/shop/scenario.py",
}
FILE_MAKERS = {"mkdir", "write_text", "write_bytes", "makedirs", "mktemp", "NamedTemporaryFile"}

HEAVY = {"PIL", "appium", "lxml", "mcp", "selenium", "starlette", "typer"}


def relative(path: Path) -> str:
    """Return a source's path relative to the project."""
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree(path: Path) -> ast.Module:
    """Return a source's syntax tree."""
    return ast.parse(path.read_text("utf-8"))


def test_a_module_has_at_most_500_lines() -> None:
    """A module over 500 lines is two modules."""
    sizes = {relative(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {name: size for name, size in sizes.items() if size > MAX_MODULE and name not in WRITTEN} == {}


def own_lines(node: ast.AST) -> int:
    """Return the lines of a function or class without signatures and docstrings, nested ones included."""
    lines: set[int] = set()
    apart: set[int] = set()
    for one in ast.walk(node):
        lines |= set(range(getattr(one, "lineno", 0), (getattr(one, "end_lineno", 0) or 0) + 1))
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first, *_ = one.body
            documented = ast.get_docstring(one, clean=False) is not None
            apart |= set(range(one.lineno, (first.end_lineno or 0) + 1 if documented else first.lineno))
    return len(lines - apart - {0})


def larger(kind: type[ast.AST] | UnionType, most: int) -> dict[str, int]:
    """Return the nodes of this kind with more lines of their own, by module and name."""
    found = {
        f"{relative(path)}:{getattr(node, 'name', '')}": own_lines(node)
        for path in PYTHON
        if relative(path) not in WRITTEN
        for node in ast.walk(tree(path))
        if isinstance(node, kind)
    }
    return {name: size for name, size in found.items() if size > most}


def test_functions_have_at_most_40_lines() -> None:
    """A function over 40 lines is two functions."""
    assert larger(ast.FunctionDef | ast.AsyncFunctionDef, MAX_FUNCTION) == {}


def test_classes_have_at_most_250_lines() -> None:
    """A class over 250 lines is two classes."""
    assert larger(ast.ClassDef, MAX_CLASS) == {}


def test_lines_of_a_function_are_counted_without_signature_and_docstring() -> None:
    """A function of six lines, two of them signature and one a docstring, has three of its own."""
    code = 'def f(\n    a):\n    """Doc."""\n    b = a\n\n    return b'
    assert own_lines(ast.parse(code).body[0]) == 3


def test_packages_have_at_most_21_modules() -> None:
    """A package with more than 21 modules is two packages."""
    sizes = Counter(path.parent for path in PYTHON)
    assert {relative(folder): size for folder, size in sizes.items() if size > MAX_PACKAGE} == {}


def test_class_names_are_unique() -> None:
    """A class is found by its name alone."""
    names = Counter(node.name for path in PYTHON for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef))
    assert {name for name, count in names.items() if count > 1} == SAME_NAMES


def test_a_module_opens_with_a_docstring() -> None:
    """A module opens with its docstring, and the docstring with a sentence."""
    assert [relative(path) for path in PYTHON if not re.match(r'"""\w', path.read_text("utf-8"))] == []


def test_sources_have_no_todo_comments() -> None:
    """Undone work is an issue, not a comment."""
    marks = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
    assert [relative(path) for path in SOURCES if marks.search(path.read_text("utf-8"))] == []


def test_posix_only_calls_are_made_only_where_processes_are_owned() -> None:
    """Only the modules that own processes use POSIX-only calls."""
    used = {relative(path): posix_only(tree(path)) for path in PYTHON if relative(path) not in MAY_BE_POSIX}
    assert {name: calls for name, calls in used.items() if calls} == {}


def posix_only(module: ast.Module) -> list[str]:
    """Return the POSIX-only names that a module uses."""
    return [name for node in ast.walk(module) for name in dotted_names(node) if POSIX_ONLY.fullmatch(name)]


def dotted_names(node: ast.AST) -> list[str]:
    """Return the full names in a node, such as `os.killpg` after `import os`."""
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


def test_posix_only_calls_are_detected_in_any_spelling() -> None:
    """Imports, attributes and keyword arguments that only POSIX has are all detected."""
    code = "import fcntl\nfrom os import killpg, kill\nfrom pwd import getpwnam\nsignal.SIGKILL\nf(1, preexec_fn=g)"
    assert posix_only(ast.parse(code)) == ["fcntl", "os.killpg", "pwd.getpwnam", "signal.SIGKILL", "_.preexec_fn"]


def loaded_by(statement: str) -> set[str]:
    """Return the third-party packages that a statement imports."""
    code = f"import sys; before = {{*sys.modules}}; {statement}; print(*({{*sys.modules}} - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()} - sys.stdlib_module_names


def test_importing_the_package_loads_no_third_party_package() -> None:
    """Importing only the version or an error's class loads no other package."""
    assert loaded_by("import orchestrator, orchestrator.errors") == {"orchestrator"}


@pytest.mark.parametrize("place", ["orchestrator", "orchestrator.sync"])
def test_importing_the_python_api_loads_none_of_the_heavy_packages(place: str) -> None:
    """The API loads neither MCP nor a command line; drivers and pictures are loaded at the first use."""
    assert loaded_by(f"from {place} import Orchestrator") & HEAVY == set()


def test_appiums_client_is_loaded_by_no_module_but_its_own() -> None:
    """The client is loaded by the first app session: only the module of its driver imports it at the top."""
    packages = ("actions.catalogue", "lifecycle.launch", "mcp_server.server", "webdriver.remote")
    names = [f"orchestrator.{name}" for name in packages]
    names += [found.name for found in pkgutil.walk_packages(orchestrator_providers.__path__, "orchestrator_providers.")]
    assert "appium" not in loaded_by(f"import {', '.join(names)}")
    assert "appium" in loaded_by("import orchestrator.webdriver.app_driver")


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


def test_every_dependency_has_a_reason_in_the_docs() -> None:
    """A dependency without a reason is removed; so is a reason without a dependency."""
    rows = re.findall(
        r"^\| `([^`]+)` \| (.+?) \|$", (ROOT / "docs" / "dependencies.md").read_text("utf-8"), re.MULTILINE
    )
    assert {name for name, _ in rows} == declared_dependencies()
    assert len(rows) == len({name for name, _ in rows})


def test_every_dependency_is_pinned_by_major() -> None:
    """A new major version is adopted deliberately (mcp 2.0 renamed its server class)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    loose = [needed for needed in project["dependencies"] if not re.search(r">=[\d.]+,<\d+$", needed.partition(";")[0])]
    assert loose == []


def test_the_page_engine_declares_each_name_once() -> None:
    """The files are joined into one script: a second function of a name would silently replace the first."""
    folder = ROOT / "orchestrator" / "snapshot" / "web" / "scripts"
    declared = [
        name
        for path in sorted(folder.glob("*.js"))
        for name in re.findall(
            r"^(?:async )?(?:function\*?|class|const|let) (\w+)", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert sorted(name for name in set(declared) if declared.count(name) > 1) == []


def makes_a_file(node: ast.Call) -> bool:
    """Return True for a call that makes a file or folder, or may."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = " ".join(ast.unparse(value) for value in (*node.args, *(keyword.value for keyword in node.keywords)))
    is_touch = name == "touch" and not node.args  # fingers touch at places
    return (
        name in FILE_MAKERS
        or is_touch
        or "O_CREAT" in given
        or (name == "open" and bool(re.search(r"'[wax]b?\+?'", given)))
    )


def test_files_are_made_in_one_place_with_a_mode_of_their_own() -> None:
    """What makes a file or folder says who may read it, and never takes one that lies there: `private_files` does."""
    found = [
        f"{relative(path)}:{node.lineno}"
        for path in PYTHON
        if relative(path) not in MAKES_FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and makes_a_file(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    "code", ["p.mkdir()", "open(p, 'w')", "p.open('ab')", "os.open(p, os.O_CREAT | os.O_RDWR)", "p.touch(mode=m)"]
)
def test_calls_that_make_files_are_found(code: str) -> None:
    """The rule above finds the usual ways."""
    assert any(makes_a_file(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
