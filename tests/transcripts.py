"""The tool calls that pages of the documentation show, run for real.

A block that is fenced as `tools` holds calls and what they answer: `> tool {arguments}` is followed by the text of its
result, `>> tool {arguments}` by its data. `make docs` writes down what they answer now.
"""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.served import Served, served

ROOT = Path(__file__).parents[1]
ADDRESS = "http://localhost:8000"
"""Where the pages say that the guest book is served; here it gets a free port."""

HOME = "~/.local/share/webdriver-orchestrator"
"""Where a reader's files are; here they go elsewhere."""

_BLOCK = re.compile(r"(?<=^```tools\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"^(>>?) (\w+) (?=\{)", re.MULTILINE)
_CHANGES = [
    (re.compile(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}"), "http://127.0.0.1:PORT/PATH"),
    (re.compile(r"ws://127\.0\.0\.1:\d+/"), "ws://127.0.0.1:PORT/"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b\d+(\.\d+){2,3}\b"), "VERSION"),
    (re.compile(r"\b\d+ ms"), "N ms"),
    (re.compile(r'("\w+Ms": )\d+'), r"\1N"),
    (re.compile(r"platformName \w+"), "platformName NAME"),
    # Numbers are also given to elements that an answer in between would have shown.
    (re.compile(r"\[e\d+\]"), "[REF]"),
    (re.compile(r"~?/[\w./-]+/screenshots/[\w./-]+?(?=\.png)"), "/SCREENSHOT"),
]
"""What is different each time."""


@dataclass(frozen=True)
class Call:
    """One call as a page shows it."""

    mark: str
    tool: str
    arguments: dict[str, Any]
    written: str
    answer: str

    @property
    def shown(self) -> str:
        """The call without its answer."""
        return f"{self.mark} {self.tool} {self.written}"


def calls(block: str) -> Iterator[Call]:
    """The calls of one block, in order."""
    begun = list(_CALL.finditer(block))
    ends = [one.start() for one in begun[1:]] + [len(block)]
    for one, end in zip(begun, ends, strict=True):
        arguments, length = json.JSONDecoder().raw_decode(block[one.end() :])
        middle = one.end() + length
        yield Call(one[1], one[2], arguments, block[one.end() : middle], block[middle:end].strip())


def blocks(page: Path) -> list[str]:
    """The blocks of a page."""
    return _BLOCK.findall(page.read_text("utf-8"))


def pages() -> list[Path]:
    """The pages that show calls."""
    return [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if blocks(page)]


def lasting(text: str) -> str:
    """An answer without what is different each time."""
    for pattern, word in _CHANGES:
        text = pattern.sub(word, text)
    return text


@contextmanager
def guest_book() -> Iterator[str]:
    """The guest book at an address of its own."""
    handler = functools.partial(_Quiet, directory=ROOT / "examples" / "guest_book")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Tests have nothing to say of requests."""


@contextmanager
def reader() -> Iterator[Reader]:
    """Someone who follows a page, with a server of their own."""
    with guest_book() as address, served(namespace=f"page-{os.urandom(4).hex()}") as server:
        yield Reader(server, address)


class Reader:
    """Makes the calls of one page, in order."""

    def __init__(self, server: Served, address: str) -> None:
        self._server = server
        self._address = address

    def answer(self, call: Call) -> str:
        """What a call answers now."""
        arguments = json.loads(json.dumps(call.arguments).replace(ADDRESS, self._address))
        result = self._server.call(call.tool, **arguments)
        said = json.dumps(result.data, indent=2, ensure_ascii=False) if call.mark == ">>" else result.text
        return said.replace(self._address, ADDRESS).replace(os.environ["ORCHESTRATOR_HOME"], HOME).strip()


def rewrite(page: Path) -> None:
    """Write down what the calls of a page answer now; an answer that says the same is left as it was."""
    text = page.read_text("utf-8")
    with reader() as someone:
        for block in blocks(page):
            shown = []
            for call in calls(block):
                now = someone.answer(call)
                same = lasting(now) == lasting(call.answer)
                shown.append(f"{call.shown}\n{call.answer if same else now}\n")
            text = text.replace(block, "\n".join(shown))
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["ORCHESTRATOR_HOME"] = home
        for one in pages():
            rewrite(one)
