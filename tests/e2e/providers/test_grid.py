"""The provider selenium_grid on a real Grid: its requests, and the abilities of its sessions."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import _new_home
from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.servers.grid import GridEnd
from tests.servers.mcp import Served
from tests.servers.site import Reply, Site
from tests.servers.webdriver import PASSWORD, Relayed, relayed
from tests.waiting import until

pytestmark = pytest.mark.full

BROWSER = {"provider": "selenium_grid", "platform": "browser", "browser": "chrome"}


@dataclass
class Front:
    """A server that reaches the Grid through a relay with a password, and its session `far`."""

    grid: GridEnd
    server: Served
    home: Home
    relay: Relayed
    row: dict[str, Any]
    site: Site


@pytest.fixture(scope="module")
def front(_grid: GridEnd) -> Iterator[Front]:
    """A server with a session that has downloads enabled."""
    home = _new_home()
    with Site() as site, relayed(_grid.port, Relayed(), guarded=True) as relay:
        with home.serve(grid_url=relay.secret_url) as server:
            wanted = {"goog:chromeOptions": {"args": ["--lang=de"]}, "se:name": "mine"}
            options = {"enableDownloads": True, "name": "ours", "timeZone": "Europe/Berlin"}
            row = server.ok("start_session", sessionId="far", capabilities=wanted, options=options, **BROWSER)
            yield Front(_grid, server, home, relay, row, site)
        until(lambda: not _grid.sessions(), "the Grid to be free when the server went")


def test_a_grid_session_is_requested_once_and_user_capabilities_win(front: Front) -> None:
    """A status check comes before one New Session request, in which the user's capabilities override ours."""
    asked = [(method, path) for method, path, _ in front.relay.requests]
    assert asked[:2] == [("GET", "/status"), ("POST", "/session")]
    [body] = [body for method, path, body in front.relay.requests if (method, path) == ("POST", "/session")]
    wanted = body["capabilities"]["alwaysMatch"]
    assert re.fullmatch("[0-9a-f]{16}", wanted.pop("se:orchestratorId"))
    assert wanted == {
        "browserName": "chrome",
        "goog:chromeOptions": {"args": ["--headless=new", "--lang=de"]},
        "pageLoadStrategy": "none",
        "se:downloadsEnabled": True,
        "se:name": "mine",
        "se:timeZone": "Europe/Berlin",
        "timeouts": {"script": 32000, "pageLoad": 28000},
        "unhandledPromptBehavior": "ignore",
        "webSocketUrl": True,
    }


def test_a_grid_session_reports_its_node_and_records_its_bidi_socket(front: Front) -> None:
    """The session row names the node; the record has the Grid's BiDi socket and the node's session timeout."""
    [node] = [node for node in front.grid.status()["nodes"] if node["id"] == front.row["remoteEnd"]["nodeId"]]
    assert front.row["remoteEnd"] == {"nodeId": node["id"], "nodeUrl": node["uri"]}
    socket = f"ws://127.0.0.1:{front.grid.port}/session/{front.row['remoteSessionId']}/se/bidi"
    record = front.home.record("far")
    assert record.capabilities["webSocketUrl"] == socket
    assert record.keep_alive == 300


def test_grid_credentials_appear_in_no_row_file_or_answer(front: Front) -> None:
    """The Grid's password is in no session row, no file of the home and no answer of the server."""
    listed = front.server.call("list_sessions").text
    kept = b"".join(path.read_bytes() for path in front.home.folder.rglob("*") if path.is_file())
    assert front.relay.url in listed
    assert not any(PASSWORD in text for text in (listed, str(front.row), kept.decode("utf-8", "replace")))


def test_a_grid_session_types_clicks_and_takes_screenshots_like_a_local_one(front: Front) -> None:  # W57
    """Text, clicks, a screenshot and the tab list work in a session of the Grid."""
    page = front.site.page("/act", "<title>A</title><input id=i><button onclick='document.title = i.value'>Go</button>")
    front.server.ok("navigate", url=page)
    front.server.ok("set_value", selector="#i", value="typed")
    assert front.server.ok("click_element", selector="text=Go")["title"] == "typed"
    assert front.server.call("take_screenshot").image
    assert len(front.server.ok("tabs", action="list")["tabs"]) == 1


def test_console_and_network_of_a_grid_session_are_recorded(front: Front) -> None:  # X6 X7
    """Console and network are recorded by the Grid's BiDi socket; without it only the driver's console log is read."""
    page = front.site.page("/talk", "<title>T</title><script>console.warn('from afar'); fetch('/nothing')</script>")
    front.server.ok("navigate", url=page)
    assert "from afar" in front.server.call("get_console", level="warn").text
    found = until(lambda: front.server.ok("get_network", url="/nothing", status=404)["entries"], "the answer")
    assert (found[0]["type"], found[0]["initiator"]) == ("fetch", f"{page}:1:52")
    front.server.ok("start_session", sessionId="deaf", capabilities={"webSocketUrl": False}, **BROWSER)
    front.server.ok("navigate", url=page, sessionId="deaf")
    assert "from afar" in front.server.call("get_console", sessionId="deaf").text
    refused(front.server.call("get_network", sessionId="deaf"), "unsupported")
    front.server.ok("close_session", sessionId="deaf")
    front.server.ok("set_current_session", sessionId="far")


def test_upload_files_sends_local_files_to_the_grid_node(front: Front, tmp_path: Path) -> None:
    """A local file is sent to the node, where the browser reads its name and content."""
    (tmp_path / "two words ü.csv").write_text("content", "utf-8")
    front.server.ok("navigate", url=front.site.page("/upload", "<input type=file id=f>"))
    front.server.ok("upload_files", selector="#f", paths=[str(tmp_path / "two words ü.csv")])
    said = front.server.ok(
        "execute_script", script="const [file] = f.files; return file.text().then(t => [file.name, t])"
    )
    assert said["value"] == ["two words ü.csv", "content"]


def test_downloads_of_a_grid_session_are_fetched_to_this_machine(front: Front) -> None:
    """A download at the node is fetched and reported here; under the policy allow it is fetched silently."""

    def offer(name: str) -> None:
        headers = {"Content-Disposition": f"attachment; filename={name}"}
        front.site.page("/file", Reply("content", content_type="application/pdf", headers=headers))

    offer("a.pdf")
    front.server.ok("navigate", url=front.site.page("/download", "<a href=/file>Get</a>"))
    click = list(front.server.ok("click_element", selector="text=Get").get("events", ()))

    events = click or until(lambda: _events(front), "a download to be told")
    path = front.home.folder / "downloads" / "e2e" / "far" / "a.pdf"
    assert events == [f"'a.pdf' was downloaded to {path}."]
    assert path.read_text() == "content"
    assert _events(front) == []
    front.server.ok("set_policy", downloads="allow")
    offer("b.pdf")
    assert "events" not in front.server.ok("click_element", selector="text=Get")
    quiet = until(lambda: _events(front) or path.with_name("b.pdf").exists(), "a download that is not told")
    assert quiet is True
    front.server.ok("set_policy", downloads="raise")


def test_grid_downloads_stay_in_their_folder_and_skip_large_or_partial_files(front: Front) -> None:
    """A file name with a path stays in the folder; a too large file is reported, a partial one is skipped."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../evil.txt", "content")
    content = base64.b64encode(packed.getvalue()).decode()
    sizes = {"../../evil.txt": 7, "half.zip": 1, "half.zip.crdownload": 1, "huge.iso": 200_000_000}
    files = [{"name": name, "size": size, "lastModifiedTime": 1000} for name, size in sizes.items()]
    answers = {"GET": {"names": list(sizes), "files": files}, "POST": {"contents": content}}

    def instead(method: str, path: str) -> tuple[int, str] | None:
        return (200, json.dumps({"value": answers[method]})) if path.endswith("/se/files") else None

    front.relay.fault = instead
    events = _events(front)
    front.relay.fault = Relayed.fault
    folder = front.home.folder / "downloads" / "e2e" / "far"
    assert events == [
        f"'../../evil.txt' was downloaded to {folder / 'evil.txt'}.",
        "'huge.iso' was downloaded at the remote end; 200 MB are too large to fetch.",
    ]
    assert (folder / "evil.txt").read_text() == "content"


def _events(front: Front) -> list[str]:
    return list(front.server.ok("get_visible_elements").get("events", ()))


def test_a_start_that_no_grid_slot_can_take_fails_at_once(front: Front) -> None:
    """The error lists the Grid's slots, and no session is requested."""
    asked = len(front.relay.requests)
    for wanted, what in ({"browser": "firefox"}, "firefox"), ({"browserVersion": "99"}, "chrome 99"):
        text = refused(front.server.call("start_session", **{**BROWSER, **wanted}), "start_failed")
        assert f"no slot of the Grid can take {what}. It offers 4 x chrome on linux with downloads." in text
        assert "waitForCapacity" in text
    assert [path for _, path, _ in front.relay.requests[asked:]] == ["/status", "/status"]


def test_route_and_har_work_in_a_grid_session(front: Front, tmp_path: Path) -> None:
    """Requests of a Grid session are fulfilled by a rule and recorded, through the Grid's DevTools endpoint."""
    page = front.site.page("/ruled", "<title>net</title>")
    front.server.ok("route", action="fulfil", url="/ruled", body="<title>rule</title>")
    path = front.server.ok("har", action="start", path=str(tmp_path / "far.har"))["path"]
    assert front.server.ok("navigate", url=page)["title"] == "rule"
    front.server.ok("route", action="clear")
    assert front.server.ok("navigate", url=page)["title"] == "net"
    assert front.server.ok("har", action="stop")["entries"] >= 2
    assert page in Path(path).read_text("utf-8")
