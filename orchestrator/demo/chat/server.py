"""The server of the chat."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from orchestrator.demo.chat.accounts import Members
from orchestrator.demo.chat.http import ChatHandler
from orchestrator.demo.chat.room import ChatMessage, Room
from orchestrator.demo.http_server import LocalHttpServer


class ChatServer(LocalHttpServer):
    """Serves the chat on a free port of this machine while the `with` block runs.

    Args:
        passwords: The users' passwords by name.
    """

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._room = Room(passwords)
        super().__init__("chat", partial(ChatHandler, Members(passwords), self._room))

    @property
    def messages(self) -> list[ChatMessage]:
        """The messages so far, oldest first."""
        return self._room.messages

    def release_connections(self) -> None:
        """End the event streams."""
        self._room.close()
