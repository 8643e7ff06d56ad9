"""The ASGI application: which path leads where, and what becomes of refusals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message as AsgiMessage
from starlette.types import Receive, Scope, Send

from orchestrator.errors import OrchestratorError
from orchestrator.mcp_server.http import refusals
from orchestrator.mcp_server.http.exchange import HttpExchange, receive_nothing
from orchestrator.mcp_server.http.files import FILES_PATH, answer_files
from orchestrator.mcp_server.http.gate import Gate, Message
from orchestrator.mcp_server.http.health import Health
from orchestrator.mcp_server.http.metrics import Metrics
from orchestrator.mcp_server.http.refusals import HttpRefusal
from orchestrator.mcp_server.http.tenants import Tenant, Tenants

if TYPE_CHECKING:
    from orchestrator.mcp_server.http.oauth import OAuth

MCP_PATH = "/mcp"
_SESSION_HEADER = "mcp-session-id"
_RESOURCE = "/.well-known/oauth-protected-resource"
_NOT_FOUND = 404

_log = structlog.get_logger(__name__)


class HttpApp:
    """The application, which can wait at its end for the calls that its tenants count."""

    def __init__(
        self, gate: Gate, tenants: Tenants, health: Health, metrics: Metrics, oauth: OAuth | None = None
    ) -> None:
        self._gate = gate
        self._metrics = metrics
        self._tenants = tenants
        self._health = health
        self._paths: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/health": self._health.live,
            "/ready": self._health.ready,
            "/metrics": self._show_metrics,
        }
        if oauth is not None:
            self._paths |= dict.fromkeys((_RESOURCE, f"{_RESOURCE}{MCP_PATH}"), oauth.show_metadata)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            if request.url.path == MCP_PATH:
                await self._serve_mcp(request, send)
                return
            response = await self._other(request)
        except HttpRefusal as refusal:
            self._note(refusal)
            response = refusal.response(rpc=request.url.path == MCP_PATH)
        except ClientDisconnect:
            return
        except OrchestratorError as error:
            _log.exception("a request broke", path=request.url.path)
            broken = HttpRefusal(500, error.code, "The server cannot serve this token.", "See the server's log.")
            response = broken.response()
        await response(scope, receive, send)

    async def drain(self, seconds: float) -> None:
        """Take no new requests, and wait so long for calls in flight to end."""
        self._health.ending = True
        counts = [tenant.limits for tenant in self._tenants.list_running()]
        with anyio.move_on_after(seconds) as limit:
            for count in counts:
                await count.wait_until_answered()
        if limit.cancelled_caught:
            _log.warning("calls in flight are cancelled", calls=sum(count.running for count in counts))

    async def _other(self, request: Request) -> Response:
        if request.url.path == FILES_PATH or request.url.path.startswith(f"{FILES_PATH}/"):
            return await self._serve_files(request)
        answer = self._paths.get(request.url.path)
        if answer is None:
            raise refusals.not_found(request.url.path)
        self._gate.check_place(request)
        if request.method not in {"GET", "HEAD"}:
            raise refusals.wrong_method("GET")
        return await answer(request)

    async def _serve_files(self, request: Request) -> Response:
        """Let a token that may act send files, each of which counts as a call."""
        self._gate.check_place(request)
        grant = await self._gate.find_grant(request)
        if grant.token.role == "read":
            raise refusals.wrong_role("act")
        if self._health.ending:
            raise refusals.ending()
        tenant = await self._tenants.tenant(grant)
        with tenant.limits.calling():
            return await answer_files(request, tenant.client_files)

    async def _show_metrics(self, request: Request) -> Response:
        """Show them to administrators alone: they are those of all namespaces."""
        if (await self._gate.find_grant(request)).token.role != "admin":
            raise refusals.wrong_role("admin")
        return await self._metrics.show(request)

    def _note(self, refusal: HttpRefusal) -> None:
        self._metrics.count_refusal(refusal)
        _log.info("refused", status=refusal.status, code=refusal.code)

    async def _serve_mcp(self, request: Request, send: Send) -> None:
        message: Message | None = None
        try:
            self._gate.check_place(request)
            grant = await self._gate.find_grant(request)
            self._gate.check_form(request)
            if request.method == "POST":
                message = await self._gate.read_message(request)
            if self._health.ending and (message is None or message.is_request):
                raise refusals.ending()
            tenant = await self._tenants.tenant(grant)
            if message is None or not message.is_call:
                await self._pass_on(tenant, request, message, send)
                return
            with tenant.limits.calling():
                await self._pass_on(tenant, request, message, send)
        except HttpRefusal as refusal:
            self._note(refusal)
            await refusal.response(message.id if message else None)(request.scope, request.receive, send)

    async def _pass_on(self, tenant: Tenant, request: Request, message: Message | None, send: Send) -> None:
        """Let the tenant answer; a call of the 2025 protocol is cancelled if its client goes, as the 2026 one's is."""
        session = request.headers.get(_SESSION_HEADER, "")
        answer = _explain_stale(send, message) if session else send
        exchange = HttpExchange(request.receive, answer, message.body if message else None)
        await tenant.serve(request.scope, exchange, session)
        if exchange.dropped and session and message and message.is_call:
            await tenant.cancel_call(request.scope, message.id)


def _explain_stale(send: Send, message: Message | None) -> Send:
    """Return what sends our own words in place of the SDK's 404, by which clients know to initialise again."""
    replaced = False

    async def explain(part: AsgiMessage) -> None:
        nonlocal replaced
        if part["type"] == "http.response.start" and part["status"] == _NOT_FOUND:
            replaced = True
            response = refusals.stale_session().response(message.id if message else None)
            await response({"type": "http"}, receive_nothing, send)
        elif not replaced:
            await send(part)

    return explain
