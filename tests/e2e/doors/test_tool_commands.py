"""Tools as commands of a shell: one caller, command after command, and whole tests of several users."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from orchestrator.demo.chat import ChatServer
from orchestrator.demo.device_server import DeviceServer
from orchestrator.demo.shop import bundle, web
from orchestrator.demo.shop.receipts import Receipt, differences
from orchestrator.demo.shop.scenario import PURCHASE
from tests.e2e.harness import NAMESPACE, Home
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

PASSWORDS = {"alice": "made-up-for-alice", "bob": "made-up-for-bob"}
CHAT_FILE = """
sequences:
  - sessionId: alice
    actions:
      - {action: set_value, selector: label=Name, value: alice}
      - {action: set_value, selector: label=Password, value: made-up-for-alice}
      - {action: click_element, selector: "role=button[name=Sign in]"}
      - {action: wait_for, text: bob is online}
      - {action: set_value, selector: label=Message, value: "Is the kettle on?", submit: true}
      - {action: expect, selector: role=log, containsText: yes}
  - sessionId: bob
    actions:
      - {action: set_value, selector: label=Name, value: bob}
      - {action: set_value, selector: label=Password, value: made-up-for-bob}
      - {action: click_element, selector: "role=button[name=Sign in]"}
      - {action: expect, selector: role=log, containsText: kettle}
      - {action: set_value, selector: label=Message, value: yes, submit: true}
"""


@dataclass
class Shell:
    """Commands on a home, each in a process of its own."""

    home: Home
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str, text: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        own = {"ORCHESTRATOR_HOME": str(self.home.folder), "ORCHESTRATOR_NAMESPACE": NAMESPACE}
        return subprocess.run(
            [sys.executable, "-m", "orchestrator", *words],
            env={**os.environ, **own, **self.environment, **environment},
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    def ok(self, *words: str, text: str | None = None, **environment: str) -> str:
        """Run a command that must succeed; returns what it printed."""
        done = self.run(*words, text=text, **environment)
        assert (done.returncode, done.stderr) == (0, ""), (words, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture
def shell(home: Home) -> Iterator[Shell]:
    """A shell without any session, which closes what it started."""
    shell = Shell(home)
    yield shell
    if home.folder.joinpath("sessions.db").exists() and home.records():
        shell.run("close-sessions", "--all")


def test_a_command_without_a_session_goes_to_the_current_one_of_the_shell(shell: Shell, site: Site) -> None:  # B29 B31
    """It is the first one, until `use` chooses another or it closes; ORCHESTRATOR_SESSION and -s go before it."""
    for name in ("alice", "bob"):
        assert shell.ok("start", "-s", name, site.page(f"/{name}", f"I am {name}")).startswith(f"{name}: active")
    assert shell.ok("text").splitlines()[-1] == "I am alice"
    shell.ok("use", "bob")
    assert shell.ok("text").splitlines()[-1] == "I am bob"
    assert shell.ok("text", ORCHESTRATOR_SESSION="alice") == "I am alice\n"
    assert shell.ok("-s=alice", "text", ORCHESTRATOR_SESSION="bob") == "I am alice\n"
    shell.ok("close")
    assert shell.ok("text").splitlines()[-1] == "I am alice"


def test_a_session_of_the_shell_is_forked_by_a_command(shell: Shell, site: Site) -> None:
    """The session may be omitted; the fork shows the same page."""
    shell.ok("start", "-s", "alice", site.page("/cart", "Two apples"))
    assert shell.ok("fork", "alice", "--as", "bob").startswith("bob: active")
    assert shell.ok("text", "-s", "bob") == "Two apples\n"


def test_a_session_of_the_shell_lives_on_for_its_idle_time(shell: Shell) -> None:
    """Not for the time of parking, which is that of clients that went away."""
    shell.ok("start", "-s", "long", "--options", "idleTimeout=2h")
    shell.ok("start", "-s", "usual", ORCHESTRATOR_IDLE_TIMEOUT="40m", ORCHESTRATOR_PARK_TTL="1")
    for name, idle in (("long", 7200), ("usual", 2400)):
        until(lambda name=name: shell.home.record(name).parked_until, "the keeper to see that the command ended")  # type: ignore[misc]
        record = shell.home.record(name)
        assert (record.parked_until or 0) - (record.parked_at or 0) == idle


def test_a_server_leaves_the_sessions_of_the_shell_to_it(shell: Shell, site: Site) -> None:
    """A server of the namespace sees them and can use them by name, and closing all of its own ends none."""
    shell.ok("start", "-s", "alice", site.page("/", "Tea?"))
    until(lambda: shell.home.record("alice").parked_until, "the keeper to see that the command ended")
    with shell.home.serve() as server:
        assert [row["sessionId"] for row in server.ok("list_sessions")["sessions"]] == ["alice"]
        assert server.ok("close_all_sessions")["closed"] == []
    assert shell.ok("text").splitlines()[-1] == "Tea?"


def test_commands_say_nothing_about_the_time_between_them(shell: Shell, site: Site) -> None:
    """A session that waited for the next command is as it was, which is no news: in results, errors and the log."""
    shell.ok("start", "-s", "alice", site.page("/", "Tea?"))
    until(lambda: shell.home.record("alice").parked_until, "the keeper to see that the command ended")
    assert json.loads(shell.ok("text", "--json", "-s", "alice")) == {"text": "Tea?"}
    until(lambda: shell.home.record("alice").parked_until, "the keeper to see that the command ended")
    failed = shell.run("click", "text=Milk", "--timeout", "0")
    assert failed.stderr.splitlines()[1:] == ["Session: alice."]
    assert "restore" not in shell.ok("log", "alice")


def test_exit_codes_tell_kinds_of_errors_apart(shell: Shell, site: Site) -> None:
    """An expectation that fails, wrong input, no session, a start that fails: 1, 2, 3, 4; hints name commands."""
    nobody = shell.run("text")
    assert (nobody.returncode, nobody.stderr.splitlines()) == (
        3,
        ["No session: none active. No session is open. Start one with orchestrator start."],
    )
    shell.ok("start", "-s", "alice", site.page("/", "Tea?"))
    unmet = shell.run("expect", "body", "--text", "Milk?", "--timeout", "0", "--json")
    assert unmet.returncode == 1
    assert json.loads(unmet.stdout)["error"]["code"] == "expectation_failed"
    assert "orchestrator outline" in unmet.stderr
    wrong = shell.run("click", "text=Tea", "--timeout", "-1")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert shell.run("start", "-s", "alice").returncode == 4


def test_a_page_is_opened_without_a_start_and_its_picture_is_saved(shell: Shell, site: Site, tmp_path: Path) -> None:
    """As over MCP: `open` starts a browser if the shell has no session, and says so.

    A picture gets a path of its own, or one below the home, which is printed.
    """
    told = shell.ok("open", site.page("/", "<title>Tea</title>"))
    assert "No session was open: browser-1 was started (chrome)." in told
    assert "'Tea'" in shell.ok("outline")
    shell.ok("screenshot", str(tmp_path / "tea.png"))
    assert (tmp_path / "tea.png").read_bytes().startswith(b"\x89PNG")
    assert str(shell.home.folder / "screenshots") in shell.ok("screenshot")


def test_two_users_chat_by_commands_alone(shell: Shell) -> None:  # W1 W44
    """The chat of the demonstration: two browsers, signed in, each sees what the other writes."""
    with ChatServer(PASSWORDS) as chat:
        for name, password in PASSWORDS.items():
            shell.ok("start", "-s", name, chat.url)
            shell.ok("fill", "label=Name", name, "-s", name)
            shell.ok("fill", "label=Password", password, "-s", name)
            shell.ok("click", "role=button[name=Sign in]", "-s", name)
        shell.ok("wait", "--text", "bob is online", "-s", "alice")
        shell.ok("fill", "label=Message", "Is the kettle on?", "--submit", "-s", "alice")
        shell.ok("expect", "role=log", "--contains-text", "Is the kettle on?", "-s", "bob")
        shell.ok("fill", "label=Message", "It is.", "--submit", "-s", "bob")
        shell.ok("wait", "--text", "It is.", "-s", "alice")
        assert [message.author for message in chat.messages] == ["alice", "bob"]
    assert set(shell.ok("close-all").split(": ")[1].rstrip(".\n").split(", ")) == {"alice", "bob"}


def test_two_users_chat_by_one_file(shell: Shell, tmp_path: Path) -> None:
    """A file with a sequence for each session runs them at the same time; words of YAML 1.1 stay words."""
    file = tmp_path / "chat.yaml"
    file.write_text(CHAT_FILE, "utf-8")
    with ChatServer(PASSWORDS) as chat:
        for name in PASSWORDS:
            shell.ok("start", "-s", name, chat.url)
        results = json.loads(shell.ok("run", str(file), "--json"))["results"]
        assert {name: result["completed"] for name, result in results.items()} == {"alice": 6, "bob": 5}
        assert [message.text for message in chat.messages] == ["Is the kettle on?", "yes"]


VISITS_FILE = """
sequences:
  - {{start: {{sessionId: ann, navigationUrl: "{page}"}}, close: true, actions: [{{action: expect, title: Tea}}]}}
  - {{start: {{sessionId: ben, navigationUrl: "{page}"}}, actions: [{{action: expect, title: Tea}}]}}
"""


def test_a_file_starts_the_sessions_that_it_needs_and_closes_them(shell: Shell, site: Site, tmp_path: Path) -> None:
    """With `start` a sequence needs no session before it; with `close` none is left, else it is the shell's own."""
    file = tmp_path / "visits.yaml"
    file.write_text(VISITS_FILE.format(page=site.page("/", "<title>Tea</title>")), "utf-8")
    results = json.loads(shell.ok("run", str(file), "--json"))["results"]
    assert {name: (one["completed"], one.get("closed")) for name, one in results.items()} == {
        "ann": (1, True),
        "ben": (1, None),
    }
    assert [row["sessionId"] for row in json.loads(shell.ok("list", "--json"))["sessions"]] == ["ben"]
    assert "'Tea'" in shell.ok("outline", "-s", "ben")
    assert shell.ok("close-all") == "Closed: ben.\n"


def test_a_file_of_steps_that_fails_closes_what_it_started(shell: Shell, site: Site) -> None:
    """The exit code is that of the first step that failed, and the message names the session."""
    start = {"sessionId": "ann", "navigationUrl": site.page("/", "<title>Tea</title>")}
    steps = [{"action": "expect", "title": "Milk", "timeout": 0}]
    failed = shell.run("run", "-", text=json.dumps({"sequences": [{"start": start, "close": True, "actions": steps}]}))
    assert failed.returncode == 1, failed.stderr
    assert "ann" in failed.stderr
    assert json.loads(shell.ok("list", "--json"))["sessions"] == []


def test_a_file_with_a_start_among_its_steps_needs_no_session(shell: Shell, site: Site) -> None:
    """A sequence that starts a session goes on in it, and ends it by its last step."""
    steps = [
        {"action": "start_browser", "sessionId": "ann", "navigationUrl": site.page("/", "<title>Tea</title>")},
        {"action": "expect", "title": "Tea"},
        {"action": "close_session"},
    ]
    assert json.loads(shell.ok("run", "-", "--json", text=json.dumps(steps)))["completed"] == len(steps)
    assert json.loads(shell.ok("list", "--json"))["sessions"] == []


def words_of_step(step: dict[str, Any]) -> list[str]:
    """Return a step of the purchase as a command."""
    match step:
        case {"action": "tap_element"}:
            return ["tap", step["selector"]]
        case {"action": "set_value"}:
            return ["fill", step["selector"], step["value"]]
        case {"action": "scroll"}:
            return ["scroll", "--selector", step["selector"]]
        case _:
            return ["wait", "--text", step["text"]]


@pytest.fixture
def shops(shell: Shell, device_server: DeviceServer, tmp_path: Path) -> Iterator[Shell]:
    """A shell with the shop of the demonstration as a page and as two apps."""
    shell.environment["ORCHESTRATOR_APPIUM_URL"] = device_server.url
    apps = {name: bundle(tmp_path / name, name) for name in ("web", "ios", "android")}
    with ExitStack() as stack:
        page = stack.enter_context(web(apps["web"]))
        shell.ok("start", "-s", "web", page.url, "--viewport", "width=480", "--viewport", "height=900")
        for name, platform, device in (("ios", "iOS", "iPhone 15"), ("android", "Android", "Pixel 8")):
            app = ("--app-path", str(apps[name]), "--device-name", device)
            shell.ok("start", "app", platform, "-s", name, *app)
        yield shell
        shell.run("close-all")


def receipts(shell: Shell) -> dict[str, Receipt]:
    """Return what each platform shows at the end of a purchase."""
    texts = {name: json.loads(shell.ok("text", "-s", name, "--json")) for name in ("web", "ios", "android")}
    return {name: Receipt.read(text["text"]) for name, text in texts.items()}


@pytest.mark.timeout(300)
def test_a_purchase_by_commands_alone_ends_the_same_on_three_platforms(shops: Shell) -> None:  # W2
    """The checkout of the demonstration: on Android each step is a command, on web and iOS all are one file.

    The file is one list of steps for both sessions, read from standard input as JSON.
    """
    for step in PURCHASE:
        shops.ok(*words_of_step(step), "-s", "android")
    steps = {"sequences": [{"sessionIds": ["web", "ios"], "actions": PURCHASE}]}
    shops.ok("run", "-", text=json.dumps(steps))
    found = receipts(shops)
    assert differences(found) == {}
    assert found["web"].complete
    assert shops.ok("compare", "elements", "web", "ios", "android")
