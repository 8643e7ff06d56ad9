"""The same API without `await`: `from orchestrator.sync import Orchestrator`.

One background thread runs the async façade; each call waits there for its answer. Calls from several threads run side
by side, as they do in several tasks.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from orchestrator import api
from orchestrator import session as handles
from orchestrator.actions.base import Action, ResultT
from orchestrator.arguments import read
from orchestrator.methods import BlockingOrchestratorMethods, BlockingSessionMethods
from orchestrator.models import Viewport
from orchestrator.registry import Providers
from orchestrator.rows import SessionFacts
from orchestrator.settings import Settings


class Session(BlockingSessionMethods):
    """One open session, whoever started it. As a context manager it is closed at the end of the block."""

    def __init__(self, session: handles.Session, portal: BlockingPortal) -> None:
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
        return self._portal.call(self._session.perform, read(declared, fields))

    def _wait(self, method: str, **arguments: Any) -> Any:
        return self._portal.call(functools.partial(getattr(self._session, method), **arguments))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._session)


class Orchestrator(BlockingOrchestratorMethods):
    """Many sessions at once, for one caller. Use it as a context manager; what the caller owns ends with it.

    Every method takes a session by its id, or the caller's current one when none is given.

    Args:
        settings: How it behaves; read from environment and files unless given.
        providers: Where sessions come from; the installed ones unless given.
        adopting: Take over, as a server does, what dead callers of the namespace left: it is owned, and ended, then.
        visiting: Whoever comes and goes changes nothing by that: no session is taken over, looked after or ended.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Providers | None = None,
        adopting: bool = False,
        visiting: bool = False,
    ) -> None:
        self._facade = api.Orchestrator(settings, providers=providers, adopting=adopting, visiting=visiting)
        self._stack = ExitStack()
        self._opened: BlockingPortal | None = None

    @property
    def settings(self) -> Settings:
        """How it behaves."""
        return self._facade.settings

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal(name="orchestrator"))
            stack.enter_context(portal.wrap_async_context_manager(self._facade))
            self._opened = portal
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def session(self, session_id: str | None = None) -> Session:
        """A handle on an open session of the namespace, whoever started it; on the current one unless given.

        Raises:
            NoSession, SessionNotFound: It is not open.
        """
        return self._handle("session", session_id=session_id)

    def start_browser(
        self,
        session_id: str | None = None,
        *,
        browser: str = "chrome",
        headless: bool | None = None,
        navigation_url: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
        viewport: Viewport | Mapping[str, int] | None = None,
        args: Sequence[str] = (),
    ) -> Session:
        """Start a browser on this machine.

        Args:
            session_id: Its name, such as alice; browser-1, … unless given.
            browser: Which browser.
            headless: Without a window; a setting (True) unless given.
            navigation_url: Open this URL first.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.
            viewport: Size of the page area in CSS pixels; 1280 x 720 unless given.
            args: Further switches of the browser.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: There is no session; nothing of it is left.
        """
        return self._handle(
            "start_browser",
            session_id=session_id,
            browser=browser,
            headless=headless,
            navigation_url=navigation_url,
            capabilities=capabilities,
            options=options,
            wait=wait,
            viewport=viewport,
            args=args,
        )

    def start_session(
        self,
        provider: str,
        platform: str,
        session_id: str | None = None,
        *,
        browser: str = "chrome",
        browser_version: str | None = None,
        headless: bool | None = None,
        navigation_url: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Session:
        """Start a session at a provider by its name; the other parameters are those of `start_browser`.

        Args:
            provider: local, or another installed provider.
            platform: The type of session, such as browser.
            session_id: Its name; browser-1, … unless given.
            browser: Which browser.
            browser_version: Such as 156; any unless given.
            headless: Without a window; a setting (True) unless given.
            navigation_url: Open this URL first.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.

        Raises:
            InvalidArgument, Unsupported, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end gave no session; nothing of it is left.
        """
        return self._handle(
            "start_session",
            provider=provider,
            platform=platform,
            session_id=session_id,
            browser=browser,
            browser_version=browser_version,
            headless=headless,
            navigation_url=navigation_url,
            capabilities=capabilities,
            options=options,
            wait=wait,
        )

    def attach_session(
        self,
        remote_url: str,
        remote_session_id: str,
        session_id: str | None = None,
        *,
        platform: str = "browser",
        capabilities: Mapping[str, Any] | None = None,
    ) -> Session:
        """Drive a session that was started elsewhere; closing it here leaves it alive there.

        Args:
            remote_url: The WebDriver endpoint, such as http://127.0.0.1:4444.
            remote_session_id: The session there, as New Session answered it.
            session_id: Its name here; browser-1, … unless given.
            platform: The type of session, such as browser.
            capabilities: What to know about it beyond what the remote end tells.

        Raises:
            SessionLost: It does not answer; nothing was recorded.
            InvalidArgument, ProviderAuth, SessionExists, SessionLimit: It was not taken in.
        """
        return self._handle(
            "attach_session",
            remote_url=remote_url,
            remote_session_id=remote_session_id,
            session_id=session_id,
            platform=platform,
            capabilities=capabilities,
        )

    def _wait(self, method: str, **arguments: Any) -> Any:
        return self._portal().call(functools.partial(getattr(self._facade, method), **arguments))

    def _handle(self, method: str, **arguments: Any) -> Session:
        return Session(self._wait(method, **arguments), self._portal())

    def _portal(self) -> BlockingPortal:
        if self._opened is None:
            raise RuntimeError("It is not open yet. Write: with Orchestrator() as orchestrator: …")
        return self._opened

    def __repr__(self) -> str:
        return repr(self._facade)
