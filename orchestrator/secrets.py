"""Keeps what must not be read out of everything that is said: the one `redact()`."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

MASK = "•••"
_SHORTEST = 6
"""A shorter secret is masked in its field only: as a word it would blot out half of an innocent page."""


class Redactor:
    """Remembers the secrets of this process, in memory only, and strikes them out of texts and data."""

    def __init__(self) -> None:
        self._secrets: tuple[str, ...] = ()

    def add(self, secret: str) -> None:
        """Strike this value out from now on, also where it stands inside JSON or an address."""
        if len(secret) >= _SHORTEST:
            spelled = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
            spelled |= {quote(secret), quote(secret, safe=""), quote_plus(secret)}
            # A new value, because other threads read the old one; the longest first, because one may hold another.
            self._secrets = tuple(sorted(spelled.union(self._secrets), key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text with every known secret replaced by a mask."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    def data(self, value: Any) -> Any:
        """The JSON value with every known secret replaced in its strings and keys."""
        if not self._secrets:
            return value
        return self._data(value)

    def _data(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self._data(key): self._data(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._data(item) for item in value]
        return value


def without_credentials(url: str) -> str:
    """The URL without user and password, as it may be kept and shown."""
    if "@" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def credentials(url: str) -> tuple[str, str] | None:
    """User and password of a URL, decoded; None where it names no user."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
