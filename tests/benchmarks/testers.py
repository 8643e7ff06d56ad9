"""The cost of the pytest plug-in: of two users, of a context for each test, of its import while tests are collected."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import Figure, in_turns
from tests.servers.site import Site

_PAGE = "<title>shop</title><input aria-label=Name><button onclick='total.append(1)'>Pay</button><p id=total>Total </p>"
_FILES, _TESTS = 10, 100
_OURS = "orchestrator"
_WARM_UP = 2
"""Tests of a kind of which the first starts the browser."""

_CONFTEST = """
import json
from pathlib import Path

TOOK = {}


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.callspec.params["number"])


def pytest_runtest_logreport(report):
    TOOK.setdefault(report.nodeid.partition("::")[2].partition("[")[0], []).append((report.when, report.duration))


def pytest_sessionfinish():
    Path("took.json").write_text(json.dumps(TOOK))
"""
_USERS = """
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator

pytestmark = pytest.mark.parametrize("number", range({rounds}))
USERS = ("alice", "bob")


@pytest.fixture(scope="session")
def hand():
    with Orchestrator(Settings.load({{"namespace": "hand"}})) as orchestrator:
        orchestrator.start_browser("own")
        yield orchestrator


def shop(*users):
    for user in users:
        user.navigate({page!r})
        user.set_value("label=Name", user.id)
        user.click_element("text=Pay")
        user.expect("#total", text="Total 1")


@pytest.mark.users(*USERS)
def test_with_users(alice, bob, number):
    shop(alice, bob)


def test_by_hand(hand, number):
    with ThreadPoolExecutor(2) as pool:
        users = [*pool.map(lambda name: hand.start_browser(f"own:{{name}}"), USERS)]
        shop(*users)
        [*pool.map(lambda user: user.close(), users)]


def test_of_nothing(web, number):
    pass
"""


def figures(site: Site, folder: Path, rounds: int) -> Iterator[Figure]:
    """Measure all in turns: of each test its set-up, its call and its teardown."""
    folder.mkdir()
    took = _run_users(folder / "users", site.page("/shop", _PAGE), rounds)
    whole = {name: [sum(phases.values()) for phases in tests] for name, tests in took.items()}
    by_plugin, by_hand = whole["test_with_users"], whole["test_by_hand"]
    yield Figure("pytest: a test with two users (by hand)", by_plugin, by_hand, 1.15)
    yield Figure("pytest: a context for a test", whole["test_of_nothing"], (), 250)
    yield _collection(folder / "many", max(5, rounds // 5))


def _collection(folder: Path, rounds: int) -> Figure:
    """Measure the processor time, which depends less on the machine's load: nothing of it is done side by side."""
    _write(folder, {f"test_{file}.py": _many_tests() for file in range(_FILES)})
    ours, theirs = in_turns(
        rounds,
        lambda: _processor_time(folder, "--collect-only", "-q"),
        lambda: _processor_time(folder, "--collect-only", "-q", "-p", f"no:{_OURS}"),
        warm_up=1,
    )
    added = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    name = f"pytest: collection of {_FILES * _TESTS:,} tests, processor time added by the plug-in"
    return Figure(name, added, (), 1_000)


def _processor_time(folder: Path, *words: str) -> float:
    """Return the milliseconds of processor time of a run of pytest."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _pytest(folder, *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def _run_users(folder: Path, page: str, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Return the milliseconds of each phase of each test, by the test's function, in turns."""
    tests = _USERS.format(page=page, rounds=_WARM_UP + rounds)
    _write(folder, {"conftest.py": _CONFTEST, "test_users.py": tests})
    _pytest(folder)
    took: dict[str, list[dict[str, float]]] = {}
    for name, phases in json.loads((folder / "took.json").read_text("utf-8")).items():
        ms = [(when, seconds * 1000) for when, seconds in phases]
        took[name] = [dict(ms[at : at + 3]) for at in range(0, len(ms), 3)][_WARM_UP:]
    return took


def _many_tests() -> str:
    return "\n".join(f"def test_{number}(web):\n    web.navigate('/')\n" for number in range(_TESTS))


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in {"pytest.ini": "[pytest]\naddopts = -p no:cacheprovider\n", **files}.items():
        (folder / name).write_text(text, "utf-8")


def _pytest(folder: Path, *words: str) -> None:
    environment: dict[str, Any] = {**os.environ, "ORCHESTRATOR_HOME": str(folder / "home")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    command = [sys.executable, "-m", "pytest", "--basetemp", str(folder / "tmp"), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
