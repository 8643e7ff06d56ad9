"""The boundary between a model and this machine: what a start over MCP may choose."""
