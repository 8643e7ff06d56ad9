"""A plug-in of pytest: what a test's limit leaves out, and the stacks of a run that hangs."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

SLOW_STARTS = {"_grid", "device_server", "phones"}
"""Fixtures that start a Grid or an Appium: the time belongs to no test."""
START_LIMIT = 300.0
"""Seconds in which such a fixture must be ready."""

_SETTINGS = pytest.StashKey[Any]()


def pytest_configure() -> None:
    """Let SIGUSR1 print the stacks of this process: .ci/steps.py sends it to what hangs."""
    if hasattr(signal, "SIGUSR1"):
        # While a test runs, what it knows as stderr is captured: this is a copy of the real one.
        faulthandler.register(signal.SIGUSR1, file=os.dup(sys.__stderr__.fileno()) if sys.__stderr__ else 2)


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    """Keep the limit of a test that begins; pytest-timeout sets the timer."""
    item.stash.setdefault(_SETTINGS, settings)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[None]:
    """Give a slow start a limit of its own, and the test that asked for it its whole limit afterwards."""
    item, hook = request._pyfuncitem, request.config.hook
    settings = item.stash.get(_SETTINGS, None)
    if fixturedef.argname not in SLOW_STARTS or settings is None:
        return (yield)
    hook.pytest_timeout_cancel_timer(item=item)
    hook.pytest_timeout_set_timer(item=item, settings=settings._replace(timeout=START_LIMIT))
    try:
        return (yield)
    finally:
        hook.pytest_timeout_cancel_timer(item=item)
        hook.pytest_timeout_set_timer(item=item, settings=settings)
