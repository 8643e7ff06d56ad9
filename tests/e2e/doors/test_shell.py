"""The commands for people beside a running server: reading changes nothing, detaching ends nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from orchestrator.sessions.providers import Providers
from tests.e2e.harness import NAMESPACE, Home, kill, runs
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.servers.webdriver import remote_end
from tests.waiting import until


def shell(home: Home, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command on this home, as a person in a shell would."""
    environment = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder), "ORCHESTRATOR_NAMESPACE": NAMESPACE, **environ}
    command = [sys.executable, "-m", "orchestrator", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=100)


def listed(home: Home) -> list[str]:
    """The ids that `orchestrator list` shows."""
    return [row["sessionId"] for row in json.loads(shell(home, "list", "--json").stdout)["sessions"]]


def test_list_shows_the_open_sessions_of_its_namespace(modern: Served, shared_home: Home, site: Site) -> None:
    """The command prints the rows of list_sessions, as text or JSON, for one namespace; they are not the shell's."""
    page = site.page("/", "<title>shop</title>")
    modern.ok("start_browser", sessionId="ann", navigationUrl=page)
    row, current = shell(shared_home, "list").stdout.splitlines()
    assert row.startswith("ann: active, chrome")
    assert page in row
    assert current == "Current session: none."
    rows = [{**row, "owned": False} for row in modern.ok("list_sessions")["sessions"]]
    assert json.loads(shell(shared_home, "list", "--json").stdout)["sessions"] == rows
    elsewhere = shell(shared_home, "list", "--namespace", "elsewhere")
    assert elsewhere.stdout.splitlines()[0] == "No session is open."


def test_list_shows_an_orphaned_session_without_changing_it(lasting: Home) -> None:
    """A killed server's session is listed and left for the next server."""
    with lasting.serve() as server:
        server.ok("start_browser", sessionId="left")
        kill(server.process)
        until(lambda: not runs(server.process), "the server's end")
        until(lambda: lasting.record("left").state == "parked", "the keeper to notice")
        before = lasting.record("left")
        assert listed(lasting) == ["left"]
        assert lasting.record("left") == before
    with lasting.serve() as heir:
        assert heir.ok("get_text", sessionId="left")["text"] == ""


def test_close_closes_a_session_of_anyone_by_its_name(modern: Served, shared_home: Home) -> None:
    """A named session is closed even if a server started it, all others stay, and an unknown name is reported."""
    for name in ("ann", "ben"):
        modern.ok("start_browser", sessionId=name)
    done = shell(shared_home, "close", "ann")
    assert (done.returncode, done.stdout) == (0, "Closed: ann.\n")
    assert listed(shared_home) == ["ben"]
    assert modern.call("get_text", sessionId="ann").code == "session_not_found"
    unknown = shell(shared_home, "close", "nobody")
    assert (unknown.returncode, unknown.stdout) == (3, "")
    assert unknown.stderr.startswith("No session: nobody.")


def test_close_sessions_closes_only_what_meets_every_given_option(modern: Served, shared_home: Home) -> None:
    """Sessions are closed only if every option given holds for them; without one nothing is, with exit code 2."""
    for name in ("shop-1", "shop-2", "blog-1"):
        modern.ok("start_browser", sessionId=name)
    idle = shell(shared_home, "close-sessions", "--prefix", "shop", "--idle-ms", "3600000")
    assert idle.stdout == "Nothing was open.\n"
    assert shell(shared_home, "close-sessions").returncode == 2
    done = shell(shared_home, "close-sessions", "--prefix", "shop", "--json")
    assert json.loads(done.stdout)["closed"] == ["shop-1", "shop-2"]
    assert shell(shared_home, "close-sessions", "--all").stdout == "Closed: blog-1.\n"
    until(shared_home.is_clean, "a clean home")


@pytest.mark.full
def test_close_detach_leaves_the_browser_running(home: Home) -> None:
    """A detached session loses its record, its browser stays, and its remoteUrl is printed."""
    with home.serve() as server:
        server.ok("start_browser", sessionId="ann")
        browser, driver = home.process("ann", "chrome"), home.process("ann", "chromedriver")
        told = shell(home, "close", "ann", "--detach").stdout
        assert told.startswith(
            "Detached: ann.\nWarning: ann keeps running at its remote end: remoteUrl http://127.0.0.1:"
        )
        assert listed(home) == []
        assert runs(browser)
        assert runs(driver)
    for process in (driver, browser):
        kill(process)
    until(lambda: not home.processes(), "the end of the detached browser")
    with home.serve():
        until(home.is_clean, "the sweep of the detached session's folder")


def test_a_status_has_to_be_valid_and_warns_if_the_provider_keeps_none(modern: Served, shared_home: Home) -> None:
    """A wrong status closes nothing; a right one that the provider cannot keep is a warning."""
    modern.ok("start_browser", sessionId="ann")
    wrong = shell(shared_home, "close", "ann", "--status", "so-so")
    assert (wrong.returncode, "invalid choice: 'so-so'" in wrong.stderr) == (2, True)
    assert listed(shared_home) == ["ann"]
    done = shell(shared_home, "close", "ann", "--status", "failed", "--reason", "no tea", "--json")
    told = json.loads(done.stdout)
    assert told["closed"] == ["ann"]
    assert told["warnings"] == ["ann is not marked as failed. Provider 'local' keeps no status of its sessions."]


def test_a_session_that_cannot_be_ended_makes_close_fail(modern: Served, shared_home: Home) -> None:
    """It is named in the output, its record is gone, and the exit code is 1: a script must not go on unaware."""
    with remote_end() as end:
        where = {"options": {"url": end.url}, "capabilities": end.capabilities()}
        modern.ok("start_session", provider="remote_url", platform="browser", sessionId="far", **where)
        end.kill()
        done = shell(shared_home, "close", "far")
    assert (done.returncode, "Not ended: far: " in done.stdout) == (1, True)


def test_the_providers_command_lists_types_browsers_and_options_and_what_is_broken(home: Home) -> None:
    """Each provider has its types, browsers and options; a package that does not load has its error and hides none."""
    package = home.folder / "broken_provider-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-provider\nVersion: 1\n", "utf-8")
    (package / "entry_points.txt").write_text("[orchestrator.providers]\nbroken = nowhere_at_all:Nothing\n", "utf-8")
    shown = shell(home, "providers", PYTHONPATH=str(home.folder)).stdout
    assert "local (of webdriver-orchestrator): browser, browsers: chrome" in shown
    assert "broken (of broken-provider) is broken: Provider 'broken' of broken-provider" in shown
    listed = json.loads(shell(home, "providers", "--json", PYTHONPATH=str(home.folder)).stdout)["providers"]
    found = {one["name"]: one for one in listed}
    assert {*found} == {*Providers(), "broken"}
    local = found["local"]
    assert (local["types"], "chrome" in local["browsers"], "proxy" in local["options"]) == (["browser"], True, True)
    assert "No module named 'nowhere_at_all'" in found["broken"]["broken"]


def test_doctor_reports_that_a_browser_session_can_start(home: Home) -> None:
    """The doctor command reports in text and JSON that a session can start, and writes nothing."""
    text = shell(home, "doctor")
    assert (text.returncode, text.stdout.splitlines()[-1]) == (0, "A browser session can start.")
    data = json.loads(shell(home, "doctor", "--json").stdout)
    assert data["startable"] is True
    assert list(data["sections"]) == ["Installation", "Browsers", "Apps", "Selenium Grid", "Credentials"]
    assert home.files() == set()


def test_an_attached_session_is_usable_by_running_servers(modern: Served, shared_home: Home, site: Site) -> None:
    """A server uses the attached session by name, and closing it leaves the remote session alive."""
    page = site.page("/", "<title>Handed over</title>")
    with remote_end() as end:
        session = end.start()
        end.ask("POST", session, "/url", {"url": page})
        done = shell(shared_home, "attach", end.url, session, "-s", "theirs")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("theirs: active, ")
        assert modern.ok("expect", sessionId="theirs", title="Handed over")
        assert modern.ok("close_session", sessionId="theirs")["closed"] == ["theirs"]
        assert end.sessions() == [session]


def test_attaching_a_dead_remote_session_is_refused_without_a_record(home: Home) -> None:
    """Attaching a session that is unknown to the remote end fails with a sentence and leaves no record."""
    with remote_end() as end:
        done = shell(home, "attach", end.url, "f" * 32)
    assert done.returncode == 3
    assert "Check remoteUrl and remoteSessionId; nothing was recorded." in done.stderr
    assert listed(home) == []
