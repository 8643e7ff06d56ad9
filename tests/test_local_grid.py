"""`orchestrator grid`: a Grid of this machine comes, is used, and goes with all that runs on it."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path

import pytest

from orchestrator import local_grid
from orchestrator.errors import InvalidArgument, StartFailed
from orchestrator.machine import Machine
from orchestrator.settings import Settings
from tests import grid_end
from tests.e2e.harness import NAMESPACE, Home
from tests.mcp_server.test_cli import run
from tests.needed import needed
from tests.ports import free_port


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine that has only what a test puts into its one folder of programs."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return Machine({"PATH": str(tmp_path / "bin")}, "linux", ())


def test_it_comes_is_used_and_goes(tmp_path: Path) -> None:
    """`up` says how to use it, a second one finds it, a server's sweep leaves it, `down` ends its sessions as well."""
    needed(grid_end.missing())
    settings = {"ORCHESTRATOR_HOME": str(tmp_path), "ORCHESTRATOR_NAMESPACE": NAMESPACE}
    port = free_port()
    try:
        first = run("grid", "up", "--port", str(port), "--sessions", "1", **settings)
        assert (first.returncode, first.stderr) == (0, "")
        said, use = first.stdout.splitlines()
        assert said == f"Selenium Grid is ready at http://127.0.0.1:{port}. To stop it: orchestrator grid down"
        again = run("grid", "up", **settings)
        assert again.stdout.splitlines() == [f"Selenium Grid runs already at http://127.0.0.1:{port}.", use]
        call = re.fullmatch(r"A session on it: start_session (.*)", use)
        assert call is not None
        with Home(tmp_path).serve() as server:
            started = server.call("start_session", **json.loads(call[1]))
            assert not started.failed, started.text
            assert (
                server.call("navigate", url="data:text/html,<title>On the Grid</title>").data["title"] == "On the Grid"
            )
            ended = run("grid", "down", **settings)
            assert ended.stdout == f"Selenium Grid at http://127.0.0.1:{port} is stopped; it ended 1 session.\n"
            assert server.call("get_visible_elements").code == "session_lost"
    finally:
        last = run("grid", "down", **settings)
    assert (last.returncode, last.stdout) == (0, "No Selenium Grid of this data folder runs.\n")
    assert Home(tmp_path).folders() == []


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """Nothing is started, and the option that helps is named."""
    needed(grid_end.missing())
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run("grid", "up", "--port", str(port), ORCHESTRATOR_HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"Port {port} is taken by another program. Choose another one with --port.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_java_that_is_too_old(nowhere: Machine) -> None:
    """Java 8 calls itself 1.8."""
    old = Path(nowhere.environ["PATH"], "java")
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n", "utf-8")
    old.chmod(0o700)
    with pytest.raises(StartFailed) as told:
        local_grid.java(nowhere)
    assert told.value.message == f"{old} is Java 8; Selenium Grid needs 11 or newer."


def test_no_java(nowhere: Machine) -> None:
    """What to install is said."""
    with pytest.raises(StartFailed, match=r"needs Java, which was not found .* Install Java 11 or newer"):
        local_grid.java(nowhere)


def test_no_server(nowhere: Machine, tmp_path: Path) -> None:
    """All three ways to get one are told."""
    with pytest.raises(StartFailed) as told:
        local_grid.server(nowhere, Settings(home=tmp_path))
    assert told.value.message == "The Selenium server was not found on this machine."
    for way in ("npm install -g", str(tmp_path / "grid"), "--jar"):
        assert way in told.value.hint


def test_the_newest_server_is_taken(nowhere: Machine, tmp_path: Path) -> None:
    """Of those in the data folder and in npm's; what the settings name wins, and must be there."""
    older, newer = (tmp_path / "grid" / "selenium-server-4.9.1.jar"), nowhere.package(local_grid.PACKAGE)[0] / "jar"
    for path in (older, newer / "selenium-server-4.48.0.jar"):
        path.parent.mkdir(parents=True)
        path.touch()
    assert local_grid.server(nowhere, Settings(home=tmp_path)) == newer / "selenium-server-4.48.0.jar"
    assert local_grid.server(nowhere, Settings(home=tmp_path, selenium_server=older)) == older
    with pytest.raises(InvalidArgument, match=r"none\.jar is not there"):
        local_grid.server(nowhere, Settings(home=tmp_path), tmp_path / "none.jar")


def test_no_browser(nowhere: Machine) -> None:
    """A Grid that could run nothing is not started."""
    with pytest.raises(StartFailed, match="No browser with its driver was found"):
        local_grid.configuration(nowhere, Settings(), 1)
