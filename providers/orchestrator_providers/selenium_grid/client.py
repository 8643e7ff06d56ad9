"""Client of a Selenium Grid's own endpoints: nodes, slots, the queue, the node of a session.

Source: https://www.selenium.dev/documentation/grid/advanced_features/endpoints/ (`/status`, and the queue's requests).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.errors import OrchestratorError, RemoteFailure, SessionLost
from orchestrator.webdriver.credentials import Credentials
from orchestrator.webdriver.new_session import start_error
from orchestrator.webdriver.remote import Remote

_STATUS = "/status"
_QUEUE = "/se/grid/newsessionqueue/queue"
_PATIENCE = 10.0
"""Seconds that a Grid may take to report its status before a start."""
_QUEUE_PATIENCE = 2.0
"""Seconds that it may take to report its queue while a start is waiting, which asks again a second later."""
REQUEST_KEY = "se:orchestratorId"
"""A capability of ours by which a request in the queue and its session are found; the Grid keeps it with both."""


class GridClient:
    """Client of one Grid.

    Args:
        url: Its URL, which may hold user and password.
        session: The session's id here, for errors.
        patience: Seconds that it may take to report its status; 10 at most.
        credentials: User and password for URLs without them.
    """

    def __init__(
        self, url: str, session: str, *, patience: float = _PATIENCE, credentials: Credentials | None = None
    ) -> None:
        self._patience = min(patience, _PATIENCE)
        self._address = url
        self._credentials = credentials
        self._remote = Remote(url, "", name=session, timeout=_PATIENCE, credentials=credentials)
        self.url = self._remote.url

    def nodes(self) -> list[dict[str, Any]] | None:
        """Return its nodes in any state; None if it is no Grid 4 but another WebDriver endpoint.

        Raises:
            ProviderAuth: It refused our credentials.
            StartFailed: It cannot be reached, or is no WebDriver endpoint.
        """
        try:
            status = self._remote.get(_STATUS, limit=self._patience)
        except (SessionLost, RemoteFailure) as error:
            raise start_error(self._remote, error) from error
        nodes = status.get("nodes") if isinstance(status, dict) else None
        return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else None

    def queue_position(self, key: str) -> tuple[int, int] | None:
        """Return the position of a request in the queue, from 1, and the queue's length; (0, n) if it is not in it.

        None if the queue cannot be read.
        """
        try:
            waiting = self._remote.get(_QUEUE, limit=_QUEUE_PATIENCE)
            keys = [one["capabilities"][0].get(REQUEST_KEY) for one in waiting]
        except (OrchestratorError, TypeError, LookupError, AttributeError):
            return None
        return (keys.index(key) + 1 if key in keys else 0), len(keys)

    def find_session(self, key: str) -> str:
        """Return the remote id of the session that was created for a request; empty if there is none.

        Raises:
            OrchestratorError: The nodes cannot be read.
        """
        for node in self.nodes() or ():
            for slot in _slots(node):
                session = slot.get("session") or {}
                if (session.get("capabilities") or {}).get(REQUEST_KEY) == key:
                    return str(session["sessionId"])
        return ""

    def end_session(self, remote_session_id: str, limit: float) -> None:
        """End a session, within `limit` seconds."""
        Remote(
            self._address, remote_session_id, name=self._remote.name, timeout=limit, credentials=self._credentials
        ).delete(limit)


def stereotypes(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the stereotype of each slot of the nodes that take new sessions, which are neither draining nor down."""
    up = (node for node in nodes if node.get("availability") == "UP")
    return [slot["stereotype"] for node in up for slot in _slots(node) if isinstance(slot.get("stereotype"), dict)]


def node_of(nodes: list[dict[str, Any]], remote_session_id: str) -> dict[str, Any]:
    """Return the node that a session runs on; empty if none has it."""
    for node in nodes:
        if any((slot.get("session") or {}).get("sessionId") == remote_session_id for slot in _slots(node)):
            return node
    return {}


def _slots(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (slot for slot in node.get("slots") or () if isinstance(slot, dict))
