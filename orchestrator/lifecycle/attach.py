"""Attaches to sessions that were started elsewhere, without owning them."""

from __future__ import annotations

import contextlib
import re
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread

from orchestrator.errors import InvalidArgument, OrchestratorError, ProviderFailure, SessionLost
from orchestrator.lifecycle.boundary.start_boundary import is_bound
from orchestrator.lifecycle.services import Services
from orchestrator.models.identifiers import normalize_session_id
from orchestrator.models.requests import AttachRequest
from orchestrator.models.session import Caller, SessionRecord, SessionState, SessionType
from orchestrator.provider import SessionOptions
from orchestrator.sessions.turn import Turn
from orchestrator.system.activity import LoggedAction
from orchestrator.system.secrets import reference, resolve_reference, without_path
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities
from orchestrator.webdriver.remote import Remote

PROVIDER = "remote_url"
"""The provider of an attached session that no other provider claims."""
_STATUS = 5.0
"""Seconds that a remote end may take to report its status."""
_KEPT_FIELDS = ("provider", "remote_url", "remote_session_id", "capabilities", "context", "secret")
"""Fields of the draft that the record takes over."""
_SESSION_ID = re.compile(r"[A-Za-z0-9._~-]{1,256}", re.ASCII)
_AGENT = "return navigator.userAgent"
_BROWSERS = (
    *(("Edg/", "MicrosoftEdge"), ("Firefox/", "firefox"), ("Chrome/", "chrome")),
    *((r"X11; Linux.* Version/", "MiniBrowser"), ("Safari/", "safari")),
)
"""Text before the version in a user agent, and the browser that it belongs to; the most specific first."""


class Attacher:
    """Attaches to sessions, for the caller that asks."""

    def __init__(self, services: Services) -> None:
        self._registry = services.registry
        self._lanes = services.lanes
        self._runner = services.runner
        self._connector = services.connector
        self._providers = services.providers
        self._settings = services.settings
        self._files = services.files

    async def attach(self, caller: Caller, request: AttachRequest) -> tuple[SessionRecord, list[str]]:
        """Attach to a session that is alive; returns its record and warnings.

        For a session that is open already, its existing record is returned.

        Raises:
            InvalidArgument: The URL or an id is not valid.
            Denied: Over MCP: the URL leads where this process may not go, or the capabilities to other hosts.
            SessionLost: The remote end does not answer, or does not know the session; nothing was recorded.
            ProviderAuth: The remote end refused the URL's credentials, or its provider finds none.
            SessionExists, SessionLimit: The id is in use, or too many sessions are open.
        """
        secret = reference(request.remote_url)
        given = (resolve_reference(secret, self._settings.secrets_file) if secret else request.remote_url).rstrip("/")
        _check(request, given)
        if is_bound(caller, self._settings):
            from orchestrator.lifecycle.boundary.attached_addresses import check_addresses  # noqa: PLC0415 — few need it

            check_addresses(request.capabilities, given)
        if secret:
            self._connector.hide_path(given)
        # From here on this process has the URL's credentials, for a session that is open already, too.
        url = self._connector.remember_credentials(given)
        if record := await self._find_open(url, request.remote_session_id):
            record = await self._update_credentials(record, secret, given_in_url=url != given)
            return record, [f"This remote session is open already, as {record.id}."]
        draft = self._draft(caller, request, url, secret)
        await anyio.to_thread.run_sync(self._files.check_hosts, request, abandon_on_cancel=True)
        remote, facts = await anyio.to_thread.run_sync(self._examine, draft, abandon_on_cancel=True)
        known = await self._read_refs(url, request.remote_session_id)
        record, ticket = await self._registry.for_caller(caller).reserve_session(
            request.platform, request.session_id, provider=facts.pop("provider"), owned=False, limits=draft.limits
        )
        remote.name = record.id

        def activate(turn: Turn) -> SessionRecord:
            self._runner.activity.log_event(
                turn.record, LoggedAction("attach", {"remoteUrl": request.remote_url if secret else url})
            )
            turn.change(**facts, **known, state=SessionState.ACTIVE)
            self._runner.connections.add(turn.record, remote, needs_resync=True)
            return turn.record

        return await self._lanes.run_turn(record.id, activate, caller=caller, ticket=ticket), []

    async def _update_credentials(self, record: SessionRecord, secret: str, *, given_in_url: bool) -> SessionRecord:
        """Use the credentials of the request for a session that is open already; its client may have others."""
        if given_in_url:
            await self._lanes.run_turn(record.id, lambda turn: self._runner.connections.drop(turn.record), renews=False)
        if secret:
            shown = without_path(record.remote_url)
            changes = {"secret": secret, "remote_url": shown}
            record = await self._registry.update(record.id, lambda current: current.with_changes(**changes))
        return record

    async def _find_open(self, url: str, remote_session_id: str) -> SessionRecord | None:
        """Return the record of an open session at this address; a lost one may have come back and is attached anew."""
        for record in (await self._registry.list_with_current())[0]:
            if _is_at(record, url, remote_session_id) and record.state is not SessionState.LOST:
                return record
        return None

    async def _read_refs(self, url: str, remote_session_id: str) -> dict[str, Any]:
        """Return the refs that were given under another namespace here: they name the same elements."""
        every = await self._registry.call_store(self._registry.store.list_all_open)
        same = [record for record in every if _is_at(record, url, remote_session_id)]
        if not same:
            return {}
        last = max(same, key=lambda record: record.last_active_at)
        return {"screen_refs": last.screen_refs, "ref_next": last.ref_next}

    def _draft(self, caller: Caller, request: AttachRequest, url: str, secret: str) -> SessionRecord:
        """Return a record to ask providers about; unless one was given, its id is not that of the session."""
        now = self._registry.store.now()
        return SessionRecord(
            id=request.session_id or request.remote_session_id,
            namespace=self._registry.namespace,
            type=request.platform,
            provider=PROVIDER,
            owner=caller.key,
            owned=False,
            remote_url=without_path(url) if secret else url,
            remote_session_id=request.remote_session_id,
            capabilities=request.capabilities,
            secret=secret,
            limits=SessionOptions().limits(self._settings),
            created_at=now,
            last_active_at=now,
        )

    def _examine(self, draft: SessionRecord) -> tuple[Remote, dict[str, Any]]:
        """Return the client of the session, and the fields of its record.

        Raises:
            SessionLost: It does not answer.
            InvalidArgument: The provider there has sessions of other platforms only.
            ProviderAuth: The credentials were refused, or not found.
        """
        record = draft.with_changes(provider=self._find_provider(draft))
        if record.type not in (types := self._providers[record.provider].types) and record.provider != PROVIDER:
            raise InvalidArgument(
                f"{record.remote_url} belongs to {record.provider!r}, which has no {record.type} sessions.",
                hint=f"Give platform: {' or '.join(sorted(types))}.",
            )
        remote = self._connector.make_remote(record)
        capabilities, context = _read_session(remote, record)
        record = record.with_changes(capabilities=self._connector.redact(capabilities), context=context)
        started = self._providers[record.provider].attached(record, self._settings)
        facts = {name: getattr(record, name) for name in _KEPT_FIELDS}
        facts |= {"remote_end": self._connector.redact(started.remote_end), "keep_alive": started.keep_alive}
        return remote, facts

    def _find_provider(self, draft: SessionRecord) -> str:
        """Return the provider that claims the session, by its URL alone or else by the status of the remote end."""
        url = draft.remote_url
        if by_url := self._find_claimant(url, {}):
            return by_url
        status = self._connector.make_remote(draft).status(_STATUS)
        return self._find_claimant(url, status) or PROVIDER

    def _find_claimant(self, url: str, status: dict[str, Any]) -> str:
        for name in self._providers:
            with contextlib.suppress(ProviderFailure):
                if self._providers[name].owns(url, status, self._settings):
                    return name
        return ""


def _is_at(record: SessionRecord, url: str, remote_session_id: str) -> bool:
    """Return True if a record is of the session at this address."""
    address = (without_path(url), remote_session_id)  # a record with a secret has no path
    return (without_path(record.remote_url), record.remote_session_id) == address


def _check(request: AttachRequest, url: str) -> None:
    if request.session_id is not None:
        normalize_session_id(request.session_id)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        usable = False
    if not usable:
        raise InvalidArgument(
            "remoteUrl is not the address of a WebDriver endpoint.", hint="Write for example http://127.0.0.1:4444."
        )
    if not _SESSION_ID.fullmatch(request.remote_session_id):
        raise InvalidArgument(
            "remoteSessionId is not a W3C session id.", hint="Give the sessionId that New Session returned."
        )
    check_capabilities(request.capabilities)


def _read_session(remote: Remote, record: SessionRecord) -> tuple[dict[str, Any], str]:
    """Return the capabilities of the session, and the current context of an app session.

    Raises:
        SessionLost: It does not answer.
    """
    try:
        remote.ping()
    except SessionLost as error:
        error.hint = "Check remoteUrl and remoteSessionId; nothing was recorded."
        raise
    capabilities = remote.capabilities()
    if "browserName" not in capabilities and record.type is SessionType.BROWSER:
        capabilities = {**_guess_browser(remote), **capabilities}
    context = "" if record.type is SessionType.BROWSER else remote.context()
    return merge_capabilities(capabilities, record.capabilities), context


def _guess_browser(remote: Remote) -> dict[str, Any]:
    try:
        agent = str(remote.script(_AGENT))
    except OrchestratorError:
        return {}
    for prefix, name in _BROWSERS:
        if version := re.search(rf"{prefix}([\d.]+)", agent):
            return {"browserName": name, "browserVersion": version[1]}
    return {}
