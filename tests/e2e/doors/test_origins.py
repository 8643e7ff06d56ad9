"""Where callers over MCP may send pages and this process: `allowed_origins`, `blocked_origins`, metadata addresses."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from orchestrator import sync
from orchestrator.errors import Denied, OrchestratorError, RemoteFailure, TimedOut
from orchestrator.settings import Settings
from orchestrator.system.origins import Origins
from tests.e2e.harness import NAMESPACE, Home
from tests.servers.mcp import Answer, Served
from tests.servers.site import Reply, Site

pytestmark = pytest.mark.full

METADATA = (
    *("http://169.254.169.254/latest", "http://2852039166/", "http://0xA9FEA9FE/", "http://0251.0376.0251.0376/"),
    *("http://169.254.43518/", "http://169.254.169.254./", "http://[::ffff:169.254.169.254]/", "https://[fe80::1]/"),
    *("http://[fd00:ec2::254]/", "http://[64:ff9b::a9fe:a9fe]/", "http://METADATA.google.internal./"),
    *("http://metadata/", "http://Metadata./computeMetadata/v1/"),
    *(
        "http://%31%36%39.254.169.254/",
        "http://\uff11\uff16\uff19\u3002254\u3002169\u3002254/",
        "http://100.100.100.200/",
    ),
)
"""Spellings that Chromium sends to link-local addresses, and to those where clouds keep a machine's keys."""
TRICKS = ("http:\\\\169.254.169.254\\", "http:169.254.169.254", "http://127.0.0.1@0xa9fea9fe/")
FETCHED = "return Promise.all(arguments[0].map(url => fetch(url, {mode: 'no-cors'}).then(() => url, () => '')))"


def denied(answer: Answer, setting: str = "allowed_origins") -> str:
    """Return the text of an answer that must be a refusal by this setting."""
    assert answer.code == "denied", answer.text
    assert answer.data["error"]["setting"] == setting
    assert f"Only whoever runs this server can allow it: the setting {setting}" in answer.text
    return answer.text


def here(server: Served) -> str:
    """Return the address of the page that is shown."""
    return str(server.ok("execute_script", script="return location.href")["value"])


@pytest.fixture
def other() -> Iterator[Site]:
    """A second site: another origin."""
    with Site() as site:
        site.page("/", "<title>other</title>other")
        yield site


def test_metadata_addresses_are_not_opened_in_any_spelling(server: Served) -> None:
    """Before anything is started or loaded; the error says what it is, and which setting allows it."""
    text = denied(server.call("navigate", url="http://0xA9FEA9FE/latest"))
    assert "http://169.254.169.254 is not opened: link-local and metadata addresses are blocked" in text
    assert "(--allowed-origins '*,http://169.254.169.254' of orchestrator serve)" in text
    assert server.ok("list_sessions")["sessions"] == []
    denied(server.call("start_browser", navigationUrl="view-source:http://169.254.169.254/"))
    assert server.ok("list_sessions")["sessions"] == []
    server.ok("navigate", url="data:text/html,<title>here</title>")
    for url in (*METADATA, *TRICKS):
        denied(server.call("navigate", url=url))
    denied(server.call("tabs", action="new", url=METADATA[0]))
    denied(server.call("execute_sequence", actions=[{"action": "navigate", "url": METADATA[0]}]))
    denied(server.call("run_script", script=f"return page.navigate({{url: {METADATA[0]!r}}})"))
    assert here(server).startswith("data:")


def test_pages_do_not_reach_metadata_addresses(server: Served, site: Site) -> None:
    """Neither by requests nor by links or redirects, however they are spelled: Chromium resolves none of them."""
    urls = [url for url in METADATA if url.startswith("http:")]
    site.page("/", f"<title>here</title><a href={METADATA[2]}>Go</a>")
    site.page("/away", Reply(status=302, headers={"Location": METADATA[2]}))
    server.ok("navigate", url=site.url("/"))
    assert set(server.ok("execute_script", script=FETCHED, args=[urls])["value"]) == {""}
    failed = server.ok("get_network", status="failed")["entries"]
    assert len(failed) == len(urls)
    assert {one["failure"] for one in failed} == {"net::ERR_NAME_NOT_RESOLVED"}
    server.call("click_element", selector="text=Go")
    assert server.ok("tabs", action="list")["tabs"][0]["url"].startswith("http://169.254.169.254")
    assert "ERR_NAME_NOT_RESOLVED" in server.ok("get_text")["text"]
    text = denied(server.call("navigate", url=site.url("/away")))
    assert "http://169.254.169.254 is not opened" in text


def test_host_rules_hold_beside_those_for_metadata_addresses(server: Served, site: Site) -> None:
    """A host is resolved as the caller says; to a metadata address it cannot be led, nor can one be let through."""
    site.page("/", "<title>mapped</title>")
    address = site.url("").removeprefix("http://")
    rules = f"MAP *.test {address}, EXCLUDE localhost"
    server.ok("start_browser", sessionId="b", navigationUrl="http://shop.test/", options={"hostRules": rules})
    assert server.ok("execute_script", sessionId="b", script="return document.title")["value"] == "mapped"
    script = {"script": FETCHED, "args": [["http://0xA9FEA9FE/"]]}
    assert server.ok("execute_script", sessionId="b", **script)["value"] == [""]
    assert server.ok("get_network", sessionId="b", status="failed")["entries"][-1]["failure"].endswith("NOT_RESOLVED")
    server.ok("close_session", sessionId="b")
    for hostile in (
        {"shop.test": "0xa9fea9fe"},
        "MAP * 2852039166:80",
        "EXCLUDE *",
        "EXCLUDE 169.*",
        "EXCLUDE *.internal",
    ):
        assert "link-local" in denied(server.call("start_browser", options={"hostRules": hostile}))


@pytest.fixture(scope="module")
def ruled(new_home: Callable[[], Home]) -> Iterator[tuple[Served, Site]]:
    """A server with a metadata address that is allowed and origins that are blocked, and the site among those."""
    with Site() as blocked:
        origins = {
            "allowed_origins": "*,http://169.254.7.7:*",
            "blocked_origins": f"*.ads.example,{blocked.url('').removeprefix('http://')}",
        }
        with new_home().serve(**origins) as server:
            server.ok("start_browser")
            yield server, blocked


def test_a_metadata_address_that_a_pattern_names_is_reached(ruled: tuple[Served, Site]) -> None:
    """`*` alone does not name it; other addresses stay blocked."""
    server, _ = ruled
    reached = server.call("navigate", url="http://0xA9FE0707/", timeout=1500)
    assert "denied" not in reached.text
    assert "NAME_NOT_RESOLVED" not in reached.text
    assert "allowed_origins *,http://169" not in denied(server.call("navigate", url=METADATA[0]))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("attach_session", {"remoteUrl": "URL", "remoteSessionId": "abc"}),
        ("start_session", {"provider": "remote_url", "platform": "browser", "options": {"url": "URL"}}),
        ("start_session", {"provider": "selenium_grid", "platform": "browser", "options": {"url": "URL"}}),
        ("start_app_session", {"platform": "android", "appPackage": "x", "options": {"url": "URL"}}),
        ("start_browser", {"mode": "attached", "debuggerAddress": "HOST"}),
    ],
)
def test_this_process_connects_to_no_metadata_address(server: Served, tool: str, arguments: dict[str, Any]) -> None:
    """Of a remote end, however it is spelled, nor of a browser's debugger."""
    for host in ("169.254.169.254:80", "0xA9FEA9FE:80", "2852039166:80", "metadata.google.internal:80"):
        asked = json.loads(json.dumps(arguments).replace("URL", f"http://{host}").replace("HOST", host))
        assert "is not connected to: link-local" in denied(server.call(tool, **asked))


def test_a_name_that_stands_for_a_metadata_address_is_not_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked up before a connection of this process; a name server answers here what an attacker's would."""
    answer = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [answer])
    with pytest.raises(Denied, match=r"http://innocent\.example is not connected to: link-local"):
        Origins(Settings()).check_resolved("innocent.example")
    Origins(Settings(allowed_origins="innocent.example")).check_resolved("innocent.example")


def test_pages_and_their_requests_stay_at_the_allowed_origins(home: Home, site: Site, other: Site) -> None:
    """Calls are refused; links, redirects, frames, requests and popups of pages end at a refusal, unsent."""
    away = other.url("/")
    site.page(
        "/",
        f"<title>here</title><a href={away}>Go</a><a href={away} target=_blank>New</a><img src={away}picture>"
        f"<iframe src={away}frame></iframe>",
    )
    site.page("/away", Reply(status=302, headers={"Location": away}))
    with home.serve(allowed_origins=site.url("")) as server:
        server.ok("navigate", url=site.url("/"))
        text = denied(server.call("navigate", url=away))
        assert f"{other.url('')} is not opened: it is not among the allowed origins" in text
        assert f"Allowed are {site.url('')}." in text
        assert f"(--allowed-origins {site.url('')},{other.url('')} of orchestrator serve)" in text
        denied(server.call("navigate", url=site.url("/away")))
        denied(server.call("attach_session", remoteUrl=other.url(""), remoteSessionId="abc"))
        server.ok("navigate", url=site.url("/"))
        server.ok("execute_script", script=FETCHED, args=[[f"{away}fetched"]])
        server.ok("click_element", selector="text=New")
        server.ok("wait_for", text="denied: pages must not lead to this origin")
        server.ok("tabs", action="select", tab="t1")
        server.ok("click_element", selector="text=Go")
        server.ok("wait_for", text="denied: pages must not lead to this origin")
        server.ok("navigate", url=site.url("/"))
        server.ok("navigate", url="data:text/html,<title>x</title>")
    assert [path for path in ("/", "/picture", "/frame", "/fetched") if other.visits(path)] == []


def test_blocked_origins_are_not_reached_and_others_are(ruled: tuple[Served, Site], site: Site) -> None:
    """The pattern names a host and port; requests to other hosts are not even paused."""
    server, other = ruled
    other.page("/", "<title>other</title>other")
    site.page("/", f"<title>here</title><img src={other.url('/picture')}>")
    blocked = other.url("").removeprefix("http://")
    server.ok("navigate", url=site.url("/"))
    for url in (other.url("/"), "https://a.ads.example:8443/x"):
        text = denied(server.call("navigate", url=url), "blocked_origins")
        assert "is not opened: the setting blocked_origins names it." in text
    spelled = f"http://me@{blocked.replace('127.0.0.1', '127.1')}/spelled"
    server.ok("execute_script", script=FETCHED, args=[[other.url("/fetched"), spelled]])
    server.ok("navigate", url=other.url("/", host="localhost"))
    assert [path for path in ("/picture", "/fetched", "/spelled") if other.visits(path)] == []
    assert len(other.visits("/")) == 1


def test_the_working_folder_can_only_narrow_where_pages_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloned repository adds blocked origins, and takes allowed ones away; it opens no metadata address."""
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    monkeypatch.chdir(folder)

    def loaded(own: str, cloned: str) -> tuple[str, str]:
        (home / "orchestrator.toml").write_text(own, "utf-8")
        (folder / "orchestrator.toml").write_text(cloned, "utf-8")
        settings = Settings.load({"home": home})
        return settings.allowed_origins, settings.blocked_origins

    own = 'allowed_origins = ["https://*.example", "169.254.1.1"]\nblocked_origins = "a.example"'
    assert loaded(own, 'allowed_origins = "https://b.example,evil.test"\nblocked_origins = "c.example"') == (
        "https://b.example",
        "c.example,a.example",
    )
    assert loaded(own, 'allowed_origins = "evil.test"')[0] == "https://*.example,169.254.1.1"
    assert loaded("", 'allowed_origins = "*,169.254.*,shop.example"')[0] == "*,shop.example"
    with pytest.raises(OrchestratorError, match="'https://x/y' is not an origin: write https"):
        loaded('blocked_origins = "https://x/y"', "")


def test_python_goes_where_it_likes(home: Home) -> None:
    """Whoever can run programs needs no leave: nothing is denied, and the browser resolves the address."""
    settings = Settings(home=home.folder, namespace=NAMESPACE)
    with sync.Orchestrator(settings) as orchestrator:
        session = orchestrator.start_browser()
        with suppress(RemoteFailure, TimedOut):  # no machine need be there
            session.navigate(url=METADATA[0], timeout=1500)
        shown = session.execute_script(script="return document.body.innerText").value
        assert "NAME_NOT_RESOLVED" not in shown
