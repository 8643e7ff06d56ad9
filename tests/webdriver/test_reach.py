"""What is needed to reach a session, from its record."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.models import SessionRecord, SessionType
from orchestrator.reach import Reach
from orchestrator.registry import Providers
from orchestrator.secrets import Redactor
from orchestrator.settings import Settings


@pytest.mark.parametrize(
    ("at", "socket", "told"),
    [
        ("https", "wss://grid.test/session/1", True),
        ("http", "ws://grid.test:4444/session/1", True),
        ("http", "wss://grid.test/session/1", True),
        ("https", "ws://grid.test:4444/session/1", False),
        ("https", "wss://other.test/session/1", False),
    ],
)
def test_a_password_is_for_its_host_and_as_well_hidden(tmp_path: Path, at: str, socket: str, *, told: bool) -> None:
    """A Grid tells the address of its sockets as it knows itself, behind whatever hides it."""
    reach = Reach(Providers(), Settings(home=tmp_path, namespace="test"), Redactor())
    record = SessionRecord(
        id="far",
        namespace="test",
        type=SessionType.BROWSER,
        provider="remote_url",
        owner="me",
        created_at=0,
        last_active_at=0,
        remote_url=reach.told(f"{at}://ann:open-sesame@grid.test"),
        capabilities={"se:cdp": socket},
    )
    find = reach.devtools(record)
    assert find is not None
    assert ("ann:open-sesame@" in find()) is told
