"""Restarts a session under its name, from the request that its record keeps."""

from __future__ import annotations

from typing import Any

from orchestrator.automation.browser.storage import connect_to_storage
from orchestrator.errors import OrchestratorError, SessionLost
from orchestrator.lifecycle.launch import Launch
from orchestrator.lifecycle.provider_start import undone_on_failure
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.models.storage_state import StorageState, load_storage_state
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from orchestrator.system import processes
from orchestrator.system.file_access import FileAccess
from orchestrator.system.secrets import contains_secret

CLEARED_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("remote_url", "remote_session_id", "secret", "context", "screen_refs"), ""),
    **dict.fromkeys(("processes", "claims", "tabs", "tabs_used", "frame"), ()),
    **dict.fromkeys(("url", "title", "armed", "keep_alive", "lost_reason", "instance")),
    "remote_end": {},
}
"""Record fields to reset when the remote end is gone."""
_ELSEWHERE = "it was started elsewhere"
_SECRET = "its start request holds credentials, which are not stored"  # noqa: S105


def dump_request(request: StartRequest, connector: Connector) -> dict[str, Any] | None:
    """Return a request as records keep it, None if it holds credentials.

    A login is not kept. A storage state is kept as the name of its file, and omitted if it was given as a value.
    """
    data = request.model_dump(mode="json", exclude_defaults=True, exclude={"session_id", "login_from"})
    if not isinstance(request.storage_state, str):
        data.pop("storage_state", None)
    return None if contains_secret(data) or connector.redact(data) != data else data


def explain_missing_request(record: SessionRecord) -> str:
    """Return why the request that would start a session again is not known, as a clause."""
    return _SECRET if record.owned else _ELSEWHERE


class Restarter:
    """Restarts sessions whose remote end is gone."""

    def __init__(self, connector: Connector, providers: Providers, settings: Settings, files: FileAccess) -> None:
        self._files = files
        self._connector = connector
        self._providers = providers
        self._settings = settings

    def restart_session(self, turn: Turn, why: str, state: StorageState | None) -> None:
        """Launch a session anew whose remote end is gone, in its turn, in its worker thread.

        What is left of the old remote end is ended first. `state` replaces the storage state of the request.

        Raises:
            SessionLost: It cannot be restarted, or the restart failed; begins with `why`.
        """
        record = turn.record
        if record.request is None or not record.owned:
            raise SessionLost(record.id, f"{why}; it cannot be started again: {explain_missing_request(record)}")
        turn.watched_processes.clear()
        processes.end_processes(turn.without_shared_processes().processes)
        turn.write(**CLEARED_FIELDS)
        try:
            self._launch(turn, StartRequest.model_validate(record.request), state)
        except OrchestratorError as error:
            raise SessionLost(record.id, f"{why}; it did not start again: {error.message.rstrip('.')}") from error

    def _launch(self, turn: Turn, request: StartRequest, state: StorageState | None) -> None:
        options = self._providers.options(request.provider, request.options)
        provider = self._providers[request.provider]
        if state is None and request.storage_state is not None:
            state = load_storage_state(request.storage_state)
        connector, settings = self._connector, self._settings
        with undone_on_failure(turn) as undo:
            launch = Launch(
                request,
                options,
                provider,
                connector=connector,
                settings=settings,
                files=self._files,
                turn=turn,
                undo=undo,
            )
            with launch.in_time():
                session = launch.create()
                launch.prepare(session)
                if state:
                    with connect_to_storage(session.remote, turn.record, connector) as storage:
                        storage.restore(state)
                        storage.restore_session_storage(state)
        turn.change(state=SessionState.ACTIVE)
