"""What a Selenium Grid tells of itself: its nodes and slots, who waits in its queue, where a session runs.

Source: https://www.selenium.dev/documentation/grid/advanced_features/endpoints/ (`/status`, and the queue's requests).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.errors import OrchestratorError, RemoteFailure, SessionLost
from orchestrator.webdriver.creation import failed
from orchestrator.webdriver.remote import Remote

_STATUS = "/status"
_QUEUE = "/se/grid/newsessionqueue/queue"
_PATIENCE = 10.0
"""Seconds that a Grid may take to tell how it is, before a start."""
_GLANCE = 2.0
"""Seconds that it may take while a start is waiting: what is not told then is told a second later."""
KEY = "se:orchestratorId"
"""A capability of ours alone, which the Grid keeps with a request and its session: these are found by it."""


class Grid:
    """A Grid by its URL, which may hold user and password; `session` is who asks."""

    def __init__(self, url: str, session: str, patience: float = _PATIENCE) -> None:
        self._patience = min(patience, _PATIENCE)
        self._remote = Remote(url, "", name=session, timeout=_PATIENCE)
        self.url = self._remote.url

    def nodes(self) -> list[dict[str, Any]] | None:
        """Its nodes, whatever their state; None where it is no Grid 4, but something else that gives sessions.

        Raises:
            ProviderAuth: It refused our credentials.
            StartFailed: It cannot be reached, or what is there gives no sessions.
        """
        try:
            found = self._remote.get(_STATUS, limit=self._patience)
        except (SessionLost, RemoteFailure) as error:
            raise failed(self._remote, error) from error
        nodes = found.get("nodes") if isinstance(found, dict) else None
        return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else None

    def place(self, key: str) -> tuple[int, int] | None:
        """The place of a request in the queue, from 1, and how many wait there; (0, n) where it is not among them.

        None where that cannot be seen.
        """
        try:
            waiting = self._remote.get(_QUEUE, limit=_GLANCE)
            keys = [one["capabilities"][0].get(KEY) for one in waiting]
        except (OrchestratorError, TypeError, LookupError, AttributeError):
            return None
        return (keys.index(key) + 1 if key in keys else 0), len(keys)

    def session(self, key: str) -> str:
        """The remote id of the session that was made for a request; empty where there is none.

        Raises:
            OrchestratorError: That cannot be seen.
        """
        for node in self.nodes() or ():
            for slot in _slots(node):
                session = slot.get("session") or {}
                if (session.get("capabilities") or {}).get(KEY) == key:
                    return str(session["sessionId"])
        return ""

    def end(self, remote_session_id: str, limit: float) -> None:
        """End a session, within `limit` seconds."""
        Remote(self.url, remote_session_id, name=self._remote.name, timeout=limit).delete(limit)


def stereotypes(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What each slot offers, of the nodes that take new sessions: none that drains or is down."""
    up = (node for node in nodes if node.get("availability") == "UP")
    return [slot["stereotype"] for node in up for slot in _slots(node) if isinstance(slot.get("stereotype"), dict)]


def node_of(nodes: list[dict[str, Any]], remote_session_id: str) -> dict[str, Any]:
    """The node that a session runs on; empty where none says so."""
    for node in nodes:
        if any((slot.get("session") or {}).get("sessionId") == remote_session_id for slot in _slots(node)):
            return node
    return {}


def _slots(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (slot for slot in node.get("slots") or () if isinstance(slot, dict))
