"""A session at a remote end with scripted answers, driven by the same parts as any session."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.automation.interruptions import handle_interruptions
from orchestrator.automation.scene import Scene, SceneServices
from orchestrator.execution.connection import SessionConnection
from orchestrator.execution.script_actions import ScriptHost
from orchestrator.models.session import SessionRecord, SessionState, SessionType, Tab
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.registry import make_caller
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Holder
from orchestrator.sessions.turn import CallCancelled, Turn
from orchestrator.settings import Settings
from orchestrator.system.activity import ActivityLog
from orchestrator.system.file_access import FileAccess
from orchestrator.system.secrets import Redactor
from orchestrator.webdriver.remote import Remote
from tests.servers.page_answers import PLACE
from tests.servers.scripted_webdriver import SESSION, ScriptedWebDriver, scripted_webdriver
from tests.sessions.store.helpers import NAMESPACE

FIRST, SECOND = (Tab(name=f"t{n}", handle=f"w{n}", prepared=True) for n in (1, 2))

MakeScene = Callable[..., Scene]


@pytest.fixture
def end() -> Iterator[ScriptedWebDriver]:
    """The remote end; the test fails unless exactly the scripted commands are sent."""
    with scripted_webdriver() as started:
        yield started


@pytest.fixture
def make_scene(end: ScriptedWebDriver, tmp_path: Path) -> Iterator[MakeScene]:
    """Make the scene of one call, as the runner does; the arguments are fields of the session's record."""
    with ExitStack() as stack:
        store = SqliteStore(tmp_path)
        stack.callback(store.disconnect)

        def make(**fields: Any) -> Scene:
            turn = _turn(store, {"remote_url": end.url, **fields})
            settings, redactor = Settings(home=tmp_path), Redactor()
            connection = _connection(store, turn.record, settings, redactor)
            stack.callback(connection.close)
            script_host = ScriptHost(CATALOGUE, settings)
            stack.callback(script_host.worlds.close)
            activity = ActivityLog(tmp_path, make_caller(), redactor)
            scene = Scene(connection, turn, SceneServices(settings, activity, script_host, FileAccess()))
            stack.enter_context(handle_interruptions(scene))
            return scene

        yield make


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    """The scene of a Safari on another machine, with one tab; its page engine is called by Execute Script alone."""
    return make_scene()


@pytest.fixture
def cancel(scene: Scene) -> Callable[[], None]:
    """Cancel the call, as its lane does when the caller goes away."""
    turn = scene._turn
    assert isinstance(turn, Turn)
    return lambda: turn.halt(CallCancelled)


@pytest.fixture
def two_tabs(make_scene: MakeScene) -> Scene:
    """The same scene with two tabs, the second of which is current."""
    return make_scene(tabs=(FIRST, SECOND), tabs_used=("t1", "t2"), tab_next=3)


def _turn(store: SqliteStore, fields: dict[str, Any]) -> Turn:
    """A call's turn in a session whose record has these fields."""
    now = time.time()
    usual: dict[str, Any] = {
        "type": SessionType.BROWSER,
        "remote_session_id": SESSION,
        "capabilities": {"browserName": "safari", "platformName": "linux"},
        "tabs": (FIRST,),
        "tabs_used": ("t1",),
        "tab_next": 2,
        **PLACE,
    }
    given = {**usual, **fields, "provider": "remote_url", "owner": "me", "state": SessionState.ACTIVE}

    def draft(session_id: str) -> SessionRecord:
        return SessionRecord(id=session_id, namespace=NAMESPACE, created_at=now, last_active_at=now, **given)

    record, ticket = store.reserve(NAMESPACE, given["type"], "far", draft, max_sessions=None, holder=Holder.current())
    return Turn(store, ticket, record, caller=make_caller())


def _connection(store: SqliteStore, record: SessionRecord, settings: Settings, redactor: Redactor) -> SessionConnection:
    """The connection to a session without sockets, neither for BiDi nor for DevTools."""
    return SessionConnection.open(
        record,
        Remote(record.remote_url, record.remote_session_id, name=record.id, timeout=60),
        store=store,
        connector=Connector(Providers(), settings, redactor),
        settings=settings,
        redactor=redactor,
        files=FileAccess(),
    )
