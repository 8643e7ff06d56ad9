"""Runs the tool calls that pages of the documentation show, and updates their results.

A block fenced as `tools` contains calls and their results: `> tool {arguments}` is followed by the text of the result,
`>> tool {arguments}` by its data. `make docs` writes the current results.
"""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.servers.mcp import Served, served
from tests.servers.webdriver import listening

ROOT = Path(__file__).parents[2]
ADDRESS = "http://localhost:8000"
"""The address of the guest book on the pages; here it gets a free port."""

HOME = "~/.local/share/webdriver-orchestrator"
"""The folder of a reader's files on the pages; here they go elsewhere."""

_BLOCK = re.compile(r"(?<=^```tools\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
FENCE = "page-k7q2m"
"""The name of the lines around what a page wrote; each connection has another."""
_FENCE = re.compile(r"(?<=<)page-[a-z0-9]{5}(?=>)|(?<=</)page-[a-z0-9]{5}(?=>)")
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
    # Refs are also given to elements that a result in between would have shown.
    (re.compile(r"\[e\d+\]"), "[REF]"),
    (re.compile(r"~?/[\w./-]+/screenshots/[\w./-]+?(?=\.png)"), "/SCREENSHOT"),
]
"""Parts of results that differ on each run, with their placeholders."""


@dataclass(frozen=True)
class Call:
    """A call as a page shows it."""

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
    """Yield the calls of a block, in order."""
    heads = list(_CALL.finditer(block))
    ends = [head.start() for head in heads[1:]] + [len(block)]
    for head, end in zip(heads, ends, strict=True):
        arguments, length = json.JSONDecoder().raw_decode(block[head.end() :])
        middle = head.end() + length
        yield Call(head[1], head[2], arguments, block[head.end() : middle], block[middle:end].strip())


def blocks(page: Path) -> list[str]:
    """Return the blocks of a page."""
    return _BLOCK.findall(page.read_text("utf-8"))


def pages() -> list[Path]:
    """Return the pages that show calls, the README first."""
    return [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if blocks(page)]


def lasting(text: str) -> str:
    """Replace the parts of a result that differ on each run."""
    for pattern, word in _CHANGES:
        text = pattern.sub(word, text)
    return text


@contextmanager
def guest_book() -> Iterator[str]:
    """Serve the guest book at a free port; yield its address."""
    handler = functools.partial(_Quiet, directory=ROOT / "examples" / "guest_book")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, listening(server):
        yield f"http://localhost:{server.server_port}"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def reader() -> Iterator[Reader]:
    """Yield a reader of a page, with a server of their own."""
    with guest_book() as address, served(namespace=f"page-{os.urandom(4).hex()}") as server:
        yield Reader(server, address)


class Reader:
    """Makes the calls of a page, in order."""

    def __init__(self, server: Served, address: str) -> None:
        self._server = server
        self._address = address

    def answer(self, call: Call) -> str:
        """Return the current result of a call."""
        arguments = json.loads(json.dumps(call.arguments).replace(ADDRESS, self._address))
        result = self._server.call(call.tool, **arguments)
        text = json.dumps(result.data, indent=2, ensure_ascii=False) if call.mark == ">>" else result.fenced_text
        text = _FENCE.sub(FENCE, text)
        return text.replace(self._address, ADDRESS).replace(os.environ["ORCHESTRATOR_HOME"], HOME).strip()


def stale_calls(page: Path) -> list[str]:
    """Make the calls of a page, in order; return each whose result is not as shown, with it and what to do."""
    stale = []
    with reader() as someone:
        for call in (call for block in blocks(page) for call in calls(block)):
            now = lasting(someone.answer(call))
            if now != lasting(call.answer):
                stale.append(f"{call.shown}\n{now}\nIf {page.name} is stale: make docs")
    return stale


def rewrite(page: Path) -> None:
    """Write the current results of a page's calls; a result without a real difference stays unchanged."""
    text = page.read_text("utf-8")
    with reader() as someone:
        for block in blocks(page):
            shown = []
            for call in calls(block):
                current = someone.answer(call)
                same = lasting(current) == lasting(call.answer)
                shown.append(f"{call.shown}\n{call.answer if same else current}\n")
            text = text.replace(block, "\n".join(shown))
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["ORCHESTRATOR_HOME"] = home
        # What root is warned of is not what a reader of the pages sees.
        os.environ["ORCHESTRATOR_SANDBOX"] = "off"
        for one in pages():
            rewrite(one)
