"""The provider farm, as it is installed, against a farm of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from farm import TOKEN, Farm, farm

from orchestrator.errors import ProviderAuth, ProviderFailure
from orchestrator.models import StartRequest
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from orchestrator.testing import ProviderContract

WISH = StartRequest(provider="farm", options={"pool": "lab"})


@pytest.fixture(scope="session")
def running() -> Iterator[Farm]:
    """One farm for all tests, whose machines end what is unused for 2 s, and the variables that lead there."""
    with farm(idle_seconds=2) as running, pytest.MonkeyPatch.context() as environment:
        environment.setenv("FARM_URL", running.url)
        environment.setenv("FARM_TOKEN", TOKEN)
        yield running


class TestContract(ProviderContract):
    """What every provider must do."""

    provider = "farm"
    secrets = (TOKEN,)

    @pytest.fixture(autouse=True)
    def _farm(self, running: Farm) -> None:
        self.farm = running

    def request(self) -> StartRequest:
        """Any browser of the lab."""
        return WISH

    def alive(self) -> Collection[str]:
        """What runs on the farm's machines, and every lease: one that is not given back must be seen, too."""
        return self.farm.sessions() | self.farm.leases.keys()

    def kill(self, remote_session_id: str) -> None:
        """End it on its machine."""
        self.farm.end(remote_session_id)

    def end(self, remote_url: str, remote_session_id: str) -> None:  # noqa: ARG002 - its session ends with it
        """Give the machine back."""
        self.farm.release(remote_url.rpartition("/")[2])


@pytest.fixture
def orchestrator(tmp_path: Path, running: Farm) -> Iterator[Orchestrator]:  # noqa: ARG001 - it must be there
    """The front door."""
    with Orchestrator(Settings(home=tmp_path, namespace="farm")) as orchestrator:
        yield orchestrator


def test_the_row_says_on_which_machine(orchestrator: Orchestrator) -> None:
    """What the farm knows of a lease is told with the session."""
    row = orchestrator.start(WISH)
    assert row.remote_end == {"machine": f"desk-{row.remote_url.rpartition('/')[2]}"}


def test_a_session_that_only_thinks_is_kept_alive(orchestrator: Orchestrator, running: Farm) -> None:
    """The farm hears of it three times in the time after which it would end it; our own idle limit ends it still.

    Its storage is looked at once, too, in case its browser dies.
    """
    row = orchestrator.start(WISH.model_copy(update={"options": {"idle_timeout": 4}}))
    used = orchestrator.list_sessions().sessions[0].last_active_at
    running.asked.clear()
    until(lambda: running.asked.count(("GET", f"/session/{row.remote_session_id}/timeouts")) >= 3)
    assert orchestrator.list_sessions().sessions[0].last_active_at == used
    until(lambda: not orchestrator.list_sessions().sessions)
    until(lambda: not running.leases)


def until(look: Callable[[], object]) -> None:
    """Look again and again until there is something to see."""
    deadline = time.monotonic() + 30
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_missing_is_said(orchestrator: Orchestrator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without address or token, and with a wrong token, nothing is asked of any browser."""
    monkeypatch.setenv("FARM_TOKEN", "wrong")
    with pytest.raises(ProviderAuth, match=r"The farm does not take our token. Correct FARM_TOKEN."):
        orchestrator.start(WISH)
    monkeypatch.delenv("FARM_TOKEN")
    with pytest.raises(ProviderAuth, match=r"There is no secret FARM_TOKEN. Set the environment variable FARM_TOKEN"):
        orchestrator.start(WISH)
    monkeypatch.delenv("FARM_URL")
    with pytest.raises(ProviderFailure, match=r"Nothing says where the farm is. Set FARM_URL"):
        orchestrator.start(WISH)
