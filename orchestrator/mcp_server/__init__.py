"""The MCP server, the door for AI agents: every tool, over the Model Context Protocol."""
