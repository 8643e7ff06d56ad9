"""Fixtures: a registry of sessions and its lanes over a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import anyio
import pytest

from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.registry import SessionRegistry, make_caller
from orchestrator.sessions.store.sqlite import SqliteStore
from tests.sessions.store.helpers import NAMESPACE, Keeper, Peer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[SqliteStore]:
    """A store of its own."""
    store = SqliteStore(home)
    yield store
    store.disconnect()


@pytest.fixture
def keeper(store: SqliteStore) -> Keeper:
    """The store, with shorter calls."""
    return Keeper(store)


@pytest.fixture
async def registry(store: SqliteStore) -> SessionRegistry:
    """The registry of a registered caller."""
    registry = SessionRegistry(store, make_caller(), NAMESPACE)
    await registry.enrol()
    return registry


@pytest.fixture
async def lanes(registry: SessionRegistry) -> AsyncIterator[Lanes]:
    """Lanes whose task group is not cancelled: a call that never ended would hang the test."""
    async with anyio.create_task_group() as group:
        yield Lanes(registry, group)


@pytest.fixture
def peer(home: Path) -> Iterator[Callable[[str, str], Peer]]:
    """Start another process on the same store."""
    peers: list[Peer] = []

    def start(command: str, session_id: str) -> Peer:
        peers.append(Peer(home, command, session_id))
        return peers[-1]

    yield start
    for each in peers:
        each.end()
