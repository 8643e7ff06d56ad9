"""The English of docstrings: each begins with a verb or a noun."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for top in ("orchestrator", "providers") for path in (ROOT / top).rglob("*.py"))

RIDDLE = re.compile(
    r"(What|Whether|Who|Whoever|Whose|Where|It|They|How|Which|When|Until|That|Those|Be|One|As)\b", re.IGNORECASE
)
"""First words of a docstring that leave open what the documented thing is or does."""


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a source with their lines: of modules, classes and functions, and below attributes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            before: list[ast.stmt | None] = [None, *node.body]
            for earlier, statement in itertools.pairwise(before):
                documents = earlier is None or isinstance(earlier, ast.Assign | ast.AnnAssign)
                if documents and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    yield statement.lineno, str(statement.value.value)


def riddles(source: str) -> list[int]:
    """Return the lines of the docstrings with such a first word."""
    return [line for line, text in docstrings(source) if RIDDLE.match(text.lstrip())]


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    """No docstring begins with What, Whether, Who, Where, It or the like."""
    offenders = [
        f"{path.relative_to(ROOT).as_posix()}:{line}" for path in SOURCES for line in riddles(path.read_text("utf-8"))
    ]
    assert offenders == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""What is here."""', [1]),
        ('"""Whatever begins otherwise."""', []),
        ('class A:\n    """It."""\n    b = 1\n    """Until then."""', [2, 4]),
        ('async def a() -> None:\n    """Where?"""', [2]),
        ('LIMIT: int = 1\n"""Those at most."""\n"""When nothing stands before."""', [2]),
        ('def a() -> None:\n    """Return."""\n    call()\n    "who"', []),
    ],
)
def test_docstrings_are_found_at_modules_classes_functions_and_attributes(source: str, lines: list[int]) -> None:
    """Each kind of docstring is read, and no other text."""
    assert riddles(source) == lines
