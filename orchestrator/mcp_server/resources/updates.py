"""Tells clients that a session has changed whose resources they follow."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated

from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.mcp_server.resources.uris import ResourceUri

_POLL = 0.5
"""Seconds between two looks, while anybody follows something."""
_CONNECTIONS = 200
"""Connections of the 2025 protocol that may follow something; the oldest is forgotten first."""
_URIS = 500
"""URIs that each of them may follow."""

Versions = Mapping[str, tuple[object, ...]]
"""For each open session what is another value once it has changed."""

_log = logging.getLogger(__name__)


@dataclass
class _Follower:
    """A connection of the 2025 protocol, and the URIs that it follows."""

    session: ServerSession
    uris: set[str] = field(default_factory=set)


class ResourceUpdates:
    """Compares sessions with what they were, and publishes what has changed.

    Only the store tells: so changes by other clients, servers and the command line are noticed, too.

    Args:
        bus: Where updates go for clients of the 2026 protocol, which listen.
        read_versions: Reads the sessions.
    """

    def __init__(self, bus: InMemorySubscriptionBus, read_versions: Callable[[], Awaitable[Versions]]) -> None:
        self._bus = bus
        self._read_versions = read_versions
        self._followers: dict[str, _Follower] = {}
        self._listened = Counter[str]()
        self._versions: Versions = {}
        self._wanted = anyio.Event()

    async def follow(self, connection: str, session: ServerSession, uri: str) -> None:
        """Let a connection of the 2025 protocol follow a URI.

        Raises:
            InvalidArgument: It follows too many.
        """
        follower = self._followers.pop(connection, None) or _Follower(session)
        if len(follower.uris) >= _URIS:
            raise InvalidArgument(f"{_URIS} resources are followed already.", hint="Unsubscribe from some first.")
        follower.session = session
        follower.uris.add(uri)
        self._followers[connection] = follower
        while len(self._followers) > _CONNECTIONS:
            del self._followers[next(iter(self._followers))]
        await self._begin()

    def leave(self, connection: str, uri: str) -> None:
        """Let a connection follow a URI no longer."""
        if (follower := self._followers.get(connection)) is None:
            return
        follower.uris.discard(uri)
        if not follower.uris:
            del self._followers[connection]

    @contextmanager
    def listening(self, uris: list[str]) -> Iterator[None]:
        """Publish updates of these URIs while the block runs, in which a client of the 2026 protocol listens."""
        self._listened.update(uris)
        try:
            yield
        finally:
            self._listened.subtract(uris)
            self._listened = +self._listened

    async def begin_to_listen(self) -> None:
        """Note how the sessions are now: what changes from here on is published."""
        if self._listened:
            await self._begin()

    async def run(self) -> None:
        """Publish updates until this is cancelled; without anybody who follows something nothing is read."""
        while True:
            await self._wanted.wait()
            await anyio.sleep(_POLL)
            if not self._followed():
                self._wanted = anyio.Event()
                continue
            try:
                before, self._versions = self._versions, await self._read_versions()
            except OrchestratorError as error:  # the store is locked, or full: changes are told later
                _log.warning("resources cannot be compared", extra={"error": error.message})
                continue
            await self._publish({uri for uri in self._followed() if _version(before, uri) != self._version(uri)})

    def _followed(self) -> set[str]:
        return {*self._listened, *(uri for follower in self._followers.values() for uri in follower.uris)}

    async def _begin(self) -> None:
        if not self._wanted.is_set():
            self._versions = await self._read_versions()
            self._wanted.set()

    def _version(self, uri: str) -> object:
        return _version(self._versions, uri)

    async def _publish(self, changed: set[str]) -> None:
        for uri in sorted(changed & {*self._listened}):
            await self._bus.publish(ResourceUpdated(uri=uri))
        for name, follower in [*self._followers.items()]:
            try:
                for uri in sorted(changed & follower.uris):
                    await follower.session.send_resource_updated(uri)
            except Exception:  # noqa: BLE001 — whatever its transport raises: the client has gone
                self._followers.pop(name, None)


def _version(versions: Versions, uri: str) -> object:
    return versions.get(ResourceUri.parse(uri).session_id)
