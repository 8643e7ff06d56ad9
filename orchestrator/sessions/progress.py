"""Progress of a call: reports what it is waiting for to its caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listen_to_progress(listener: Callable[[str], None]) -> Iterator[None]:
    """Pass the progress of calls made inside the block to `listener`, from the event loop or their worker threads."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report_progress(text: str) -> None:
    """Report what the call is waiting for, as a sentence without a full stop; empty when it goes on by itself."""
    if listener := _listener.get():
        listener(text)
