"""What the keeper asks remote ends that no process of ours drives, as far as they ask for no credentials."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_START = 5.0
"""Seconds that a process may take to start."""


def is_far(record: Mapping[str, Any]) -> bool:
    """Whether nothing on this machine drives it."""
    return all(process.get("beside") for process in record.get("processes", ()))


def is_app(record: Mapping[str, Any]) -> bool:
    """Whether its server runs helpers on a device, which end with the session alone."""
    return record.get("type") != "browser"


def can_be_asked(record: Mapping[str, Any]) -> bool:
    """Whether there is a session to ask about; the credentials of some are not in their records, and not here."""
    return bool(record.get("remoteUrl") and record.get("remoteSessionId") and not record.get("secret"))


def end(record: Mapping[str, Any], limit: float) -> str:
    """End a session at its remote end (Delete Session); returns what went wrong."""
    return _send("DELETE", record, "", limit)


def touch(record: Mapping[str, Any], limit: float) -> str:
    """Have a remote end hear of a session (Get Timeouts), which changes nothing in it; returns what went wrong."""
    return _send("GET", record, "/timeouts", limit)


def _send(method: str, record: Mapping[str, Any], path: str, limit: float) -> str:
    """Have a process of its own ask: what it takes to speak HTTP is half as large as the keeper, which stays."""
    url = f"{record['remoteUrl'].rstrip('/')}/session/{record['remoteSessionId']}{path}"
    asked = [sys.executable, "-I", __file__, method, url, str(limit)]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=2 * limit + _START)
    except subprocess.TimeoutExpired:
        return f"no answer within {limit:g} s"
    return told.stdout.strip() if told.returncode == 0 else "it could not be asked"


def ask(method: str, url: str, limit: str) -> None:
    """Ask a remote end, and say on standard output what went wrong."""
    from urllib import parse, request  # noqa: PLC0415 — the keeper does without them

    proxies = request.ProxyHandler({}) if parse.urlsplit(url).hostname in _LOOPBACK else request.ProxyHandler()
    opener = request.build_opener(proxies)
    try:
        with opener.open(request.Request(url, method=method), timeout=float(limit)):  # noqa: S310 — as it was started
            return
    except (OSError, ValueError) as error:  # URLError and HTTPError are kinds of OSError
        sys.stdout.write(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    ask(*sys.argv[1:])
