"""Starts a session again under its name: what it was asked for stands in its record, so any process can."""

from __future__ import annotations

from typing import Any

from orchestrator import processes
from orchestrator.actions.storing import Storing
from orchestrator.errors import OrchestratorError, SessionLost
from orchestrator.launch import Launch
from orchestrator.models import SessionState, StartRequest
from orchestrator.reach import Reach
from orchestrator.registry import Providers
from orchestrator.secrets import tells_secret
from orchestrator.sessions import Turn
from orchestrator.settings import Settings
from orchestrator.storage_state import StorageState, given

GONE: dict[str, Any] = {
    **dict.fromkeys(("remote_url", "remote_session_id", "secret", "context"), ""),
    **dict.fromkeys(("processes", "claims", "tabs", "tabs_used", "frame"), ()),
    **dict.fromkeys(("url", "title", "armed", "keep_alive", "lost_reason", "instance")),
    "remote_end": {},
}
"""What of a record ends with its remote end; the rest is the session's own: vars, policies, limits, numbers of refs."""
_ELSEWHERE = "it was started elsewhere"
_SECRET = "what it was started with holds credentials, which are not kept"  # noqa: S105


def asked(request: StartRequest, reach: Reach) -> dict[str, Any] | None:
    """A request as a record keeps it; None where it holds credentials. Of a storage state the file's name stays."""
    told = request.model_dump(mode="json", exclude_defaults=True, exclude={"session_id"})
    if not isinstance(request.storage_state, str):
        told.pop("storage_state", None)
    return None if tells_secret(told) or reach.clean(told) != told else told


class Again:
    """Starts again for one caller."""

    def __init__(self, reach: Reach, providers: Providers, settings: Settings) -> None:
        self._reach = reach
        self._providers = providers
        self._settings = settings

    def start(self, turn: Turn, why: str, state: StorageState | None) -> None:
        """Have a fresh remote end for a session whose own is gone, from the same request; in its turn, in its thread.

        What is left of the old one is ended first. With `state` it begins with that, else as it was asked for.

        Raises:
            SessionLost: It cannot be, or did not come to be; it says why.
        """
        record = turn.record
        if record.request is None or not record.owned:
            raise SessionLost(
                record.id, f"{why}; it cannot be started again: {_SECRET if record.owned else _ELSEWHERE}"
            )
        turn.watch.clear()
        processes.end(turn.own().processes)
        turn.write(**GONE)
        try:
            self._launch(turn, StartRequest.model_validate(record.request), state)
        except OrchestratorError as error:
            raise SessionLost(record.id, f"{why}; it did not start again: {error.message}") from error

    def _launch(self, turn: Turn, request: StartRequest, state: StorageState | None) -> None:
        options = self._providers.options(request.provider, request.options)
        if state is None and request.storage_state is not None:
            state = given(request.storage_state)
        launch = Launch(request, options, self._settings, self._reach, turn)
        with launch.undone_on_failure():
            remote, facts = launch.run(self._providers[request.provider])
            turn.change(**facts)
            if state:
                Storing(remote, turn.record, self._reach.devtools(turn.record)).restore(state)
        turn.change(state=SessionState.ACTIVE)
