"""What a call is waiting for, on its way from the work that knows it to whoever waits for the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Let `listener` hear what is told by the calls that the body makes; it is called in their worker threads."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(text: str) -> None:
    """Say what is waited for, as a sentence without a full stop; where nobody listens nothing happens."""
    if listener := _listener.get():
        listener(text)
