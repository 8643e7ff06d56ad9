"""Places that pages and connections may lead to: `allowed_origins`, `blocked_origins`."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from functools import cached_property

from orchestrator.errors import Denied, InvalidArgument, brief, quoted
from orchestrator.models.link_local import HOST_PATTERNS, is_link_local, may_be_link_local
from orchestrator.models.origin_patterns import Origin, parse_patterns
from orchestrator.settings import Settings

_HAS_SCHEME = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SHOWN = 200


class Origins:
    """Checks where pages, and connections of this process, may lead.

    Args:
        settings: The settings; None where everything is allowed.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._allowed = parse_patterns(settings.allowed_origins) if settings else ()
        self._blocked = parse_patterns(settings.blocked_origins) if settings else ()

    @property
    def is_set(self) -> bool:
        """True if a setting names origins, so that requests of pages are checked, too."""
        return bool(self._allowed or self._blocked)

    def check_page(self, url: str) -> None:
        """Refuse the URL of a page.

        Raises:
            Denied: It leads where pages may not go; the error names the setting.
            InvalidArgument: It is not a URL.
        """
        if self._settings is not None:
            self._check(_origin(url), "is not opened")

    def check_address(self, address: str) -> None:
        """Refuse a URL, or `host:port`, that this process is to connect to.

        Raises:
            Denied: It leads where this process may not go; the error names the setting.
            InvalidArgument: It is none.
        """
        if self._settings is not None:
            self._check(_origin(_url(address)), "is not connected to")

    def check_resolved(self, address: str) -> None:
        """Refuse an address as `check_address` does, and names that stand for link-local addresses now; may block.

        Raises:
            Denied: It leads where this process may not go.
            InvalidArgument: It is no address.
        """
        self.check_address(address)
        origin = None if self._settings is None else _origin(_url(address))
        if origin is None or self._is_named(origin):
            return
        try:
            found = {str(info[4][0]) for info in socket.getaddrinfo(origin.host, None, type=socket.SOCK_STREAM)}
        except (OSError, UnicodeError):
            return  # what cannot be resolved cannot be connected to
        if any(map(is_link_local, found)):
            raise self._denied_link_local(origin, "is not connected to")

    def allows(self, url: str) -> bool:
        """Return True if pages may request this URL."""
        try:
            self.check_page(url)
        except (Denied, InvalidArgument):
            return False
        return True

    @cached_property
    def request_patterns(self) -> tuple[str, ...]:
        """Patterns of the requests to check, for CDP's Fetch domain; empty where requests need no check."""
        if self._allowed:
            return ("http://*", "https://*")
        return tuple(pattern for one in self._blocked for pattern in one.url_patterns())

    @cached_property
    def resolver_rules(self) -> list[str]:
        """Rules for Chromium's resolver that refuse link-local addresses, in all spellings, and metadata names."""
        if self._settings is None:
            return []
        named = [one.host for one in self._allowed if one.names_host and may_be_link_local(one.host)]
        return [*(f"EXCLUDE {host}" for host in named), *(f"MAP {host} ~NOTFOUND" for host in HOST_PATTERNS)]

    def check_resolver_rules(self, rules: Iterable[str]) -> None:
        """Refuse a caller's rules for the resolver that lead to link-local addresses; names may be looked up.

        Raises:
            Denied: A rule does; the error names it.
        """
        if self._settings is None:
            return
        for rule in rules:
            kind, host = rule.partition(" ")[0].upper(), rule.split(" ")[-1].lower()
            if kind == "MAP" and not host.startswith("~"):
                self.check_resolved(host)
            elif kind == "EXCLUDE" and may_be_link_local(host):
                raise Denied(
                    f"The rule {quoted(rule)} would let pages reach link-local addresses.", setting="allowed_origins"
                )

    def _check(self, origin: Origin | None, what: str) -> None:
        if origin is None:
            return
        if any(pattern.matches(origin) for pattern in self._blocked):
            raise Denied(f"{origin} {what}: the setting blocked_origins names it.", setting="blocked_origins")
        if is_link_local(origin.host) and not self._is_named(origin):
            raise self._denied_link_local(origin, what)
        if self._allowed and not any(pattern.matches(origin) for pattern in self._allowed):
            raise Denied(
                f"{origin} {what}: it is not among the allowed origins.",
                setting="allowed_origins",
                value=f"{self._given},{origin}",
                instead=f"Allowed are {brief(self._given, _SHOWN)}.",
            )

    def _is_named(self, origin: Origin) -> bool:
        """Return True if a pattern other than `*` allows the origin."""
        return any(pattern.names_host and pattern.matches(origin) for pattern in self._allowed)

    def _denied_link_local(self, origin: Origin, what: str) -> Denied:
        return Denied(
            f"{origin} {what}: link-local and metadata addresses are blocked, as they hold keys of cloud machines.",
            setting="allowed_origins",
            value=f"'{self._given or '*'},{origin}'",
        )

    @property
    def _given(self) -> str:
        return "" if self._settings is None else self._settings.allowed_origins


def _url(address: str) -> str:
    return address if _HAS_SCHEME.match(address) else f"http://{address}"


def _origin(url: str) -> Origin | None:
    try:
        return Origin.of(url)
    except ValueError:
        raise InvalidArgument(f"{quoted(brief(url, _SHOWN))} is not a valid URL.", hint="Correct the URL.") from None
