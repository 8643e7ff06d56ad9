"""The server as whoever runs it watches it: metrics for Prometheus, and spans under the caller's trace."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.mcp_server.http.tokens import FIRST_FILE_NAME
from orchestrator.sessions.store.sqlite import SqliteStore
from tests.mcp_server.test_http import error
from tests.servers.collector import Collector, collector
from tests.servers.http_mcp import MODERN, HttpServer, http_server, make_call
from tests.servers.mcp import served

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(400)]

PAGE = "data:text/html,<title>T</title><button>Hi</button>"
TRACING = {"OTEL_BSP_SCHEDULE_DELAY": "100"}
"""Spans are sent after a tenth of a second instead of five."""


@pytest.fixture(scope="module")
def spans() -> Iterator[Collector]:
    """A collector to which the servers send their spans."""
    with collector() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in {"OTEL_EXPORTER_OTLP_ENDPOINT": running.url, **TRACING}.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture(scope="module")
def server(spans: Collector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server whose spans are collected."""
    del spans
    with http_server(tmp_path_factory.mktemp("watched") / "home", "--confirm", "list_apps") as started:
        yield started


@pytest.fixture(scope="module")
def ann(server: HttpServer) -> str:
    """A token that may act."""
    return server.token("ann-of-one")


@pytest.fixture(scope="module")
def shop(server: HttpServer, ann: str) -> Iterator[str]:
    """A session of ann's, by its name."""
    started = server.call(ann, "start_browser", {"sessionId": "shop", "navigationUrl": PAGE})
    assert not started.get("isError"), started
    yield "shop"
    server.call(ann, "close_all_sessions")


def scrape(server: HttpServer) -> bytes:
    """Return the metrics as the first token gets them."""
    root = (server.home / FIRST_FILE_NAME).read_text().strip()
    response = server.request(root, path="/metrics", method="GET")
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain")
    return response.data


def value(text: bytes, name: str, **labels: str) -> float:
    """Return the value of a sample; 0 if it is not there."""
    families = text_string_to_metric_families(text.decode())
    found = [one.value for family in families for one in family.samples if (one.name, one.labels) == (name, labels)]
    return sum(found)


def trace_context() -> tuple[str, str, str]:
    """Make a caller's trace: the value of `traceparent`, its id, and that of the caller's span."""
    trace, span = secrets.token_hex(16), secrets.token_hex(8)
    return f"00-{trace}-{span}-01", trace, span


def send(server: HttpServer, token: str, call: dict[str, Any], **headers: str) -> None:
    """Send a call of the 2026 protocol."""
    given = MODERN | {"Mcp-Name": call["params"]["name"]} | headers
    assert server.request(token, call, given).status == 200


def test_metrics_count_calls_by_tool_and_outcome_waits_starts_and_sessions(
    server: HttpServer, ann: str, shop: str
) -> None:
    """Each call once, with its time; sessions as the store has them now."""
    before = scrape(server)
    with ThreadPoolExecutor() as pool:
        slow = {"sessionId": shop, "script": "await new Promise(done => setTimeout(done, 300))"}
        for _ in range(2):
            pool.submit(server.call, ann, "execute_script", slow)
    server.call(ann, "click_element", {"sessionId": shop, "selector": "#none", "timeout": 1})
    server.call(ann, "no_such_tool")
    server.call(ann, "list_apps", {"provider": "sauce_labs"})  # held back for a person, whom this client cannot ask
    text = scrape(server)

    def grown(name: str, **labels: str) -> float:
        return value(text, name, **labels) - value(before, name, **labels)

    assert grown("orchestrator_calls_total", tool="execute_script", outcome="ok") == 2
    assert grown("orchestrator_call_seconds_count", tool="execute_script") == 2
    assert grown("orchestrator_call_seconds_sum", tool="execute_script") >= 0.6
    assert grown("orchestrator_calls_total", tool="click_element", outcome="element_not_found") == 1
    assert grown("orchestrator_calls_total", tool="unknown", outcome="invalid_argument") == 1
    assert grown("orchestrator_calls_total", tool="list_apps", outcome="denied") == 1
    assert grown("orchestrator_queue_wait_seconds_count") == 3
    assert grown("orchestrator_queue_wait_seconds_sum") > 0
    assert value(text, "orchestrator_start_seconds_count", type="browser", provider="local", outcome="ok") == 1
    assert value(text, "orchestrator_sessions", type="browser", provider="local", state="active") == 1
    assert value(text, "orchestrator_store_readable") == 1
    assert value(text, "orchestrator_calls_running") == 0


def test_metrics_count_losses_and_refusals(server: HttpServer, ann: str) -> None:
    """A loss once, however many calls meet it, and a refused request by its code."""
    before = scrape(server)
    server.call(ann, "start_browser", {"sessionId": "gone"})
    store = SqliteStore(server.home)
    [processes] = [record.processes for record in store.list_all_open() if record.id == "gone"]
    [process] = [one for one in processes if one.name == "chromedriver"]
    store.disconnect()
    os.kill(process.pid, signal.SIGKILL)
    for _ in range(2):
        lost = server.call(ann, "get_text", {"sessionId": "gone"})
        assert lost["structuredContent"]["error"]["code"] == "session_lost"
    server.request(None, {})
    text = scrape(server)
    provider = {"type": "browser", "provider": "local"}
    lost_total = "orchestrator_sessions_lost_total"
    assert value(text, lost_total, **provider) - value(before, lost_total, **provider) == 1
    assert value(text, "orchestrator_sessions", state="lost", **provider) == 1
    refusals = "orchestrator_requests_refused_total"
    labels = {"status": "401", "code": "unauthorized"}
    assert value(text, refusals, **labels) - value(before, refusals, **labels) == 1
    server.call(ann, "close_session", {"sessionId": "gone"})


def test_metrics_name_no_session_namespace_token_or_page(server: HttpServer, ann: str, shop: str) -> None:
    """X7: they are counts of all namespaces, and nothing else of them."""
    server.call(ann, "navigate", {"sessionId": shop, "url": PAGE})
    server.call(ann, "secret_of_a_caller", {})
    text = scrape(server)
    for name in (b"shop", b"ann-of-one", b'"one"', b"data:", b"secret_of_a_caller", str(server.home).encode()):
        assert name not in text


def test_metrics_are_for_administrators_alone(server: HttpServer, ann: str) -> None:
    """401 without a token, 403 with one of another role, on this machine, too."""
    missing = server.request(path="/metrics", method="GET")
    assert (missing.status, error(missing)["code"]) == (401, "unauthorized")
    refused = server.request(ann, path="/metrics", method="GET")
    assert (refused.status, error(refused)["code"]) == (403, "wrong_role")
    assert "--role admin" in error(refused)["hint"]


@pytest.mark.parametrize("place", ["_meta", "header", "header of 2025"])
def test_the_span_of_a_call_is_under_the_callers_trace_and_has_the_session(
    server: HttpServer, spans: Collector, ann: str, shop: str, place: str
) -> None:
    """So do the spans of the session's turns in it; the caller's trace is that of `_meta`, or else of the headers."""
    parent, trace, caller = trace_context()
    call = make_call("get_text", {"sessionId": shop})
    if place == "_meta":
        call["params"]["_meta"]["traceparent"] = parent
        send(server, ann, call, traceparent=trace_context()[0])
    elif place == "header":
        send(server, ann, call, traceparent=parent)
    else:
        server.request(ann, call, {**server.open_session(ann), "traceparent": parent})
    span = spans.wait_span("tools/call get_text", trace)
    assert (span.parent, span.attributes["orchestrator.session.id"]) == (caller, shop)
    turn = spans.wait_span("get_text", trace)
    assert (turn.parent, turn.attributes["orchestrator.session.id"]) == (span.id, shop)
    assert "orchestrator.queue.wait" in turn.attributes


def test_the_spans_of_a_failed_call_have_its_code_and_nothing_that_was_written(
    server: HttpServer, spans: Collector, ann: str, shop: str
) -> None:
    """Neither the page's text nor the caller's arguments."""
    parent, trace, _ = trace_context()
    missing = {"sessionId": shop, "selector": "#none-of-these", "timeout": 1}
    send(server, ann, make_call("click_element", missing), traceparent=parent)
    for name in ("tools/call click_element", "click_element"):
        span = spans.wait_span(name, trace)
        assert span.failed
        assert span.attributes["orchestrator.error.code"] == "element_not_found"
        assert "none-of-these" not in str(span)


def test_spans_are_sent_over_stdio_too(spans: Collector, tmp_path: Path) -> None:
    """Those of the last calls at the end of the server."""
    parent, trace, caller = trace_context()
    with served(home=str(tmp_path)) as client:
        client.as_agent(traceparent=parent).ok("list_sessions")
    assert spans.wait_span("tools/call list_sessions", trace).parent == caller
