"""The same API without `await`: `from orchestrator.sync import Orchestrator`.

One background thread runs the async façade; each call waits for its result. Calls from several threads run side by
side, as they do from several tasks.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from anyio.from_thread import BlockingPortal

from orchestrator import api
from orchestrator import session as handles
from orchestrator.actions.base import Action, ResultT
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.session import Caller, Door
from orchestrator.orchestrator_methods import BlockingOrchestratorMethods
from orchestrator.session_methods import BlockingSessionMethods
from orchestrator.sessions.meter import Meter
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.rows import SessionFacts
from orchestrator.settings import Settings
from orchestrator.system.event_loops import LoopThread


class Session(BlockingSessionMethods):
    """An open session. As a context manager it is closed at the end of the block."""

    def __init__(self, session: handles.Session, portal: Callable[[], BlockingPortal]) -> None:
        self._session = session
        self._portal = portal

    @property
    def id(self) -> str:
        """Its name."""
        return self._session.id

    @property
    def facts(self) -> SessionFacts:
        """Type, provider, capabilities, remote URL and so on, as of the handle's creation or last `refresh`."""
        return self._session.facts

    def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        return self._portal().call(self._session.perform, parse_arguments(declared, fields))

    def _wait(self, method: str, **arguments: Any) -> Any:
        return self._portal().call(functools.partial(getattr(self._session, method), **arguments))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._session)


class Orchestrator(BlockingOrchestratorMethods[Session]):
    """Many sessions at once, for one caller. A context manager, at whose end the caller's sessions are closed.

    Methods take a session by its id; without one they use the caller's current session.

    Args:
        settings: Default: read from environment and files.
        providers: Sources of sessions; default: the installed ones.
        adopt_orphans: Take over, as a server does, the sessions of dead callers of the namespace; they end with it.
        park_on_exit: Park, as a server does, the caller's sessions at the end, for any later caller.
        observer: Leave no trace: no session is taken over, maintained or ended.
        door: The kind of entry, for the activity logs.
        caller: A caller that comes back to its sessions by a name of its own; default: a new one.
        meter: Measures turns, starts and losses of sessions; default: nothing is measured.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Providers | None = None,
        adopt_orphans: bool = False,
        park_on_exit: bool = False,
        observer: bool = False,
        door: Door = "python",
        caller: Caller | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._facade = api.Orchestrator(
            settings,
            providers=providers,
            adopt_orphans=adopt_orphans,
            park_on_exit=park_on_exit,
            observer=observer,
            door=door,
            caller=caller,
            meter=meter,
        )
        self._stack = ExitStack()
        self._opened: BlockingPortal | None = None
        self._pid = 0

    @property
    def settings(self) -> Settings:
        """Its settings."""
        return self._facade.settings

    def __enter__(self) -> Self:
        if self._opened is not None:
            raise RuntimeError("It is open already.")
        with ExitStack() as stack:
            portal = stack.enter_context(LoopThread())
            stack.enter_context(portal.wrap_async_context_manager(self._facade))
            self._opened, self._pid = portal, os.getpid()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A forked process has no thread for it, and the sessions are its parent's.
        if self._pid == os.getpid():
            self._opened = None
            self._stack.__exit__(kind, error, trace)

    def _wait(self, method: str, **arguments: Any) -> Any:
        return self._portal().call(functools.partial(getattr(self._facade, method), **arguments))

    def _handle(self, method: str, **arguments: Any) -> Session:
        return Session(self._wait(method, **arguments), self._portal)

    def _portal(self) -> BlockingPortal:
        if self._opened is None:
            raise RuntimeError("It is not open. Write: with Orchestrator() as orchestrator: …")
        if self._pid != os.getpid():
            raise RuntimeError("It was opened in another process, and this one is its fork: open one here.")
        return self._opened

    def __repr__(self) -> str:
        return repr(self._facade)
