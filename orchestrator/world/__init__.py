"""The script world of a session: JavaScript in an embedded engine, whose globals live on from call to call."""
