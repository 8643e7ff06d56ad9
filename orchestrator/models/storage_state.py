"""Storage state (cookies and local storage), in Playwright's format.

Source: https://playwright.dev/docs/api/class-browsercontext#browser-context-storage-state
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationError, field_validator

from orchestrator.errors import InvalidArgument
from orchestrator.models.session import Wire


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


class StoredOrigin(_Foreign):
    """The local storage of an origin."""

    origin: str
    local_storage: tuple[StoredItem, ...] = ()

    @field_validator("origin")
    @classmethod
    def _an_origin(cls, value: str) -> str:
        if not (origin := origin_of(value)):
            raise ValueError("an origin is for example https://example.com")
        return origin


class StorageState(_Foreign):
    """Cookies of all sites, and local storage by origin."""

    cookies: tuple[StoredCookie, ...] = ()
    origins: tuple[StoredOrigin, ...] = ()

    def with_origins(self, origins: Iterable[StoredOrigin]) -> StorageState:
        """Return a copy with these origins added or replaced, without those that have no entry."""
        merged = {stored.origin: stored for stored in (*self.origins, *origins)}
        kept = tuple(stored for stored in merged.values() if stored.local_storage)
        return StorageState(cookies=self.cookies, origins=kept)

    def text(self) -> str:
        """Return the state as JSON."""
        data = self.model_dump(by_alias=True, mode="json")
        for cookie in data["cookies"]:
            if cookie["partitionKey"] is None:
                del cookie["partitionKey"], cookie["_crHasCrossSiteAncestor"]
        return json.dumps(data, ensure_ascii=False, indent=2)

    def write(self, path: Path) -> None:
        """Write the state to a file that only this user can read, completely or not at all.

        Raises:
            OSError, ValueError: It cannot be written; no partial file is left.
        """
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(self.text())
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise


def origin_of(url: str) -> str:
    """Return the origin of an http or https URL, as browsers spell it; empty for any other URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host:
        return ""
    host = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in {None, default_port} else "")


def _read_file(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise OSError("it is no file")  # reading a pipe would block all calls
    return path.read_bytes()


def load_storage_state(state: str | Mapping[str, Any]) -> StorageState:
    """Load a storage state from a file of this machine, or validate the given one.

    Raises:
        InvalidArgument: The file cannot be read, or it is no storage state; none of its values is quoted.
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
            raise InvalidArgument(f"{where} is no JSON.", hint="save_storage_state writes one.") from None
    try:
        return StorageState.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "it"
        raise InvalidArgument(
            f"{where} is no storage state: {place}: {first['msg'].removeprefix('Value error, ')}.",
            hint="Use Playwright's format, {cookies: […], origins: […]}, as save_storage_state writes it.",
        ) from None
