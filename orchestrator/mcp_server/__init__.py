"""The front door for AI agents: every tool, over the Model Context Protocol."""
