"""Cases of parametrized tests of which `make test` runs a part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every_other_full(cases: Iterable[Any]) -> list[Any]:
    """Return cases for `parametrize`: the second, fourth and so on are of the tier full.

    For tests whose cases are many, dear and of a kind.
    """
    return [pytest.param(case, marks=pytest.mark.full) if n % 2 else case for n, case in enumerate(cases)]
