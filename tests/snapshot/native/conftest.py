"""A remote end without a device, for tests that only read page sources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.snapshot.native import phone as phones


@pytest.fixture(scope="module")
def phone() -> Iterator[phones.Phone]:
    """A remote end for all tests of a module."""
    with phones.phone() as started:
        yield started
