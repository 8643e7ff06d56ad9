"""The keeper's requests to remote ends: Delete Session, and pings.

Only those are asked that no process of ours drives and that need no credentials. It uses `urllib.request` and not
`system.http`, since it runs on the standard library alone.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_OPTIONS = ("goog:chromeOptions", "ms:edgeOptions")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_START = 5.0
"""Seconds that a process may take to start."""
_PROGRAM = b"" if __name__ == "__main__" else Path(__file__).read_bytes()
"""The source of this file, for a process of its own: an update may remove the file while the keeper runs."""


def is_remote(record: Mapping[str, Any]) -> bool:
    """Return True if no process on this machine drives the session."""
    return all(process.get("beside") for process in record.get("processes", ()))


def ends_by_command(record: Mapping[str, Any]) -> bool:
    """Return True if Delete Session has to end it, as `lifecycle.remote_ender` does.

    The server of an app session runs helpers on a device; a browser that has a profile alone is to save it.
    """
    has_profile_alone = record.get("mode") == "persistent" and not record.get("instance")
    return record.get("type") != "browser" or has_profile_alone


def is_reachable(record: Mapping[str, Any]) -> bool:
    """Return True if the record has the session's address, which needs no credentials: those are not in records."""
    return bool(record.get("remoteUrl") and record.get("remoteSessionId") and not record.get("secret"))


def end_session(record: Mapping[str, Any], limit: float) -> str:
    """End a session at its remote end (Delete Session); returns the problem, if any."""
    return _send_command("DELETE", record, "", limit)


def leave_shared_browser(record: Mapping[str, Any], limit: float) -> str:
    """End a session in a browser that others use: its tabs, then its driver session; returns the problems.

    The driver session that launched the browser stays, since the browser would end with it.
    """
    options = record.get("capabilities", {})
    address = next((options[name].get("debuggerAddress") for name in _OPTIONS if name in options), None)
    problems = [_send("GET", f"http://{address}/json/close/{tab['handle']}", limit) for tab in record.get("tabs", ())]
    if not record["instance"].get("root"):
        problems.append(end_session(record, limit))
    return "; ".join(filter(None, problems))


def ping(record: Mapping[str, Any], limit: float) -> str:
    """Send Get Timeouts, which changes nothing in the session; returns the problem, if any."""
    return _send_command("GET", record, "/timeouts", limit)


def _send_command(method: str, record: Mapping[str, Any], path: str, limit: float) -> str:
    return _send(method, f"{record['remoteUrl'].rstrip('/')}/session/{record['remoteSessionId']}{path}", limit)


def _send(method: str, url: str, limit: float) -> str:
    """Send a request in a process of its own: an HTTP client takes half as much memory as the keeper, which stays."""
    command = [sys.executable, "-I", "-", method, url, str(limit)]
    try:
        done = subprocess.run(command, input=_PROGRAM, capture_output=True, check=False, timeout=2 * limit + _START)
    except subprocess.TimeoutExpired:
        return f"no answer within {limit:g} s"
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else "the request could not be sent"


def send_request(method: str, url: str, limit: str) -> None:
    """Send a request, and write the problem, if any, to standard output."""
    from urllib import parse, request  # noqa: PLC0415 — the keeper itself does not need them

    proxies = request.ProxyHandler({}) if parse.urlsplit(url).hostname in _LOOPBACK else request.ProxyHandler()
    opener = request.build_opener(proxies)
    try:
        with opener.open(request.Request(url, method=method), timeout=float(limit)):  # noqa: S310 — as it was started
            return
    except (OSError, ValueError) as error:  # URLError and HTTPError are kinds of OSError
        sys.stdout.write(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    send_request(*sys.argv[1:])
