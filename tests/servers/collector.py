"""A collector of OpenTelemetry: takes spans by OTLP over HTTP, and shows them as plain data."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.servers.webdriver import listening
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it arrived, with ids as hexadecimal digits; `parent` is empty for the first of a trace."""

    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    failed: bool


class Collector:
    """The spans that have arrived."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._spans: list[ReceivedSpan] = []
        self._changed = threading.Condition()

    def receive(self, body: bytes) -> None:
        """Take the spans of one request."""
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        data = MessageToDict(request)
        found = [
            _read(span)
            for resource in data.get("resourceSpans", [])
            for scope in resource.get("scopeSpans", [])
            for span in scope.get("spans", [])
        ]
        with self._changed:
            self._spans += found
            self._changed.notify_all()

    def wait_span(self, name: str, trace: str = "") -> ReceivedSpan:
        """Wait for a span of this name, of this trace if it is given."""

        def find() -> ReceivedSpan | None:
            return next((span for span in self._spans if span.name == name and span.trace.startswith(trace)), None)

        with self._changed:
            assert self._changed.wait_for(lambda: find() is not None, PATIENCE), [span.name for span in self._spans]
            found = find()
        assert found
        return found


@contextmanager
def collector() -> Iterator[Collector]:
    """Run a collector for a block; `url` is what `OTEL_EXPORTER_OTLP_ENDPOINT` takes."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            running.receive(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        running = Collector(f"http://127.0.0.1:{server.server_port}")
        with listening(server):
            yield running


def _read(span: dict[str, Any]) -> ReceivedSpan:
    ids = {name: base64.b64decode(span.get(name, "")).hex() for name in ("traceId", "spanId", "parentSpanId")}
    attributes = {entry["key"]: next(iter(entry["value"].values())) for entry in span.get("attributes", [])}
    failed = span.get("status", {}).get("code") == "STATUS_CODE_ERROR"
    return ReceivedSpan(span["name"], ids["traceId"], ids["spanId"], ids["parentSpanId"], attributes, failed)
