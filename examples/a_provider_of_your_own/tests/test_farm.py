"""Tests of the installed provider against a farm on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from farm import TOKEN, Farm, farm

from orchestrator.errors import ProviderAuth, ProviderFailure
from orchestrator.provider import Settings, StartRequest
from orchestrator.sync import Orchestrator
from orchestrator.testing import ProviderContract

REQUEST = StartRequest(provider="farm", options={"pool": "lab"})


@pytest.fixture(scope="session")
def running() -> Iterator[Farm]:
    """Run one farm for all tests, with an idle limit of 2 s, and set the variables for it."""
    with farm(idle_seconds=2) as running, pytest.MonkeyPatch.context() as environment:
        environment.setenv("FARM_URL", running.url)
        environment.setenv("FARM_TOKEN", TOKEN)
        yield running


class TestContract(ProviderContract):
    """The contract of providers."""

    provider = "farm"
    secrets = (TOKEN,)

    @pytest.fixture(autouse=True)
    def _farm(self, running: Farm) -> None:
        self.farm = running

    def request(self) -> StartRequest:
        """Return a request for a browser of the lab."""
        return REQUEST

    def alive(self) -> Collection[str]:
        """Return the sessions on the farm's machines, and the leases, so that one not returned is noticed, too."""
        return self.farm.sessions() | self.farm.leases.keys()

    def kill(self, remote_session_id: str) -> None:
        """End it on its machine."""
        self.farm.end(remote_session_id)

    def end(self, remote_url: str, remote_session_id: str) -> None:  # noqa: ARG002 - its session ends with it
        """Return the machine."""
        self.farm.release(remote_url.rpartition("/")[2])


@pytest.fixture
def orchestrator(tmp_path: Path, running: Farm) -> Iterator[Orchestrator]:  # noqa: ARG001 - it must be running
    """Yield an orchestrator."""
    with Orchestrator(Settings(home=tmp_path, namespace="farm")) as orchestrator:
        yield orchestrator


def test_a_session_row_names_the_machine_it_runs_on(orchestrator: Orchestrator) -> None:
    """The row of a started session names the machine of its lease."""
    row = orchestrator.start(REQUEST)
    assert row.remote_end == {"machine": f"desk-{row.remote_url.rpartition('/')[2]}"}


def test_a_session_without_calls_is_kept_alive_until_our_own_idle_limit(
    orchestrator: Orchestrator, running: Farm
) -> None:
    """Keep-alive requests reach the farm while a session is unused; our own idle limit still ends it."""
    row = orchestrator.start(REQUEST.model_copy(update={"options": {"idle_timeout": 4}}))
    used = orchestrator.list_sessions().sessions[0].last_active_at
    running.asked.clear()
    until(lambda: running.asked.count(("GET", f"/session/{row.remote_session_id}/timeouts")) >= 3)
    assert orchestrator.list_sessions().sessions[0].last_active_at == used
    until(lambda: not orchestrator.list_sessions().sessions)
    until(lambda: not running.leases)


def until(check: Callable[[], object]) -> None:
    """Poll until the check is true."""
    deadline = time.monotonic() + 30
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_start_names_the_missing_or_wrong_farm_variable(
    orchestrator: Orchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start without the farm's URL or token, or with a wrong token, says which variable to set."""
    monkeypatch.setenv("FARM_TOKEN", "wrong")
    with pytest.raises(ProviderAuth, match=r"The farm refused the token. Correct FARM_TOKEN."):
        orchestrator.start(REQUEST)
    monkeypatch.delenv("FARM_TOKEN")
    with pytest.raises(ProviderAuth, match=r"There is no secret FARM_TOKEN. Set the environment variable FARM_TOKEN"):
        orchestrator.start(REQUEST)
    monkeypatch.delenv("FARM_URL")
    with pytest.raises(ProviderFailure, match=r"The farm's address is not set. Set FARM_URL"):
        orchestrator.start(REQUEST)
