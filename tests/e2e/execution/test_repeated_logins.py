"""A short run of `tests.long.logins`: four users who log in side by side, again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.long.logins import logins

pytestmark = pytest.mark.full

LOGINS = 20
SEED = 2026


@pytest.mark.timeout(300)
def test_users_who_log_in_side_by_side_each_see_their_own_page(tmp_path: Path) -> None:
    """Every login of four sessions shows its own user, however late the page is and however often it changes."""
    with logins(tmp_path, SEED) as run:
        run.run(LOGINS)
    assert run.done == LOGINS
