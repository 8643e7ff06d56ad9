"""Cases of parametrized tests that `make test` leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every_other_long(cases: Iterable[Any]) -> list[Any]:
    """Return cases for `parametrize`: the second, fourth and so on run in `make test-long` alone.

    For tests whose cases are many, dear and of a kind.
    """
    return [pytest.param(case, marks=pytest.mark.long) if n % 2 else case for n, case in enumerate(cases)]
