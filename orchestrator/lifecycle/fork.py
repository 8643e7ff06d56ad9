"""Forks of sessions: what a session takes over from the open one that it begins like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from orchestrator.automation.login import read_login
from orchestrator.automation.scene import Scene
from orchestrator.errors import Unsupported
from orchestrator.lifecycle.restart import explain_missing_request
from orchestrator.lifecycle.services import Services
from orchestrator.models import browser_support
from orchestrator.models.requests import StartRequest
from orchestrator.models.results import Outcome
from orchestrator.models.session import Caller, SessionRecord, SessionType
from orchestrator.models.storage_state import StorageState
from orchestrator.sessions.turn import Turn

_OF_SOURCE = {"mode", "profile", "debugger_address", "storage_state"}
"""Fields of a start request that a fork does not repeat: its browser is a new one, its login that of the moment."""
_OPENED_ANYWHERE = {"http", "https", "file", "data"}
"""Schemes of the URLs that another browser can open; a `blob:` URL, for one, it cannot."""


class ForkSource(Outcome):
    """The page and the login of a session."""

    internal: ClassVar[bool] = True
    url: str
    state: StorageState = Field(exclude=True, repr=False)


class ForkTask:
    """Reads the page and the login of a session (`execution.runner.SessionTask`)."""

    verb = "fork_session"
    reads = False

    def log_arguments(self) -> dict[str, Any]:
        """Nothing: a login is secret."""
        return {}

    def check_supports(self, record: SessionRecord) -> None:
        """Refuse a session that cannot be started a second time.

        Raises:
            Unsupported: It is an app, its browser takes over no login, or its start request is not known.
        """
        if record.type is not SessionType.BROWSER:
            app = "Start another app with start_app_session; it keeps its login with noReset."
            raise Unsupported(f"{record.id!r} is not a browser session: an app cannot be forked.", hint=app)
        if record.request is None:
            raise Unsupported(
                f"{record.id!r} cannot be forked: {explain_missing_request(record)}.",
                hint=f"Start a session with loginFrom {record.id!r}, then navigate.",
            )
        browser_support.require_ability("storage_state", StartRequest.model_validate(record.request).browser)

    def perform(self, scene: Scene) -> ForkSource:
        """Read the URL of the current tab, cookies and storage."""
        state, warnings = read_login(scene)
        shown = [tab["url"] for tab in scene.tabs.facts() if tab["current"]]
        return ForkSource(url=shown[0] if shown else "", state=state, warnings=warnings)


@dataclass(frozen=True)
class Fork:
    """A start that repeats that of an open session, at its present page, with its present login.

    Attributes:
        request: The request.
        fields: Further fields of the new record: size and emulation of the page, what is told with its row, and the
            typed secrets, which the page may show again.
    """

    request: StartRequest
    fields: dict[str, Any]

    @classmethod
    def of(cls, record: SessionRecord, source: ForkSource, new_id: str | None) -> Fork:
        """Make the fork of a session whose start request is known."""
        scheme = urlsplit(source.url).scheme
        opens = scheme in _OPENED_ANYWHERE
        given = {name: value for name, value in (record.request or {}).items() if name not in _OF_SOURCE}
        given["options"] = {name: value for name, value in given.get("options", {}).items() if name != "har"}
        given["session_id"] = new_id
        given["navigation_url"] = source.url if opens else None
        given["storage_state"] = source.state.model_dump(mode="json", by_alias=True)
        request = StartRequest.model_validate(given)
        told = [f"fork_session: {warning}" for warning in source.warnings]
        if not opens and scheme not in {"", "about"}:
            told.append(f"fork_session: the page of {record.id!r} is there alone ({scheme}:); none was opened.")
        size = record.viewport or request.viewport
        fields = {"viewport": size, "emulation": record.emulation, "events": told, "typed": record.typed}
        return cls(request, fields)


async def read_fork(services: Services, caller: Caller, session_id: str, new_id: str | None) -> Fork:
    """Read in one turn of an open session's lane what its fork begins with; its events stay for its own next result.

    Raises:
        Unsupported: It cannot be forked.
        OrchestratorError: It is not open, is claimed, or did not answer.
    """

    def work(turn: Turn) -> Fork:
        source = services.runner.run_in_turn(turn, ForkTask())
        turn.change(events=tuple(source.events))
        return Fork.of(turn.record, source, new_id)

    return await services.lanes.run_turn(session_id, work, caller=caller, name=ForkTask.verb)
