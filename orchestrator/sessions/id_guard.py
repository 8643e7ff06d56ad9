"""Refuses changing calls without a session id where agents may share a connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from orchestrator.errors import NoSession
from orchestrator.models.session import Caller
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.settings import RequireSessionId

_HIDING = ("claude", "cursor", "gemini")
"""Clients that start sub-agents without naming them in their calls, by the first word of their names."""
_SEVERAL = 2
_SEVERAL_AGENTS = "several agents may share this connection"
_ALWAYS = "require_session_id is always"


class SessionIdGuard:
    """Knows what a connection's calls say about the agents behind it.

    A caller that its host names has a current session of its own, and is never refused by `auto`.
    """

    def __init__(self, mode: RequireSessionId, registry: SessionRegistry) -> None:
        self._mode = mode
        self._registry = registry
        self._named: set[str] = set()
        self._chosen = False
        self._overlapped = False
        self._running: list[frozenset[str]] = []

    def note_start(self, caller: Caller, session_id: str) -> None:
        """Note that an id was reserved for a start by name."""
        if not caller.named:
            self._named.add(session_id)
            self._chosen = False

    def note_open(self, open_ids: Collection[str]) -> None:
        """Note which sessions are open after a start: once those before it are all closed, none of them counts."""
        if len(still := self._named.intersection(open_ids)) < _SEVERAL:
            self._named = still

    def note_choice(self, caller: Caller) -> None:
        """Note that the current session was chosen."""
        self._chosen = self._chosen or not caller.named

    @contextmanager
    def calling(self, caller: Caller, ids: Iterable[str | None]) -> Iterator[None]:
        """Note a call on these sessions while it runs: two at once on different sessions tell of several agents."""
        sessions = frozenset(filter(None, ids))
        if not sessions or caller.named:
            yield
            return
        self._overlapped = self._overlapped or any(map(sessions.isdisjoint, self._running))
        self._running.append(sessions)
        try:
            yield
        finally:
            self._running.remove(sessions)

    async def require_id(self, caller: Caller) -> None:
        """Refuse a changing call of this caller without a session id where the setting says so.

        Nothing is awaited unless it may be refused: calls keep their order of arrival. Under `auto` none is refused
        once all sessions that were started by name are closed.

        Raises:
            NoSession: It lists the open sessions.
        """
        if self._may_refuse(caller):
            open_ids = [record.id for record in (await self._registry.list_with_current())[0]]
            if self._mode == "always" or not self._named.isdisjoint(open_ids):
                raise NoSession(open_ids, because=_ALWAYS if self._mode == "always" else _SEVERAL_AGENTS)

    def _may_refuse(self, caller: Caller) -> bool:
        if self._mode != "auto":
            return self._mode == "always"
        if caller.door != "mcp" or caller.named or self._chosen or len(self._named) < _SEVERAL:
            return False
        return self._overlapped or caller.client.lower().startswith(_HIDING)
