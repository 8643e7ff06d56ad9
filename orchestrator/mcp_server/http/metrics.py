"""Metrics for Prometheus: counts and times, without names of sessions or namespaces."""

from __future__ import annotations

import time
from collections import Counter as Numbers
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import anyio.to_thread
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from orchestrator.errors import OrchestratorError
from orchestrator.mcp_server.http.refusals import HttpRefusal
from orchestrator.mcp_server.tool_calls import CallNote
from orchestrator.mcp_server.tracing import SpanMeter
from orchestrator.models.session import SessionRecord
from orchestrator.sessions.meter import TurnNote

_OK = "ok"
_CANCELLED = "cancelled"
_CALLS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
_WAITS = (0.001, 0.01, 0.1, 0.5, 1, 5, 30, 120)
_STARTS = (0.5, 1, 2, 5, 10, 30, 60, 120)
"""Upper bounds of the buckets of calls, waits and starts, in seconds."""

ListOpen = Callable[[], Iterable[SessionRecord]]


class Metrics(SpanMeter):
    """Counts what happens in this process, and the open sessions of its data folder.

    Args:
        list_open: Lists the open sessions of all namespaces; may block.
    """

    def __init__(self, list_open: ListOpen) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(_OpenSessions(list_open))
        self._calls = Counter(
            "orchestrator_calls", "Calls of tools that ended.", ("tool", "outcome"), registry=registry
        )
        self._running = Gauge("orchestrator_calls_running", "Calls of tools that run or wait.", registry=registry)
        self._durations = Histogram(
            "orchestrator_call_seconds", "Time of a call.", ("tool",), registry=registry, buckets=_CALLS
        )
        self._waits = Histogram(
            "orchestrator_queue_wait_seconds",
            "Time for which a call waited for its turn in a session.",
            registry=registry,
            buckets=_WAITS,
        )
        self._starts = Histogram(
            "orchestrator_start_seconds",
            "Time of a session's start.",
            ("type", "provider", "outcome"),
            registry=registry,
            buckets=_STARTS,
        )
        self._losses = Counter(
            "orchestrator_sessions_lost", "Sessions that were lost.", ("type", "provider"), registry=registry
        )
        self._refusals = Counter(
            "orchestrator_requests_refused", "Requests that were refused.", ("status", "code"), registry=registry
        )

    async def show(self, request: Request) -> Response:
        """Answer a scrape, in the format that it accepts."""
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        text = await anyio.to_thread.run_sync(encode, self._registry)
        return Response(text, media_type=media_type, headers={"Cache-Control": "no-store"})

    @contextmanager
    def watch_call(self, note: CallNote) -> Iterator[None]:
        """Measure a call while the block runs."""
        self._running.inc()
        began, outcome = time.perf_counter(), _CANCELLED
        tool = note.tool or "unknown"
        try:
            yield
            outcome = note.error or _OK
        finally:
            self._running.dec()
            self._durations.labels(tool).observe(time.perf_counter() - began)
            self._calls.labels(tool, outcome).inc()

    @contextmanager
    def measure_turn(self, note: TurnNote) -> Iterator[None]:
        """Measure the wait for a turn."""
        try:
            with super().measure_turn(note):
                yield
        finally:
            self._waits.observe(note.waited)

    @contextmanager
    def measure_start(self, record: SessionRecord) -> Iterator[None]:
        """Measure a start, by the code of its error."""
        began, outcome = time.perf_counter(), _CANCELLED
        try:
            yield
            outcome = _OK
        except OrchestratorError as error:
            outcome = error.code
            raise
        finally:
            self._starts.labels(record.type, record.provider, outcome).observe(time.perf_counter() - began)

    def count_loss(self, record: SessionRecord) -> None:
        """Count a session that was lost."""
        self._losses.labels(record.type, record.provider).inc()

    def count_refusal(self, refusal: HttpRefusal) -> None:
        """Count a request that was refused."""
        self._refusals.labels(refusal.status, refusal.code).inc()


class _OpenSessions(Collector):
    """Counts the open sessions by their records, at each scrape."""

    def __init__(self, list_open: ListOpen) -> None:
        self._list_open = list_open

    def collect(self) -> Iterator[Metric]:
        """Count them; while the store cannot be read there is no count, and that is told."""
        sessions = GaugeMetricFamily(
            "orchestrator_sessions", "Open sessions of the data folder.", labels=("type", "provider", "state")
        )
        try:
            found = Numbers((record.type, record.provider, record.state) for record in self._list_open())
        except OrchestratorError:
            found = None
        for labels, number in (found or {}).items():
            sessions.add_metric(labels, number)
        yield GaugeMetricFamily(
            "orchestrator_store_readable", "1 if sessions could be counted.", value=float(found is not None)
        )
        yield sessions
