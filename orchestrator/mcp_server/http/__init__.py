"""MCP over HTTP: one server for many clients, each with a token of its own."""
