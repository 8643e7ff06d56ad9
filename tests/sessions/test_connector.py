"""The connection to a session, made from its record."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.providers import Providers
from orchestrator.settings import Settings
from orchestrator.system.secrets import Redactor


@pytest.mark.parametrize(
    ("at", "socket", "expected"),
    [
        ("https", "wss://grid.test/session/1", True),
        ("http", "ws://grid.test:4444/session/1", True),
        ("http", "wss://grid.test/session/1", True),
        ("https", "ws://grid.test:4444/session/1", False),
        ("https", "wss://other.test/session/1", False),
    ],
)
def test_a_grid_password_goes_only_to_sockets_of_its_host_that_are_as_well_encrypted(
    tmp_path: Path, at: str, socket: str, *, expected: bool
) -> None:
    """A socket URL from a Grid gets the password unless it has another host or lacks the Grid's TLS."""
    connector = Connector(Providers(), Settings(home=tmp_path, namespace="test"), Redactor())
    record = SessionRecord(
        id="far",
        namespace="test",
        type=SessionType.BROWSER,
        provider="remote_url",
        owner="me",
        created_at=0,
        last_active_at=0,
        remote_url=connector.remember_credentials(f"{at}://ann:open-sesame@grid.test"),
        capabilities={"se:cdp": socket},
    )
    find = connector.make_devtools_finder(record)
    assert find is not None
    assert ("ann:open-sesame@" in find()) is expected
