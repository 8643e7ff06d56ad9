"""Redacts secrets from all output, and resolves `secret:NAME`."""

from __future__ import annotations

import html
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

from orchestrator.errors import InvalidArgument, ProviderAuth

MASK = "•••"
_REFERENCE = re.compile(r"secret:([A-Za-z_][A-Za-z0-9_]*)")
_SECRET_FIELD = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|(access|api)_?key$|credential|authorization", re.IGNORECASE
)
_USER_IN_URL = re.compile(r"://[^/\s?#@]+@")
_USER_IN_TEXT = re.compile(r"(?<=://)[^\s/?#'\"]+@")
_UNQUOTED = ("/", "", "!'()*", ";,/?:@&=+$!'()*#", "!$%&'()*+,/:;=?@[\\]^`{|}")
"""Characters left unquoted in URLs by Python (two ways), `encodeURIComponent`, `encodeURI` and a browser's query."""
_SHORTEST = 6
"""Characters of the shortest secret that is redacted in texts: a shorter word would blot out half of a page."""


class Redactor:
    """Remembers the secrets of this process, in memory only, and masks them in texts and data."""

    def __init__(self) -> None:
        self._secrets: tuple[str, ...] = ()

    def add(self, secret: str) -> None:
        """Mask this value from now on, also as JSON, HTML, forms and URLs spell it."""
        if len(secret) >= _SHORTEST:
            # A new tuple, because other threads read the old one; the longest first, because one may hold another.
            self._secrets = tuple(sorted(_spellings(secret).union(self._secrets), key=len, reverse=True))

    def text(self, text: str) -> str:
        """Return the text with every remembered secret masked."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    def without_cut_secret(self, text: str) -> str:
        """Return a masked text that was cut before it was masked, without an end that may be the half of a secret."""
        longest = len(self._secrets[0]) if self._secrets else 1
        return text[: len(text) - longest + 1]

    def data(self, value: Any) -> Any:
        """Return the JSON value with every remembered secret masked in its strings and keys."""
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


def _spellings(secret: str) -> set[str]:
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


def find_secret(name: str, file: Path) -> str | None:
    """Return a secret by its name, from the environment or else from the file; None if it is in neither.

    The file is TOML with lines such as `NAME = "value"`, and only its owner may read it.

    Raises:
        InvalidArgument: The file cannot be used.
    """
    return os.environ.get(name) or _read_file(file).get(name) or None


def named(name: str, file: Path) -> str:
    """Return the secret of this name.

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


def _read_file(file: Path) -> dict[str, str]:
    try:
        with file.open("rb") as opened:
            # On Windows the mode is always 0o666, since permissions are kept elsewhere.
            if os.name == "posix" and os.fstat(opened.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise InvalidArgument(f"Other users can use {file}.", hint=f"Run: chmod 600 {file}")
            values = tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # Without the error's own text, which may quote the line.
        raise InvalidArgument(
            f"{file} cannot be read ({type(error).__name__}).", hint='Write lines such as NAME = "value".'
        ) from None
    return {name: value for name, value in values.items() if isinstance(value, str)}
