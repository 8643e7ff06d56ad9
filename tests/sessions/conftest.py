"""A book and its lanes over a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import anyio
import pytest

from orchestrator.sessions import Book, Lanes, this_process
from orchestrator.store import SqliteStore
from tests.store.helpers import NAMESPACE, Keeper, Peer


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store of its own."""
    store = SqliteStore(tmp_path / "home")
    yield store
    store.disconnect()


@pytest.fixture
def keeper(store: SqliteStore) -> Keeper:
    """The store, shorter to say."""
    return Keeper(store)


@pytest.fixture
async def book(store: SqliteStore) -> Book:
    """The book of a caller that is known."""
    book = Book(store, this_process(), NAMESPACE)
    await book.enrol()
    return book


@pytest.fixture
async def lanes(book: Book) -> AsyncIterator[Lanes]:
    """Lanes whose group ends by itself: a call that never ended would show."""
    async with anyio.create_task_group() as group:
        yield Lanes(book, group)


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Callable[[str, str], Peer]]:
    """Start another process on the same store."""
    peers: list[Peer] = []

    def start(command: str, session_id: str) -> Peer:
        peers.append(Peer(tmp_path / "home", command, session_id))
        return peers[-1]

    yield start
    for each in peers:
        each.end()
