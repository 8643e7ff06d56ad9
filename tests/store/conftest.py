"""A store in a home of its own, and further processes that use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.store import SqliteStore
from tests.store.helpers import Keeper, Peer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that is not there yet."""
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[SqliteStore]:
    """A store of its own."""
    store = SqliteStore(home)
    yield store
    store.disconnect()


@pytest.fixture
def keeper(store: SqliteStore) -> Keeper:
    """The store, shorter to say."""
    return Keeper(store)


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
