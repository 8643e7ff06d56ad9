"""What tests prove: the rows that they name behind their def, and the acceptance table that is made of them."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
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
    """A Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


@dataclass
class Behaviour:
    """What is taken over from some rows of the systems that described it, and the tests that prove it."""

    rows: list[str]
    text: str
    tests: dict[str, list[str]] = field(default_factory=dict)

    @property
    def open(self) -> list[str]:
        """The rows that no test names yet."""
        named = {row for rows in self.tests.values() for row in rows}
        return [row for row in self.rows if row not in named]


def parts() -> list[tuple[str, list[Behaviour]]]:
    """Every part with its behaviours and their tests."""
    declared = tomllib.loads((ROOT / "tests" / "behaviours.toml").read_text("utf-8"))["part"]
    found = [
        (part["title"], [Behaviour(one["rows"].split(), one["text"]) for one in part["behaviour"]]) for part in declared
    ]
    proofs = list(proving_tests())
    for _, behaviours in found:
        for one in behaviours:
            for test, rows in proofs:
                shared = [row for row in one.rows if row in rows]
                if shared:
                    one.tests[test] = shared
    return found


def proving_tests() -> Iterator[tuple[str, list[str]]]:
    """Each test that names rows, and these."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                rows = [row for comment in _ROWS.findall(heading(node, lines)) for row in _ROW.findall(comment)]
                if rows:
                    yield f"{path.relative_to(ROOT).as_posix()}::{node.name}", rows


def heading(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """The lines of a test from its def to the end of its docstring."""
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return "\n".join(lines[node.lineno - 1 : first.end_lineno if documented else first.lineno - 1])


def page() -> str:
    """The acceptance table."""
    found = parts()
    every = {row for _, ones in found for one in ones for row in one.rows}
    proved = every.difference(*(one.open for _, ones in found for one in ones))
    return "\n".join(
        [
            "# Behaviours\n",
            MADE,
            _ABOUT_BEHAVIOURS,
            f"{len(proved)} of {len(every)} rows are named by tests.",
            *(part(title, ones) for title, ones in found),
            "",
        ]
    )


def part(title: str, found: Iterable[Behaviour]) -> str:
    """One part of the acceptance table."""
    rows = (
        (
            " ".join(one.rows),
            one.text,
            "<br>".join(f"`{test.removeprefix('tests/')}` {' '.join(rows)}" for test, rows in one.tests.items()),
            " ".join(one.open) if one.tests else "all",
        )
        for one in found
    )
    return f"\n## {title}\n\n" + table(("rows", "behaviour", "tests", "open"), ((*row,) for row in rows))
