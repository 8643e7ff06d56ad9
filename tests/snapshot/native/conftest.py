"""A remote end without a device, for what is read of its page source alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.snapshot.native.phone import Phone


@pytest.fixture(scope="module")
def phone() -> Iterator[Phone]:
    """One for all tests of a module."""
    server = Phone()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
