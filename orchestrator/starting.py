"""Starts sessions: reserves the id first, then launches in the session's own lane."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator

import anyio.to_thread

from orchestrator import abilities, app_start, sharing
from orchestrator.actions.navigation import Navigate
from orchestrator.actions.storing import Storing
from orchestrator.activity import Doing
from orchestrator.again import asked
from orchestrator.arguments import read
from orchestrator.errors import InvalidArgument, OrchestratorError, StartFailed, Unsupported
from orchestrator.launch import Launch
from orchestrator.models import SessionRecord, SessionState, SessionType, StartRequest
from orchestrator.network import archive
from orchestrator.network.journal import Journal
from orchestrator.presets import device
from orchestrator.provider import Provider, SessionOptions
from orchestrator.reach import Reach
from orchestrator.registry import Providers
from orchestrator.runner import Runner
from orchestrator.sessions import Book, Lanes, Turn
from orchestrator.settings import Settings
from orchestrator.storage_state import StorageState, given
from orchestrator.store import Ticket
from orchestrator.webdriver.remote import Remote

Replays = tuple[dict[str, str], ...]
"""Archives as the record has them."""


class Starter:
    """Begins starts for one caller."""

    def __init__(
        self, book: Book, lanes: Lanes, runner: Runner, reach: Reach, providers: Providers, settings: Settings
    ) -> None:
        self._book = book
        self._reach = reach
        self._lanes = lanes
        self._runner = runner
        self._providers = providers
        self._settings = settings

    async def begin(self, request: StartRequest) -> Begun:
        """Check the request and reserve its id and the first turn of its lane; nothing is launched yet.

        Raises:
            InvalidArgument, Unsupported: The request means nothing to the provider.
            SessionExists, SessionLimit: There is no place for it.
        """
        request = app_start.checked(request)
        provider = self._providers[request.provider]
        options = self._providers.options(request.provider, request.options)
        if request.type not in provider.types:
            apps = "" if request.type is SessionType.BROWSER else "Apps are at the provider appium: start_app_session."
            raise Unsupported(f"Provider {provider.name!r} has no {request.type} sessions.", hint=apps)
        if request.type is SessionType.BROWSER and provider.browsers and request.browser not in provider.browsers:
            known = ", ".join(sorted(provider.browsers))
            raise InvalidArgument(
                f"Provider {provider.name!r} has no browser {request.browser!r}.", hint=f"Known: {known}."
            )
        request = sharing.checked(request, provider)
        if request.device is not None:
            _check_device(request)
        visit = _visit(request.navigation_url)
        # Files are read in a thread; other starts reserve their ids in the order in which they were asked for.
        state = await anyio.to_thread.run_sync(_state, request) if request.storage_state is not None else None
        recorded = bool(options.har or options.hars)
        replays = await anyio.to_thread.run_sync(_replays, request, options) if recorded else ()
        limits = options.limits(self._settings)
        fields = {"limits": limits, "strict": options.strict, "mode": request.mode or "incognito"}
        fields |= {"owned": request.mode != "attached", "request": asked(request, self._reach)}
        record, ticket = await self._book.start(request.type, request.session_id, provider=provider.name, **fields)
        launch = functools.partial(self._launch, request, options, provider, visit, state, replays)
        browser = {"browser": request.browser} if request.type is SessionType.BROWSER else {}
        doing = Doing("start", {"provider": provider.name, **browser})

        def work(turn: Turn) -> SessionRecord:
            return self._runner.activity.noted(turn.record, doing, lambda: launch(turn))

        return Begun(self._lanes, record, ticket, work)

    def _launch(
        self,
        request: StartRequest,
        options: SessionOptions,
        provider: Provider,
        visit: Navigate | None,
        state: StorageState | None,
        replays: Replays,
        turn: Turn,
    ) -> SessionRecord:
        """The session's first turn, in its worker thread."""
        launch = Launch(request, options, self._settings, self._reach, turn)
        with launch.undone_on_failure():
            remote, facts = launch.run(provider)
            turn.change(**facts)
            with self._attached(turn, remote):
                if request.type is SessionType.BROWSER:
                    self._runner.begin(turn)
                if state:
                    Storing(remote, turn.record, self._reach.devtools(turn.record)).restore(state)
                self._record(turn, options.har, replays)
                if visit:
                    self._open(turn, visit)
        turn.change(state=SessionState.ACTIVE)
        return turn.record

    @contextlib.contextmanager
    def _attached(self, turn: Turn, remote: Remote) -> Iterator[None]:
        """Keep its client, and nothing of it when the body raises: the browser may stay with others."""
        self._runner.attach(turn.record, remote)
        try:
            yield
        except BaseException:
            self._runner.detach(turn.record)
            Journal.of(turn.record, self._settings.home).remove()
            turn.change(remote_url="", remote_session_id="")
            raise

    def _record(self, turn: Turn, har: bool | str, replays: Replays) -> None:  # noqa: FBT001 - the option
        """Have its traffic recorded and answered as the options say, before it goes anywhere."""
        if not (har or replays):
            return
        record, home = turn.record, self._settings.home
        if self._reach.cdp(record) is None:
            raise StartFailed(
                "The remote end gives no way to the browser's DevTools, which the options har and hars need.",
                hint="Leave them away, or use a browser on this machine or at a Selenium Grid.",
            )
        path = archive.target(har) if isinstance(har, str) else archive.unused(record, home)
        if har:
            Journal.of(record, home).begin()
        turn.write(har=str(path) if har else "", replays=replays)

    def _open(self, turn: Turn, visit: Navigate) -> None:
        """Go to the first page as any later one is gone to; a dialog that it opens is told with the next result."""
        try:
            outcome = self._runner.within(turn, Doing(visit.verb, visit.told()), visit.perform)
        except OrchestratorError as error:
            raise StartFailed(
                f"Session {turn.record.id!r} was not started, because of its navigationUrl. {error.message}",
                hint="Check navigationUrl, or start without it.",
            ) from error
        turn.change(events=tuple(outcome.events))


def _check_device(request: StartRequest) -> None:
    if request.type is not SessionType.BROWSER:
        raise InvalidArgument("Argument 'device' is of desktop browsers.", hint="A real one is named by deviceName.")
    device(request.device or "")
    abilities.need("emulate", request.browser)
    if request.mode == "attached":
        raise InvalidArgument("A browser that runs begins as it is.", hint="Leave device away, then call emulate.")


def _visit(url: str | None) -> Navigate | None:
    """The way to the first page; its document is waited for, not all that it loads."""
    try:
        return None if url is None else read(Navigate, {"url": url, "wait_until": "interactive"})
    except InvalidArgument as error:
        raise InvalidArgument(f"navigationUrl: {error.message}", hint=error.hint) from None


def _state(request: StartRequest) -> StorageState | None:
    """The storage state to begin with; one that no browser could take is refused before anything is launched."""
    if request.storage_state is None:
        return None
    if request.type is not SessionType.BROWSER:
        raise InvalidArgument("storageState is of browsers alone.", hint="An app keeps its login: noReset.")
    abilities.need("storage_state", request.browser)
    return given(request.storage_state)


def _replays(request: StartRequest, options: SessionOptions) -> Replays:
    """What the record says of the archives to be replayed, all of which can be read; `har` can be written to."""
    if request.type is not SessionType.BROWSER:
        raise Unsupported("The options har and hars are of browsers.", hint="Leave them away.")
    abilities.need("network", request.browser)
    if isinstance(options.har, str):
        archive.target(options.har)
    return tuple({"path": str(archive.source(one)), "notFound": "continue"} for one in options.hars)


class Begun:
    """A start whose id is reserved."""

    def __init__(
        self, lanes: Lanes, record: SessionRecord, ticket: Ticket, work: Callable[[Turn], SessionRecord]
    ) -> None:
        self.record = record
        self._lanes = lanes
        self._ticket = ticket
        self._work = work

    async def finish(self) -> SessionRecord:
        """Launch it.

        Raises:
            StartFailed: It did not come to be; its id is free again.
        """
        return await self._lanes.run(self.record.id, self._work, ticket=self._ticket)

    async def finish_quietly(self) -> None:
        """Launch it; a failure is told to those who use the session."""
        try:
            await self.finish()
        except OrchestratorError:
            return
