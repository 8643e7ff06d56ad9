"""The commands for people beside a running server: looking changes nothing, leaving ends nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from orchestrator.registry import Providers
from tests.e2e.harness import NAMESPACE, Home, kill, runs, until
from tests.remote_end import remote_end
from tests.served import Served
from tests.site import Site


def shell(home: Home, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command on this home, as a person in a shell would."""
    environment = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder), "ORCHESTRATOR_NAMESPACE": NAMESPACE, **environ}
    command = [sys.executable, "-m", "orchestrator", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=100)


def listed(home: Home) -> list[str]:
    """The ids that `sessions list` shows."""
    return [row["sessionId"] for row in json.loads(shell(home, "sessions", "list", "--json").stdout)["sessions"]]


def test_listing_shows_what_is_open(modern: Served, shared_home: Home, site: Site) -> None:
    """A table for people, the rows of the wire for machines; another namespace has none."""
    page = site.page("/", "<title>shop</title>")
    modern.ok("start_browser", sessionId="ann", navigationUrl=page)
    head, row = shell(shared_home, "sessions", "list").stdout.splitlines()
    assert head.split() == ["SESSION", "STATE", "BROWSER", "PROVIDER", "UNUSED", "URL"]
    assert row.split()[:3] == ["ann", "active", "chrome"]
    assert row.split()[-1] == page
    data = json.loads(shell(shared_home, "sessions", "list", "--json").stdout)
    assert data == {"namespace": NAMESPACE, "sessions": modern.ok("list_sessions")["sessions"]}
    elsewhere = shell(shared_home, "sessions", "list", "--namespace", "elsewhere")
    assert elsewhere.stdout == "No session is open in namespace 'elsewhere'.\n"


def test_listing_leaves_orphans_alone(lasting: Home) -> None:
    """A session whose server was killed is shown, and waits for the next server; looking changes nothing."""
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


def test_listing_makes_no_records(home: Home) -> None:
    """In a home without any."""
    assert listed(home) == []
    assert home.files() == set()


def test_closing_by_name(modern: Served, shared_home: Home) -> None:
    """Those that are named, whoever started them; the others stay, and an unknown name is told."""
    for name in ("ann", "ben", "eve"):
        modern.ok("start_browser", sessionId=name)
    done = shell(shared_home, "sessions", "close", "ann", "eve")
    assert (done.returncode, done.stdout) == (0, "Closed: ann.\nClosed: eve.\n")
    assert listed(shared_home) == ["ben"]
    assert modern.call("get_text", sessionId="ann").code == "session_not_found"
    unknown = shell(shared_home, "sessions", "close", "nobody", "ben")
    assert (unknown.returncode, unknown.stdout) == (1, "Closed: ben.\n")
    assert unknown.stderr.startswith("No session: nobody.")


def test_closing_by_what_holds_for_them(modern: Served, shared_home: Home) -> None:
    """Every option given must hold."""
    for name in ("shop-1", "shop-2", "blog-1"):
        modern.ok("start_browser", sessionId=name)
    assert shell(shared_home, "sessions", "close", "--prefix", "shop", "--idle", "1h").stdout == "Nothing was open.\n"
    done = shell(shared_home, "sessions", "close", "--prefix", "shop", "--json")
    assert json.loads(done.stdout)["closed"] == ["shop-1", "shop-2"]
    assert shell(shared_home, "sessions", "close", "--all").stdout == "Closed: blog-1.\n"
    assert shared_home.is_clean()


def test_detaching_leaves_the_browser_alive(home: Home) -> None:
    """Its record goes, its browser stays, and the way to it is printed."""
    with home.serve() as server:
        server.ok("start_browser", sessionId="ann")
        browser, driver = home.process("ann", "chrome"), home.process("ann", "chromedriver")
        told = shell(home, "sessions", "close", "ann", "--detach").stdout
        assert told.startswith("Detached: ann.\nWarning: ann goes on at its remote end: remoteUrl http://127.0.0.1:")
        assert listed(home) == []
        assert runs(browser)
        assert runs(driver)
    for process in (driver, browser):
        kill(process)
    until(lambda: not home.processes(), "the end of the detached browser")
    with home.serve():
        until(home.is_clean, "the sweep of the detached session's folder")


def test_what_a_session_came_to_is_said(modern: Served, shared_home: Home) -> None:
    """With a status a session is closed, and told as unmarked where nobody keeps such a thing."""
    modern.ok("start_browser", sessionId="ann")
    unnamed = shell(shared_home, "sessions", "close", "--all", "--status", "passed")
    assert "--status and --reason are of sessions that are named. Give names." in unnamed.stderr
    wrong = shell(shared_home, "sessions", "close", "ann", "--status", "so-so")
    assert "'so-so' is no status of a session. It is passed or failed." in wrong.stderr
    assert listed(shared_home) == ["ann"]
    done = shell(shared_home, "sessions", "close", "ann", "--status", "failed", "--reason", "no tea", "--json")
    told = json.loads(done.stdout)
    assert told["closed"] == ["ann"]
    assert told["warnings"] == ["ann is not marked as failed. Provider 'local' keeps no status of its sessions."]


def test_wrong_input_closes_nothing(home: Home) -> None:
    """Exit code 2 and a sentence."""
    nothing = shell(home, "sessions", "close")
    assert (nothing.returncode, nothing.stderr.splitlines()) == (
        2,
        ["Nothing says what to close. Give names, or --prefix, --idle, --all."],
    )
    both = shell(home, "sessions", "close", "ann", "--all")
    assert (both.returncode, both.stderr.startswith("Names and options are both given.")) == (2, True)
    never = shell(home, "sessions", "close", "--idle", "soon")
    assert (never.returncode, never.stderr.startswith("--idle: 'soon' is not a duration")) == (2, True)


def test_providers_are_listed(home: Home) -> None:
    """With types, browsers and options."""
    found = json.loads(shell(home, "providers", "--json").stdout)["providers"]
    assert [one["name"] for one in found] == list(Providers())
    local = next(one for one in found if one["name"] == "local")
    assert (local["types"], "chrome" in local["browsers"], "proxy" in local["options"]) == (["browser"], True, True)
    assert "local (of webdriver-orchestrator): browser, browsers: chrome" in shell(home, "providers").stdout


def test_a_broken_provider_is_listed_with_its_reason(home: Home) -> None:
    """A package that does not load hides nothing of the others."""
    package = home.folder / "broken_provider-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-provider\nVersion: 1\n", "utf-8")
    (package / "entry_points.txt").write_text("[orchestrator.providers]\nbroken = nowhere_at_all:Nothing\n", "utf-8")
    shown = shell(home, "providers", PYTHONPATH=str(home.folder)).stdout
    assert "broken (of broken-provider) is broken: Provider 'broken' of broken-provider" in shown
    assert "local (of webdriver-orchestrator)" in shown
    found = json.loads(shell(home, "providers", "--json", PYTHONPATH=str(home.folder)).stdout)["providers"]
    assert "No module named 'nowhere_at_all'" in next(one for one in found if one["name"] == "broken")["broken"]


def test_the_doctor_says_that_a_session_can_start(home: Home) -> None:
    """As on every machine that runs these tests; in text and in data, and nothing is left by looking."""
    text = shell(home, "doctor")
    assert (text.returncode, text.stdout.splitlines()[-1]) == (0, "A browser session can start.")
    data = json.loads(shell(home, "doctor", "--json").stdout)
    assert data["startable"] is True
    assert list(data["sections"]) == ["Installation", "Browsers", "Apps", "Selenium Grid", "Credentials"]
    assert home.files() == set()


def test_attaching_gives_a_session_to_the_servers(modern: Served, shared_home: Home, site: Site) -> None:
    """It outlives the command: a server that runs uses it by name, and closing it leaves the remote one alive."""
    page = site.page("/", "<title>Handed over</title>")
    with remote_end() as end:
        session = end.start()
        end.ask("POST", session, "/url", {"url": page})
        done = shell(shared_home, "sessions", "attach", end.url, session, "--name", "theirs")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "theirs is attached. It goes on at its remote end when it is closed here.\n"
        assert modern.ok("expect", sessionId="theirs", title="Handed over")
        assert modern.ok("close_session", sessionId="theirs")["closed"] == ["theirs"]
        assert end.sessions() == [session]


def test_what_does_not_live_is_not_attached(home: Home) -> None:
    """One sentence on what is wrong, and no record."""
    with remote_end() as end:
        done = shell(home, "sessions", "attach", end.url, "f" * 32)
    assert done.returncode == 1
    assert "Check remoteUrl and remoteSessionId; nothing was recorded." in done.stderr
    assert listed(home) == []
