"""Resources, prompts and files of far clients: what a client lists, reads, follows and sends."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ResourceUpdated
from mcp.types import BlobResourceContents, ResourceUpdatedNotification, TextContent, TextResourceContents

from orchestrator.demo.chat import ChatServer
from orchestrator.demo.device_server import DeviceServer
from orchestrator.demo.shop import Platform, bundle, web
from orchestrator.models.session import SessionType
from orchestrator.sessions.registry import SessionRegistry, make_caller
from orchestrator.sessions.store.sqlite import SqliteStore
from tests.servers.http_mcp import Era, HttpServer, connected, http_server
from tests.servers.mcp import Served, served
from tests.servers.site import Site
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(400)]

KINDS = ["outline", "screenshot", "console", "log", "files"]
STEP = re.compile(r"^   ([a-z_]+) (\{.*\})$", re.MULTILINE)
PNG = b"\x89PNG"
FORM = """<label>File <input type=file multiple></label>"""
HELD = (
    "return Promise.all([...document.querySelector('input').files].map(async file => [file.name, await file.text()]))"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server over HTTP."""
    with http_server(tmp_path_factory.mktemp("resources") / "home", "--uploads-max", "1") as started:
        yield started


@pytest.fixture(scope="module")
def ann(server: HttpServer) -> str:
    """A token that may act."""
    return server.token("ann")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A page that says something on its console, and offers a download."""
    with Site() as running:
        yield running


@pytest.fixture(scope="module")
def shop(server: HttpServer, ann: str, site: Site) -> Iterator[str]:
    """A session of ann's, by its name."""
    page = site.page("/shop", "<title>Shop</title><button>Buy</button><script>console.log('spoken')</script>")
    started = server.call(ann, "start_browser", {"sessionId": "shop", "navigationUrl": page})
    assert not started.get("isError"), started
    yield "shop"
    server.call(ann, "close_all_sessions")


async def read(client: Client, uri: str) -> TextResourceContents | BlobResourceContents:
    """Read a resource of one part."""
    [content] = (await client.read_resource(uri)).contents
    assert content.uri == uri
    return content


async def text(client: Client, uri: str) -> str:
    """Read a resource as text."""
    content = await read(client, uri)
    assert isinstance(content, TextResourceContents)
    return content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_is_listed_and_read_as_resources(server: HttpServer, ann: str, shop: str, mode: Era) -> None:
    """Outline, picture, console, log and files, as the tools show them; templates say how their URIs are made."""
    async with connected(server, ann, mode) as client:
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        assert listed == [f"session://{shop}/{kind}" for kind in KINDS]
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        assert templates == [*(f"session://{{name}}/{kind}" for kind in KINDS), "session://{name}/files/{+path}"]
        assert "Buy" in await text(client, "session://shop/outline")
        assert "spoken" in await text(client, "session://shop/console")
        picture = await read(client, "session://shop/screenshot")
        assert isinstance(picture, BlobResourceContents)
        assert base64.b64decode(picture.blob).startswith(PNG)
        entries = [json.loads(line) for line in (await text(client, "session://shop/log")).splitlines()]
        assert {"start", "get_console"} <= {entry["action"] for entry in entries}
        files = json.loads(await text(client, "session://shop/files"))["files"]
        [kept] = [file for file in files if file["name"] == "screenshots/shop-1.png"]
        content = await read(client, kept["uri"])
        assert isinstance(content, BlobResourceContents)
        assert content.mime_type == kept["mimeType"] == "image/png"
        assert len(base64.b64decode(content.blob)) == kept["size"]


def send(server: HttpServer, token: str, name: str, content: bytes, **headers: str) -> tuple[int, Any]:
    """Send a file; returns the status and the answer."""
    response = server.request(token, content, headers, path=f"/files?name={name}")
    return response.status, json.loads(response.data)


def test_a_file_that_was_sent_is_named_by_its_id_wherever_a_path_is_read(
    server: HttpServer, ann: str, shop: str, site: Site
) -> None:
    """In a call, as a step and for a route; the page sees the name and the content, and the list has it until then."""
    form = {"sessionId": shop, "url": site.page("/form", FORM)}
    assert not server.call(ann, "navigate", form).get("isError")
    status, sent = send(server, ann, "photo%20%C3%BC.txt", b"of ann")
    assert (status, sent["name"], sent["size"]) == (201, "photo ü.txt", 6)
    assert json.loads(server.request(ann, method="GET", path="/files").data) == {"files": [sent]}
    upload = {"selector": "input", "paths": [sent["id"]], "files": [{"name": "dot.txt", "data": "aW5saW5l"}]}
    for tool, arguments in (
        ("upload_files", {"sessionId": shop, **upload}),
        ("execute_sequence", {"sessionId": shop, "actions": [{"action": "upload_files", **upload}]}),
    ):
        answer = server.call(ann, tool, arguments)
        assert not answer.get("isError"), answer
        held = server.call(ann, "execute_script", {"sessionId": shop, "script": HELD})
        assert held["structuredContent"]["value"] == [["photo ü.txt", "of ann"], ["dot.txt", "inline"]]
    route = {"sessionId": shop, "action": "fulfil", "url": "**/mocked", "path": sent["id"]}
    assert not server.call(ann, "route", route).get("isError")
    fetched = {"sessionId": shop, "script": "return (await fetch('/mocked')).text()"}
    assert server.call(ann, "execute_script", fetched)["structuredContent"]["value"] == "of ann"
    server.call(ann, "route", {"sessionId": shop, "action": "clear"})
    assert server.request(ann, method="DELETE", path=f"/files/{sent['id']}").status == 204
    gone = server.call(ann, "upload_files", {"sessionId": shop, "selector": "input", "paths": [sent["id"]]})
    assert "was not sent with this token, or its time is over" in json.dumps(gone["content"])


def test_a_file_of_another_token_is_as_unknown_as_one_that_nobody_sent(server: HttpServer, ann: str, shop: str) -> None:
    """Not of the same namespace either: neither named, listed nor removed."""
    friend, (_, sent) = server.token("sender"), send(server, ann, "mine.txt", b"of ann")
    nobody = "file:0123456789abcdef"
    assert json.loads(server.request(friend, method="GET", path="/files").data) == {"files": []}
    for tool, argument in (("upload_files", "paths"), ("start_app_session", "appPath"), ("har", "path")):
        more = {"sessionId": shop, "selector": "input"} if tool == "upload_files" else {"action": "replay"}
        more = {"platform": "ios"} if tool == "start_app_session" else more
        foreign, unknown = (
            server.call(friend, tool, {**more, argument: [name] if argument == "paths" else name})
            for name in (sent["id"], nobody)
        )
        assert unknown["structuredContent"]["error"]["code"] == "invalid_argument"
        assert json.dumps(foreign).replace(sent["id"], nobody) == json.dumps(unknown)
    removed = server.request(friend, method="DELETE", path=f"/files/{sent['id']}")
    assert (removed.status, json.loads(removed.data)["error"]["code"]) == (404, "not_found")
    assert server.request(ann, method="DELETE", path=f"/files/{sent['id']}").status == 204


def test_files_above_the_quota_and_with_other_faults_are_refused(server: HttpServer) -> None:
    """Each by its status, and what to do; nothing of a refused one counts or stays."""
    token, reader = server.token("full"), server.token("viewer", role="read")
    assert send(server, token, "half.bin", b"x" * 500_000)[0] == 201
    status, refused = send(server, token, "large.bin", b"x" * 500_001)
    assert (status, refused["error"]["code"]) == (413, "quota")
    assert refused["error"]["message"] == "The files of this token would have more than 1 MB."
    assert "DELETE /files/ID" in refused["error"]["hint"]
    status, last = send(server, token, "fits.bin", b"x" * 500_000)
    assert status == 201
    inline = {"selector": "input", "files": [{"name": "a", "data": "eA=="}]}
    assert server.call(token, "describe_actions", {"names": ["upload_files"]}).get("isError") is not True
    assert "quota" not in json.dumps(server.call(token, "upload_files", inline))  # there is no session
    for name in ("", "..", "a%2Fb.txt", ".hidden", "x" * 201, "a%00b", "a%0Ab"):
        status, refused = send(server, token, name, b"x")
        assert (status, refused["error"]["code"]) == (400, "invalid_argument"), name
    assert send(server, token, "a", b"--x", **{"Content-Type": "multipart/form-data; boundary=x"})[0] == 415
    assert send(server, reader, "a", b"x")[0] == 403
    assert server.request(token, method="PUT", path="/files").headers["Allow"] == "GET, POST"
    assert server.request(token, method="POST", path=f"/files/{last['id']}").headers["Allow"] == "DELETE"
    kept = json.loads(server.request(token, method="GET", path="/files").data)["files"]
    assert sorted(file["name"] for file in kept) == ["fits.bin", "half.bin"]


async def test_resources_of_other_namespaces_are_not_there(server: HttpServer, shop: str) -> None:
    """X7 for resources: a stranger's list is empty, and a name of another namespace is one that nobody has."""
    async with connected(server, server.token("stranger", namespace="two")) as client:
        assert (await client.list_resources()).resources == []
        for kind in KINDS:
            with pytest.raises(MCPError) as foreign:
                await client.read_resource(f"session://{shop}/{kind}")
            with pytest.raises(MCPError) as unknown:
                await client.read_resource(f"session://other/{kind}")
            assert str(foreign.value).replace(shop, "other") == str(unknown.value)
            assert foreign.value.error.data["code"] == "session_not_found"


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("session://shop/heap", "is no resource of this server"),
        ("session://shop/outline/more", "is no resource of this server"),
        ("https://example.com/", "is no resource of this server"),
        ("session://shop/files/../../tokens.toml", "has no file"),
        ("session://shop/files/%2Fetc%2Fpasswd", "has no file"),
        ("session://../files", "is not a session id"),
    ],
)
async def test_a_uri_that_leads_nowhere_is_refused_with_what_to_do(
    server: HttpServer, ann: str, shop: str, uri: str, said: str
) -> None:
    """The error of JSON-RPC has the code of a wrong parameter, and our own code and hint as data."""
    assert shop
    async with connected(server, ann) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
    assert refused.value.error.code == -32602
    assert refused.value.error.data["code"] == "invalid_argument"
    assert refused.value.error.data["hint"] in str(refused.value)
    assert said in str(refused.value)


async def test_a_token_reads_what_its_tools_show(server: HttpServer, shop: str) -> None:
    """A resource is answered as its tool would be: `denied` where a token may not call that."""
    async with connected(server, server.token("few", tools="get_console")) as client:
        assert "spoken" in await text(client, f"session://{shop}/console")
        for kind in ("outline", "screenshot", "log", "files"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"session://{shop}/{kind}")
            assert refused.value.error.data["code"] == "denied"
        with pytest.raises(MCPError, match="denied"):
            await client.list_resources()


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed as of 2026")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_is_told_when_a_session_that_it_follows_changes(
    server: HttpServer, ann: str, shop: str, mode: Era
) -> None:
    """By whomever it was changed: in the 2026 protocol clients listen, in that of 2025 they subscribe."""
    uri, told = f"session://{shop}/outline", anyio.Event()
    friend = server.token(f"friend-{mode}")

    async def hear(message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification) and message.params.uri == uri:
            told.set()

    async def change() -> None:
        await anyio.to_thread.run_sync(server.call, friend, "scroll", {"sessionId": shop, "direction": "down"})

    async with connected(server, ann, mode, hear) as client:
        with anyio.fail_after(PATIENCE):
            if mode == "legacy":
                await client.subscribe_resource(uri)
                await change()
                await told.wait()
                await client.unsubscribe_resource(uri)
                return
            async with client.listen(resource_subscriptions=[uri, "session://other/outline"]) as events:
                await change()
                assert await anext(events) == ResourceUpdated(uri=uri)


async def test_resources_are_listed_by_page(server: HttpServer) -> None:
    """A page has fifty sessions, in the order of their ids; what is no cursor is refused."""
    names = [f"s{number:02}" for number in range(52)]
    store = SqliteStore(server.home)
    registry = SessionRegistry(store, make_caller(), "many")
    await registry.enrol()
    for name in reversed(names):
        await registry.reserve_session(SessionType.BROWSER, name, provider="local")
    async with connected(server, server.token("many", namespace="many")) as client:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        with pytest.raises(MCPError, match="no cursor of this list"):
            await client.list_resources(cursor="%%%")
    listed = [one.uri.split("/")[2] for page in (first, second) for one in page.resources]
    assert [*dict.fromkeys(listed)] == names
    assert (len(first.resources), second.next_cursor) == (50 * len(KINDS), None)
    for name in names:
        await registry.close(name)
    await registry.forget()
    store.disconnect()


@pytest.fixture(scope="module")
def stdio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over stdio."""
    with served(home=str(tmp_path_factory.mktemp("stdio"))) as client:
        yield client


def prompt(client: Served, name: str, **arguments: str) -> str:
    """Return the text of a prompt."""
    [message] = client.ask(lambda: client.client.get_prompt(name, arguments)).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


def perform(client: Served, text: str) -> list[str]:
    """Make the calls that a prompt tells; returns their tools."""
    steps = STEP.findall(text)
    for tool, arguments in steps:
        client.ok(tool, **json.loads(arguments))
    return [tool for tool, _ in steps]


def test_the_prompt_chat_check_lets_two_people_chat(stdio: Served) -> None:
    """Each of its steps succeeds in the demo's chat, in which both messages then are."""
    with ChatServer({"alice": "duet-a", "bob": "duet-b"}) as chat:
        told = prompt(stdio, "chat_check", url=chat.url, first_password="duet-a", second_password="duet-b")
        tools = perform(stdio, told)
        assert [message.text for message in chat.messages] == ["Hello bob, this is alice.", "Hello alice, this is bob."]
    assert tools.count("execute_parallel") == 3
    assert stdio.ok("list_sessions")["sessions"] == []


def test_the_prompt_bug_report_reads_all_that_a_report_needs(stdio: Served, site: Site) -> None:
    """Its steps only look; the session is as it was."""
    stdio.ok("start_browser", sessionId="broken", navigationUrl=site.page("/broken", "<h1>Out of order</h1>"))
    assert "Out of order" in str(stdio.ask(lambda: stdio.client.read_resource("session://broken/outline")))
    told = prompt(stdio, "bug_report", session="broken", problem="The shop is closed.")
    assert perform(stdio, told) == ["get_visible_elements", "take_screenshot", "get_console", "get_network"]
    assert "The shop is closed." in told
    stdio.ok("close_session", sessionId="broken")


def test_what_a_person_has_to_allow_is_not_read_past_them(tmp_path: Path) -> None:
    """The setting `confirm` holds back what a resource shows as it does the tool: there, the client is to call it."""
    with served(home=str(tmp_path), confirm="list_sessions") as client:
        with pytest.raises(MCPError, match="denied: list_sessions needs a person's consent: call it") as refused:
            client.ask(client.client.list_resources)
        assert refused.value.error.data["code"] == "denied"


@pytest.mark.full
def test_the_prompt_checkout_on_three_platforms_buys_the_same_everywhere(
    device_server: DeviceServer, tmp_path: Path
) -> None:
    """Each of its steps succeeds in the demo's shop: a web page, and apps on a simulated iPhone and Android phone."""
    shops = {name: bundle(tmp_path / name, name, broken=False) for name in get_args(Platform)}
    settings = {"home": str(tmp_path / "home"), "appium_url": device_server.url}
    with web(shops["web"]) as site, served(**settings) as client:
        apps = {f"{name}_app": str(shops[name]) for name in ("ios", "android")}
        tools = perform(client, prompt(client, "checkout_on_three_platforms", url=site.url, **apps))
    assert tools.count("get_text") == 3
    assert "compare_sessions" in tools


def test_prompts_are_listed_and_say_what_they_lack(stdio: Served) -> None:
    """Three, each with its arguments; one without an argument that it needs names it."""
    listed = stdio.ask(stdio.client.list_prompts).prompts
    assert [one.name for one in listed] == ["chat_check", "checkout_on_three_platforms", "bug_report"]
    with pytest.raises(MCPError, match=r"chat_check lacks url. It takes url, first"):
        prompt(stdio, "chat_check")
    with pytest.raises(MCPError, match="There is no prompt 'other'"):
        prompt(stdio, "other")
