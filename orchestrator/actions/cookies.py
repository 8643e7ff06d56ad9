"""The cookies that the current page's site has."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field, model_validator

from orchestrator.actions.base import Action, Part
from orchestrator.actions.browser_results import Cookie, CookieList
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure, quoted

_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f;=]")
_NOT_IN_VALUES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f;]")
_LONGEST = 4096
"""Bytes of a cookie's name and value together (RFC 6265bis, 5.6)."""
_ONLY_FOR_SET = ("value", "domain", "path", "secure", "http_only", "same_site", "expiry")


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
        """Refuse what no browser keeps."""
        if self.name is None or self.value is None:
            raise ValueError("set needs name and value")
        if _NOT_IN_NAMES.search(self.name) or self.name != self.name.strip() or not self.name + self.value:
            raise ValueError("name must be text without =, semicolons, line breaks and surrounding space")
        if _NOT_IN_VALUES.search(self.value) or self.value != self.value.strip():
            raise ValueError("value must be text without semicolons, line breaks and surrounding space: encode them")
        if len((self.name + self.value).encode()) > _LONGEST:
            raise ValueError(f"name and value are longer than {_LONGEST} bytes together")
        if self.path is not None and not self.path.startswith("/"):
            raise ValueError("path must begin with /")
        if self.same_site == "None" and not self.secure:
            raise ValueError("sameSite None needs secure: true")
        if self.expiry is not None and self.expiry <= time.time():
            raise ValueError("expiry is in the past: delete removes a cookie")

    def perform(self, scene: Scene) -> CookieList:
        """Answer the cookies that were got, set or removed."""
        if self.action == "set":
            self._set(scene)
            return CookieList(action=self.action, cookies=self._found(scene))
        found = self._found(scene)
        if self.action == "delete" and found:
            self._delete(scene, self.name or "")
        if self.action == "clear" and found:
            scene.remote.execute("deleteAllCookies")
        warnings = [] if found or self.name is None else [f"The site has no cookie {quoted(self.name)}."]
        return CookieList(action=self.action, cookies=found, warnings=warnings)

    def _found(self, scene: Scene) -> list[Cookie]:
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
            # chromedriver takes the bytes of an address for letters.
            with suppress(RemoteFailure):
                scene.remote.cdp("Network.deleteCookies", name=name, url=scene.ask("state")["url"])
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
            place = scene.ask("state")["url"]
            site = f"of the site {quoted(self.domain)} " if self.domain else ""
            raise InvalidArgument(
                f"A cookie {site}cannot be set from {place}.",
                hint="Navigate to a page of its site first; secure cookies need https.",
                said=error.message,
            ) from error


_WIRE = [field.alias or name for name, field in Cookie.model_fields.items()]

ACTIONS: list[type[Action[Any]]] = [Cookies]
