"""The room of the chat: members, messages and listeners, without HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import Any


@dataclass(frozen=True)
class ChatMessage:
    """A chat message.

    Attributes:
        at: The time of its arrival in seconds since the epoch.
        clock: The same time by `time.perf_counter`, for measurements in this process.
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
    """An event for listeners; with a `number`, a listener can resume after it."""

    name: str
    data: dict[str, Any]
    number: int | None = None


class Listener:
    """A user's open page: receives all events since it joined, in order."""

    def __init__(self, person: str, token: str) -> None:
        self.person = person
        self.token = token
        self.ended = False
        self._events: SimpleQueue[Event | None] = SimpleQueue()

    def put_event(self, event: Event) -> None:
        """Queue an event; never blocks."""
        self._events.put(event)

    def end_stream(self) -> None:
        """End the stream after the queued events."""
        self._events.put(None)

    def next(self, timeout: float) -> Event | None:
        """The next event; None if none came in time, or if the stream has ended."""
        try:
            event = self._events.get(timeout=timeout)
        except Empty:
            return None
        self.ended = event is None
        return event


class Room:
    """A conversation. A user is online while at least one of their pages listens."""

    def __init__(self, people: Iterable[str]) -> None:
        self._people = sorted(people)
        self._messages: list[ChatMessage] = []
        self._listeners: list[Listener] = []
        self._closed = False
        self._lock = threading.Lock()

    @property
    def messages(self) -> list[ChatMessage]:
        """The messages so far, oldest first."""
        with self._lock:
            return list(self._messages)

    def post(self, author: str, text: str) -> ChatMessage:
        """Add a message and send it to all listeners, including the author's own pages."""
        with self._lock:
            message = ChatMessage(len(self._messages) + 1, author, text, time.time(), time.perf_counter())
            self._messages.append(message)
            self._broadcast(_message_event(message))
        return message

    def join(self, person: str, token: str, after: int = 0) -> Listener:
        """Add a listener; it first receives the messages numbered above `after`, so that none is missed."""
        listener = Listener(person, token)
        with self._lock:
            for message in self._messages[max(after, 0) :]:
                listener.put_event(_message_event(message))
            self._listeners.append(listener)
            self._broadcast(self._presence())
            if self._closed:
                listener.end_stream()
        return listener

    def leave(self, listener: Listener) -> None:
        """Remove a listener, and send the remaining ones who is online."""
        with self._lock:
            self._listeners.remove(listener)
            self._broadcast(self._presence())

    def end_listeners(self, token: str) -> None:
        """End the listeners that joined with this token."""
        with self._lock:
            for listener in self._listeners:
                if listener.token == token:
                    listener.end_stream()

    def close(self) -> None:
        """End all listeners, including those who join later."""
        with self._lock:
            self._closed = True
            for listener in self._listeners:
                listener.end_stream()

    def _broadcast(self, event: Event) -> None:
        for listener in self._listeners:
            listener.put_event(event)

    def _presence(self) -> Event:
        online = {listener.person for listener in self._listeners}
        return Event("people", {"people": [{"name": name, "online": name in online} for name in self._people]})


def _message_event(message: ChatMessage) -> Event:
    return Event("message", message.data(), message.number)
