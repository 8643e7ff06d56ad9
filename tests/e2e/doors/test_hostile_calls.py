"""The collection of hostile tool calls: nothing outside the roots is read or written, and nothing is started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.e2e.hostile_calls import (
    ARGUMENT_TRICKS,
    FILES,
    METADATA_HOSTS,
    METADATA_URLS,
    NAMES,
    PAGES,
    REFUSED,
    REMOTE_ADDRESSES,
    names_of_all,
)
from tests.servers.mcp import Answer, Served

pytestmark = pytest.mark.full

SECRET = "no caller reads this"
FORM = 'data:text/html,<title>t</title><input type=file id=f onchange="document.title=this.value">'
READERS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("upload_files", "paths", {"selector": "#f", "timeout": 500}),
    ("route", "path", {"action": "fulfil", "url": "http://127.0.0.1:1/*"}),
    ("har", "path", {"action": "replay"}),
    ("start_browser", "storageState", {"sessionId": "other"}),
    ("upload_app", "path", {"provider": "sauce_labs"}),
)
WRITERS = (("take_screenshot", ".png"), ("save_storage_state", ".json"), ("print_page", ".pdf"))
CONNECTING: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("attach_session", {"remoteUrl": "{}", "remoteSessionId": "x"}),
    ("start_browser", {"mode": "attached", "debuggerAddress": "{}", "sessionId": "other"}),
    ("start_session", {"provider": "selenium_grid", "platform": "browser", "options": {"url": "{}"}}),
)


class Guarded:
    """A server whose only root is a project, what lies there and beside it, and a session with a form."""

    def __init__(self, server: Served, home: Home, folder: Path) -> None:
        self.server = server
        self.home = home
        self.project, self.outside = folder / "project", folder / "outside"
        self.mark = folder / "mark.sh"
        self.beginning: tuple[object, ...] = ()

    def prepare(self) -> None:
        """Make the files, and start the session."""
        for made in (self.project / ".git", self.project / "sub", self.outside, Path(f"{self.project}-other")):
            made.mkdir(parents=True)
        for path in (self.outside / "secret.txt", Path(f"{self.project}-other") / "secret.txt"):
            path.write_text(SECRET, "utf-8")
        for name in (".env", ".git/config", "server.pem", "SERVER.KEY", "id_ed25519"):
            (self.project / name).write_text(SECRET, "utf-8")
        (self.project / "mine.txt").write_text("mine", "utf-8")
        (self.home.folder / "secrets.toml").write_text(f'OTHER = "{SECRET}"', "utf-8")
        for name, to in (
            *(("link.txt", self.outside / "secret.txt"), ("chain.txt", self.project / "link.txt")),
            *(("folder", self.outside), ("loop.txt", self.project / "loop.txt"), ("zero.txt", Path("/dev/zero"))),
            ("env.txt", self.project / ".env"),
        ):
            (self.project / name).symlink_to(to)
        os.mkfifo(self.project / "pipe.txt")
        self.mark.write_text(f"#!/bin/sh\ntouch {self.mark}.ran\n", "utf-8")
        self.mark.chmod(0o700)
        self.server.ok("start_browser", sessionId="page", navigationUrl=FORM)
        self.beginning = self.state()

    def filled(self, value: Any) -> Any:
        """Return a value of a table with the folders of the test."""
        if isinstance(value, str):
            for name, path in (("project", self.project), ("outside", self.outside), ("home", self.home.folder)):
                value = value.replace(f"{{{name}}}", str(path))
            return value.replace("{mark}", str(self.mark))
        if isinstance(value, Mapping):
            return {name: self.filled(inner) for name, inner in value.items()}
        return [self.filled(inner) for inner in value] if isinstance(value, list) else value

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool; its answer is bounded, no failure of ours, and tells nothing of what it may not know."""
        answer = self.server.call(tool, **arguments)
        assert len(answer.text) <= 20_000
        assert "Internal error" not in answer.text
        for told in (answer.text, answer.data_json):
            assert SECRET not in told
            assert "root:x:0" not in told
        return answer

    def state(self) -> tuple[object, ...]:
        """Return what no hostile call may change: sessions, the page, files beside the project, and in it."""
        rows = self.server.ok("list_sessions")["sessions"]
        tabs = self.server.ok("tabs", action="list", sessionId="page")["tabs"]
        kept = {path: path.read_bytes() for path in self.project.rglob("*") if path.is_file() and not path.is_symlink()}
        return (
            [row["sessionId"] for row in rows],
            [tab["url"] for tab in tabs],
            sorted(self.outside.rglob("*")),
            {path: content for path, content in kept.items() if "written" not in path.name},
            Path(f"{self.mark}.ran").exists(),
        )


@pytest.fixture(scope="module")
def _guarded(new_home: Callable[[], Home], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home, folder = new_home(), tmp_path_factory.mktemp("calls")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("CANARY", SECRET)
        environ.setenv("ORCHESTRATOR_SECRET_CANARY", f"http://127.0.0.1:1/{SECRET}")
        with home.serve(tools="all", file_roots=str(folder / "project")) as server:
            guarded = Guarded(server, home, folder)
            guarded.prepare()
            yield guarded


@pytest.fixture
def guarded(_guarded: Guarded) -> Iterator[Guarded]:
    """The server; sessions, tabs and files are as at the beginning after the test."""
    yield _guarded
    assert _guarded.state() == _guarded.beginning


def test_the_collection_has_a_hundred_calls_and_more() -> None:
    """Each with a name of its own, beside the tables of arguments."""
    names = names_of_all()
    assert len(names) == len({*names})
    for kind, least in (("file", 50), ("metadata", 50), ("page", 20), ("name", 40), ("start_browser", 100)):
        assert sum(name.startswith(kind) for name in names) >= least, kind


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_path_is_neither_read_nor_written(guarded: Guarded, name: str) -> None:
    """Every tool that reads refuses it, and one that writes does, or writes into the project under just this name."""
    path = guarded.filled(FILES[name])
    for tool, parameter, others in READERS:
        given = [path] if parameter == "paths" else path
        answer = guarded.call(tool, {**others, parameter: given, **_session(tool)})
        assert answer.code in REFUSED, (tool, answer.text)
    for tool, suffix in WRITERS:
        answer = guarded.call(tool, {"path": f"{path}-written{suffix}", "sessionId": "page"})
        assert answer.code in REFUSED or _written(answer).is_relative_to(guarded.project), (tool, answer.text)


def _session(tool: str) -> dict[str, str]:
    return {} if tool in {"start_browser", "upload_app"} else {"sessionId": "page"}


def _written(answer: Answer) -> Path:
    """Return the real path of what a call wrote."""
    told = answer.data.get("path") or next(line for line in answer.text.split() if line.startswith("/"))
    return Path(os.path.realpath(told))


@pytest.mark.parametrize("name", METADATA_HOSTS)
def test_a_spelling_of_a_metadata_host_is_neither_opened_nor_connected_to(guarded: Guarded, name: str) -> None:
    """As a page, as a start's page and as a remote end."""
    host = METADATA_HOSTS[name]
    _refuse_page(guarded, f"http://{host}/latest/meta-data/")
    _refuse_address(guarded, f"{host}:80")


@pytest.mark.parametrize("name", METADATA_URLS)
def test_a_url_of_a_metadata_host_is_not_opened(guarded: Guarded, name: str) -> None:
    """However browsers would read it."""
    _refuse_page(guarded, METADATA_URLS[name])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_browser_or_a_file_outside_is_not_opened(guarded: Guarded, name: str) -> None:
    """Whatever the spelling."""
    _refuse_page(guarded, guarded.filled(PAGES[name]))


@pytest.mark.parametrize("name", REMOTE_ADDRESSES)
def test_an_address_that_hides_a_metadata_host_is_not_connected_to(guarded: Guarded, name: str) -> None:
    """As remote end, Grid or debugger."""
    _refuse_address(guarded, REMOTE_ADDRESSES[name])


def _refuse_page(guarded: Guarded, url: str) -> None:
    for tool, arguments in (
        ("navigate", {"url": url, "sessionId": "page"}),
        ("tabs", {"action": "new", "url": url, "sessionId": "page"}),
        ("start_browser", {"navigationUrl": url, "sessionId": "other"}),
        ("execute_sequence", {"actions": [{"action": "navigate", "url": url}], "sessionId": "page"}),
    ):
        answer = guarded.call(tool, arguments)
        assert answer.code in REFUSED, (tool, answer.text)


def _refuse_address(guarded: Guarded, address: str) -> None:
    for tool, arguments in CONNECTING:
        is_url = "debuggerAddress" not in arguments
        given = f"http://{address}" if is_url and "//" not in address else address
        asked = {
            name: {"url": given} if name == "options" else str(value).format(given) for name, value in arguments.items()
        }
        answer = guarded.call(tool, asked)
        assert answer.code in REFUSED, (tool, answer.text)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_refused_or_means_nothing(guarded: Guarded, name: str) -> None:
    """It names no file, no process, no variable and nobody else's session."""
    case = NAMES[name]
    answer = guarded.call(case.tool, guarded.filled(case.arguments))
    assert answer.code in case.codes, answer.text


def test_no_program_in_the_value_of_an_allowed_switch_runs(guarded: Guarded) -> None:
    """Nothing on the way to the browser reads arguments as a command line; all start in one browser."""
    arguments = [guarded.filled(value) for value in ARGUMENT_TRICKS.values()]
    answer = guarded.call("start_browser", {"sessionId": "other", "args": arguments, "navigationUrl": "about:blank"})
    assert not answer.failed, answer.text
    guarded.server.ok("close_session", sessionId="other")
