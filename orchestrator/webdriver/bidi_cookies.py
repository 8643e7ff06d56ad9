"""A browser's cookies of all sites, over WebDriver BiDi."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from email.utils import formatdate
from typing import Any

from orchestrator.errors import RemoteFailure
from orchestrator.models.origin_patterns import host_in_url
from orchestrator.models.storage_state import StoredCookie
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.storage.empty_tab import EmptyTab
from orchestrator.webdriver.websocket import Command

_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None"}


class BidiCookies:
    """The cookies of the session's user context.

    Firefox does not name a cookie's partition: it is found by asking for the cookies of the sites that are known.

    Source: https://www.w3.org/TR/webdriver-bidi/#module-storage; seen with Firefox 153.
    """

    def __init__(self, bidi: Bidi) -> None:
        self._bidi = bidi
        self._all = {"type": "storageKey", "userContext": bidi.user_context}

    def read(self, origins: Collection[str]) -> tuple[StoredCookie, ...]:
        """Return all cookies; those of a partition only if it is that of one of the origins.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer, or refuses.
        """
        cookies = self._bidi.call("storage.getCookies", partition=self._all)["cookies"]
        own = {_key(cookie) for found in self._of(map(_own_origin, cookies)).values() for cookie in found}
        places = {_key(cookie): origin for origin, found in self._of(origins).items() for cookie in found}
        return tuple(
            _stored(cookie, "" if (key := _key(cookie)) in own else places[key])
            for cookie in cookies
            if _key(cookie) in own or _key(cookie) in places
        )

    def write(self, cookies: Iterable[StoredCookie]) -> None:
        """Set cookies of any sites; those that have ended are skipped.

        Firefox garbles cookies that are not ASCII: an empty page of their site sets them.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer, or refuses one.
        """
        alive = [cookie for cookie in cookies if cookie.expires < 0 or cookie.expires > time.time()]
        plain = [cookie for cookie in alive if _is_plain(cookie)]
        for answer in self._bidi.call_all(self._set(cookie) for cookie in plain):
            if isinstance(answer, RemoteFailure):
                raise answer
        if others := [cookie for cookie in alive if not _is_plain(cookie)]:
            with EmptyTab.opened(self._bidi) as tab:
                for cookie in others:
                    scheme = "https" if cookie.secure else "http"
                    tab.set_cookies(f"{scheme}://{_host(cookie.domain)}", [_header(cookie)])

    def set_from(self, origin: str, cookie: StoredCookie) -> None:
        """Set a cookie as the origin's pages may, which the browser checks.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer, or cannot show an empty page of the origin.
        """
        with EmptyTab.opened(self._bidi) as tab:
            tab.set_cookies(origin, [_header(cookie)])

    def delete(self, name: str, domain: str, path: str) -> None:
        """Delete a cookie, whatever its name.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer, or refuses.
        """
        for spelling in {name, _as_bytes(name)}:
            wanted = {"name": spelling, "domain": domain, "path": path}
            self._bidi.call("storage.deleteCookies", filter=wanted, partition=self._all)

    def _of(self, origins: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the cookies that pages of each of these origins get, by origin."""
        asked = [*dict.fromkeys(origins)]
        answers = self._bidi.call_all(
            ("storage.getCookies", {"partition": {**self._all, "sourceOrigin": origin}}) for origin in asked
        )
        return {
            origin: answer["cookies"]
            for origin, answer in zip(asked, answers, strict=True)
            if not isinstance(answer, RemoteFailure)
        }

    def _set(self, cookie: StoredCookie) -> Command:
        partition = {**self._all, "sourceOrigin": cookie.partition_key} if cookie.partition_key else self._all
        wanted: dict[str, Any] = {
            "name": cookie.name,
            "value": {"type": "string", "value": cookie.value},
            "domain": cookie.domain,
            "path": cookie.path,
            "httpOnly": cookie.http_only,
            "secure": cookie.secure,
            "sameSite": cookie.same_site.lower(),
        }
        if cookie.expires >= 0:
            wanted["expiry"] = int(cookie.expires)
        return "storage.setCookie", {"cookie": wanted, "partition": partition}


def _stored(cookie: dict[str, Any], partition: str) -> StoredCookie:
    # Without the attribute, a cookie goes to other sites' pages, too, which the format can only say of a secure one.
    same_site = _SAME_SITE.get(cookie.get("sameSite", ""), "None" if cookie["secure"] else "Lax")
    value = cookie["value"]["value"]
    fields = {name: cookie[name] for name in ("domain", "path", "secure", "httpOnly")}
    fields |= {"name": read_name(cookie["name"]), "value": value, "sameSite": same_site}
    fields |= {"partitionKey": partition} if partition else {}
    return StoredCookie.model_validate({**fields, "expires": cookie.get("expiry", -1)})


def _header(cookie: StoredCookie) -> str:
    """Return the cookie as a value of `Set-Cookie`."""
    parts = [f"{cookie.name}={cookie.value}", f"Path={cookie.path}", f"SameSite={cookie.same_site}"]
    if cookie.domain.startswith("."):
        parts.append(f"Domain={cookie.domain}")
    if cookie.expires >= 0:
        parts.append(f"Expires={formatdate(cookie.expires, usegmt=True)}")
    parts += ["Secure"] * cookie.secure + ["HttpOnly"] * cookie.http_only + ["Partitioned"] * bool(cookie.partition_key)
    return "; ".join(parts)


def _is_plain(cookie: StoredCookie) -> bool:
    return (cookie.name + cookie.value).isascii()


def _key(cookie: dict[str, Any]) -> tuple[str, ...]:
    return cookie["name"], cookie["domain"], cookie["path"], str(cookie["value"])


def _own_origin(cookie: dict[str, Any]) -> str:
    return f"https://{_host(cookie['domain'])}"


def _host(domain: str) -> str:
    return host_in_url(domain.removeprefix("."))


def _as_bytes(name: str) -> str:
    """Return a name as Firefox spells it in BiDi: a character for each of its bytes."""
    return name.encode().decode("latin-1")


def read_name(name: str) -> str:
    """Return a cookie's name that Firefox gives as a character for each of its bytes, in BiDi and classic."""
    try:
        return name.encode("latin-1").decode()
    except UnicodeError:
        return name
