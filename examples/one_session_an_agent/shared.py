"""Parts that the programs of this folder share: the page, the server's command, and a call."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

SERVER = StdioServerParameters(
    command=sys.executable,
    args=["-m", "orchestrator", "serve", "--log-level", "warning"],
    env={"ORCHESTRATOR_NAMESPACE": "notes"},  # servers of one namespace see each other's sessions
)
NOTES = {
    "agent-black": ["Assam", "Ceylon"],
    "agent-green": ["Sencha", "Longjing"],
    "agent-herbs": ["Mint", "Camomile"],
}


class _Pages(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args, directory=str(Path(__file__).parent))

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def notes_page() -> Iterator[str]:
    """Serve the page; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as pages:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{pages.server_port}/notes.html"
        pages.shutdown()


async def write_notes(client: Client, session: str, notes: list[str]) -> list[str]:
    """Write notes as an agent that passes its session's id in every call; return what the page shows then."""
    for note in notes:
        await call(client, "set_value", sessionId=session, selector="label=Note", value=note, submit=True)
    read = await call(client, "get_text", sessionId=session, selector="role=list")
    return str(read["text"]).splitlines()


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; return its data, or raise its error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError("\n".join(part.text for part in result.content if part.type == "text"))
    return result.structured_content or {}
