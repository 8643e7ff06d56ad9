"""JSON answers over HTTP, in WebDriver's form."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler


def write_json(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
    """Write an answer with a JSON body."""
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json; charset=utf-8")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
