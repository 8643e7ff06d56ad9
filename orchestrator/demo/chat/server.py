"""Starts and stops the chat application, leaving no thread and no socket behind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from orchestrator.demo.chat.handler import ChatHandler
from orchestrator.demo.chat.members import Members
from orchestrator.demo.chat.room import Message, Room
from orchestrator.demo.serving import Serving


class ChatServer(Serving):
    """The chat on a free port of this machine, for as long as the `with` block runs.

    Args:
        passwords: Who may sign in, with what password.
    """

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._room = Room(passwords)
        super().__init__("chat", partial(ChatHandler, Members(passwords), self._room))

    @property
    def messages(self) -> list[Message]:
        """What was said so far, oldest first."""
        return self._room.messages

    def let_go(self) -> None:
        """End the streams that wait for news."""
        self._room.close()
