"""The file of tokens, `tokens.toml` in the data folder, without the tokens themselves."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.errors import InvalidArgument
from orchestrator.system.deadline import Deadline
from orchestrator.system.host import private_files

FILE_NAME = "tokens.toml"
FIRST_FILE_NAME = "first_token"
"""The file with the token that the first start makes, readable by this user alone."""
FIRST_NAME = "first"
_LOCK_NAME = "tokens.lock"
PREFIX = "wdo_"
"""Beginning of each token, by which scanners of repositories find one that was committed."""
_BYTES = 32
_PATIENCE = 3.0
"""Seconds that another process may take to change the file."""
_POLL = 0.05

Role = Literal["read", "act", "admin"]
"""Role of a token: tools that only look; every tool; also other callers' claims."""


class Token(BaseModel):
    """A token as the file has it.

    Attributes:
        name: Name of whoever holds it, for people and logs.
        sha256: Hash of the token, as hexadecimal digits: the token is random, so that it needs no salt.
        namespace: The only namespace whose sessions it reaches.
        max_sessions: Maximum number of open sessions in the namespace for a start with it.
        calls_per_minute: Calls of tools a minute.
        concurrent_calls: Calls of tools at a time.
        tools: Names and sets of the tools that it may call; empty for all that the role allows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    namespace: str = Field(pattern=r"^\.{0,2}[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length=128)
    role: Role = "act"
    max_sessions: int | None = Field(default=None, ge=1)
    calls_per_minute: int = Field(default=600, ge=1)
    concurrent_calls: int = Field(default=16, ge=1)
    tools: str = ""

    @classmethod
    def make(cls, **fields: Any) -> tuple[Self, str]:
        """Make a token; returns it, and the secret itself, which is kept nowhere else.

        Raises:
            InvalidArgument: A field has a wrong value.
        """
        secret = PREFIX + secrets.token_urlsafe(_BYTES)
        return cls.read({**fields, "sha256": hash_secret(secret)}), secret

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Self:
        """Read a token's fields.

        Raises:
            InvalidArgument: One has a wrong value.
        """
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            problem = first["msg"].removeprefix("Value error, ")
            name = str(fields.get("name", ""))[:64]
            raise InvalidArgument(
                f"Token {name!r}, {place}: {problem}.", hint="orchestrator tokens add --help lists what a token has."
            ) from None


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission of a request, by the token that it has.

    Attributes:
        token: The token; of an access token what it grants, under a name of its subject.
        expires_at: Its end, in seconds since 1970; None for one that is valid until it is revoked.
    """

    token: Token
    expires_at: float | None = None


class TokenFile:
    """The file, read again whenever it has changed."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE_NAME
        self._home = home
        self._stamp: tuple[int, ...] | None = None
        self._by_hash: dict[str, Token] = {}

    def find(self, secret: str) -> Token | None:
        """Return the token with this secret; None without one.

        Raises:
            InvalidArgument: The file cannot be read.
        """
        self._refresh()
        return self._by_hash.get(hash_secret(secret))

    def list_tokens(self) -> list[Token]:
        """List the tokens, by their names.

        Raises:
            InvalidArgument: The file cannot be read.
        """
        self._refresh()
        return sorted(self._by_hash.values(), key=lambda token: token.name)

    def add(self, token: Token) -> None:
        """Add a token.

        Raises:
            InvalidArgument: Another one has its name.
        """
        with self._changing():
            tokens = self.list_tokens()
            if any(other.name == token.name for other in tokens):
                raise InvalidArgument(
                    f"There is a token {token.name!r} already.", hint="Choose another name, or revoke that one first."
                )
            self._write([*tokens, token])

    def revoke(self, name: str) -> None:
        """Remove a token; a running server refuses it from its next request on, and parks its sessions.

        Raises:
            InvalidArgument: There is none of this name.
        """
        with self._changing():
            tokens = self.list_tokens()
            kept = [token for token in tokens if token.name != name]
            if len(kept) == len(tokens):
                raise InvalidArgument(
                    f"There is no token {name[:64]!r}.", hint="orchestrator tokens list shows the names."
                )
            self._write(kept)

    def ensure_first(self, namespace: str) -> Path | None:
        """Make the first token if there is no file yet; returns the file with the secret if one was made."""
        with self._changing():
            if self.path.exists():
                return None
            token, secret = Token.make(name=FIRST_NAME, namespace=namespace, role="admin")
            place = self._home / FIRST_FILE_NAME
            place.unlink(missing_ok=True)
            private_files.create_with(place, f"{secret}\n")
            self._write([token])
            return place

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Keep other processes from changing the file meanwhile."""
        private_files.make_folder(self._home)
        lock, deadline = self._home / _LOCK_NAME, Deadline(_PATIENCE)
        while True:
            try:
                private_files.create_with(lock, str(os.getpid()))
                break
            except FileExistsError:
                if not deadline.seconds_left:  # whoever made it was killed: a change takes milliseconds
                    lock.unlink(missing_ok=True)
                time.sleep(_POLL)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)

    def _refresh(self) -> None:
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._by_hash = None, {}
            return
        stamp = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        if stamp == self._stamp:
            return
        self._by_hash = {token.sha256: token for token in _read(self.path)}
        self._stamp = stamp

    def _write(self, tokens: list[Token]) -> None:
        """Replace the file at once, so that no reader sees half of it."""
        text = "# Written by `orchestrator tokens`. The tokens themselves are not here: only their hashes.\n"
        for token in tokens:
            fields = token.model_dump(exclude={"name"}, exclude_none=True)
            lines = (f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
            text += f"\n[{json.dumps(token.name)}]\n{''.join(lines)}"
        draft = self.path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        private_files.create_with(draft, text)
        draft.replace(self.path)


def hash_secret(secret: str) -> str:
    """Return the hash by which the file knows a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _read(path: Path) -> list[Token]:
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:  # no TOML, or no UTF-8
        raise InvalidArgument(f"{path} cannot be read: {error}.", hint="Correct or remove the file.") from None
    for name, fields in tables.items():
        if not isinstance(fields, dict):
            raise InvalidArgument(f"{path}: {name!r} is no table.", hint="Each token is a table under its name.")
    return [Token.read({**fields, "name": name}) for name, fields in tables.items()]
