"""Cookies, passkeys, and saving storage state for later sessions."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, model_validator

from orchestrator.actions.base import Action, Part
from orchestrator.actions.tool_results import Cookie, CookieList, Passkey, PasskeyList, StorageSaved
from orchestrator.automation.fields.secret_typing import read_passkey, read_secret
from orchestrator.automation.login import read_login
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure, quoted
from orchestrator.models.paths import Overwrite, WritePath
from orchestrator.models.results import Outcome
from orchestrator.models.session import Tab
from orchestrator.models.storage_state import StoredCookie, origin_of
from orchestrator.snapshot.methods import STATE
from orchestrator.system import storage_files
from orchestrator.system.output import write_file
from orchestrator.system.secrets import is_typed_reference
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.bidi_cookies import BidiCookies, read_name

_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f;=]")
_NOT_IN_VALUES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f;]")
_LONGEST = 4096
"""Maximal bytes of a cookie's name and value together (RFC 6265bis, 5.6)."""
_ENCODE = "Whoever runs this server can write it without semicolons, line breaks and surrounding space."
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
            self.check_value()
        return self

    def check_value(self) -> None:
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
            self._delete(scene, cookies)
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
        if scene.browser == "firefox":
            rows = [{**row, "name": read_name(row["name"])} for row in rows]
        wanted = [row for row in rows if self.name is None or row["name"] == self.name]
        return [Cookie.model_validate({name: row.get(name) for name in _WIRE if name in row}) for row in wanted]

    def _delete(self, scene: Scene, cookies: list[Cookie]) -> None:
        name = self.name or ""
        if (bidi := scene.firefox_bidi) is not None:
            # geckodriver does not decode names in the command's URL.
            for cookie in cookies:
                BidiCookies(bidi).delete(name, cookie.domain or "", cookie.path or "/")
            return
        if not name.isascii():
            # chromedriver does not decode percent-encoded UTF-8 in the command's URL.
            with suppress(RemoteFailure):
                scene.remote.cdp("Network.deleteCookies", name=name, url=scene.query_page(STATE)["url"])
                return
        scene.remote.execute("deleteCookie", name=quote(name, safe=""))

    def _set(self, scene: Scene) -> None:
        cookie = {name: value for name, value in self.model_dump(by_alias=True).items() if value is not None}
        del cookie["action"]
        if is_typed_reference(self.value):
            cookie |= self._read_secret(scene, self.value or "")
        try:
            if (bidi := scene.firefox_bidi) is not None and not (self.name or "").isascii():
                self._set_by_bidi(scene, bidi, cookie)
            else:
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

    def _set_by_bidi(self, scene: Scene, bidi: Bidi, cookie: dict[str, Any]) -> None:
        """Set a cookie whose name geckodriver would garble, for the page's host unless a domain is given."""
        origin = origin_of(scene.query_page(STATE)["url"])
        domain = f".{self.domain.removeprefix('.')}" if self.domain else urlsplit(origin).hostname
        stored = {"expires": self.expiry or -1, "sameSite": "None" if cookie.get("secure") else "Lax", **cookie}
        wanted = StoredCookie.model_validate({**stored, "domain": domain or "none"})
        if origin:
            BidiCookies(bidi).set_from(origin, wanted)
        if not any(one.value == wanted.value for one in self._read(scene)):
            raise RemoteFailure("The browser did not take it.", error="unable to set cookie")

    def _read_secret(self, scene: Scene, given: str) -> dict[str, Any]:
        """Return the value that a reference stands for, if the page may get it; an https page's is for https alone."""
        if self.domain is not None:
            raise InvalidArgument(
                f"{given} is set for the host of the page alone.", hint="Omit domain; other hosts would get it, too."
            )
        owner = scene.remote.execute("getCurrentUrl")
        text = read_secret(scene, given, owner)
        try:
            self.model_copy(update={"value": text}).check_value()
        except ValueError:  # without its text, which may quote the value
            raise InvalidArgument(f"{given} cannot be the value of a cookie.", hint=_ENCODE) from None
        return {"value": text, **({"secure": True} if owner.startswith("https:") else {})}


class Passkeys(Action[PasskeyList]):
    """Make sites' passkeys (WebAuthn) work unattended in this session: add first, then register or log in."""

    verb: ClassVar[str] = "passkeys"
    title: ClassVar[str] = "Passkeys"
    instead: ClassVar[str] = "In an app, log in with set_value and a password or code."
    part: ClassVar[Part] = "context"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PasskeyList

    action: Literal["add", "list", "remove"]
    credential: str | None = Field(default=None, pattern=r"^secret:[A-Za-z_]\w*$", description="secret:NAME")
    credential_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]+$")

    @model_validator(mode="after")
    def _fits(self) -> Passkeys:
        if self.credential is not None and self.action != "add":
            raise ValueError(f"{self.action} takes no credential")
        if self.credential_id is not None and self.action != "remove":
            raise ValueError(f"{self.action} takes no credentialId")
        return self

    def perform(self, scene: Scene) -> PasskeyList:
        """Return the passkeys that the session has then; never a private key."""
        scene.require_ability("passkeys")
        scene.tabs.refresh()
        if self.action == "remove":
            self._remove(scene)
        elif self.action == "add" or scene.tabs.authenticators.are_used:
            scene.tabs.bring_passkeys()
        tab = scene.tabs.find(scene.tabs.current_name)
        if self.credential is not None:
            self._add(scene, tab, self.credential)
        kept = [Passkey.of(one) for one in scene.tabs.authenticators.read(tab)]
        return PasskeyList(action=self.action, passkeys=kept)

    def _add(self, scene: Scene, tab: Tab, given: str) -> None:
        credential = read_passkey(scene, given)
        try:
            scene.tabs.authenticators.add(tab, credential)
        except RemoteFailure as error:
            raise InvalidArgument(
                f"The browser does not take {given} as a passkey.",
                hint="Its privateKey is a P-256 key in PKCS #8, as PEM or Base64url; credentialId and userHandle are "
                "Base64url.",
            ) from error

    def _remove(self, scene: Scene) -> None:
        if not scene.tabs.remove_passkeys(self.credential_id) and self.credential_id is not None:
            raise InvalidArgument(
                f"There is no passkey {quoted(self.credential_id)}.", hint="passkeys with action list has their ids."
            )


class SaveStorageState(Action[StorageSaved]):
    """Save the session's login (cookies, storage) to a file that starts take as storageState."""

    verb: ClassVar[str] = "save_storage_state"
    title: ClassVar[str] = "Save the storage state"
    instead: ClassVar[str] = "An app keeps its login when it is started with noReset: true; manage_app terminates it."
    part: ClassVar[Part] = "context"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = StorageSaved

    path: WritePath | None = None
    overwrite: Overwrite = False

    def perform(self, scene: Scene) -> StorageSaved:
        """Read the storage of every origin that the session visited, and write the file; the result has no values."""
        path = self._target(scene)
        state, warnings = read_login(scene)
        try:
            write_file(path, state.text())
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


ACTIONS: list[type[Action[Any]]] = [Cookies, SaveStorageState, Passkeys]
