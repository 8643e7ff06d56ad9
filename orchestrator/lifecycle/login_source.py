"""The login of an open session, read in its lane for a session that starts with it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.automation.login import read_login
from orchestrator.automation.scene import Scene
from orchestrator.errors import Unsupported
from orchestrator.lifecycle.services import Services
from orchestrator.models.results import Outcome
from orchestrator.models.session import Caller, SessionRecord, SessionType
from orchestrator.models.storage_state import StorageState
from orchestrator.sessions.turn import Turn


class Login(Outcome):
    """The cookies and storage of a session."""

    internal: ClassVar[bool] = True
    state: StorageState = Field(exclude=True, repr=False)


class LoginTask:
    """Reads the login of a session (`execution.runner.SessionTask`)."""

    verb = "login_from"
    reads = False

    def log_arguments(self) -> dict[str, Any]:
        """Nothing: a login is secret."""
        return {}

    def check_supports(self, record: SessionRecord) -> None:
        """Refuse a session that is not a browser.

        Raises:
            Unsupported: It is an app.
        """
        check_login_source(record)

    def perform(self, scene: Scene) -> Login:
        """Read cookies and storage."""
        state, warnings = read_login(scene)
        return Login(state=state, warnings=warnings)


def check_login_source(record: SessionRecord) -> None:
    """Refuse a session that has no login to give.

    Raises:
        Unsupported: It is an app.
    """
    if record.type is not SessionType.BROWSER:
        raise Unsupported(
            f"loginFrom: {record.id!r} is not a browser session.", hint="An app keeps its login with noReset."
        ).in_session(record.id)


ReadLogin = Callable[[], Coroutine[Any, Any, Login]]


async def read_login_of(services: Services, caller: Caller, session_id: str) -> Login:
    """Read the login of an open session in a turn of its lane; its events stay for its own next result.

    Raises:
        OrchestratorError: The session is not open, is claimed, or did not answer.
    """

    def work(turn: Turn) -> Login:
        login = services.runner.run_in_turn(turn, LoginTask())
        turn.change(events=tuple(login.events))
        return login

    return await services.lanes.run_turn(session_id, work, caller=caller, name="the start of another session")
