"""The same API without `await`: `from orchestrator.sync import Orchestrator`.

One background thread runs the async façade; each call waits there for its answer. Calls from several threads run side
by side, as they do in several tasks.
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
from orchestrator.arguments import read
from orchestrator.loop_thread import LoopThread
from orchestrator.methods import BlockingOrchestratorMethods, BlockingSessionMethods
from orchestrator.models import Door
from orchestrator.registry import Providers
from orchestrator.rows import SessionFacts
from orchestrator.settings import Settings


class Session(BlockingSessionMethods):
    """One open session, whoever started it. As a context manager it is closed at the end of the block."""

    def __init__(self, session: handles.Session, portal: Callable[[], BlockingPortal]) -> None:
        self._session = session
        self._portal = portal

    @property
    def id(self) -> str:
        """Its name."""
        return self._session.id

    @property
    def facts(self) -> SessionFacts:
        """Type, provider, capabilities, remote URL and so on, as they were when they were last looked up."""
        return self._session.facts

    def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        return self._portal().call(self._session.perform, read(declared, fields))

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
    """Many sessions at once, for one caller. Use it as a context manager; what the caller owns ends with it.

    Every method takes a session by its id, or the caller's current one when none is given.

    Args:
        settings: How it behaves; read from environment and files unless given.
        providers: Where sessions come from; the installed ones unless given.
        adopting: Take over, as a server does, what dead callers of the namespace left: it is owned, and ended, then.
        parking: Park, as a server does, what the caller owns at its end, for whoever comes back to it.
        visiting: Whoever comes and goes changes nothing by that: no session is taken over, looked after or ended.
        door: How the caller comes in, as the activity logs name it.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Providers | None = None,
        adopting: bool = False,
        parking: bool = False,
        visiting: bool = False,
        door: Door = "python",
    ) -> None:
        self._facade = api.Orchestrator(
            settings, providers=providers, adopting=adopting, parking=parking, visiting=visiting, door=door
        )
        self._stack = ExitStack()
        self._opened: BlockingPortal | None = None
        self._pid = 0

    @property
    def settings(self) -> Settings:
        """How it behaves."""
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
        # A forked process has no thread that would do it, and its parent has what is to be ended.
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
