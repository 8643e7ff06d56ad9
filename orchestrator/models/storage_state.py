"""Storage state (cookies, local storage, IndexedDB), in Playwright's format.

Source: https://playwright.dev/docs/api/class-browsercontext#browser-context-storage-state
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationError, field_validator

from orchestrator.errors import InvalidArgument
from orchestrator.models.origin_patterns import host_in_url
from orchestrator.models.session import Wire

_MOST_BYTES = 100_000_000
"""Bytes of a file that are read; browsers keep 5 to 10 MB of local storage for an origin."""


class _Foreign(Wire):
    """A part of the format in which unknown names are ignored, since other programs write it, too."""

    model_config = ConfigDict(extra="ignore")


class StoredCookie(_Foreign):
    """A cookie; `expires` is in seconds since 1970, or -1 if it ends with the browser.

    A cookie with a `partition_key` belongs to one site's pages; `cross_site` is true if it was set in a frame of
    another site in them.
    """

    name: str
    value: str = Field(repr=False)
    domain: str = Field(min_length=1)
    path: str = "/"
    expires: float = -1
    http_only: bool = False
    secure: bool = False
    same_site: Literal["Strict", "Lax", "None"] = "Lax"
    partition_key: str | None = None
    cross_site: bool = Field(default=True, alias="_crHasCrossSiteAncestor")


class StoredItem(_Foreign):
    """An entry of a storage."""

    name: str
    value: str = Field(repr=False)


class StoredIndex(_Foreign):
    """An index of an object store; its key path is one name, or a list of names."""

    name: str
    key_path: str | None = None
    key_path_array: tuple[str, ...] | None = None
    unique: bool = False
    multi_entry: bool = False


class StoredObjectStore(_Foreign):
    """An object store of a database.

    A record has `value`, and `key` where the store has no key path; what JSON lacks is under `valueEncoded` and
    `keyEncoded`, in an encoding that `origin_storage.js` reads and writes.
    """

    name: str
    key_path: str | None = None
    key_path_array: tuple[str, ...] | None = None
    auto_increment: bool = False
    indexes: tuple[StoredIndex, ...] = ()
    records: tuple[dict[str, Any], ...] = Field(default=(), repr=False)


class StoredDatabase(_Foreign):
    """A database of IndexedDB."""

    name: str
    version: int = Field(ge=1)
    stores: tuple[StoredObjectStore, ...] = ()


class StoredOrigin(_Foreign):
    """The storage of an origin.

    `session_storage` is that of the tab that showed the origin last: only the copy for a lost browser has it, since it
    belongs to one tab. Playwright ignores it.
    """

    origin: str
    local_storage: tuple[StoredItem, ...] = ()
    indexed_db: tuple[StoredDatabase, ...] = Field(default=(), alias="indexedDB")
    session_storage: tuple[StoredItem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing is stored."""
        return not (self.local_storage or self.indexed_db or self.session_storage)

    @field_validator("origin")
    @classmethod
    def _an_origin(cls, value: str) -> str:
        if not (origin := origin_of(value)):
            raise ValueError("an origin is for example https://example.com")
        return origin


class StorageState(_Foreign):
    """Cookies of all sites, and storage by origin."""

    cookies: tuple[StoredCookie, ...] = ()
    origins: tuple[StoredOrigin, ...] = ()

    def with_origins(self, origins: Iterable[StoredOrigin]) -> StorageState:
        """Return a copy with these origins added or replaced, without those that have no entry."""
        merged = {stored.origin: stored for stored in (*self.origins, *origins)}
        kept = tuple(stored for stored in merged.values() if not stored.is_empty)
        return StorageState(cookies=self.cookies, origins=kept)

    def text(self) -> str:
        """Return the state as JSON."""
        data = self.model_dump(by_alias=True, mode="json", exclude_none=True)
        for cookie in data["cookies"]:
            if "partitionKey" not in cookie:
                del cookie["_crHasCrossSiteAncestor"]
        for origin in data["origins"]:
            for name in ("indexedDB", "sessionStorage"):
                if not origin[name]:
                    del origin[name]
        return json.dumps(data, ensure_ascii=False, indent=2)


def origin_of(url: str) -> str:
    """Return the origin of an http or https URL, as browsers spell it; empty for any other URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host:
        return ""
    default_port = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host_in_url(host)}" + (f":{port}" if port not in {None, default_port} else "")


def _read_file(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise OSError("it is not a file")  # reading a pipe would block all calls
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OSError(f"it has more than {_MOST_BYTES // 1_000_000} MB")
    return content


def load_storage_state(state: str | Mapping[str, Any]) -> StorageState:
    """Load a storage state from a file of this machine, or validate the given one.

    Raises:
        InvalidArgument: The file cannot be read, or it is not a storage state; none of its values is quoted.
    """
    value: Any = state
    where = "storageState"
    if isinstance(state, str):
        where = f"storageState {state}"
        try:
            value = json.loads(_read_file(Path(state).expanduser()))
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InvalidArgument(f"{where} cannot be read: {reason}.", hint="save_storage_state writes one.") from None
        except ValueError:  # a null character in the path, or no JSON
            raise InvalidArgument(f"{where} is not JSON.", hint="save_storage_state writes one.") from None
    try:
        return StorageState.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "it"
        raise InvalidArgument(
            f"{where} is not a storage state: {place}: {first['msg'].removeprefix('Value error, ')}.",
            hint="Use Playwright's format, {cookies: […], origins: […]}, as save_storage_state writes it.",
        ) from None
