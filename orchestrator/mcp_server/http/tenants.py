"""A token's part of the server: an MCP server and an orchestrator in its namespace.

So nothing of another token can be seen or reached by mistake: not its current session, subscriptions, denied tools,
protocol sessions or secrets. Two tokens of one namespace share its sessions as two servers over stdio do.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.abc
import structlog
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Scope

from orchestrator.api import Orchestrator
from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.mcp_server.http.exchange import HttpExchange, receive_nothing, send_nowhere
from orchestrator.mcp_server.http.limits import CallLimits
from orchestrator.mcp_server.http.metrics import Metrics
from orchestrator.mcp_server.http.presence import Presence
from orchestrator.mcp_server.http.tokens import Grant, Token, TokenFile
from orchestrator.mcp_server.server import McpServer
from orchestrator.mcp_server.tool_calls import CallNote, ToolCalls, list_entries
from orchestrator.mcp_server.tool_list import ToolEntry, split_names
from orchestrator.mcp_server.tools import tools_by_name
from orchestrator.mcp_server.tracing import HeaderTrace
from orchestrator.sessions.registry import make_caller
from orchestrator.settings import Settings
from orchestrator.system.file_access import OWN_FOLDERS
from orchestrator.system.host.client_files import ClientFiles
from orchestrator.system.secrets import Redactor

_POLL = 1.0
"""Seconds between two looks for tokens that were revoked and clients that have gone, at most."""
_LOOKS = 4
"""Looks in the time after which a silent client has gone."""
_LAST_WORDS = 1.0
"""Seconds in which calls that were cancelled at the end may still be answered."""
_PROTOCOL_SESSION = 3600.0
"""Seconds after which a session of the 2025 protocol without a request ends."""

_log = structlog.get_logger(__name__)


class Tenant:
    """A token's part of the server, which runs from its first request until the token ends or the server does.

    Attributes:
        token: The token.
        limits: Its limits.
        expires_at: The end of the last access token that was sent for it, in seconds since 1970; None if it has none.
    """

    def __init__(self, grant: Grant, settings: Settings, metrics: Metrics, on_load: Callable[[Redactor], None]) -> None:
        self.token = token = grant.token
        self.expires_at = grant.expires_at
        self._metrics = metrics
        self.limits = CallLimits(token)
        self._settings = tenant_settings(token, settings)
        self._on_load = on_load
        self._presence = Presence(settings.detach_after)
        self._manager: StreamableHTTPSessionManager
        self._orchestrator: Orchestrator
        self._ending = anyio.Event()
        self._ended = anyio.Event()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run until `end` is called; at the end the sessions are parked.

        Raises:
            OrchestratorError: It cannot begin.
        """
        try:
            self._orchestrator = await anyio.to_thread.run_sync(self._load)
            self._on_load(self._orchestrator.redactor)
            server = self._make_server()
            self._manager = StreamableHTTPSessionManager(
                server.server,
                session_idle_timeout=_PROTOCOL_SESSION,
                max_request_body_size=self._settings.http_body * 1_000_000,
            )
            async with self._manager.run():
                async with self._orchestrator, anyio.create_task_group() as group:
                    server.open(ToolCalls(self._orchestrator, self._watch_call))
                    group.start_soon(self._park_silent_callers)
                    group.start_soon(server.follow_resources)
                    task_status.started()
                    await self._ending.wait()
                    group.cancel_scope.cancel()
                with anyio.move_on_after(_LAST_WORDS):
                    await self.limits.wait_until_answered()
        finally:
            self._ended.set()

    @property
    def client_files(self) -> ClientFiles:
        """The files that were sent with the token."""
        return self._orchestrator.actions.files.client_files

    @property
    def is_granted(self) -> bool:
        """True while an access token is valid for it, its caller has not been silent since, or a call runs."""
        if self.expires_at is None:
            return False
        return self.limits.running > 0 or time.time() < self.expires_at + self._settings.detach_after

    def renew(self, grant: Grant) -> None:
        """Note another access token for it."""
        if self.expires_at is not None and grant.expires_at is not None:
            self.expires_at = max(self.expires_at, grant.expires_at)

    async def end(self) -> None:
        """End it, and wait until its sessions are parked."""
        self._ending.set()
        await self._ended.wait()

    async def serve(self, scope: Scope, exchange: HttpExchange, session: str) -> None:
        """Serve a request of MCP; `session` is the id of its session of the protocol, if it has one."""
        with self._presence.requesting(session):
            await self._manager.handle_request(scope, exchange.receive, exchange.send)

    async def cancel_call(self, scope: Scope, request_id: Any) -> None:
        """Cancel a call of the 2025 protocol whose client has gone, as a notification of its own would."""
        params = {"requestId": request_id, "reason": "the connection dropped"}
        notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        exchange = HttpExchange(receive_nothing, send_nowhere, json.dumps(notification).encode())
        await self._manager.handle_request(scope, exchange.receive, exchange.send)

    def _load(self) -> Orchestrator:
        key = hashlib.sha256(f"token {self.token.sha256}".encode()).hexdigest()[:32]
        fields = {"key": key, "named": True, "agent": self.token.name, "is_admin": self.token.role == "admin"}
        caller = make_caller("mcp").model_copy(update=fields)
        return Orchestrator(
            self._settings, adopt_orphans=True, park_on_exit=True, door="mcp", caller=caller, meter=self._metrics
        )

    def _make_server(self) -> McpServer:
        """Return the MCP server, which lists and calls what the token allows."""
        actions = self._orchestrator.actions
        names = [self._settings.deny_tools]
        for by, denied in denials(self.token, list_entries(tools_by_name(actions))).items():
            actions.deny(denied, by, setting="tokens")
            names += denied
        server = McpServer(self._settings.model_copy(update={"deny_tools": ",".join(filter(None, names))}))
        server.server.middleware.insert(0, HeaderTrace())
        return server

    @contextmanager
    def _watch_call(self, note: CallNote) -> Iterator[None]:
        with self._presence.calling(note.caller.key, note.http_session), self._metrics.watch_call(note):
            yield

    async def _park_silent_callers(self) -> None:
        """Park the sessions of callers without a sign of life for `detach_after`, once no call uses them."""
        gone: set[str] = set()
        while True:
            await anyio.sleep(min(_POLL, self._settings.detach_after / _LOOKS))
            for key in (new := self._presence.take_gone()):
                _log.info("a caller has gone", token=self.token.name, caller=key)
            gone = (gone | new) - self._presence.callers
            if not gone:
                continue
            try:
                gone = await self._orchestrator.park_unused(gone)
            except OrchestratorError as error:  # the store is locked, or full: they are parked later
                _log.warning("sessions of callers that have gone are not parked yet", error=error.message)


class Tenants:
    """The tenants that run, by the hashes of their tokens; the file of tokens says who may have one."""

    def __init__(
        self, settings: Settings, file: TokenFile, metrics: Metrics, on_load: Callable[[Redactor], None]
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._file = file
        self._on_load = on_load
        self._running: dict[str, Tenant] = {}
        self._lock = anyio.Lock()
        self._group: anyio.abc.TaskGroup

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run tenants until this is cancelled; those whose token was revoked, changed or has expired end."""
        async with anyio.create_task_group() as group:
            self._group = group
            task_status.started()
            while True:
                await anyio.sleep(_POLL)
                await self._end_revoked()

    def list_running(self) -> list[Tenant]:
        """List the tenants that run."""
        return [*self._running.values()]

    async def tenant(self, grant: Grant) -> Tenant:
        """Return the tenant of a grant, which is started at its first request."""
        token = grant.token
        found = self._running.get(token.sha256)
        if found is not None and found.token == token:
            found.renew(grant)
            return found
        async with self._lock:
            found = self._running.get(token.sha256)
            if found is not None and found.token != token:
                del self._running[token.sha256]
                await found.end()
                found = None
            if found is None:
                found = Tenant(grant, self._settings, self._metrics, self._on_load)
                await self._group.start(found.run)
                self._running[token.sha256] = found
        return found

    async def end_all(self) -> None:
        """End every tenant; their sessions are parked."""
        async with anyio.create_task_group() as group:
            for tenant in self.list_running():
                group.start_soon(tenant.end)
        self._running.clear()

    async def _end_revoked(self) -> None:
        try:
            known = set(self._file.list_tokens())
        except InvalidArgument as error:  # edited by hand: requests are refused until it can be read again
            _log.error("the tokens cannot be read", error=error.sentence)
            return
        for key, tenant in [*self._running.items()]:
            if tenant.token not in known and not tenant.is_granted:
                async with self._lock:
                    self._running.pop(key, None)
                await tenant.end()
                _log.info("a token was revoked or changed, or has expired", token=tenant.token.name)


def tenant_settings(token: Token, settings: Settings) -> Settings:
    """Return the settings for a token: its namespace and limits, and no file of this machine that was not chosen."""
    given = settings.model_fields_set
    roots = settings.file_roots if "file_roots" in given else own_folders(settings, token.namespace)
    allowed = {} if token.max_sessions is None else {"max_sessions": token.max_sessions}
    return settings.model_copy(
        update={
            "namespace": token.namespace,
            "file_roots": roots,
            "file_urls": settings.file_urls if "file_urls" in given else "none",
            **allowed,
        }
    )


def own_folders(settings: Settings, namespace: str) -> str:
    """Return the folders of downloads, pictures and so on of a namespace, as the setting `file_roots` has them."""
    return os.pathsep.join(str(settings.home / folder / namespace) for folder in OWN_FOLDERS)


def denials(token: Token, entries: list[ToolEntry]) -> dict[str, list[str]]:
    """Return the tools that a token may not call, by what refuses them.

    Raises:
        InvalidArgument: It names a tool or set that does not exist.
    """
    names = split_names("tools", token.tools, entries)
    changing = [
        entry.tool.name
        for entry in entries
        if entry.tool.annotations is None or not entry.tool.annotations.read_only_hint
    ]
    others = [entry.tool.name for entry in entries if not entry.is_in(names)]
    return {
        "this token's role read": changing if token.role == "read" else [],
        "this token's list of tools": others if names else [],
    }
