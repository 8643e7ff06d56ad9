"""Readiness of a local driver or server, by W3C WebDriver's `GET /status`."""

from __future__ import annotations

from orchestrator.system import http


def is_ready(port: int, base: str) -> bool:
    """Return True if something on this port of this machine answers that it is ready."""
    try:
        return bool(http.request("GET", f"http://127.0.0.1:{port}{base}/status", timeout=2).json()["value"]["ready"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
