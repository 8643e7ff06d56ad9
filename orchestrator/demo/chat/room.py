"""Who is in the conversation and what was said; knows nothing of HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import Any


@dataclass(frozen=True)
class Message:
    """One thing that was said.

    Attributes:
        at: When the server took it, in seconds since the epoch.
        clock: The same moment by `time.perf_counter`, for who measures in this process.
    """

    number: int
    author: str
    text: str
    at: float
    clock: float

    def data(self) -> dict[str, Any]:
        """The message as JSON data."""
        at = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds")
        return {"number": self.number, "author": self.author, "text": self.text, "at": at}


@dataclass(frozen=True)
class Event:
    """Something that a listener is told; a `number` lets it ask for what came later."""

    name: str
    data: dict[str, Any]
    number: int | None = None


class Listener:
    """One open page of one person: gets every event from the moment it joined, in order."""

    def __init__(self, person: str, token: str) -> None:
        self.person = person
        self.token = token
        self.ended = False
        self._events: SimpleQueue[Event | None] = SimpleQueue()

    def tell(self, event: Event) -> None:
        """Hand over an event; never blocks."""
        self._events.put(event)

    def end(self) -> None:
        """Nothing comes after this."""
        self._events.put(None)

    def next(self, timeout: float) -> Event | None:
        """The next event, or None when none came in time or `ended` is now true."""
        try:
            event = self._events.get(timeout=timeout)
        except Empty:
            return None
        self.ended = event is None
        return event


class Room:
    """One conversation. A person is online while at least one of their pages listens."""

    def __init__(self, people: Iterable[str]) -> None:
        self._people = sorted(people)
        self._messages: list[Message] = []
        self._listeners: list[Listener] = []
        self._closed = False
        self._lock = threading.Lock()

    @property
    def messages(self) -> list[Message]:
        """What was said so far, oldest first."""
        with self._lock:
            return list(self._messages)

    def post(self, author: str, text: str) -> Message:
        """Say something; every listener is told, the author's own pages too."""
        with self._lock:
            message = Message(len(self._messages) + 1, author, text, time.time(), time.perf_counter())
            self._messages.append(message)
            self._tell(_said(message))
        return message

    def join(self, person: str, token: str, after: int = 0) -> Listener:
        """Listen from now on. The messages numbered above `after` come first, so that none is missed."""
        listener = Listener(person, token)
        with self._lock:
            for message in self._messages[max(after, 0) :]:
                listener.tell(_said(message))
            self._listeners.append(listener)
            self._tell(self._presence())
            if self._closed:
                listener.end()
        return listener

    def leave(self, listener: Listener) -> None:
        """Stop listening; those who stay are told who is still there."""
        with self._lock:
            self._listeners.remove(listener)
            self._tell(self._presence())

    def end(self, token: str) -> None:
        """End every listener that joined with this token."""
        with self._lock:
            for listener in self._listeners:
                if listener.token == token:
                    listener.end()

    def close(self) -> None:
        """End every listener, and those who join later at once."""
        with self._lock:
            self._closed = True
            for listener in self._listeners:
                listener.end()

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener.tell(event)

    def _presence(self) -> Event:
        here = {listener.person for listener in self._listeners}
        return Event("people", {"people": [{"name": name, "online": name in here} for name in self._people]})


def _said(message: Message) -> Event:
    return Event("message", message.data(), message.number)
