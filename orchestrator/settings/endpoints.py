"""Checks of the URLs and addresses of servers that settings and options name."""

from __future__ import annotations

from urllib.parse import urlsplit

DEBUGGER = r"^[A-Za-z0-9._-]+:[0-9]{1,5}$"
"""Host and port of a browser's debugger."""
HTTP_ADDRESS = r"^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$"
"""Host and port that the server listens at."""


def check_endpoint_url(value: str) -> str:
    """Check the URL of a WebDriver endpoint; return it without a slash at its end.

    Raises:
        ValueError: It is not an http or https URL with a host.
    """
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("the URL must begin with http:// or https:// and name a host")
    return value.rstrip("/")


def check_issuer_url(value: str) -> str:
    """Check a URL of an authorization server; return it as it is, since tokens repeat it exactly.

    Raises:
        ValueError: It is neither an https URL nor an http URL of this machine.
    """
    host = urlsplit(check_endpoint_url(value)).hostname
    if not value.startswith("https://") and host not in {"127.0.0.1", "localhost", "::1"}:
        raise ValueError("the URL must begin with https://, or be of this machine")
    return value
