"""What a browser knows a person by, as a value: cookies, and the local storage of each origin, in Playwright's format.

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
from orchestrator.models import Wire


class _Foreign(Wire):
    """Others write this format, too: what they add is none of our business."""

    model_config = ConfigDict(extra="ignore")


class StoredCookie(_Foreign):
    """A cookie; `expires` is in seconds since 1970, -1 where it ends with the browser.

    One of a partition is of one site's pages; `cross_site` says that it is of frames of other sites in them.
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


class OriginStorage(_Foreign):
    """The local storage of an origin."""

    origin: str
    local_storage: tuple[StoredItem, ...] = ()

    @field_validator("origin")
    @classmethod
    def _an_origin(cls, value: str) -> str:
        if not (found := origin_of(value)):
            raise ValueError("an origin is for example https://example.com")
        return found


class StorageState(_Foreign):
    """Cookies of all sites, and local storage by origin."""

    cookies: tuple[StoredCookie, ...] = ()
    origins: tuple[OriginStorage, ...] = ()

    def with_origins(self, found: Iterable[OriginStorage]) -> StorageState:
        """The same with these origins in the place of what was known of them; one without any entry is left out."""
        known = {one.origin: one for one in (*self.origins, *found)}
        return StorageState(cookies=self.cookies, origins=tuple(one for one in known.values() if one.local_storage))

    def text(self) -> str:
        """The state as JSON."""
        found = self.model_dump(by_alias=True, mode="json")
        for cookie in found["cookies"]:
            if cookie["partitionKey"] is None:
                del cookie["partitionKey"], cookie["_crHasCrossSiteAncestor"]
        return json.dumps(found, ensure_ascii=False, indent=2)

    def write(self, path: Path) -> None:
        """Write it where only this user can read it, whole or not at all.

        Raises:
            OSError, ValueError: It cannot be written; nothing is left of it.
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
    """The origin of an http or https address, as browsers spell it; empty for any other."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host:
        return ""
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in {None, usual} else "")


def _text(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise OSError("it is no file")  # a pipe would keep all calls waiting
    return path.read_bytes()


def given(state: str | Mapping[str, Any]) -> StorageState:
    """The state that a caller means: a file of this machine, or the state itself.

    Raises:
        InvalidArgument: There is no such file, or it is no storage state; no value of it is repeated.
    """
    value: Any = state
    where = "storageState"
    if isinstance(state, str):
        where = f"storageState {state}"
        try:
            value = json.loads(_text(Path(state).expanduser()))
        except (OSError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or error
            raise InvalidArgument(f"{where} cannot be read: {why}.", hint="save_storage_state writes one.") from None
        except ValueError:  # a null character in the path, or no JSON
            raise InvalidArgument(f"{where} is no JSON.", hint="save_storage_state writes one.") from None
    try:
        return StorageState.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "it"
        raise InvalidArgument(
            f"{where} is no storage state: {place}: {first['msg'].removeprefix('Value error, ')}.",
            hint="It is Playwright's format, {cookies: […], origins: […]}; save_storage_state writes it.",
        ) from None
