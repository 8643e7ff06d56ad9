"""Cookies, and saving storage state for later sessions."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field, model_validator

from orchestrator.actions.base import Action, Part
from orchestrator.actions.tool_results import Cookie, CookieList, StorageSaved
from orchestrator.automation.login import read_login
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure, quoted
from orchestrator.models.results import Outcome
from orchestrator.snapshot.methods import STATE
from orchestrator.system import storage_files

_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f;=]")
_NOT_IN_VALUES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f;]")
_LONGEST = 4096
"""Maximal bytes of a cookie's name and value together (RFC 6265bis, 5.6)."""
_ONLY_FOR_SET = ("value", "domain", "path", "secure", "http_only", "same_site", "expiry")

_WIRE = [field.alias or name for name, field in Cookie.model_fields.items()]


class Cookies(Action[CookieList]):
    """Get, set, delete or clear the cookies of the current page's site; navigate there first."""

    verb: ClassVar[str] = "cookies"
    title: ClassVar[str] = "Cookies"
    part: ClassVar[Part] = "context"
    in_web_views: ClassVar[bool] = True
    destructive: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = CookieList

    action: Literal["get", "set", "delete", "clear"]
    name: str | None = None
    value: str | None = Field(default=None, repr=False, coerce_numbers_to_str=True)
    domain: str | None = None
    path: str | None = None
    secure: bool | None = None
    http_only: bool | None = None
    same_site: Literal["Strict", "Lax", "None"] | None = None
    expiry: int | None = Field(default=None, description="Seconds since 1970.")

    @model_validator(mode="after")
    def _fits(self) -> Cookies:
        own = {"get": {"name"}, "delete": {"name"}, "clear": set(), "set": {"name", *_ONLY_FOR_SET}}[self.action]
        names = {name: field.alias or name for name, field in type(self).model_fields.items()}
        given = [name for name in ("name", *_ONLY_FOR_SET) if getattr(self, name) is not None]
        if superfluous := [names[name] for name in given if name not in own]:
            raise ValueError(f"{self.action} takes no {' and no '.join(superfluous)}")
        if self.action == "delete" and self.name is None:
            raise ValueError("delete needs name; clear removes all")
        if self.action == "set":
            self._check()
        return self

    def _check(self) -> None:
        """Refuse cookies that browsers reject."""
        if self.name is None or self.value is None:
            raise ValueError("set needs name and value")
        if _NOT_IN_NAMES.search(self.name) or self.name != self.name.strip() or not self.name + self.value:
            raise ValueError("name must not contain =, semicolons, line breaks or surrounding space")
        if _NOT_IN_VALUES.search(self.value) or self.value != self.value.strip():
            raise ValueError("value must not contain semicolons, line breaks or surrounding space: encode them")
        if len((self.name + self.value).encode()) > _LONGEST:
            raise ValueError(f"name and value are longer than {_LONGEST} bytes together")
        if self.path is not None and not self.path.startswith("/"):
            raise ValueError("path must begin with /")
        if self.same_site == "None" and not self.secure:
            raise ValueError("sameSite None needs secure: true")
        if self.expiry is not None and self.expiry <= time.time():
            raise ValueError("expiry is in the past: delete removes a cookie")

    def perform(self, scene: Scene) -> CookieList:
        """Return the cookies that were read, set or removed."""
        if self.action == "set":
            self._set(scene)
            return CookieList(action=self.action, cookies=self._read(scene))
        cookies = self._read(scene)
        if self.action == "delete" and cookies:
            self._delete(scene, self.name or "")
        if self.action == "clear" and cookies:
            scene.remote.execute("deleteAllCookies")
        warnings = [] if cookies or self.name is None else [f"The site has no cookie {quoted(self.name)}."]
        return CookieList(action=self.action, cookies=cookies, warnings=warnings)

    def _read(self, scene: Scene) -> list[Cookie]:
        try:
            rows = scene.remote.execute("getCookies")
        except RemoteFailure as error:
            if error.details.get("error") not in {"invalid cookie domain", "unsupported operation"}:
                raise
            rows = []
        wanted = [row for row in rows if self.name is None or row["name"] == self.name]
        return [Cookie.model_validate({name: row.get(name) for name in _WIRE if name in row}) for row in wanted]

    def _delete(self, scene: Scene, name: str) -> None:
        if not name.isascii():
            # chromedriver does not decode percent-encoded UTF-8 in the command's URL.
            with suppress(RemoteFailure):
                scene.remote.cdp("Network.deleteCookies", name=name, url=scene.query_page(STATE)["url"])
                return
        scene.remote.execute("deleteCookie", name=quote(name, safe=""))

    def _set(self, scene: Scene) -> None:
        cookie = {name: value for name, value in self.model_dump(by_alias=True).items() if value is not None}
        del cookie["action"]
        try:
            scene.remote.execute("addCookie", cookie=cookie)
        except RemoteFailure as error:
            if error.details.get("error") not in {"invalid cookie domain", "unable to set cookie", "invalid argument"}:
                raise
            place = scene.query_page(STATE)["url"]
            site = f"of the site {quoted(self.domain)} " if self.domain else ""
            raise InvalidArgument(
                f"A cookie {site}cannot be set from {place}.",
                hint="Navigate to a page of its site first; secure cookies need https.",
                said=error.message,
            ) from error


class SaveStorageState(Action[StorageSaved]):
    """Save the session's login (cookies, local storage) to a file that starts take as storageState."""

    verb: ClassVar[str] = "save_storage_state"
    title: ClassVar[str] = "Save the storage state"
    instead: ClassVar[str] = "An app keeps its login when it is started with noReset: true; manage_app terminates it."
    part: ClassVar[Part] = "context"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = StorageSaved

    path: str | None = None

    def perform(self, scene: Scene) -> StorageSaved:
        """Read the storage of every origin that the session visited, and write the file; the result has no values."""
        path = self._target(scene)
        state, warnings = read_login(scene)
        try:
            state.write(path)
        except (OSError, ValueError) as error:  # ValueError: a null character
            reason = getattr(error, "strerror", None) or error
            raise InvalidArgument(f"{path} cannot be written: {reason}.", hint="Give another path.") from None
        return StorageSaved(
            path=str(path),
            cookie_count=len(state.cookies),
            origins=[entry.origin for entry in state.origins],
            item_count=sum(len(entry.local_storage) for entry in state.origins),
            warnings=warnings,
        )

    def _target(self, scene: Scene) -> Path:
        if self.path is None:
            return storage_files.build_export_path(scene.settings.home, scene.record)
        try:
            path = Path(self.path).expanduser().absolute()
        except RuntimeError as error:
            raise InvalidArgument(f"{self.path!r} cannot be a file: {error}.", hint="Give another path.") from None
        if path.suffix.lower() != ".json":
            raise InvalidArgument(f"{self.path!r} does not end in .json.", hint="Name it for example login.json.")
        return path


ACTIONS: list[type[Action[Any]]] = [Cookies, SaveStorageState]
