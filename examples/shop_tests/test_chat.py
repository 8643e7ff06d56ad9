"""A feature file of a chat: two users, ready-made steps, no step of its own.

The chat is one of its own, so its `base_url` replaces that of the shop here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_bdd import scenarios

from orchestrator.demo.chat import ChatServer

scenarios("chat.feature")


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """The address of a chat."""
    with ChatServer({"alice": "made-up-alice-1", "bob": "made-up-bob-1"}) as chat:
        yield chat.url
