"""The files and pages that callers over MCP may name, in a real browser: `file_roots` and `file_urls`."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator import sync
from orchestrator.settings import Settings
from tests.e2e.harness import NAMESPACE, Home
from tests.servers.mcp import Answer, Served, served

pytestmark = pytest.mark.full

SECRET = "no page and no model reads this"
FORM = 'data:text/html,<title>t</title><label>File <input type=file id=f onchange="document.title=this.value"></label>'


class Place:
    """A project folder that the server may use, and a folder beside it that it may not."""

    def __init__(self, folder: Path) -> None:
        self.project, self.outside = folder / "project", folder / "outside"
        for made in (self.project, self.outside):
            made.mkdir(exist_ok=True)
        self.secret = self.outside / "secret.txt"
        self.secret.write_text(SECRET, "utf-8")

    def write(self, name: str, text: str = "<title>mine</title><p>mine") -> Path:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def link(self, name: str, to: Path) -> Path:
        """Make a link in the project."""
        path = self.project / name
        path.symlink_to(to)
        return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the project of each test lies."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def place(folder: Path) -> Iterator[Place]:
    """The folders of this test."""
    place = Place(folder)
    yield place
    for made in (place.project, place.outside):
        shutil.rmtree(made)


@pytest.fixture(scope="module")
def rooted(new_home: Callable[[], Home], folder: Path) -> Iterator[Served]:
    """A server whose only root is the project, with a browser."""
    (folder / "project").mkdir()
    with new_home().serve(file_roots=str(folder / "project"), tools="all") as served:
        yield served


@pytest.fixture
def server(rooted: Served, place: Place) -> Served:
    """That server, its one browser at an empty page in one tab."""
    del place
    if len(rooted.ok("list_sessions")["sessions"]) != 1 or len(rooted.ok("tabs", action="list")["tabs"]) != 1:
        rooted.ok("close_all_sessions")
        rooted.ok("start_browser", sessionId="a")
    rooted.ok("navigate", url="about:blank")
    return rooted


def denied(answer: Answer) -> str:
    """Return the text of an answer that must be a refusal which tells nothing of the file."""
    assert answer.code == "denied", answer.text
    assert SECRET not in answer.text
    assert answer.data["error"]["setting"] in {"file_roots", "file_urls"}
    assert "Only whoever runs this server can allow it" in answer.text
    return answer.text


def test_files_outside_the_roots_are_not_read(server: Served, place: Place) -> None:
    """Directly, by dots, by a link, as a hidden name or as a key: it is not uploaded, and nothing is told of it."""
    server.ok("navigate", url=FORM)
    inside = place.write("mine.txt")
    ways = [
        place.secret,
        place.outside / "is-not-there.txt",
        place.project / ".." / "outside" / "secret.txt",
        place.link("link.txt", place.secret),
        place.link("folder", place.outside) / "secret.txt",
        place.write(".env"),
        place.write(".git/config"),
        place.write("server.pem"),
        place.write("id_ed25519"),
        Path("/etc/passwd"),
        Path("~/.ssh/id_rsa"),
        Path(f"/proc/{os.getpid()}/environ"),
    ]
    for path in ways:
        text = denied(server.call("upload_files", selector="#f", paths=[str(inside), str(path)]))
        assert f"denied: Argument 'paths[1]': '{path}' is not among the files that tools may use." in text
        assert str(place.project) in text
    assert server.ok("execute_script", script="return document.querySelector('#f').files.length")["value"] == 0
    server.ok("upload_files", selector="#f", paths=[str(place.link("fine.txt", inside))])


def test_every_form_of_a_call_is_limited(server: Served, place: Place) -> None:
    """As a call, as a step, as a step for sessions, in a script, as a start of a parallel sequence: nothing runs."""
    server.ok("navigate", url=FORM)
    upload = {"action": "upload_files", "selector": "#f", "paths": [str(place.secret)]}
    scroll = {"action": "scroll", "direction": "up"}
    start = {"storageState": str(place.secret)}
    script = f"return page.uploadFiles({{selector: '#f', paths: {json.dumps(upload['paths'])}}})"
    asked: list[tuple[str, dict[str, Any]]] = [
        ("execute_sequence", {"sessionId": "a", "actions": [scroll, upload]}),
        ("execute_sequence", {"actions": [scroll, {"action": "start_browser", **start}]}),
        ("execute_parallel", {"sequences": [{"sessionId": "a", "actions": [scroll, upload]}]}),
        ("execute_parallel", {"sequences": [{"start": start, "actions": [scroll]}]}),
        ("run_script", {"sessionId": "a", "script": script}),
        ("start_browser", start),
        ("start_browser", {"options": {"hars": [str(place.secret)]}}),
        ("start_browser", {"navigationUrl": place.secret.as_uri()}),
        ("route", {"action": "fulfil", "url": "**", "path": str(place.secret)}),
        ("har", {"action": "replay", "path": str(place.secret)}),
        ("upload_app", {"provider": "sauce_labs", "path": str(place.secret)}),
        ("start_app_session", {"platform": "android", "appPath": str(place.secret)}),
        ("tabs", {"action": "new", "url": place.secret.as_uri()}),
    ]
    for tool, arguments in asked:
        denied(server.call(tool, **arguments))
    assert [session["sessionId"] for session in server.ok("list_sessions")["sessions"]] == ["a"]
    assert len(server.ok("tabs", action="list")["tabs"]) == 1


def test_apps_are_taken_from_everywhere_but_hidden_places(server: Served, place: Place) -> None:
    """An app outside the roots is no secret: the start gets as far as looking for it; any other file is refused."""
    for name in ("shop.apk", "shop.ipa", "shop.zip"):
        answer = server.call("start_app_session", platform="android", appPath=str(place.outside / name))
        assert (answer.code, "there is no file" in answer.text) == ("invalid_argument", True)
    (hidden := place.outside / ".hidden").mkdir()
    renamed = place.outside / "renamed.apk"
    renamed.symlink_to(place.secret)
    for path in (place.secret, renamed, hidden / "shop.apk"):
        denied(server.call("start_app_session", platform="android", appPath=str(path)))


def test_files_are_written_inside_the_roots_and_over_none_of_others(server: Served, place: Place) -> None:
    """Outside is refused, also through links; a file of someone else stays as it is, one of ours is written again."""
    server.ok("navigate", url="data:text/html,<p>x")
    (outside := place.outside / "login.json").write_text("{}", "utf-8")
    for tool, name in (("take_screenshot", "a.png"), ("print_page", "a.pdf"), ("save_storage_state", "a.json")):
        denied(server.call(tool, path=str(place.outside / name)))
    denied(server.call("har", action="start", path=str(place.outside / "a.har")))
    denied(server.call("save_storage_state", path=str(place.link("link.json", outside))))
    denied(server.call("take_screenshot", path=str(place.link("away", place.outside) / "a.png")))
    assert sorted(place.outside.iterdir()) == [outside, place.secret]
    package = place.write("package.json", '{"name": "shop"}')
    picture = place.write("logo.png", "drawn by hand")
    for tool, path in (("save_storage_state", package), ("take_screenshot", picture)):
        answer = server.call(tool, path=str(path))
        assert (answer.code, str(path) in answer.text) == ("invalid_argument", True)
        assert "exists, and this server did not write it. Nothing was overwritten" in answer.text
        assert "give a path that is free, or overwrite: true." in answer.text
    assert (package.read_text(), picture.read_text()) == ('{"name": "shop"}', "drawn by hand")
    for _ in range(2):
        server.ok("save_storage_state", path=str(place.project / "login.json"))
        server.ok("take_screenshot", path=str(place.project / "shots" / "a.png"))
    (place.project / "shots" / "a.png").write_text("edited", "utf-8")
    assert server.call("take_screenshot", path=str(place.project / "shots" / "a.png")).code == "invalid_argument"


def test_with_overwrite_a_file_of_someone_else_is_written_over_and_a_link_or_pipe_never(
    server: Served, place: Place
) -> None:
    """`overwrite: true` of every tool that writes a file; the roots hold all the same."""
    server.ok("navigate", url="data:text/html,<p>x")
    (outside := place.outside / "login.json").write_text("{}", "utf-8")
    writing = {"take_screenshot": "a.png", "print_page": "a.pdf", "save_storage_state": "a.json"}
    for tool, name in writing.items():
        mine = place.write(name, "drawn by hand")
        assert server.call(tool, path=str(mine)).code == "invalid_argument"
        server.ok(tool, path=str(mine), overwrite=True)
        assert b"by hand" not in mine.read_bytes()
    recorded = place.write("a.har", "{}")
    server.ok("har", action="start", path=str(recorded), overwrite=True)
    server.ok("har", action="stop")
    assert "webdriver-orchestrator" in recorded.read_text("utf-8")
    assert server.call("har", action="replay", path=str(recorded), overwrite=True).code == "invalid_argument"
    kept = place.write("kept.json", "{}")
    os.mkfifo(place.project / "pipe.json")
    for path in (place.link("to-kept.json", kept), place.project / "pipe.json"):
        answer = server.call("save_storage_state", path=str(path), overwrite=True)
        assert (answer.code, "is no plain file, but a link or a device" in answer.text) == ("invalid_argument", True)
    for path in (outside, place.link("to-outside.json", outside)):
        denied(server.call("save_storage_state", path=str(path), overwrite=True))
    assert (kept.read_text("utf-8"), outside.read_text("utf-8")) == ("{}", "{}")


def test_a_saved_login_is_saved_again_by_the_next_server(server: Served, home: Home, place: Place) -> None:
    """A storage state is known by what stands in it: a new server may write over that of an earlier one."""
    with home.serve(file_roots=str(place.project)) as successor:
        successor.ok("start_browser")
        for one in (server, successor):
            one.ok("save_storage_state", path=str(place.project / "login.json"))


def test_by_default_the_project_the_temporary_folder_and_our_own_files_are_used(
    home: Home, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A screenshot that was taken can be uploaded; the rest of `home` is nobody's, wherever it lies."""
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(place.project))
    with home.serve(file_roots="default") as server:
        server.ok("navigate", url=FORM)
        taken = server.call("take_screenshot").text
        path = re.search(r"(/\S+\.png)", taken)
        assert path is not None
        server.ok("upload_files", selector="#f", paths=[path[1]])
        denied(server.call("upload_files", selector="#f", paths=[str(home.folder / "sessions.db")]))
        (home.folder / "secrets.toml").write_text("A = 'b'", "utf-8")
        denied(server.call("upload_files", selector="#f", paths=[str(home.folder / "secrets.toml")]))
        denied(server.call("navigate", url=(home.folder / "sessions.db").as_uri()))


def test_file_pages_are_opened_in_the_roots_and_the_browsers_own_pages_not_at_all(server: Served, place: Place) -> None:
    """Whatever the spelling: a page outside the roots, or of the browser itself, is refused before it is opened."""
    page = place.write("page.html")
    assert server.ok("navigate", url=page.as_uri())["title"] == "mine"
    refused = [
        place.secret.as_uri(),
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "file:etc/passwd",
        "file://localhost/etc/passwd",
        "file:\\\\\\etc\\passwd",
        "file:///%65tc/passwd",
        f"file://{place.project}/%2e%2e/outside/secret.txt",
        place.link("link.html", place.secret).as_uri(),
        "file://server/share/x.html",
        f"view-source:{page.as_uri()}",
        "chrome://settings",
        "Chrome://version",
        "devtools://devtools/bundled/inspector.html",
        "about:config",
        "filesystem:file:///temporary/x",
        "chrome-extension://abc/x.html",
        "edge://version",
    ]
    for url in refused:
        denied(server.call("navigate", url=url))
        denied(server.call("tabs", action="new", url=url))
        denied(server.call("start_browser", sessionId="b", navigationUrl=url))
    assert server.ok("tabs", action="list")["tabs"][0]["url"] == page.as_uri()
    server.ok("navigate", url="about:blank")


def test_a_page_that_is_a_file_neither_shows_nor_leads_to_files_outside(server: Served, place: Place) -> None:
    """A frame, a link and a script of a page in the roots: what lies outside is not loaded; what lies inside is."""
    place.write("inner.html", "<p>inner text")
    page = place.write(
        "page.html",
        f"<title>mine</title><iframe src='{place.secret.as_uri()}'></iframe><iframe src=inner.html></iframe>"
        f"<a href='{place.secret.as_uri()}'>away</a> <a href=inner.html>inside</a>",
    )
    server.ok("navigate", url=page.as_uri())
    server.ok("wait_for", text="inner text")
    assert SECRET not in server.call("get_text").text
    assert SECRET not in server.call("get_visible_elements").text
    clicked = server.call("click_element", selector="text=away")
    assert SECRET not in clicked.text + server.call("get_text").text
    server.ok("navigate", url=page.as_uri())
    script = f"window.open({json.dumps(place.secret.as_uri())}); location.href = {json.dumps(place.secret.as_uri())}"
    server.call("execute_script", script=script)
    for tab in server.ok("tabs", action="list")["tabs"]:
        server.ok("tabs", action="select", tab=tab["tab"])
        server.ok("wait_for", text="denied: this file is not among those that tools may use")
        assert SECRET not in server.call("get_text").text
    server.ok("navigate", url=page.as_uri())
    server.ok("click_element", selector="text=inside")
    assert "inner text" in server.call("get_text").text


@pytest.mark.parametrize(("setting", "opens"), [("none", False), ("all", True)])
def test_file_pages_can_be_switched_off_or_all_allowed(home: Home, place: Place, setting: str, *, opens: bool) -> None:
    """`none` refuses those in the roots, too; `all` opens every page that the browser has."""
    page = place.write("page.html")
    with home.serve(file_roots=str(place.project), file_urls=setting) as server:
        for url in (page.as_uri(), place.secret.as_uri(), "chrome://version"):
            answer = server.call("navigate", url=url)
            assert answer.failed != opens, answer.text
            if not opens:
                denied(answer)
                assert answer.data["error"]["setting"] == "file_urls"


def test_python_and_the_command_line_name_every_file(home: Home, place: Place) -> None:
    """They ask for themselves: a script could read the file without us."""
    settings = Settings(home=home.folder, namespace="e2e", file_roots=str(place.project), file_urls="none")
    with sync.Orchestrator(settings) as orchestrator:
        session = orchestrator.start_browser()
        session.navigate(place.secret.as_uri())
        assert SECRET in str(session.get_text())
        written = place.write("logo.png", "drawn by hand")
        session.take_screenshot(path=str(written))
        assert written.read_bytes().startswith(b"\x89PNG")


def test_the_roots_of_a_client_are_the_project(home: Home, place: Place) -> None:
    """A client that names the folders it works in gets these in place of the server's working folder."""
    mine, elsewhere = place.write("mine.txt"), Path(__file__)
    settings = {"home": str(home.folder), "namespace": NAMESPACE, "file_roots": "default"}
    with served("legacy", (), sys.stderr, "mcp", None, [place.project, Path("/")], **settings) as server:
        server.ok("navigate", url=FORM)
        server.ok("upload_files", selector="#f", paths=[str(mine)])
        denied(server.call("upload_files", selector="#f", paths=[str(elsewhere)]))
    with served("legacy", **settings) as server:
        read = server.call("start_browser", storageState=str(elsewhere))
        assert read.code == "invalid_argument", "it may be read, and is no storage state"
