"""What the keeper asks remote ends that no process of ours drives, as far as they ask for no credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


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
    from urllib import parse, request  # noqa: PLC0415 — what is not far does without them and is smaller

    url = f"{record['remoteUrl'].rstrip('/')}/session/{record['remoteSessionId']}{path}"
    proxies = request.ProxyHandler({}) if parse.urlsplit(url).hostname in _LOOPBACK else request.ProxyHandler()
    try:
        with request.build_opener(proxies).open(request.Request(url, method=method), timeout=limit):  # noqa: S310
            return ""
    except (OSError, ValueError) as error:  # URLError and HTTPError are kinds of OSError
        return f"{type(error).__name__}: {error}"
