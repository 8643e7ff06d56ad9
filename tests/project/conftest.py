"""A folder of small tests for the tests of how tests are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.small_suite import SmallSuite


@pytest.fixture
def suite(tmp_path: Path) -> SmallSuite:
    """A folder with our conftest, for a run inside this run."""
    return SmallSuite(tmp_path)
