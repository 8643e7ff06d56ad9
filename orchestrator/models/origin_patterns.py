"""Origins of URLs, and patterns of them: `https://*.example.com`, `http://localhost:*`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

from pydantic_core import Url

from orchestrator.models.comma_lists import split_list
from orchestrator.models.link_local import may_be_link_local

_PATTERN = re.compile(
    r"(?:(?P<scheme>https?|\*)://)?(?P<host>\[[0-9a-f:.*]+\]|[^\s/:@\[\]?#\\]+)(?::(?P<port>\d{1,5}|\*))?/?",
    re.IGNORECASE,
)
_PORTS = {"http": "80", "https": "443"}
_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_WEB = re.compile(r"[\x00-\x20]*(view-source:[\x00-\x20]*)*(?P<url>(https?|wss?):.*)", re.IGNORECASE | re.DOTALL)
_IGNORED = str.maketrans("", "", "\t\r\n")
"""Characters that browsers drop anywhere in a URL."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a URL as browsers read it; a WebSocket's is that of its page (`ws` is `http`)."""

    scheme: str
    host: str
    port: str

    @classmethod
    def of(cls, url: str) -> Self | None:
        """Return the origin of a URL; None if its scheme has none here, such as `about:`.

        Addresses are written as the URL standard does: `0xA9FEA9FE` is 169.254.169.254.

        Raises:
            ValueError: It begins like a URL of the web and is none.
        """
        found = _WEB.fullmatch(url.translate(_IGNORED))
        if found is None:
            return None
        parsed = Url(found["url"])
        return cls(_SCHEMES[parsed.scheme], _bare(parsed.host or ""), str(parsed.port))

    def __str__(self) -> str:
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host_in_url(self.host)}{port}"


@dataclass(frozen=True, slots=True)
class OriginPattern:
    """A pattern of origins; `*` stands for any characters.

    Without a scheme it is the host with every scheme and port; with a scheme and without a port, the default port.
    """

    scheme: str
    host: str
    port: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the pattern that a text writes.

        Raises:
            ValueError: It writes none.
        """
        found = _PATTERN.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text.strip()!r} is not an origin: write https://*.example.com or http://localhost:8000")
        scheme, host = (found["scheme"] or "*").lower(), found["host"].lower()
        if "*" not in host:
            host = Url(f"http://{host}/").host or host
        return cls(scheme, _bare(host), found["port"] or _PORTS.get(scheme, "*"))

    def matches(self, origin: Origin) -> bool:
        """Return True if the origin is one of the pattern's."""
        return all(map(fnmatchcase, (origin.scheme, origin.host, origin.port), (self.scheme, self.host, self.port)))

    def covers(self, other: OriginPattern) -> bool:
        """Return True if each origin of another pattern is one of this pattern's."""
        return all(map(fnmatchcase, (other.scheme, other.host, other.port), (self.scheme, self.host, self.port)))

    @property
    def names_host(self) -> bool:
        """True unless its host is any."""
        return bool(self.host.strip("*"))

    def url_patterns(self) -> list[str]:
        """Return patterns of URLs for CDP's Fetch domain: at least its requests, which have no default ports."""
        host = host_in_url(self.host)
        schemes = _PORTS if self.scheme == "*" else [self.scheme]
        # A URL may have a user before its host, and a dot after it.
        return [f"{scheme}://*{host}{ending}" for scheme in schemes for ending in ("/*", ":*", "./*", ".:*")]


def parse_patterns(text: str) -> tuple[OriginPattern, ...]:
    """Return the patterns in a text, which commas part.

    Raises:
        ValueError: One of them is no pattern; the message quotes it.
    """
    return tuple(map(OriginPattern.parse, split_list(text)))


def narrow_patterns(wanted: str, allowed: str) -> str:
    """Return those of the wanted patterns that the allowed ones cover; the allowed ones if there are none.

    Link-local hosts are covered by patterns that name them alone.
    """
    patterns = parse_patterns(allowed or "*")

    def is_covered(text: str) -> bool:
        one = OriginPattern.parse(text)
        is_special = one.names_host and may_be_link_local(one.host)
        return any(other.covers(one) and (other.names_host or not is_special) for other in patterns)

    return ",".join(filter(is_covered, split_list(wanted))) or allowed


def _bare(host: str) -> str:
    """Return a host without the brackets of IPv6 and the dot that may end a name."""
    return host.removeprefix("[").removesuffix("]").rstrip(".")


def host_in_url(host: str) -> str:
    """Return a host as URLs have it: an address of IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
