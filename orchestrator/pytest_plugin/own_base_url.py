"""The fixture `base_url`, for runs in which no other plug-in has it."""

from __future__ import annotations

import pytest

from orchestrator.pytest_plugin.options import read_base_url


@pytest.fixture(scope="session")
def base_url(pytestconfig: pytest.Config) -> str:
    """The URL that relative URLs belong to, by `--orchestrator-base-url`; empty if there is none."""
    return read_base_url(pytestconfig)
