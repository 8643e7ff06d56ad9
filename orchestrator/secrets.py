"""Keeps what must not be read out of everything that is said: the one `redact()`."""

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
"""What stays as it is in addresses: as Python quotes them, in `encodeURIComponent`, `encodeURI`, and what browsers
leave in a query that a page writes."""
_SHORTEST = 6
"""A shorter secret is masked in its field only: as a word it would blot out half of an innocent page."""


class Redactor:
    """Remembers the secrets of this process, in memory only, and strikes them out of texts and data."""

    def __init__(self) -> None:
        self._secrets: tuple[str, ...] = ()

    def add(self, secret: str) -> None:
        """Strike this value out from now on, also where it stands inside JSON, HTML, a form or an address."""
        if len(secret) >= _SHORTEST:
            # A new value, because other threads read the old one; the longest first, because one may hold another.
            self._secrets = tuple(sorted(_spellings(secret).union(self._secrets), key=len, reverse=True))

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


def _spellings(secret: str) -> set[str]:
    found = {secret, html.escape(secret), html.escape(secret, quote=False)}
    for said in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        found |= {said, said.replace("/", "\\/")}
    found |= {quote(secret, safe) for safe in _UNQUOTED}
    return found | {quote_plus(secret), quote_plus(secret, safe="*").replace("~", "%7E")}


def tells_secret(value: Any, name: str = "") -> bool:
    """Whether a JSON value holds what nobody must read: a password by the name of its field, or in a URL."""
    if isinstance(value, dict):
        return any(tells_secret(item, str(key)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(tells_secret(item, name) for item in value)
    if not isinstance(value, str) or not value or reference(value):
        return False
    return bool(_SECRET_FIELD.search(name) or _USER_IN_URL.search(value))


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


def without_users(text: str) -> str:
    """The text without user and password in the addresses that it has."""
    return _USER_IN_TEXT.sub("", text)


def with_credentials(url: str, user: str, password: str) -> str:
    """The URL with this user and password, encoded; those that it has are replaced."""
    parts = urlsplit(without_credentials(url))
    own = f"{quote(user, safe='')}:{quote(password, safe='')}@"
    return urlunsplit(parts._replace(netloc=own + parts.netloc))


def credentials(url: str) -> tuple[str, str] | None:
    """User and password of a URL, decoded; None where it names no user."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None


def reference(text: str) -> str:
    """The name in `secret:NAME`; empty where the text is no such reference."""
    match = _REFERENCE.fullmatch(text)
    return match[1] if match else ""


def secret(name: str, file: Path) -> str | None:
    """A secret by its name: the environment variable, else the key of that name in the file; None without either.

    The file is TOML, `NAME = "value"` a line, and only its owner may read it.

    Raises:
        InvalidArgument: The file is there and cannot be used.
    """
    return os.environ.get(name) or _kept(file).get(name) or None


def named(name: str, file: Path) -> str:
    """The secret of this name.

    Raises:
        ProviderAuth: There is none.
        InvalidArgument: The file cannot be used.
    """
    found = secret(name, file)
    if found is None:
        raise ProviderAuth(
            f"There is no secret {name}.", hint=f"Set the environment variable {name}, or write it into {file}."
        )
    return found


def _kept(file: Path) -> dict[str, str]:
    try:
        with file.open("rb") as opened:
            # Windows keeps who may read a file elsewhere, and says 0o666 here.
            if os.name == "posix" and os.fstat(opened.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise InvalidArgument(f"Others than you can use {file}.", hint=f"Run: chmod 600 {file}")
            found = tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # Not the error's own words: they may quote the line.
        raise InvalidArgument(
            f"{file} cannot be read ({type(error).__name__}).", hint='Write lines such as NAME = "value".'
        ) from None
    return {name: value for name, value in found.items() if isinstance(value, str)}
