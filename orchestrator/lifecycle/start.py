"""Starts sessions: reserves the id first, then launches in the session's own lane."""

from __future__ import annotations

import functools
from typing import Any

import anyio.to_thread

from orchestrator.actions.navigation import Navigate
from orchestrator.errors import InvalidArgument, OrchestratorError, Unsupported
from orchestrator.lifecycle import app_request, instances
from orchestrator.lifecycle.boundary.local_browsers import LocalBrowsers
from orchestrator.lifecycle.boundary.start_boundary import StartBoundary
from orchestrator.lifecycle.fork import read_fork
from orchestrator.lifecycle.login_source import ReadLogin, check_login_source, read_login_of
from orchestrator.lifecycle.restart import dump_request
from orchestrator.lifecycle.services import Services
from orchestrator.lifecycle.start_plan import Replays, StartPlan
from orchestrator.models import browser_support
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.device_presets import find_preset
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import Caller, SessionRecord, SessionType
from orchestrator.models.storage_state import StorageState, load_storage_state
from orchestrator.network import har
from orchestrator.provider import Provider, SessionOptions
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.store.types import Ticket


class Starter:
    """Begins starts, for the caller that asks."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._boundary = StartBoundary(services.settings)
        self._local_browsers = LocalBrowsers(services.settings, services.registry.store.now)

    async def reserve_fork(self, caller: Caller, session_id: str, new_id: str | None) -> ReservedStart:
        """Read what a fork of an open session begins with, and reserve its start.

        Raises:
            Unsupported: The session cannot be forked.
            OrchestratorError: It is not open, is claimed or did not answer, or the start cannot be reserved.
        """
        fork = await read_fork(self._services, caller, session_id, new_id)
        return await self._reserve(caller, await self._plan(caller, fork.request), **fork.fields)

    async def reserve_start(self, caller: Caller, request: StartRequest) -> ReservedStart:
        """Check the request, and reserve its id and the first turn of its lane; nothing is launched yet.

        Raises:
            Denied: The caller may not choose what it asks for.
            InvalidArgument, Unsupported: The provider cannot serve the request.
            SessionExists, SessionLimit: The id is in use, or too many sessions are open.
        """
        provider = self._services.providers[request.provider]
        options = self._services.providers.options(request.provider, request.options)
        request, warnings = await self._boundary.check(caller, request, provider, options)
        reserved = await self._reserve(caller, await self._plan(caller, request))
        reserved.warnings.extend(warnings)
        return reserved

    async def _reserve(self, caller: Caller, plan: StartPlan, **fields: Any) -> ReservedStart:
        """Reserve a start; `fields` are further fields of its record."""
        request = plan.request
        record, ticket = await self._services.registry.for_caller(caller).reserve_session(
            request.type,
            request.session_id,
            provider=plan.provider.name,
            check_room=self._local_browsers.checker(plan),
            limits=plan.options.limits(self._services.settings),
            strict=plan.options.strict,
            mode=request.mode or "incognito",
            owned=request.mode != "attached",
            request=dump_request(request, self._services.connector),
            **fields,
        )
        return ReservedStart(self._services.lanes, caller, record, ticket, plan)

    async def _plan(self, caller: Caller, request: StartRequest) -> StartPlan:
        files = self._services.files
        request = app_request.check_app_request(files.check(request))
        provider = self._services.providers[request.provider]
        options = files.check(self._services.providers.options(request.provider, request.options))
        _check_provider(request, provider)
        if request.device is not None:
            _check_device(request)
        request = instances.resolve_mode(request, provider)
        first_page = _first_page(request.navigation_url)
        # Only files are read in a thread: starts without files reserve their ids in the order of their requests.
        has_state, has_har = request.storage_state is not None, bool(options.har or options.hars)
        return StartPlan(
            services=self._services,
            request=request,
            options=options,
            provider=provider,
            first_page=first_page,
            storage_state=await anyio.to_thread.run_sync(_read_storage_state, request) if has_state else None,
            read_login=await self._find_login(caller, request),
            replays=await anyio.to_thread.run_sync(_resolve_replays, request, options) if has_har else (),
        )

    async def _find_login(self, caller: Caller, request: StartRequest) -> ReadLogin | None:
        """Return how to read the login that the session is to begin with; None if it gets none of another session."""
        if request.login_from is None:
            return None
        if request.storage_state is not None:
            raise InvalidArgument("Give either storageState or loginFrom.", hint="Omit one of them.")
        if request.type is not SessionType.BROWSER:
            raise InvalidArgument("loginFrom is for browsers only.", hint="An app keeps its login with noReset.")
        browser_support.require_ability("storage_state", request.browser)
        registry = self._services.registry.for_caller(caller)
        record = await registry.get(await registry.resolve(request.login_from))
        if record is not None:
            check_login_source(record)
        return functools.partial(read_login_of, self._services, caller, request.login_from)


class ReservedStart:
    """A start whose id and first turn are reserved.

    Attributes:
        warnings: What of the request was left out, and what came up in the launch, as sentences.
    """

    def __init__(self, lanes: Lanes, caller: Caller, record: SessionRecord, ticket: Ticket, plan: StartPlan) -> None:
        self.record = record
        self.request = plan.request
        self.warnings = plan.warnings
        self._caller = caller
        self._lanes = lanes
        self._ticket = ticket
        self._plan = plan

    async def launch(self) -> SessionRecord:
        """Launch the session.

        Raises:
            StartFailed: It did not start; its id is free again.
        """
        return await self._lanes.run_turn(
            self.record.id, self._plan.run, caller=self._caller, ticket=self._ticket, name="the start"
        )

    async def release(self) -> None:
        """Free the id again, instead of launching the session."""
        await self._lanes.give_up_start(self._ticket)

    async def launch_quietly(self) -> None:
        """Launch the session; calls that use it report a failure."""
        try:
            await self.launch()
        except OrchestratorError:
            return


def _check_provider(request: StartRequest, provider: Provider) -> None:
    if request.type not in provider.types:
        apps = "" if request.type is SessionType.BROWSER else "Apps are at the provider appium: start_app_session."
        raise Unsupported(f"Provider {provider.name!r} has no {request.type} sessions.", hint=apps)
    if request.type is SessionType.BROWSER and provider.browsers and request.browser not in provider.browsers:
        raise InvalidArgument(
            f"Provider {provider.name!r} has no browser {request.browser!r}.",
            hint=f"Known: {', '.join(sorted(provider.browsers))}.",
        )


def _check_device(request: StartRequest) -> None:
    if request.type is not SessionType.BROWSER:
        raise InvalidArgument(
            "Argument 'device' is for desktop browsers only.", hint="Name a real one with deviceName."
        )
    find_preset(request.device or "")
    browser_support.require_ability("emulate", request.browser)


def _first_page(url: str | None) -> Navigate | None:
    """Return the action that opens the first page; it waits for the document, not for all that it loads."""
    try:
        return None if url is None else parse_arguments(Navigate, {"url": url, "wait_until": "interactive"})
    except InvalidArgument as error:
        raise InvalidArgument(f"navigationUrl: {error.message}", hint=error.hint) from None


def _read_storage_state(request: StartRequest) -> StorageState | None:
    if request.storage_state is None:
        return None
    if request.type is not SessionType.BROWSER:
        raise InvalidArgument("storageState is for browsers only.", hint="An app keeps its login with noReset.")
    browser_support.require_ability("storage_state", request.browser)
    return load_storage_state(request.storage_state)


def _resolve_replays(request: StartRequest, options: SessionOptions) -> Replays:
    """Return the HAR files to replay, as the record has them, once all can be read and the recording written."""
    if request.type is not SessionType.BROWSER:
        raise Unsupported("The options har and hars are for browsers only.", hint="Omit them.")
    browser_support.require_ability("network", request.browser)
    if isinstance(options.har, str):
        har.resolve_target(options.har)
    return tuple({"path": str(har.resolve_source(path)), "notFound": "continue"} for path in options.hars)
