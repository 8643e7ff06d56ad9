"""Sends argument sets made from the tools' schemas: every answer is a result, and the session survives.

`python -m tests.long.calls [--calls N] [--seed N]`: every tool is called once, then tools at random. An error must be
a documented one; the server's log must contain no traceback. One broken frame for ten calls goes to a server beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from orchestrator import errors
from orchestrator.errors import OrchestratorError
from orchestrator.mcp_server.tools import TOOLS
from tests.long.argument_sets import OPENING, SESSION, argument_sets
from tests.long.broken_frames import BrokenFrames, broken_frames
from tests.long.by_hand import run_by_hand
from tests.servers.mcp import Served, served
from tests.servers.site import Site

DOCUMENTED = {one.code for one in vars(errors).values() if isinstance(one, type) and issubclass(one, OrchestratorError)}
PAGE = """<!doctype html><title>Fuzz</title><body>
<button id=go data-testid=go onclick="this.textContent += '.'">Go</button> <a href=#x>Link</a>
<label>Name <input></label> <label>Secret <input type=password></label> <input id=box type=checkbox aria-label=Box>
<select aria-label=Size><option>S<option>M</select> <iframe srcdoc="<p>inside</p>"></iframe>"""


class GeneratedCalls:
    """A server that may have one session, and the outcomes of the calls so far."""

    def __init__(self, server: Served, site: Site, seed: int, frames: BrokenFrames) -> None:
        self.seed = seed
        self.frames = frames
        self.server = server
        self.home = site.page("/", PAGE)
        # Not the listed schemas: there only the first tool describes shared parameters.
        self.schemas = {tool.name: TOOLS[tool.name].mcp_tool.input_schema for tool in server.tools()}
        self.codes: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.last = ""

    def ready(self) -> None:
        """Make sure that the session is open, on its page now and then; a call may have closed it, none may lose it."""
        nth = self.tools.total()
        if nth % 25 and not self.last.startswith(OPENING):
            return
        rows = {row["sessionId"]: row for row in self.server.ok("list_sessions")["sessions"]}
        for name in set(rows) - {SESSION}:
            self.server.ok("close_session", sessionId=name)
        if SESSION not in rows:
            self.server.ok("start_browser", sessionId=SESSION, navigationUrl=self.home)
        elif nth % 25 == 0:
            self.server.ok("handle_dialog", accept=True, sessionId=SESSION)
            self.server.ok("set_policy", dialogs="raise", sessionId=SESSION)
            self.server.ok("route", action="clear", sessionId=SESSION)
            self.server.ok("emulate", offline=False, sessionId=SESSION)
            self.server.ok("navigate", url=self.home, sessionId=SESSION, waitUntil="interactive")
        else:
            assert rows[SESSION]["state"] == "active", rows[SESSION]

    def send(self, tool: str, arguments: dict[str, object]) -> None:
        """Send one set; the answer must be a result or a documented error."""
        answer = self.server.call(tool, **arguments)
        self.tools[tool] += 1
        self.last = tool
        assert "Traceback" not in answer.text
        assert "Internal error" not in answer.text, answer.text
        if answer.failed:
            assert answer.code in DOCUMENTED, answer.text
            assert answer.text.startswith(f"{answer.code}: ")
            assert answer.code != "session_lost" or tool == "attach_session", answer.text
            self.codes[answer.code] += 1
        elif tool != "take_screenshot":
            assert answer.data or tool == "expect", answer.text

    def run(self, calls: int) -> None:
        """Send this many sets, and a tenth of them broken frames; at the end the session must answer."""
        self.frames.run(calls // 10)
        for tool, schema in self.schemas.items():
            self._draw({tool: schema}, 1)
        self._draw(self.schemas, calls - len(self.schemas))
        self.ready()
        assert self.server.ok("get_text", sessionId=SESSION)

    def _draw(self, schemas: dict[str, dict[str, object]], calls: int) -> None:
        @seeded(self.seed)
        @settings(
            max_examples=calls, phases=[Phase.generate], deadline=None, database=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(argument_sets(schemas, self.home))
        def send(made: tuple[str, dict[str, object]]) -> None:
            self.ready()
            self.send(*made)

        send()

    def __str__(self) -> str:
        codes = ", ".join(f"{count} {code}" for code, count in self.codes.most_common())
        done = f"seed {self.seed}: {self.tools.total()} calls of {len(self.tools)} tools"
        return f"{done}; errors: {codes}; no traceback; {self.frames}"


@contextmanager
def generated_calls(folder: Path, seed: int) -> Iterator[GeneratedCalls]:
    """Start the server; at the end its log is searched for internal errors."""
    path = folder / "log"
    own = {"home": str(folder / "home"), "namespace": "fuzz"}
    with path.open("w") as log, Site() as site:
        limits = {**own, "max_sessions": "1", "start_timeout": "30"}
        with broken_frames(folder / "frames", seed) as frames, served("auto", (), log, **limits) as server:
            yield GeneratedCalls(server, site, seed, frames)
        log.flush()
    written = path.read_text()
    assert "a tool broke" not in written
    assert "Traceback" not in written


if __name__ == "__main__":
    run_by_hand(generated_calls, "calls", 5_000, "Calls tools with what schemas allow, and what they do not.")
