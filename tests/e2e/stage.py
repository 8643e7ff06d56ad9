"""A server, a browser and a site for a whole file of tests, each of which shows a page of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from orchestrator.models.browser_support import ABILITIES
from orchestrator.models.results import own_line
from tests.servers.mcp import Answer, Served, served
from tests.servers.site import Site

HEAR = """<script>
heard = [];
hear = (...names) => names.forEach(name => addEventListener(name, event => heard.push({
  type: event.type, trusted: event.isTrusted, id: event.target.id, button: event.button, key: event.key,
  shift: event.shiftKey, ctrl: event.ctrlKey, data: event.data,
}), true));
</script>"""
"""`hear('click', …)` in a page records such events in `heard`."""

_PAGES = itertools.count(1)


class Stage:
    """Server, site and browser of a test, with short calls."""

    def __init__(self, server: Served, site: Site, browser: str = "chrome") -> None:
        self.server = server
        self.site = site
        self.browser = browser
        self.begin = server.begin
        self._lacks = [one.lacking[browser] for one in ABILITIES.values() if browser in one.lacking]

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool; skip the test if the browser lacks the ability, according to the table of abilities."""
        answer = self.server.call(tool, **arguments)
        if answer.code == "unsupported" and any(lack in answer.text for lack in self._lacks):
            pytest.skip(answer.data["error"]["message"])
        return answer

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed; return its data."""
        answer = self.call(tool, **arguments)
        assert not answer.failed, answer.text
        return answer.data

    def page(self, html: str, *, title: str = "Page") -> str:
        """Put a page on the site, under an address of its own."""
        return self.site.page(f"/{next(_PAGES)}", f"<!doctype html><title>{title}</title><body>{html}")

    def show(self, html: str, *, title: str = "Page", **session: Any) -> str:
        """Show a page in the browser; return its address."""
        url = self.page(html, title=title)
        self.ok("navigate", url=url, **session)
        return url

    def js(self, expression: str, **session: str) -> Any:
        """Return the value of an expression in the page."""
        return self.ok("execute_script", script=f"return {expression}", **session)["value"]

    def heard(self, name: str = "") -> list[dict[str, Any]]:
        """Return the events that the page recorded (see HEAR), of one kind or all."""
        return [event for event in self.js("heard") if name in {"", event["type"]}]

    def outline(self, **arguments: Any) -> list[str]:
        """Return the lines of the outline."""
        lines: list[str] = self.ok("get_visible_elements", **arguments)["outline"].splitlines()
        return lines

    def ref(self, beginning: str, **arguments: Any) -> str:
        """Return the ref in the first line of the outline with this beginning, its dash aside."""
        for line in self.outline(**arguments):
            if line.strip().removeprefix("- ").startswith(beginning):
                return line.partition("[")[2].partition("]")[0]
        raise AssertionError(f"no line begins with {beginning}")


@contextmanager
def opened(mode: str = "auto", *sessions: str, **settings: str) -> Iterator[Stage]:
    """Start the server, in a namespace of its own, and its site, with a browser for each name, or one without names."""
    with Site() as site, served(mode, **{"namespace": f"stage-{next(_PAGES)}", "tools": "all", **settings}) as server:
        for answer in [server.begin("start_browser", sessionId=name) for name in sessions or ("browser",)]:
            assert not answer.result(110).failed, answer.result().text
        yield Stage(server, site)


def refused(answer: Answer, code: str) -> str:
    """Return the text of an error result, after checks that text and data have the same code, message and hint."""
    assert answer.failed, answer.text
    error = answer.data["error"]
    assert error["code"] == code, answer.text
    assert answer.text.startswith(own_line(f"{code}: {error['message']}")), answer.text
    assert error["hint"] in answer.text, answer.text
    assert isinstance(error["retryable"], bool)
    return answer.text
