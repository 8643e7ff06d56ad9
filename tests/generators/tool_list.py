"""Writes `orchestrator/mcp_server/tools.json`: every tool as clients read it, made from its declaration.

The server lists its tools from that file, before it loads any action. `make docs` runs this; a test fails when the
file is stale.
"""

from __future__ import annotations

import json

from orchestrator.mcp_server.tool_list import FILE
from orchestrator.mcp_server.tools import TOOLS


def text() -> str:
    """Return the file's text."""
    return json.dumps([tool.entry.data() for tool in TOOLS.values()], indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
