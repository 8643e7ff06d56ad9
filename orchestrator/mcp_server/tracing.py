"""OpenTelemetry spans of calls, under their callers' traces, and of their turns in sessions.

The SDK of MCP makes the span of a call. Without OpenTelemetry's own SDK (the extra `otel`) no span is recorded.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from opentelemetry import context as trace_context
from opentelemetry import trace
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, StatusCode

from orchestrator import __version__
from orchestrator.errors import OrchestratorError
from orchestrator.models.identifiers import split_claim
from orchestrator.sessions.meter import Meter, TurnNote

SESSION = "orchestrator.session.id"
ERROR = "orchestrator.error.code"
WAITED = "orchestrator.queue.wait"
"""Names of our attributes: the session, the error's code, and the seconds that a turn was waited for."""

_SERVICE = "webdriver-orchestrator"
_CANCELLED = "cancelled"

_tracer = trace.get_tracer(_SERVICE, __version__)
_sessions: ContextVar[set[str] | None] = ContextVar("sessions", default=None)
"""The sessions that gave the present call a turn."""


class SpanMeter(Meter):
    """Makes a span of each turn of a call whose own span is recorded."""

    @contextmanager
    def measure_turn(self, note: TurnNote) -> Iterator[None]:
        """Make the turn's span, which has the session and the wait; of an error it has the code alone."""
        if not trace.get_current_span().is_recording():
            yield
            return
        with _tracer.start_as_current_span(
            note.name or "turn", record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except BaseException as error:
                _set_error(span, error.code if isinstance(error, OrchestratorError) else _CANCELLED)
                raise
            finally:
                span.set_attribute(WAITED, round(note.waited, 6))
                if note.session_id:
                    span.set_attribute(SESSION, note.session_id)
                    (_sessions.get() or set()).add(note.session_id)


def choose_meter() -> Meter:
    """Return the meter that makes spans of turns; one that measures nothing where nobody records spans."""
    return Meter() if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider) else SpanMeter()


@contextmanager
def describing_call(arguments: Mapping[str, Any]) -> Iterator[None]:
    """Add to the span of a call the session that it used, if that is one; else the one that it names."""
    span = trace.get_current_span()
    if not span.is_recording():
        yield
        return
    used = set[str]()
    token = _sessions.set(used)
    try:
        yield
    finally:
        _sessions.reset(token)
        named = arguments.get("sessionId", arguments.get("session_id"))
        if not used and isinstance(named, str):
            used.add(split_claim(named)[0])
        if len(used) == 1:
            span.set_attribute(SESSION, used.pop())


def set_call_error(code: str) -> None:
    """Add the code of its error to the span of a call."""
    if code:
        trace.get_current_span().set_attribute(ERROR, code)


class HeaderTrace(ServerMiddleware[Any]):
    """Continues the trace that the headers of a request name; one that its `_meta` names goes first."""

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle a request in that trace."""
        headers = ctx.request.headers if ctx.request is not None else {}
        if "traceparent" not in headers:
            return await call_next(ctx)
        token = trace_context.attach(extract(headers))
        try:
            return await call_next(ctx)
        finally:
            trace_context.detach(token)


def send_spans() -> None:
    """Send spans by OTLP to where OpenTelemetry's variables say, unless something else does that already."""
    if not all(importlib.util.find_spec(f"opentelemetry.{part}") for part in ("sdk", "exporter")):
        reason = "the extra is not installed: webdriver-orchestrator[otel]"
        logging.getLogger(__name__).warning("no spans are sent", extra={"reason": reason})
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 — an extra
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    if isinstance(trace.get_tracer_provider(), TracerProvider):  # opentelemetry-instrument runs us
        return
    resource = Resource.create({"service.name": _SERVICE, "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def flush_spans() -> None:
    """Send the spans that are left; blocking, as long as the collector takes."""
    if flush := getattr(trace.get_tracer_provider(), "force_flush", None):
        flush()


def _set_error(span: Span, code: str) -> None:
    span.set_attribute(ERROR, code)
    span.set_status(StatusCode.ERROR)
