"""Tells sites apart by the addresses of their pages."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_same_site(url: str, other: str) -> bool:
    """Return True if both addresses or origins are of one host, or one's host is below the other's, `www.` aside.

    Stricter than a browser, which knows the public suffixes: pay.shop.example and cdn.shop.example are told apart. A
    page without a host, such as that of `srcdoc`, is part of the page around it.
    """
    host, inner = _host(url), _host(other)
    return not inner or host == inner or inner.endswith(f".{host}") or host.endswith(f".{inner}")


def _host(url: str) -> str:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www.") if parts.scheme in {"http", "https"} else ""
