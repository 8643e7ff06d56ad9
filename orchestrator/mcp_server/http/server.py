"""Serves MCP over HTTP, until SIGTERM or SIGINT."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import structlog
import uvicorn

from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.mcp_server.http.app import MCP_PATH, HttpApp
from orchestrator.mcp_server.http.gate import Gate, is_loopback
from orchestrator.mcp_server.http.health import Health
from orchestrator.mcp_server.http.metrics import Metrics
from orchestrator.mcp_server.http.tenants import Tenants
from orchestrator.mcp_server.http.tokens import TokenFile
from orchestrator.mcp_server.shutdown_signals import ShutdownTrigger, stop_signals
from orchestrator.mcp_server.tool_list import check_tool_names
from orchestrator.mcp_server.tracing import flush_spans
from orchestrator.models.origin_patterns import host_in_url
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine
from orchestrator.system.secrets import Redactor

if TYPE_CHECKING:
    from orchestrator.mcp_server.http.oauth import OAuth

_DRIVERS = ("chromedriver", "geckodriver", "msedgedriver", "safaridriver", "webkitwebdriver")
_CHATTY = ("uvicorn.error", "mcp")
"""Loggers that tell of each connection: only their warnings are of use."""
_LAST_RESORT = 3
"""Seconds that open streams have to close at the end."""
_CLEAN_UP = 20.0
"""Seconds that parking all sessions may take."""
_LAST_SPANS = 3.0
"""Seconds that sending the last spans may take."""

_log = structlog.get_logger(__name__)


async def serve_http(settings: Settings, redactor: LogRedactor) -> None:
    """Serve until there is a reason to end; then drain, and park the sessions.

    Raises:
        InvalidArgument: The address, the certificate or the tokens cannot be used.
    """
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    host, port = split_address(settings.http or "")
    check_exposure(settings, host)
    check_tool_names(settings)
    file = TokenFile(settings.home)
    first = file.ensure_first(settings.namespace)
    file.list_tokens()
    with _listening_socket(host, port) as listener:
        url = f"{'https' if settings.tls_certificate else 'http'}://{host_in_url(host)}:{listener.getsockname()[1]}"
        store = await anyio.to_thread.run_sync(SqliteStore, settings.home)
        metrics = Metrics(store.list_all_open)
        tenants = Tenants(settings, file, metrics, redactor.join)
        health = Health({"store": lambda: _can_read(store), "driver": lambda: _has_driver(settings)})
        oauth = _make_oauth(settings, f"{url}{MCP_PATH}")
        app = HttpApp(Gate(settings, host, file, oauth), tenants, health, metrics, oauth)
        server = _Uvicorn(_uvicorn_config(app, settings))
        trigger = ShutdownTrigger()
        with stop_signals(trigger) as listen:
            async with anyio.create_task_group() as group:
                group.start_soon(listen)
                await group.start(tenants.run)
                group.start_soon(_serve_until_exit, server, listener, trigger)
                _log_start(f"{url}{MCP_PATH}", first)
                await trigger.wait()
                _log.info("ending", reason=trigger.reason)
                await app.drain(settings.drain)
                with anyio.move_on_after(_CLEAN_UP, shield=True):
                    await tenants.end_all()
                with anyio.move_on_after(_LAST_SPANS, shield=True):
                    await anyio.to_thread.run_sync(flush_spans, abandon_on_cancel=True)
                server.should_exit = True
                await server.ended.wait()
                group.cancel_scope.cancel()
    sys.stderr.flush()
    os._exit(0)  # a thread may still wait for a remote end


def _log_start(url: str, first_token: Path | None) -> None:
    if first_token is not None:
        paste = "orchestrator doctor --client NAME --http prints what to paste into a client"
        _log.info("a first token was made", file=str(first_token), next=paste)
    _log.info("serving over HTTP", url=url)


class LogRedactor(Redactor):
    """Masks in logs what the redactors of all tenants know."""

    def __init__(self) -> None:
        super().__init__()
        self._joined: list[Redactor] = []

    def join(self, redactor: Redactor) -> None:
        """Mask what this one knows, too."""
        self._joined.append(redactor)

    def text(self, text: str) -> str:
        """Return the text with every secret masked."""
        for redactor in self._joined:
            text = redactor.text(text)
        return text

    def data(self, value: Any) -> Any:
        """Return the JSON value with every secret masked."""
        for redactor in self._joined:
            value = redactor.data(value)
        return value


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of an address.

    Raises:
        InvalidArgument: There is no such port.
    """
    host, _, port = address.rpartition(":")
    if int(port) > 65_535:  # noqa: PLR2004 — the last port
        raise InvalidArgument(f"Setting 'http': there is no port {port}.", hint="Use one of 1 to 65535.")
    return host.strip("[]"), int(port)


def check_exposure(settings: Settings, host: str) -> None:
    """Check that what leaves this machine is encrypted, unless that was given up.

    Raises:
        InvalidArgument: It would not be, or half of a certificate is missing.
    """
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        missing = "tls_key" if settings.tls_key is None else "tls_certificate"
        raise InvalidArgument(f"Setting {missing!r} is missing.", hint="TLS takes both tls_certificate and tls_key.")
    if settings.tls_certificate is not None or settings.insecure or is_loopback(host):
        return
    raise InvalidArgument(
        f"{host} is reachable from other machines, and tokens would go there unencrypted.",
        hint="Give --tls-certificate and --tls-key, listen at 127.0.0.1 behind a proxy that has them, or accept it "
        "with --insecure.",
    )


class _Uvicorn(uvicorn.Server):
    """Uvicorn, whose end is our decision, not that of a signal.

    Attributes:
        ended: Set when it has ended.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = anyio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to us."""
        yield


async def _serve_until_exit(server: _Uvicorn, listener: socket.socket, trigger: ShutdownTrigger) -> None:
    try:
        await server.serve(sockets=[listener])
    finally:
        trigger.trigger("the HTTP server ended")
        server.ended.set()


def _uvicorn_config(app: HttpApp, settings: Settings) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_LAST_RESORT,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise InvalidArgument(
            f"The certificate {settings.tls_certificate} and its key cannot be used: {error}.",
            hint="Both are PEM files, and belong together.",
        ) from None
    return config


@contextlib.contextmanager
def _listening_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Listen; before anything is started, so that a taken port is told at once.

    Raises:
        InvalidArgument: The address is taken, or is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends each part of an answer at once: without, the second waits 40 ms (Nagle).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with listener:
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise InvalidArgument(
                f"{host_in_url(host)}:{port} cannot be listened at: {error.strerror or error}.",
                hint="Choose another address with --http HOST:PORT.",
            ) from None
        listener.listen(128)
        yield listener


def _make_oauth(settings: Settings, url: str) -> OAuth | None:
    if settings.oauth_issuer is None:
        return None
    from orchestrator.mcp_server.http.oauth import OAuth  # noqa: PLC0415 — few servers have an issuer

    return OAuth(settings, settings.oauth_issuer, settings.oauth_resource or url)


def _can_read(store: SqliteStore) -> bool:
    try:
        store.lacks_keeper()
    except OrchestratorError:
        return False
    return True


def _has_driver(settings: Settings) -> bool:
    """Return True if a local browser could be driven."""
    machine = LocalMachine.this()
    return any(getattr(settings, name) or machine.driver(None, name) for name in _DRIVERS)
