"""Credentials by name: in the environment or in a file that only its owner can read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.servers.ports import free_port
from tests.servers.webdriver import PASSWORD, USER, RemoteEnd, remote_end

pytestmark = pytest.mark.full

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
        assert (row["remoteUrl"], home.record("far").secret) == ("secret:FARM", "FARM")
        assert other.ok("execute_script", sessionId="far", script="return 6 * 7") == {"value": 42}
        records = home.record("far").model_dump_json()
        assert not [word for word in (USER, PASSWORD) if word in records]
        (home.folder / "secrets.toml").unlink()
        with home.serve() as third:
            text = refused(third.call("get_text", sessionId="far"), "provider_auth")
        assert "There is no secret FARM." in text
        assert 'Whoever runs this server can write FARM = "…" into ' in text
        assert "or set the environment variable ORCHESTRATOR_SECRET_FARM; other variables are not read." in text
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


def test_a_caller_names_no_other_variable_of_the_environment(
    home: Home, end: RemoteEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those that begin with ORCHESTRATOR_SECRET_ are secrets for callers; what others hold is told by nothing."""
    monkeypatch.setenv("FARM", f"{end.secret_url}/key-in-the-path")
    attach = {"remoteUrl": "secret:FARM", "remoteSessionId": "f" * 32}
    with home.serve() as server:
        for tool, arguments in (("start_session", _start(end)), ("attach_session", attach)):
            text = refused(server.call(tool, **arguments), "provider_auth")
            assert "There is no secret FARM." in text
            assert end.url.removeprefix("http://") not in text


def test_the_url_that_a_secret_holds_is_shown_without_its_path(home: Home, end: RemoteEnd) -> None:
    """Rows say `secret:NAME`; errors, logs and records have scheme and host, since a path may be a key."""
    path, file = "key-in-the-path", home.folder / "secrets.toml"
    _kept(file, f'FARM = "{end.secret_url}/{path}"')
    with home.serve() as server:
        answers = [
            server.call("start_session", **_start(end)),
            server.call("attach_session", remoteUrl="secret:FARM", remoteSessionId="f" * 32),
        ]
        _kept(file, f'FARM = "http://127.0.0.1:{free_port()}/{path}"')
        answers.append(server.call("start_session", **_start(end)))
        _kept(file, f'FARM = "{end.secret_url}"')
        server.ok("start_session", **_start(end))
        assert server.ok("list_sessions")["sessions"][0]["remoteUrl"] == "secret:FARM"
        assert home.record("far").remote_url == end.url
        left = server.call("close_session", sessionId="far", detach=True)
        assert "remoteUrl secret:FARM, remoteSessionId" in left.text
    assert all(answer.failed for answer in answers)
    assert [answer.text for answer in answers if path in answer.text] == []
    assert "nothing listens at http://127.0.0.1:" in answers[-1].text
    # An ending keeper may close the database meanwhile, whose memory file is gone with that.
    files = [
        file
        for file in home.folder.rglob("*")
        if file.is_file() and {"profile", "sessions.db-shm"}.isdisjoint(file.parts)
    ]
    assert [file.name for file in files if path.encode() in file.read_bytes()] == []
