"""Generates the acceptance table: behaviours of other systems, and the tests that prove them.

A test names the rows that it proves in a comment behind its `def`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = "<!-- Made by `make docs`; change the declarations instead. -->\n"

_ABOUT_BEHAVIOURS = """\
Five systems described how sessions of a browser-automation server should live: a WebDriver multi-session proposal
(W), a scripting server with `instance:context` sessions (F), a protocol with dormant sessions (B), a server with
session modes and policies (X), and one with conversation-bound sessions (O). This is what becomes of each of their rows
here, which tests prove it, and on which browsers and remote ends. Tests without a place need none.
"""

_ROWS = re.compile(r"#\s*((?:[WFXBO]\d+(?![\w-])[ ,]*)+)")
_ROW = re.compile(r"[WFXBO]\d+")
_PLACES = {
    "Chromium": r"^(demo|pytest_plugin|e2e/(?!firefox|apps))",
    "Firefox": r"^e2e/firefox/",
    "WebKitGTK": r"webkit",
    "a Selenium Grid": r"grid",
    "simulated phones": r"^e2e/apps/|test_app_start|test_many_phones",
}
"""Browsers and remote ends, and the files whose tests run on each."""
_CORE = ("Firefox", "WebKitGTK", "a Selenium Grid")
"""Where the core set of tests runs, too."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


@dataclass
class Row:
    """A row of another system: what becomes of it here, and the tests that prove it."""

    name: str
    text: str
    tests: list[Proof]

    @property
    def places(self) -> list[str]:
        """The browsers and remote ends of its tests."""
        found = {place for test in self.tests for place in test.places}
        return [place for place in _PLACES if place in found]


@dataclass(frozen=True)
class Proof:
    """A test with the rows that it names, and the browsers and remote ends on which it runs."""

    test: str
    rows: tuple[str, ...]
    places: frozenset[str]


def parts() -> list[tuple[str, list[Row]]]:
    """Return the rows of each part with their tests."""
    declared = tomllib.loads((ROOT / "tests" / "generators" / "behaviours.toml").read_text("utf-8"))["part"]
    proofs = list(proving_tests())
    return [
        (
            part["title"],
            [Row(name, text, [proof for proof in proofs if name in proof.rows]) for name, text in part["rows"].items()],
        )
        for part in declared
    ]


def proving_tests() -> Iterator[Proof]:
    """Yield each test that names rows."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                rows = [row for comment in _ROWS.findall(heading(node, lines)) for row in _ROW.findall(comment)]
                if rows:
                    place = path.relative_to(ROOT / "tests").as_posix()
                    is_core = any("pytest.mark.core" in ast.unparse(mark) for mark in node.decorator_list)
                    yield Proof(f"{place}::{node.name}", tuple(rows), frozenset(_places(place, is_core=is_core)))


def _places(path: str, *, is_core: bool) -> Iterable[str]:
    """Yield the browsers and remote ends on which a test runs, by its file and its mark."""
    if is_core:
        yield from _CORE
    for place, files in _PLACES.items():
        if re.search(files, path):
            yield place


def heading(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """Return the lines of a test from its def to the end of its docstring."""
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return "\n".join(lines[node.lineno - 1 : first.end_lineno if documented else first.lineno - 1])


def page() -> str:
    """Return the page with the acceptance table."""
    titled = parts()
    every = [row for _, rows in titled for row in rows]
    return "\n".join(
        [
            "# Behaviours\n",
            MADE,
            _ABOUT_BEHAVIOURS,
            f"{sum(bool(row.tests) for row in every)} of {len(every)} rows are named by tests.",
            *(part(title, rows) for title, rows in titled),
            "",
        ]
    )


def part(title: str, rows: Iterable[Row]) -> str:
    """Return one part of the acceptance table."""
    cells = (
        (row.name, row.text, "<br>".join(f"`{proof.test}`" for proof in row.tests), ", ".join(row.places))
        for row in rows
    )
    return f"\n## {title}\n\n" + table(("row", "what holds", "tests", "proven on"), cells)
