"""The actions: everything that can be done in a session, one class each."""

ENTRY_POINTS = "orchestrator.actions"
"""The entry point group of packages that bring further actions."""
