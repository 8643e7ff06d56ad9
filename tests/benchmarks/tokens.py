"""Counts the tokens that a model reads and writes for a login: the list of tools, the instructions, calls and answers.

Usage: `python tests/benchmarks/tokens.py [--tools core] [--verbose]`. The tokenizer is o200k, from a package that
carries its vocabulary: nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpe_openai import get_encoding  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).parents[2]))

from orchestrator.mcp_server.server import INSTRUCTIONS
from tests.benchmarks import pages
from tests.servers.mcp import Served, served
from tests.servers.site import Site

LIMITS = {"default": 4_300, "core": 2_700}
"""Tokens that the whole may have, by the setting `tools`."""


@dataclass(frozen=True)
class Text:
    """A text that a model reads or writes, with its number of tokens."""

    name: str
    text: str

    @property
    def tokens(self) -> int:
        """The number of tokens by o200k."""
        return len(get_encoding("o200k_base").encode(self.text))


def main() -> int:
    """Print the tokens of each text and their sum; the exit code says if the sum fits its limit."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, Site() as site:
        pages.put(site, ())
        settings = {"home": folder, "tools": options.tools}
        with served("auto", **settings) as server:
            texts = [*_before(server), *_login(server, site.url(pages.LOGIN))]
    whole, limit = sum(one.tokens for one in texts), LIMITS.get(options.tools)
    for one in texts:
        print(f"{one.tokens:6} {one.name}" + (f"\n{one.text}" if options.verbose else ""))
    print(f"{whole:6} together" + (f", at most {limit}" if limit else ""))
    return int(limit is not None and whole > limit)


def _before(server: Served) -> Iterator[Text]:
    """Yield what a model reads before its first call, as hosts show it: without the schemas of results."""
    shown = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in server.tools()
    ]
    yield Text("list", _compact(shown))
    yield Text("instructions", INSTRUCTIONS)


def _login(server: Served, url: str) -> Iterator[Text]:
    """Yield the calls of a login and their answers: start, look, fill in and send by the refs that were seen."""
    yield from _exchange(server, "start_browser", {"navigationUrl": url})
    *_, answer = seen = [*_exchange(server, "get_visible_elements", {})]
    yield from seen
    name, password, button = (_ref(answer.text, role) for role in ('textbox "Name"', 'textbox "Password"', "button"))
    steps = [
        {"action": "set_value", "selector": name, "value": "alice"},
        {"action": "set_value", "selector": password, "value": "correct horse"},
        {"action": "click_element", "selector": button},
    ]
    *_, answer = done = [*_exchange(server, "execute_sequence", {"actions": steps})]
    assert pages.WELCOME in answer.text
    yield from done


def _exchange(server: Served, tool: str, arguments: dict[str, Any]) -> Iterator[Text]:
    yield Text(f"call of {tool}", _compact({"name": tool, "arguments": arguments}))
    answer = server.call(tool, **arguments)
    assert not answer.failed, answer.text
    yield Text(f"answer of {tool}", answer.text)


def _ref(outline: str, element: str) -> str:
    line = next(line for line in outline.splitlines() if element in line)
    return line.partition("[")[2].partition("]")[0]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Counts the tokens of a login by o200k.")
    parser.add_argument("--tools", default="default", help="the setting tools (default)")
    parser.add_argument("--verbose", action="store_true", help="print each text, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
