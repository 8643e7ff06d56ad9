"""What a browser opened for a person, such as the office program for a download, outlives its session."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from orchestrator_providers.local import drivers
from tests.e2e.harness import Home, kill, runs
from tests.waiting import until

pytestmark = pytest.mark.full


class Opener:
    """A browser that starts a program of another folder, as one does that opens a file; the program inherits all."""

    def __init__(self, folder: Path) -> None:
        self.browser = folder / "browser"
        self._pid = folder / "pid"
        program = shlex.quote(str(drivers.DriverFinder.this().browser("chrome")))
        self.browser.write_text(
            f"#!/bin/sh\nsleep 600 >{folder}/out 2>&1 &\necho $! >{self._pid}.new\nmv {self._pid}.new {self._pid}\n"
            f'exec {program} "$@"\n'
        )
        self.browser.chmod(0o755)

    def opened(self) -> psutil.Process:
        """Return the program that the browser started."""
        until(self._pid.exists, "the start of the program")
        return psutil.Process(int(self._pid.read_text()))


@pytest.fixture
def opener(home: Home, tmp_path: Path) -> Iterator[Opener]:  # noqa: ARG001 - the home waits until nothing of it runs
    """A browser that opens a program, which is ended after the test."""
    opener = Opener(tmp_path)
    yield opener
    kill(opener.opened())


def helpers(home: Home, opened: psutil.Process) -> list[psutil.Process]:
    """Return what runs of a browser and its driver, without the program that was opened."""
    return [process for process in home.processes() if process.pid != opened.pid]


def test_a_program_that_the_browser_opened_outlives_the_session(home: Home, opener: Opener) -> None:
    """Closing the session ends driver, browser and all helpers of it, and nothing that it opened."""
    with home.serve(chrome_binary=str(opener.browser)) as server:
        server.ok("start_browser", sessionId="a", navigationUrl="data:text/html,hi")
        opened = opener.opened()
        assert len(helpers(home, opened)) > 2
        server.ok("close_session", sessionId="a")
        until(lambda: not helpers(home, opened), "the end of the browser's own processes")
        assert runs(opened)


def test_a_program_that_the_browser_opened_outlives_its_crash(home: Home, opener: Opener) -> None:
    """When the browser dies, what is left of it is ended, and what it opened goes on."""
    with home.serve(chrome_binary=str(opener.browser)) as server:
        server.ok("start_browser", sessionId="a", navigationUrl="data:text/html,hi")
        opened = opener.opened()
        kill(home.process("a", "browser"))
        until(lambda: server.ok("list_sessions")["sessions"][0]["state"] == "lost", "the loss of the session")
        until(lambda: not helpers(home, opened), "the end of the browser's own processes")
        assert runs(opened)
