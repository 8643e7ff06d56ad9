"""The MCP server: lists the tools and calls them, in both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import structlog
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from orchestrator import __version__, progress
from orchestrator.api import Orchestrator
from orchestrator.errors import InvalidArgument, OrchestratorError, nearest
from orchestrator.mcp_server.results import Renderer
from orchestrator.mcp_server.tools import listing, tools

Context = ServerRequestContext[Any, Any]

_HEARS = 0.5
"""Seconds after which what a call says of itself is handed on."""

INSTRUCTIONS = """\
Drives many real browser sessions at once through WebDriver, each with cookies and storage of its own.

Sessions: every tool takes an optional sessionId; without one the current session is meant. navigate starts a browser \
when there is none; start_browser starts further ones, under names of your choice (alice, bob). Calls on one session \
run one after the other in order of arrival, calls on different sessions run at the same time. Close what you no \
longer need with close_session.

Acting: get_visible_elements shows the page as an outline in which every element has a ref, such as e12. Pass a ref as \
selector, or CSS, //xpath, text=Sign in, label=Email, role=button[name="Save"], testid=cart. Every action waits until \
its element can be acted on, so no sleep is needed; wait_for and expect wait for what comes later. A ref stays valid \
while its element lives; after stale_ref look again.

Together: execute_sequence runs several steps in one call, and says what they changed: prefer it for forms. \
execute_parallel runs a sequence a session at the same time; the step {"action": "sync", "name": "ready"} makes them \
wait for each other.

Errors begin with a code and end with what to do next. Text and data of a result say the same; long results are cut, \
and next says how to get the rest. A dialog of the page is answered at once and reported; to accept a confirm, call \
handle_dialog before the click that opens it.
"""


class App:
    """The tools over one orchestrator.

    Args:
        orchestrator: The façade.
        heartbeat: Seconds between two signs of life, for clients that ask for progress.
    """

    def __init__(self, orchestrator: Orchestrator, heartbeat: float = 5.0) -> None:
        self._orchestrator = orchestrator
        self._heartbeat = heartbeat
        self._renderer = Renderer(orchestrator.redactor, orchestrator.settings.max_output)
        self._tools = tools(orchestrator.actions)
        self._listed = listing(orchestrator.settings.tools, self._tools)
        self._log = structlog.get_logger(__name__)
        self.server: Server[Any] = Server(
            "webdriver-orchestrator",
            version=__version__,
            title="WebDriver Orchestrator",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def _list_tools(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=self._listed)

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        async with _signs_of_life(context, params.name, self._heartbeat):
            return await self.call(params.name, params.arguments or {})

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool; whatever happens, the answer is a result. The façade is reached without a pause before it."""
        try:
            tool = self._tools.get(name)
            if tool is None:
                raise InvalidArgument(f"There is no tool {name[:64]!r}.", hint=nearest(name, self._tools))  # noqa: TRY301
            outcome = await tool.call(self._orchestrator, arguments)
            return self._renderer.outcome(outcome, tool.narrowing)
        except OrchestratorError as error:
            return self._renderer.error(error)
        except Exception as error:  # noqa: BLE001 (a bug of ours, told as such)
            self._log.exception("a tool broke", tool=name)
            said = f"Internal error in {name[:64]} ({type(error).__name__})."
            return self._renderer.error(OrchestratorError(said, hint="What happened stands in the server's log."))


@asynccontextmanager
async def _signs_of_life(context: Context, name: str, pause: float) -> AsyncIterator[None]:
    """Report progress while the body runs: what it waits for as soon as it is known, and that it works all the time.

    Where no client asked for it, the report goes nowhere.
    """
    said = ""

    def hear(text: str) -> None:
        nonlocal said
        said = text

    async def beat() -> None:
        begun = reported = anyio.current_time()
        known = said
        while True:
            await anyio.sleep(min(pause, _HEARS))
            now = anyio.current_time()
            if said != known or now >= reported + pause:
                known, reported = said, now
                text = f"{name}: {said}" if said else f"{name}: working for {now - begun:.0f} s"
                await context.session.report_progress(now - begun, None, text)

    with progress.heard_by(hear):
        async with anyio.create_task_group() as group:
            group.start_soon(beat)
            yield
            group.cancel_scope.cancel()
