"""Generates the acceptance table: behaviours of other systems, and the tests that prove them.

A test names the rows that it proves in a comment behind its `def`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = "<!-- Made by `make docs`; change the declarations instead. -->\n"

_ABOUT_BEHAVIOURS = """\
Five systems described how sessions of a browser-automation server should live: a WebDriver multi-session proposal
(W), a scripting server with `instance:context` sessions (F), a protocol with dormant sessions (B), a server with
session modes and policies (X), and one with conversation-bound sessions (O). This is what becomes of their rows here,
and which tests prove it. Open are the rows of the pytest plug-in, which comes later.
"""

_ROWS = re.compile(r"#\s*((?:[WFXBO]\d+(?![\w-])[ ,]*)+)")
_ROW = re.compile(r"[WFXBO]\d+")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


@dataclass
class Behaviour:
    """A behaviour, the rows of other systems that describe it, and the tests that prove it."""

    rows: list[str]
    text: str
    tests: dict[str, list[str]] = field(default_factory=dict)

    @property
    def open(self) -> list[str]:
        """Rows that no test names yet."""
        named = {row for rows in self.tests.values() for row in rows}
        return [row for row in self.rows if row not in named]


def parts() -> list[tuple[str, list[Behaviour]]]:
    """Return each part with its behaviours and their tests."""
    declared = tomllib.loads((ROOT / "tests" / "generators" / "behaviours.toml").read_text("utf-8"))["part"]
    titled = [
        (part["title"], [Behaviour(item["rows"].split(), item["text"]) for item in part["behaviour"]])
        for part in declared
    ]
    proofs = list(proving_tests())
    for _, behaviours in titled:
        for behaviour in behaviours:
            for test, rows in proofs:
                shared = [row for row in behaviour.rows if row in rows]
                if shared:
                    behaviour.tests[test] = shared
    return titled


def proving_tests() -> Iterator[tuple[str, list[str]]]:
    """Yield each test that names rows, with these."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                rows = [row for comment in _ROWS.findall(heading(node, lines)) for row in _ROW.findall(comment)]
                if rows:
                    yield f"{path.relative_to(ROOT).as_posix()}::{node.name}", rows


def heading(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """Return the lines of a test from its def to the end of its docstring."""
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return "\n".join(lines[node.lineno - 1 : first.end_lineno if documented else first.lineno - 1])


def page() -> str:
    """Return the page with the acceptance table."""
    titled = parts()
    all_behaviours = [behaviour for _, behaviours in titled for behaviour in behaviours]
    every = {row for behaviour in all_behaviours for row in behaviour.rows}
    proved = every.difference(*(behaviour.open for behaviour in all_behaviours))
    return "\n".join(
        [
            "# Behaviours\n",
            MADE,
            _ABOUT_BEHAVIOURS,
            f"{len(proved)} of {len(every)} rows are named by tests.",
            *(part(title, behaviours) for title, behaviours in titled),
            "",
        ]
    )


def part(title: str, behaviours: Iterable[Behaviour]) -> str:
    """Return one part of the acceptance table."""
    rows = (
        (
            " ".join(behaviour.rows),
            behaviour.text,
            "<br>".join(f"`{test.removeprefix('tests/')}` {' '.join(rows)}" for test, rows in behaviour.tests.items()),
            " ".join(behaviour.open) if behaviour.tests else "all",
        )
        for behaviour in behaviours
    )
    return f"\n## {title}\n\n" + table(("rows", "behaviour", "tests", "open"), ((*row,) for row in rows))
