"""Redacts secrets from all output, and resolves `secret:NAME`."""

from __future__ import annotations

import html
import json
import os
import re
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

from orchestrator.errors import ProviderAuth
from orchestrator.system.secret_store import entries

MASK = "•••"
_REFERENCE = re.compile(r"secret:([A-Za-z_][A-Za-z0-9_]*)")
_TYPED_REFERENCE = re.compile(r"(?:secret|totp):[A-Za-z_][A-Za-z0-9_]*")
_SECRET_FIELD = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|(access|api)_?key$|credential|authorization", re.IGNORECASE
)
_USER_IN_URL = re.compile(r"://[^/\s?#@]+@")
_USER_IN_TEXT = re.compile(r"(?<=://)[^\s/?#'\"]+@")
_UNQUOTED = ("/", "", "!'()*", ";,/?:@&=+$!'()*#", "!$%&'()*+,/:;=?@[\\]^`{|}")
"""Characters left unquoted in URLs by Python (two ways), `encodeURIComponent`, `encodeURI` and a browser's query."""
SHORTEST = 6
"""Characters of the shortest secret that is redacted in texts: a shorter word would blot out half of a page."""
_MOST = 1_000
"""Secrets that a process remembers; the one that was longest not met is dropped for a new one."""


class Redactor:
    """Remembers the operator's secrets (passwords of remote ends, providers' keys), and masks them in texts and data.

    They are in memory only, and masked in whatever this process puts out.

    Attributes:
        spelled: The secrets in all their spellings, the longest first.
    """

    def __init__(self) -> None:
        self.spelled: tuple[str, ...] = ()
        self._spellings: dict[str, set[str]] = {}
        self._lock = threading.Lock()

    def add(self, secret: str) -> None:
        """Mask this value from now on, also as JSON, HTML, forms and URLs spell it."""
        if len(secret) < SHORTEST:
            return
        with self._lock:
            self._spellings.pop(secret, None)
            self._spellings[secret] = list_spellings(secret)
            if len(self._spellings) > _MOST:
                self._spellings.pop(next(iter(self._spellings)))
            # A new tuple, because other threads read the old one; the longest first, because one may hold another.
            self.spelled = tuple(sorted(set().union(*self._spellings.values()), key=len, reverse=True))

    def text(self, text: str) -> str:
        """Return the text with every remembered secret masked."""
        for secret in self.spelled:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    @property
    def longest(self) -> int:
        """Characters of the longest secret in its longest spelling; 0 without any."""
        return len(self.spelled[0]) if self.spelled else 0

    def data(self, value: Any) -> Any:
        """Return the JSON value with every remembered secret masked in its strings and keys."""
        if not self.spelled:
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


def list_spellings(secret: str) -> set[str]:
    """Return a secret as texts, JSON, HTML, forms and URLs spell it."""
    spellings = {secret, html.escape(secret), html.escape(secret, quote=False)}
    for string in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        spellings |= {string, string.replace("/", "\\/")}
    spellings |= {quote(secret, safe) for safe in _UNQUOTED}
    return spellings | {quote_plus(secret), quote_plus(secret, safe="*").replace("~", "%7E")}


def contains_secret(value: Any, name: str = "") -> bool:
    """Return True if a JSON value holds a secret: in a field named like one, or as a URL's user and password."""
    if isinstance(value, dict):
        return any(contains_secret(item, str(key)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(contains_secret(item, name) for item in value)
    if not isinstance(value, str) or not value or reference(value):
        return False
    return bool(_SECRET_FIELD.search(name) or _USER_IN_URL.search(value))


def without_credentials(url: str) -> str:
    """Return the URL without user and password."""
    if "@" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def without_path(url: str) -> str:
    """Return scheme, host and port of a URL alone: its path may be a key, too."""
    parts = urlsplit(without_credentials(url))
    return f"{parts.scheme}://{parts.netloc}"


def without_users(text: str) -> str:
    """Return the text without user and password in the URLs in it."""
    return _USER_IN_TEXT.sub("", text)


def with_credentials(url: str, user: str, password: str) -> str:
    """Return the URL with this user and password, encoded, in place of any that it has."""
    parts = urlsplit(without_credentials(url))
    userinfo = f"{quote(user, safe='')}:{quote(password, safe='')}@"
    return urlunsplit(parts._replace(netloc=userinfo + parts.netloc))


def credentials(url: str) -> tuple[str, str] | None:
    """Return user and password of a URL, decoded; None if it names no user."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None


def reference(text: str) -> str:
    """Return the name in `secret:NAME`; empty if the text is no such reference."""
    match = _REFERENCE.fullmatch(text)
    return match[1] if match else ""


def is_typed_reference(text: Any) -> bool:
    """Return True for `secret:NAME` and `totp:NAME`, which stand for a text that only this process types."""
    return isinstance(text, str) and _TYPED_REFERENCE.fullmatch(text) is not None


def resolve_reference(name: str, file: Path) -> str:
    """Return what `secret:NAME` stands for: the environment variable `ORCHESTRATOR_SECRET_NAME`, or else the file's.

    A caller gives the name, so no other variable is read.

    Raises:
        ProviderAuth: There is no such secret.
        InvalidArgument: The file cannot be used.
    """
    entry = entries.find_entry(name, file)
    if entry is None:
        raise ProviderAuth(f"There is no secret {name}.", hint=entries.how_to_add(name, file))
    return entry.value


def find_secret(name: str, file: Path) -> str | None:
    """Return a secret by a provider's own name, from the environment or else from the file; None if in neither.

    Raises:
        InvalidArgument: The file cannot be used.
    """
    return os.environ.get(name) or entries.read_value(name, file) or None


def named(name: str, file: Path) -> str:
    """Return the secret of a name that is a provider's own.

    Raises:
        ProviderAuth: There is no such secret.
        InvalidArgument: The file cannot be used.
    """
    secret = find_secret(name, file)
    if secret is None:
        raise ProviderAuth(
            f"There is no secret {name}.", hint=f"Set the environment variable {name}, or write it into {file}."
        )
    return secret
