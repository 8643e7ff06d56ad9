"""Refuses changing calls without a session id where agents may share a connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from orchestrator.errors import NoSession
from orchestrator.models.session import Caller
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.settings.sessions import RequireSessionId

_HIDING = ("claude", "cursor", "gemini")
"""Clients that start sub-agents without naming them in their calls, by the first word of their names."""
_SEVERAL = 2
_MOST = 1_000
"""Connections that are remembered; the oldest is forgotten first."""
_SEVERAL_AGENTS = "several agents may share this connection"
_ALWAYS = "require_session_id is always"


@dataclass
class _SharedCaller:
    """The calls of a caller behind which several agents may be.

    Attributes:
        started: The sessions that were started by name, and are open.
        chosen: True if the current session was chosen after the last such start.
        overlapped: True once two calls ran at a time on different sessions.
        running: The sessions of the calls that run.
    """

    started: set[str] = field(default_factory=set)
    chosen: bool = False
    overlapped: bool = False
    running: list[frozenset[str]] = field(default_factory=list)


class SessionIdGuard:
    """Knows what the calls of each connection say about the agents behind it.

    Over HTTP a connection is a session of the 2025 protocol, else the token. An agent that its host names has a current
    session of its own, and is never refused by `auto`.
    """

    def __init__(self, mode: RequireSessionId, registry: SessionRegistry) -> None:
        self._mode = mode
        self._registry = registry
        self._callers: dict[str, _SharedCaller] = {}

    def note_start(self, caller: Caller, session_id: str) -> None:
        """Note that an id was reserved for a start by name."""
        if (shared := self._shared(caller)) is not None:
            shared.started.add(session_id)
            shared.chosen = False

    def note_open(self, open_ids: Collection[str]) -> None:
        """Note which sessions are open after a start: those that are closed count no more, nor callers without any."""
        for shared in self._callers.values():
            shared.started.intersection_update(open_ids)
        callers = self._callers.items()
        self._callers = {key: one for key, one in callers if one.started or one.running or one.overlapped}

    def note_choice(self, caller: Caller) -> None:
        """Note that the current session was chosen."""
        if (shared := self._shared(caller)) is not None:
            shared.chosen = True

    @contextmanager
    def calling(self, caller: Caller, ids: Iterable[str | None]) -> Iterator[None]:
        """Note a call on these sessions while it runs: two at once on different sessions tell of several agents."""
        sessions, shared = frozenset(filter(None, ids)), self._shared(caller)
        if not sessions or shared is None:
            yield
            return
        shared.overlapped = shared.overlapped or any(map(sessions.isdisjoint, shared.running))
        shared.running.append(sessions)
        try:
            yield
        finally:
            shared.running.remove(sessions)

    async def require_id(self, caller: Caller) -> None:
        """Refuse a changing call of this caller without a session id where the setting says so.

        Nothing is awaited unless it may be refused: calls keep their order of arrival. Under `auto` none is refused
        once all sessions that were started by name are closed.

        Raises:
            NoSession: It lists the open sessions.
        """
        is_always, shared = self._mode == "always", self._shared(caller)
        if is_always or (shared is not None and self._may_be_several(caller, shared)):
            open_ids = [record.id for record in (await self._registry.list_with_current())[0]]
            if is_always or (shared is not None and not shared.started.isdisjoint(open_ids)):
                raise NoSession(open_ids, because=_ALWAYS if is_always else _SEVERAL_AGENTS)

    def _shared(self, caller: Caller) -> _SharedCaller | None:
        """Return what is known of a caller; None for an agent that its host names."""
        if caller.is_agent:
            return None
        shared = self._callers.setdefault(caller.key, _SharedCaller())
        while len(self._callers) > _MOST:
            del self._callers[next(iter(self._callers))]
        return shared

    def _may_be_several(self, caller: Caller, shared: _SharedCaller) -> bool:
        if self._mode != "auto" or caller.door != "mcp":
            return False
        if shared.chosen or len(shared.started) < _SEVERAL:
            return False
        return shared.overlapped or caller.client.lower().startswith(_HIDING)
