"""The folders that a client works in: its roots, in the 2025 protocol."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import anyio
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

_LIMIT = 3.0
"""Seconds that the client has for its answer; meanwhile no call is begun."""

_log = logging.getLogger(__name__)


class ClientRoots:
    """Asks the client for its roots before the first call, and again once it says that they changed."""

    def __init__(self) -> None:
        self._asking: anyio.Event | None = None
        self._folders: list[Path] = []

    def forget(self) -> None:
        """Ask again before the next call."""
        self._asking = None

    async def read(self, session: ServerSession) -> list[Path]:
        """Return the folders; none if the client has no roots, or does not answer."""
        if self._asking is not None:
            await self._asking.wait()
            return self._folders
        capabilities = session.client_capabilities
        if capabilities is None or capabilities.roots is None or not session.can_send_request:
            return []
        asking = self._asking = anyio.Event()
        try:
            self._folders = await _ask(session)
        finally:
            asking.set()
        return self._folders


async def _ask(session: ServerSession) -> list[Path]:
    try:
        with anyio.fail_after(_LIMIT):
            answer = await session.send_request(ListRootsRequest(), ListRootsResult)
    except (MCPError, TimeoutError, ValidationError, RuntimeError) as error:
        _log.warning("the client did not name its roots", extra={"reason": type(error).__name__})
        return []
    return [folder for root in answer.roots if (folder := _folder(root.uri)) is not None]


def _folder(uri: Any) -> Path | None:
    from orchestrator.system.file_access import path_of_url  # noqa: PLC0415 — the list of tools is sent before

    try:
        return path_of_url(str(uri)) if str(uri).startswith("file:") else None
    except ValueError:
        return None
