"""Opening and closing the Python API in the ways of test tools, pools and notebooks; none of it needs a browser."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import anyio
import pytest

from orchestrator import Orchestrator, sync
from orchestrator.actions.reading import GetText
from orchestrator.errors import SessionNotFound
from tests.e2e.harness import NAMESPACE, Home
from tests.e2e.test_python import settings


def test_one_task_may_open_it_and_another_close_it(home: Home) -> None:
    """As pytest-asyncio does with fixtures, and unittest with what `asyncSetUp` enters; calls come from a third one."""
    orchestrator = Orchestrator(settings(home))
    with asyncio.Runner() as runner:
        runner.run(orchestrator.__aenter__())
        with pytest.raises(SessionNotFound):
            runner.run(orchestrator.perform(GetText(), "ann"))
        runner.run(orchestrator.__aexit__(None, None, None))
        assert asyncio.all_tasks(runner.get_loop()) == set()


def test_it_is_opened_in_trio(home: Home) -> None:
    """The loop need not be asyncio's."""

    async def main() -> None:
        async with Orchestrator(settings(home)) as orchestrator:
            with pytest.raises(SessionNotFound):
                await orchestrator.perform(GetText(), "ann")

    anyio.run(main, backend="trio")


async def test_what_is_not_open_says_so(home: Home) -> None:
    """Before and after; it can be opened again, and not twice at a time."""
    orchestrator = Orchestrator(settings(home))
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"It is not open\. Write: async with Orchestrator"):
            await orchestrator.start_browser()
        async with orchestrator:
            assert (await orchestrator.list_sessions()).sessions == []
            with pytest.raises(RuntimeError, match="It is open already"):
                await orchestrator.__aenter__()
    with pytest.raises(RuntimeError, match="It is not open"):
        await orchestrator.list_sessions()
    assert home.records() == []


def test_the_blocking_twin_says_so_too(home: Home) -> None:
    """In its own words."""
    orchestrator = sync.Orchestrator(settings(home))
    for _ in range(2):
        with orchestrator:
            assert orchestrator.list_sessions().sessions == []
            with pytest.raises(RuntimeError, match="It is open already"):
                orchestrator.__enter__()
        with pytest.raises(RuntimeError, match=r"It is not open\. Write: with Orchestrator"):
            orchestrator.list_sessions()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_neither_hangs_nor_closes_what_its_parent_opened(home: Home) -> None:
    """It is refused in a sentence, and ends as it likes; nor does a program hang that never closes it."""
    script = (
        "import os, sys\n"
        "from orchestrator.sync import Orchestrator\n"
        "with Orchestrator() as orchestrator:\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        try:\n"
        "            orchestrator.list_sessions()\n"
        "        except RuntimeError as error:\n"
        "            print(error, flush=True)\n"
        "        sys.exit(3)\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "    print(len(orchestrator.list_sessions().sessions))\n"
        "print(repr(Orchestrator().__enter__()))\n"
    )
    environ = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder), "ORCHESTRATOR_NAMESPACE": NAMESPACE}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "It was opened in another process, and this one is its fork: open one here.",
        "3",
        "0",
        f"<Orchestrator in namespace {NAMESPACE!r}>",
    ], done.stderr
    assert (done.returncode, done.stderr) == (0, "")
