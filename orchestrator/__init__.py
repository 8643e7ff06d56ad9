"""Many WebDriver sessions at once, for AI agents over MCP and for testers."""

__version__ = "0.1.0"
