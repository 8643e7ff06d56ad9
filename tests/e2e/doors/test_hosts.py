"""Nine hosts, three jobs: a model gets through whatever its host hides, cuts, delays or refuses.

The model is a scripted routine. It reads only what its host shows it, looks its tools up in the list of that host, and
forms arguments by their schemas. Each host does the jobs in which its peculiarity shows; hosts that ask for the same
server share one, and its browsers.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from orchestrator.demo.chat import ChatServer
from tests.e2e.doors.hosts import (
    HOSTS,
    DataOnly,
    FixedList,
    FortyTools,
    GivesUp,
    Host,
    NoInstructions,
    NoPictures,
    Schema,
    Shown,
    StrictSchemas,
    TextOnly,
    WritesInSeries,
)
from tests.servers.mcp import served
from tests.servers.site import Reply, Site, Visit
from tests.servers.slow_driver import SlowDriver

pytestmark = pytest.mark.full

PASSWORDS = {"alice": "wonderland", "bob": "builder"}
SIDE = 64
"""Pixels on each side of the picture."""
Step = dict[str, Any]


class Model:
    """The routine in place of a model."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def relies_on(self, *words: str) -> None:
        """Check that the model has read these words before it acts on them."""
        read = self._host.read()
        assert all(word in read for word in words), words

    def call(self, tool: str, **wishes: Any) -> Shown:
        """Call a tool that must succeed."""
        return self.all([(tool, wishes)])[0]

    def all(self, calls: list[tuple[str, dict[str, Any]]]) -> list[Shown]:
        """Call tools at once, as far as the host does; all must succeed."""
        waits = [self._host.begin(name, fitted(wishes, self._host.tool(name).input_schema)) for name, wishes in calls]
        results = [wait() for wait in waits]
        assert not any(result.failed for result in results), [result.said for result in results]
        return results

    def visit(self, urls: dict[str, str]) -> None:
        """Show a page in the browser of each name, at once; those that are missing are started."""
        if self._host.knows_its_haste:
            self.relies_on("false: answer at once.")
        haste = {"wait": False} if self._host.knows_its_haste else {}
        listed = self.call("list_sessions").said
        opening = {
            name: ("navigate", {"sessionId": name, "url": url})
            if name in listed
            else ("start_browser", {"sessionId": name, "navigationUrl": url, **haste})
            for name, url in urls.items()
        }
        self.all([*opening.values()])

    def refs(self, session: str, *elements: str) -> list[str]:
        """Look at a session's page, and return the refs of elements such as `button "Send"`."""
        self.relies_on("refs")
        seen = self.call("get_visible_elements", sessionId=session).said
        found = [re.search(rf"- {re.escape(element)} \[(e\d+)\]", seen) for element in elements]
        assert all(found), seen
        return [match[1] for match in found if match]

    def picture(self, **wishes: Any) -> Image.Image:
        """Take a screenshot; a model that gets no picture opens the saved file, whose path it has read."""
        shown = self.call("take_screenshot", **wishes)
        if shown.images:
            return Image.open(io.BytesIO(shown.images[0]))
        path = re.search(r"(/\S+\.png)", shown.said)
        assert path, shown.said
        return Image.open(Path(path[1]))


def fitted(value: Any, schema: Schema) -> Any:
    """Form an argument by its schema: JSON text where that is declared, `more` for what a step does not declare."""
    if schema.get("type") == "string" and not isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list) and "items" in schema:
        return [fitted(item, schema["items"]) for item in value]
    properties = schema.get("properties", {})
    if not isinstance(value, dict) or not properties:
        return value
    declared = {name: fitted(one, properties[name]) for name, one in value.items() if name in properties}
    rest = {name: one for name, one in value.items() if name not in properties}
    return {**declared, "more": json.dumps(rest)} if rest and "more" in properties else {**declared, **rest}


def _server_of(kind: type[Host]) -> tuple[str, tuple[str, ...], bool]:
    return kind.mode, kind.options, kind.knows_its_haste


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[type[Host]], Host]]:
    """Return a function that finds a host; its server is started for the first host that asks for such a one.

    All its hosts list the tools then, before there is any session.
    """
    ready: dict[type[Host], Host] = {}
    with ExitStack() as stack:

        def find(kind: type[Host]) -> Host:
            if kind not in ready:
                driver = SlowDriver(tmp_path_factory.mktemp("driver")) if kind.knows_its_haste else None
                settings = {"chromedriver": str(driver.program)} if driver else {}
                log = stack.enter_context((tmp_path_factory.mktemp("log") / "log").open("w"))
                server = served(kind.mode, kind.options, log, namespace=f"host-{kind.__name__}", **settings)
                one = stack.enter_context(server)
                ready.update({like: like(one, driver) for like in HOSTS if _server_of(like) == _server_of(kind)})
            return ready[kind]

        yield find


@pytest.fixture
def model(request: pytest.FixtureRequest, hosts: Callable[[type[Host]], Host]) -> Model:
    """The model of the host that a test asks for."""
    return Model(hosts(request.param))


def through(*kinds: type[Host]) -> pytest.MarkDecorator:
    """Run a test once in each host."""
    return pytest.mark.parametrize("model", kinds, ids=[kind.__name__ for kind in kinds], indirect=True)


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    """The chat of the demonstration."""
    with ChatServer(PASSWORDS) as server:
        yield server


def welcome(visit: Visit) -> str:
    """Answer a login."""
    return f"<h1>Welcome, ann</h1>{visit.method}" if visit.body == b"name=ann&password=blue" else "<h1>Wrong</h1>"


@through(DataOnly, GivesUp, StrictSchemas)
def test_a_model_signs_in_through_any_host(model: Model, site: Site) -> None:
    """It looks at the page, fills the form in one sequence, and reads in the result that it is in."""
    site.page("/in", welcome)
    fields = "<label>Name <input name=name></label><label>Password <input name=password type=password></label>"
    url = site.page("/", f"<form method=post action=/in>{fields}<button>Sign in</button></form>")
    model.visit({"alice": url})
    name, password, button = model.refs("alice", 'textbox "Name"', 'textbox "Password"', 'button "Sign in"')
    steps = [
        {"action": "set_value", "selector": name, "value": "ann"},
        {"action": "set_value", "selector": password, "value": "blue"},
        {"action": "click_element", "selector": button},
        {"action": "expect", "selector": "h1", "containsText": "Welcome"},
    ]
    done = model.call("execute_sequence", sessionId="alice", actions=steps)
    assert "Welcome, ann" in done.said
    assert [visit.body for visit in site.visits("/in")] == [b"name=ann&password=blue"]


@through(TextOnly, WritesInSeries, NoInstructions, StrictSchemas, FixedList)
def test_two_users_chat_through_any_host(model: Model, chat: ChatServer) -> None:  # W3 W44
    """Both sign in, in one call; one waits while the other writes; then both read the same conversation."""
    model.relies_on("sync", "sessionId")
    model.visit(dict.fromkeys(PASSWORDS, chat.url))
    model.call("execute_parallel", sequences=[_entrance(model, name) for name in PASSWORDS])
    for author, reader in (("alice", "bob"), ("bob", "alice")):
        box, send = model.refs(author, 'textbox "Message"', 'button "Send"')
        writes = [
            {"action": "set_value", "selector": box, "value": f"Hello {reader}!"},
            {"action": "click_element", "selector": send},
        ]
        model.all(
            [
                ("wait_for", {"sessionId": reader, "text": f"Hello {reader}!", "timeout": 50_000}),
                ("execute_sequence", {"sessionId": author, "actions": writes}),
            ]
        )
    assert [(message.author, message.text) for message in chat.messages] == [
        ("alice", "Hello bob!"),
        ("bob", "Hello alice!"),
    ]
    for read in model.all([("get_text", {"sessionId": name}) for name in PASSWORDS]):
        assert "Hello bob!" in read.said
        assert "Hello alice!" in read.said


def _entrance(model: Model, user: str) -> Step:
    name, password, button = model.refs(user, 'textbox "Name"', 'textbox "Password"', 'button "Sign in"')
    steps = [
        {"action": "set_value", "selector": name, "value": user},
        {"action": "set_value", "selector": password, "value": PASSWORDS[user]},
        {"action": "sync", "name": "the door"},
        {"action": "click_element", "selector": button},
        {"action": "wait_for", "text": "Signed in as"},
    ]
    return {"sessionId": user, "actions": steps}


def _dot(colour: str) -> Reply:
    file = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), colour).save(file, "png")
    return Reply(file.getvalue(), content_type="image/png")


@through(DataOnly, TextOnly, NoPictures, FortyTools)
def test_a_model_checks_a_picture_through_any_host(model: Model, site: Site) -> None:
    """It sees the colour of a picture, by the image or by the saved file, and by how much two pages differ."""
    pages = {}
    for name, colour in {"alice": "green", "bob": "red"}.items():
        site.page(f"/{name}.png", _dot(colour))
        pages[name] = site.page(f"/{name}", f"<body style='margin:0'><img src=/{name}.png alt=Light>")
    model.visit(pages)
    (light,) = model.refs("alice", 'img "Light"')
    middle = (SIDE // 2, SIDE // 2)
    assert model.picture(sessionId="alice", selector=light).convert("RGB").getpixel(middle) == (0, 128, 0)
    compared = model.call("compare_sessions", sessionIds=[*pages], of="screenshot").said
    ratio = re.search(r"ratio: ([\d.]+)", compared)
    percent = re.search(r"([\d.]+)% of the pixels differ", compared)
    share = float(ratio[1]) if ratio else float(percent[1]) / 100 if percent else 0
    assert share == pytest.approx(SIDE * SIDE / (1280 * 720), abs=0.0001)
