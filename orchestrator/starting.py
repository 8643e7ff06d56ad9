"""Starts sessions: reserves the id first, then launches in the session's own lane."""

from __future__ import annotations

import functools

from pydantic import BaseModel

from orchestrator.errors import InvalidArgument, OrchestratorError, Unsupported
from orchestrator.launch import Launch
from orchestrator.models import ProcessInfo, SessionRecord, SessionState, StartRequest
from orchestrator.provider import Provider
from orchestrator.registry import Providers
from orchestrator.runner import Runner
from orchestrator.sessions import Book, Lanes, Turn
from orchestrator.settings import Settings
from orchestrator.store import Ticket


class Starter:
    """Begins starts for one caller."""

    def __init__(self, book: Book, lanes: Lanes, runner: Runner, providers: Providers, settings: Settings) -> None:
        self._book = book
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
        provider = self._providers[request.provider]
        options = self._providers.options(request.provider, request.options)
        if request.type not in provider.types:
            raise Unsupported(f"Provider {provider.name!r} has no {request.type} sessions.")
        if provider.browsers and request.browser not in provider.browsers:
            known = ", ".join(sorted(provider.browsers))
            raise InvalidArgument(
                f"Provider {provider.name!r} has no browser {request.browser!r}.", hint=f"Known: {known}."
            )
        record, ticket = await self._book.start(request.type, request.session_id, provider=provider.name)
        work = functools.partial(self._launch, request, options, provider)
        return Begun(self._lanes, record, ticket, work)

    def _launch(self, request: StartRequest, options: BaseModel, provider: Provider, turn: Turn) -> SessionRecord:
        """The session's first turn, in its worker thread."""

        def note(process: ProcessInfo) -> None:
            turn.write(processes=(*turn.record.processes, process))
            turn.watch.append(process)

        remote, facts = Launch(request, options, self._settings, turn, note).run(provider)
        turn.change(state=SessionState.ACTIVE, **facts)
        self._runner.attach(turn.record, remote)
        return turn.record


class Begun:
    """A start whose id is reserved."""

    def __init__(
        self, lanes: Lanes, record: SessionRecord, ticket: Ticket, work: functools.partial[SessionRecord]
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
