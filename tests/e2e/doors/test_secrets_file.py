"""Credentials by name: in the environment or in a file that only its owner can read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.servers.webdriver import PASSWORD, USER, RemoteEnd, remote_end

FARM = {"provider": "remote_url", "platform": "browser", "sessionId": "far", "options": {"url": "secret:FARM"}}

UNUSABLE = (
    ('FARM = "http://127.0.0.1:1"', 0o640, "Other users can use "),
    ("FARM: hunter22", 0o600, "cannot be read (TOMLDecodeError). Write lines such as"),
)
"""Content of a secrets file, its mode, and the error."""


@pytest.fixture(scope="module")
def end() -> Iterator[RemoteEnd]:
    """An endpoint that asks for a password."""
    with remote_end(guarded=True) as end:
        yield end


def _start(end: RemoteEnd) -> dict[str, Any]:
    return {**FARM, "capabilities": end.capabilities()}


def _kept(file: Path, text: str, mode: int = 0o600) -> None:
    file.write_text(text, "utf-8")
    file.chmod(mode)


def test_a_url_is_read_from_the_secrets_file_in_every_process(home: Home, end: RemoteEnd) -> None:
    """`secret:NAME` starts a session, and any server of the home can drive it; the record has only the name."""
    _kept(home.folder / "secrets.toml", f'FARM = "{end.secret_url}"\n')
    with home.serve() as server, home.serve() as other:
        row = server.ok("start_session", **_start(end))
        assert (row["remoteUrl"], home.record("far").secret) == (end.url, "FARM")
        assert other.ok("execute_script", sessionId="far", script="return 6 * 7") == {"value": 42}
        records = home.record("far").model_dump_json()
        assert not [word for word in (USER, PASSWORD) if word in records]
        (home.folder / "secrets.toml").unlink()
        with home.serve() as third:
            text = refused(third.call("get_text", sessionId="far"), "provider_auth")
        assert "There is no secret FARM." in text
        assert "Set the environment variable FARM, or write it into " in text
        server.ok("close_session", sessionId="far")


def test_a_secret_that_cannot_be_read_starts_nothing(home: Home, end: RemoteEnd) -> None:
    """An unusable secrets file is reported without its content, and no session is started."""
    with home.serve() as server:
        assert "There is no secret FARM." in refused(server.call("start_session", **_start(end)), "provider_auth")
        for written, mode, said in UNUSABLE:
            _kept(home.folder / "secrets.toml", written, mode)
            text = refused(server.call("start_session", **_start(end)), "invalid_argument")
            assert said in text
            assert "hunter22" not in text
        assert server.ok("list_sessions")["sessions"] == []
