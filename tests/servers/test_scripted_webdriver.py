"""The scripted remote end fails a test that sends other commands than scripted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.errors import SessionLost
from orchestrator.webdriver.remote import Remote
from tests.servers.scripted_webdriver import SESSION, ScriptedWebDriver, scripted_webdriver


@pytest.fixture
def end() -> Iterator[ScriptedWebDriver]:
    """A remote end without the check at its end."""
    with scripted_webdriver(checked=False) as started:
        yield started


@pytest.fixture
def remote(end: ScriptedWebDriver) -> Iterator[Remote]:
    """The client of its session."""
    client = Remote(end.url, SESSION, name="far", timeout=10)
    yield client
    client.close()


def test_a_command_without_an_answer_in_the_script_fails_by_its_name(end: ScriptedWebDriver, remote: Remote) -> None:
    """The command fails at once, by an error that stops our code, and again at the end."""
    with pytest.raises(SessionLost, match="no answer to POST /frame"):
        remote.execute("switchToFrame", id=0)
    with pytest.raises(AssertionError, match=r'Asked without an answer in the script: POST /frame \{"id": 0\}'):
        end.check()


def test_an_answer_that_was_never_asked_for_fails_by_its_name(end: ScriptedWebDriver, remote: Remote) -> None:
    """The unused one of two answers is named."""
    end.script("POST /frame", None, None)
    remote.execute("switchToFrame", id=None)
    with pytest.raises(AssertionError, match=r"never asked for \(command: answers\): \{'POST /frame': 1\}"):
        end.check()
