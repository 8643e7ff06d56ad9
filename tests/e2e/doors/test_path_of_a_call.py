"""The path of a call as `docs/code.md` describes it, traced in real processes: each step, in this order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.harness import NAMESPACE, Home
from tests.generators.code_map import PACKAGE, PAGE, ROOT
from tests.servers.mcp import Served
from tests.servers.site import Site

FORM = "<title>form</title><button onclick=\"document.body.append('Saved. ')\">Save</button>"
CLICK = {"action": "click_element", "selector": "text=Save"}
SCRIPT = """
from orchestrator.sync import Orchestrator
with Orchestrator() as orchestrator:
    orchestrator.session("one").click_element("text=Save")
"""

HOOK = """
import os, sys, threading

trace = os.open({file!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith({package!r}):
        path = code.co_filename.removeprefix({package!r}).replace(os.sep, "/")
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith({package!r}):
            caller = caller.f_back
        by = caller.f_code.co_filename.removeprefix({package!r}).replace(os.sep, "/") if caller is not None else path
        os.write(trace, f"{{path}}:{{code.co_qualname}} {{by}}\\n".encode())

threading.setprofile(note)
sys.setprofile(note)
"""
"""Module that Python imports at start as `sitecustomize`; it records every call of our functions, with its caller."""

pytestmark = pytest.mark.browser

MOST_FILES, MOST_UPWARDS = 40, 6
_CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
LAYERS = [
    {name.strip() for name in layer.split("|")}
    for layer in next(one["layers"] for one in _CONTRACTS if one["type"] == "layers")
]

_STEP = re.compile(r"^\d+\. `([\w/]+\.py:[\w.]+)`", re.MULTILINE)
_NAME = re.compile(r"`([\w/]+\.py:[\w.]+)`")


@dataclass(frozen=True)
class Traced:
    """A server with one session, and a file that records the function calls of all processes."""

    server: Served
    file: Path

    def trace(self, act: Callable[[], object]) -> Iterator[str]:
        """Yield the functions that any of these processes called during an action."""
        yield from (called for called, _ in self.calls(act))

    def calls(self, act: Callable[[], object]) -> list[tuple[str, str]]:
        """Return the functions called during an action, each with the file that called it."""
        before = self.file.stat().st_size
        act()
        lines = self.file.read_bytes()[before:].decode().splitlines()
        return [(called, by) for called, _, by in (line.partition(" ") for line in lines)]


@pytest.fixture(scope="module")
def traced(new_home: Callable[[], Home]) -> Iterator[Traced]:
    """A browser for all doors."""
    home = new_home()
    file = home.folder / "trace.txt"
    (home.folder / "sitecustomize.py").write_text(HOOK.format(file=str(file), package=f"{PACKAGE}{os.sep}"), "utf-8")
    path = os.pathsep.join([str(home.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    with Site() as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        patch.setenv("ORCHESTRATOR_HOME", str(home.folder))
        patch.setenv("ORCHESTRATOR_NAMESPACE", NAMESPACE)
        with home.serve() as server:
            server.ok("start_browser", sessionId="one", navigationUrl=site.page("/", FORM))
            yield Traced(server, file)


def steps() -> list[str]:
    """The numbered steps of the page."""
    return _STEP.findall(PAGE.read_text("utf-8"))


def layer(path: str) -> int:
    """Return the place of a file in the order of layers, which begins with the doors."""
    top = path.partition("/")[0].removesuffix(".py")
    return next(index for index, names in enumerate(LAYERS) if top in names)


def own_way(door: str) -> list[str]:
    """Return the page's steps of another door: its own ones, and the numbered step at which it joins."""
    row = next(line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {door} |"))
    _, _, way, joins, _ = row.split("|")
    number = re.search(r"\d+", joins)
    assert number
    return [*_NAME.findall(way), steps()[int(number[0]) - 1]]


def python(*arguments: str) -> None:
    """Run Python on the same home."""
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, timeout=100)


def not_taken(way: list[str], trace: Iterator[str]) -> list[str]:
    """Return the steps that were not called after those before them; none if the order is right."""
    return [step for step in way if step not in trace]


def test_a_click_over_mcp_takes_each_step_of_the_code_page_in_order(traced: Traced) -> None:
    """The page's numbered list is the path from the message to the rendered result."""
    trace = traced.trace(lambda: traced.server.ok("click_element", selector="text=Save"))
    assert not_taken(steps(), trace) == []


def test_a_click_calls_on_from_40_files_and_upwards_from_six_places_at_most(traced: Traced) -> None:
    """The limits hold once the connections are open; what runs beside one click (maintenance) is no part of it."""

    def click() -> set[tuple[str, str]]:
        made = traced.calls(lambda: traced.server.ok("click_element", selector="text=Save"))
        return {(called.partition(":")[0], by) for called, by in made}

    click()
    calls = click() & click() & click()
    assert len({by for called, by in calls if called != by}) <= MOST_FILES
    assert len({(by, called) for called, by in calls if layer(called) < layer(by)}) <= MOST_UPWARDS


def test_a_step_of_a_sequence_joins_the_path_where_the_code_page_says(traced: Traced) -> None:
    """A step has its own way through the coordinator, and then the path of any action."""
    trace = traced.trace(lambda: traced.server.ok("execute_sequence", actions=[CLICK]))
    assert not_taken(own_way("a step of `execute_sequence`"), trace) == []


def test_a_call_of_the_blocking_api_joins_the_path_where_the_code_page_says(traced: Traced) -> None:
    """A method of the blocking session reaches the façade in its background thread."""
    trace = traced.trace(lambda: python("-c", SCRIPT))
    assert not_taken(own_way("a call of `orchestrator.sync`"), trace) == []


def test_a_shell_command_joins_the_path_where_the_code_page_says(traced: Traced) -> None:
    """`orchestrator click` reaches the façade by its own command."""
    words = ["click", "text=Save", "-s", "one"]
    trace = traced.trace(lambda: python("-m", "orchestrator", *words))
    assert not_taken(own_way("`orchestrator click`"), trace) == []
