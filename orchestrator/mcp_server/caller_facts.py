"""Facts about the caller of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from mcp.server.context import ServerRequestContext

_SESSION_HEADER = "mcp-session-id"


class CallerFacts(NamedTuple):
    """Facts about the caller of a request.

    Attributes:
        meta: The request's `_meta`.
        client: The name of the program that sent it.
        http_session: The id of its session of the protocol; empty over stdio, and in the 2026 protocol.
    """

    meta: Mapping[str, Any]
    client: str
    http_session: str

    @classmethod
    def of(cls, context: ServerRequestContext[Any, Any]) -> Self:
        """Read them from the context of a request."""
        client = context.session.client_params
        name = (client.client_info.title or client.client_info.name) if client else ""
        headers = context.request.headers if context.request is not None else {}
        return cls({**(context.meta or {})}, name, str(headers.get(_SESSION_HEADER, "")))


NO_FACTS = CallerFacts({}, "", "")
"""Of a caller who is the connection itself."""
