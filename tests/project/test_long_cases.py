"""What `make test` leaves out is one more case of what it shows."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.generators.behaviours import proving_tests

TESTS = Path(__file__).parents[1]
LONG = "pytest.mark.long"


def _long_tests() -> set[str]:
    """Return the tests that `make test` leaves out as a whole, as `file::test`."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        module = ast.parse(path.read_text("utf-8"))
        tests = [node for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        is_long = any(
            isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node.targets[0]) and LONG in ast.unparse(node)
            for node in module.body
        )
        for test in tests:
            if is_long or any(ast.unparse(decorator) == LONG for decorator in test.decorator_list):
                found.add(f"{path.relative_to(TESTS).as_posix()}::{test.name}")
    return found


def test_each_row_of_the_behaviours_is_proven_by_make_test() -> None:
    """No row is named by long tests alone."""
    proofs: dict[str, list[str]] = defaultdict(list)
    for proof in proving_tests():
        for row in proof.rows:
            proofs[row].append(proof.test)
    long = _long_tests()
    assert long
    assert [row for row, tests in proofs.items() if long.issuperset(tests)] == []


def test_each_promise_of_the_security_page_is_tested_by_make_test() -> None:
    """No test that the page names is long."""
    page = (TESTS.parent / "docs" / "security.md").read_text("utf-8")
    named = set(re.findall(r"\btest_\w+", page))
    assert len(named) > 100
    assert sorted(test for test in _long_tests() if test.partition("::")[2] in named) == []
