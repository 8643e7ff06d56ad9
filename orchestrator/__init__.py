"""Many WebDriver and Appium sessions at once, for AI agents over MCP and for testers in Python."""

__version__ = "0.1.0"
