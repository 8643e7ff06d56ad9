"""Two thousand argument sets made from the schemas: whatever is sent, the answer is a result, and the session lives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from orchestrator import errors
from orchestrator.errors import OrchestratorError
from orchestrator.mcp_server.tools import TOOLS
from tests.argument_sets import OPENING, SESSION, argument_sets
from tests.served import Served, served
from tests.site import Site

SETS = 2_000
DOCUMENTED = {one.code for one in vars(errors).values() if isinstance(one, type) and issubclass(one, OrchestratorError)}
PAGE = """<!doctype html><title>Fuzz</title><body>
<button id=go data-testid=go onclick="this.textContent += '.'">Go</button> <a href=#x>Link</a>
<label>Name <input></label> <label>Secret <input type=password></label> <input id=box type=checkbox aria-label=Box>
<select aria-label=Size><option>S<option>M</select> <iframe srcdoc="<p>inside</p>"></iframe>"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


class Target:
    """A server that may hold one session, and what came of the calls so far."""

    def __init__(self, server: Served, site: Site) -> None:
        self.server = server
        self.home = site.page("/", PAGE)
        # Not as they are listed: what tools have in common is told there by the first of them alone.
        self.schemas = {tool.name: TOOLS[tool.name].listed.input_schema for tool in server.tools()}
        self.codes: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.last = ""

    def ready(self) -> None:
        """See that the session is there, on its page now and then; a call may have closed it, nothing may lose it."""
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
        """Send one set; the answer must be a result, or an error of which the documentation speaks."""
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


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The server, whose log is read at the end: a bug that was turned into an error would stand there."""
    path = tmp_path_factory.mktemp("fuzz") / "log"
    with path.open("w") as log, Site() as site:
        with served("auto", (), log, namespace="fuzz", max_sessions="1", start_timeout="30") as server:
            yield Target(server, site)
        log.flush()
    assert "a tool broke" not in path.read_text()
    assert "Traceback" not in path.read_text()


def test_whatever_is_sent_is_answered(target: Target) -> None:
    """Only documented errors, no traceback, the session there after each of them."""

    @settings(
        max_examples=SETS, phases=[Phase.generate], deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(argument_sets(target.schemas, target.home))
    def send(made: tuple[str, dict[str, object]]) -> None:
        target.ready()
        target.send(*made)

    send()
    assert target.tools.total() >= SETS
    assert set(target.tools) == set(target.schemas)
    assert {"invalid_argument", "session_not_found", "element_not_found"} <= set(target.codes)
    target.ready()
    assert target.server.ok("get_text", sessionId=SESSION)
