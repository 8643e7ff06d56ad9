"""Opening and closing the Python API like test tools, pools and notebooks; no test needs a browser."""

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
from tests.e2e.doors.test_python import settings
from tests.e2e.harness import NAMESPACE, Home

pytestmark = pytest.mark.full


def test_an_orchestrator_may_be_opened_and_closed_in_different_tasks(home: Home) -> None:
    """An orchestrator is opened, used and closed in three tasks, as pytest-asyncio and unittest do."""
    orchestrator = Orchestrator(settings(home))
    with asyncio.Runner() as runner:
        runner.run(orchestrator.__aenter__())
        with pytest.raises(SessionNotFound):
            runner.run(orchestrator.perform(GetText(), "ann"))
        runner.run(orchestrator.__aexit__(None, None, None))
        assert asyncio.all_tasks(runner.get_loop()) == set()


def test_an_orchestrator_runs_in_trio(home: Home) -> None:
    """The event loop may be trio's."""

    async def main() -> None:
        async with Orchestrator(settings(home)) as orchestrator:
            with pytest.raises(SessionNotFound):
                await orchestrator.perform(GetText(), "ann")

    anyio.run(main, backend="trio")


async def test_an_orchestrator_that_is_not_open_refuses_calls(home: Home) -> None:
    """An orchestrator can be opened again after it was closed, but not twice at a time."""
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


def test_a_sync_orchestrator_that_is_not_open_refuses_calls(home: Home) -> None:
    """A sync orchestrator can be opened again, not twice at a time; the error shows how to open it."""
    orchestrator = sync.Orchestrator(settings(home))
    for _ in range(2):
        with orchestrator:
            assert orchestrator.list_sessions().sessions == []
            with pytest.raises(RuntimeError, match="It is open already"):
                orchestrator.__enter__()
        with pytest.raises(RuntimeError, match=r"It is not open\. Write: with Orchestrator"):
            orchestrator.list_sessions()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_neither_hangs_nor_closes_its_parents_orchestrator(home: Home) -> None:
    """Calls in a forked child are refused with a reason, and an orchestrator never closed does not hang."""
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
