"""A remote end that returns given page sources, and elements in a driver's form."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from orchestrator.webdriver.remote import Remote
from tests.servers.json_answers import write_json
from tests.snapshot.untyped import UntypedScreen
from tests.snapshot.web.chromium import Numbers

SOURCES = Path(__file__).parent / "sources"
_REFERENCE = "element-6066-11e4-a52e-4f735466cecf"
Box = tuple[int, int, int, int]


@contextmanager
def phone() -> Iterator[Phone]:
    """Run a remote end for a block."""
    server = Phone()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Phone(ThreadingHTTPServer):
    """A remote end whose screen can change; `sources` are returned one after the other, the last one from then on.

    `elements` are the results of Find Element and Find Elements: box and class by id.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sources: list[str] = []
        self.elements: dict[str, tuple[Box, str]] = {}
        self.asked: list[tuple[str, Any]] = []
        self.refusal: str | None = None

    def show(self, *sources: str) -> None:
        """Return these page sources from now on."""
        self.sources = list(sources)

    def screen(self, platform: str, *sources: str) -> UntypedScreen:
        """Return a screen with these page sources."""
        self.show(*sources)
        self.elements, self.asked, self.refusal = {}, [], None
        remote = Remote(f"http://127.0.0.1:{self.server_port}", "1", name=platform, timeout=60)
        return UntypedScreen(remote, platform, Numbers(3))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Phone

    def do_GET(self) -> None:
        phone, path = self.server, self.path
        if path.endswith("/source"):
            self._answer(phone.sources.pop(0) if len(phone.sources) > 1 else phone.sources[0])
        elif match := re.search(r"/element/(\w+)/rect$", path):
            x, y, right, bottom = phone.elements[match[1]][0]
            self._answer({"x": x, "y": y, "width": right - x, "height": bottom - y})
        elif match := re.search(r"/element/(\w+)/attribute/\w+$", path):
            self._answer(phone.elements[match[1]][1])

    def do_POST(self) -> None:
        phone = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        phone.asked.append((self.path.rpartition("/")[2], body))
        found = [{_REFERENCE: each} for each in phone.elements]
        if phone.refusal:
            self._answer({"error": "invalid selector", "message": phone.refusal, "stacktrace": ""}, 400)
        elif self.path.endswith("/elements"):
            self._answer(found)
        elif found:
            self._answer(found[0])
        else:
            self._answer({"error": "no such element", "message": "none", "stacktrace": ""}, 404)

    def _answer(self, value: object, status: int = 200) -> None:
        write_json(self, json.dumps({"value": value}).encode(), status)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def source(name: str) -> str:
    """Return a page source as printed by a driver."""
    return (SOURCES / f"{name}.xml").read_text("utf-8")


def _element(tag: str, attributes: dict[str, object], children: tuple[str, ...]) -> str:
    written = " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items())
    return f"<{tag} {written}>{''.join(children)}</{tag}>"


def ios(kind: str, *children: str, box: Box = (0, 100, 300, 140), **attributes: object) -> str:
    """Return an element of an iOS app: `box` is left, top, right, bottom."""
    left, top, right, bottom = box
    facts = {"type": f"XCUIElementType{kind}", "enabled": "true", "visible": "true", "accessible": "true"}
    place = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    return _element(f"XCUIElementType{kind}", {**facts, **place, **attributes}, children)


def ios_app(*children: str) -> str:
    """A whole page source of an iOS app."""
    window = ios("Window", *children, box=(0, 0, 390, 800), accessible="false")
    app = ios("Application", window, box=(0, 0, 390, 800), name="App", label="App", accessible="false")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<AppiumAUT>{app}</AppiumAUT>'


def android(kind: str, *children: str, box: Box = (0, 100, 300, 140), **attributes: object) -> str:
    """Return an element of an Android app; `id` is the resource id without package, `desc` the content description."""
    name = kind if "." in kind else f"android.widget.{kind}"
    left, top, right, bottom = box
    facts: dict[str, object] = {"class": name, "package": "com.app", "text": "", "enabled": "true"}
    given = {key.replace("_", "-"): value for key, value in attributes.items() if key not in {"id", "desc"}}
    if "id" in attributes:
        given["resource-id"] = attributes["id"] if ":" in str(attributes["id"]) else f"com.app:id/{attributes['id']}"
    if "desc" in attributes:
        given["content-desc"] = attributes["desc"]
    bounds = f"[{left},{top}][{right},{bottom}]"
    return _element(name.replace("$", "."), {**facts, **given, "bounds": bounds, "displayed": "true"}, children)


def android_app(*children: str) -> str:
    """A whole page source of an Android app."""
    content = android("FrameLayout", *children, box=(0, 0, 1080, 2000), id="android:id/content")
    return (
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"
        f'<hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2000">{content}</hierarchy>'
    )


def long_list(platform: str, nodes: int) -> str:
    """Return a page source of this many elements: a list with a title, a price and a button in each row."""
    write = _ios_row if platform == "ios" else _android_row
    rows = [write(number, 100 + 80 * number) for number in range((nodes - 4) // 4)]
    if platform == "ios":
        return ios_app(ios("Table", *rows, box=(0, 100, 390, 800), accessible="false"))
    list_ = android("androidx.recyclerview.widget.RecyclerView", *rows, box=(0, 100, 1080, 2000), id="list")
    return android_app(list_)


def _ios_row(number: int, top: int) -> str:
    seen = str(top < 800).lower()
    return ios(
        "Cell",
        ios("StaticText", label=f"Thing {number}", name="title", box=(16, top, 200, top + 30), visible=seen),
        ios("StaticText", label=f"${number}.00", name=f"${number}.00", box=(210, top, 290, top + 30), visible=seen),
        ios("Button", label="Add", name="Add", box=(300, top, 380, top + 40), visible=seen, traits="Button"),
        box=(0, top, 390, top + 80),
        visible=seen,
        accessible="false",
    )


def _android_row(number: int, top: int) -> str:
    return android(
        "android.view.ViewGroup",
        android("TextView", text=f"Thing {number}", id="title", box=(40, top, 600, top + 60)),
        android("TextView", text=f"${number}.00", id="price", box=(640, top, 800, top + 60)),
        android("Button", text="Add", id="add", box=(820, top, 1040, top + 70), clickable="true"),
        box=(0, top, 1080, top + 80),
        id="row",
    )
