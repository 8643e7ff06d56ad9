"""Checks each request before anything else does: host, origin, token, size and form."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request

from orchestrator.mcp_server.http import refusals
from orchestrator.mcp_server.http.tokens import PREFIX, Grant, TokenFile
from orchestrator.models.comma_lists import split_list
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.mcp_server.http.oauth import OAuth

_LOCAL = ("127.0.0.1", "localhost", "::1")
_METHODS = ("GET", "POST", "DELETE")
_CALLS = ("tools/call", "resources/read")
_VERSION_HEADER = "mcp-protocol-version"


@dataclass(frozen=True, slots=True)
class Message:
    """The body of a request of MCP: its bytes, and the JSON in it."""

    body: bytes
    content: Any

    @property
    def id(self) -> Any:
        """The id of the request of JSON-RPC, if it is one."""
        return self.content.get("id") if isinstance(self.content, dict) else None

    @property
    def is_request(self) -> bool:
        """True for what is to be answered: neither a notification nor an answer of the client's."""
        return not isinstance(self.content, dict) or {"id", "method"} <= self.content.keys()

    @property
    def is_call(self) -> bool:
        """True for a call of a tool, and for what is read by one."""
        return isinstance(self.content, dict) and self.content.get("method") in _CALLS


class Gate:
    """Lets requests in, or refuses them.

    Args:
        settings: The settings.
        host: Where the server listens.
        file: The tokens that were made here.
        oauth: Takes access tokens, if there is an issuer.
    """

    def __init__(self, settings: Settings, host: str, file: TokenFile, oauth: OAuth | None) -> None:
        self._file = file
        self._oauth = oauth
        self._limit = settings.http_body * 1_000_000
        self._hosts = {host, *_split(settings.http_hosts)} | {*(_LOCAL if host in _LOCAL else ())}
        self._any_host = host in {"0.0.0.0", "::"} and not settings.http_hosts  # noqa: S104 — it is compared
        self._origins = set(_split(settings.http_origins))

    def check_place(self, request: Request) -> None:
        """Check the host that a request is for, and the origin of the page that it comes from.

        Raises:
            HttpRefusal: It is another host, or a foreign origin.
        """
        given = request.headers.get("host", "")
        host = _host_name(given)
        if not host or not (self._any_host or host in self._hosts):
            raise refusals.wrong_host(given)
        origin = request.headers.get("origin")
        if origin is None or origin.rstrip("/") in self._origins:
            return
        is_local = not self._origins and urlsplit(origin).hostname in _LOCAL and host in _LOCAL
        if not is_local:
            raise refusals.foreign_origin(origin)

    async def find_grant(self, request: Request) -> Grant:
        """Return what the token of a request grants.

        Raises:
            HttpRefusal: It has none, or one that is not taken.
        """
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        secret, metadata_url = given.strip(), self._oauth.metadata_url if self._oauth else ""
        if scheme.lower() != "bearer" or not secret:
            raise refusals.unauthorized(metadata_url=metadata_url)
        if self._oauth and not secret.startswith(PREFIX):
            return await self._oauth.verify(secret)
        token = self._file.find(secret)
        if token is None:
            raise refusals.unauthorized("This token is not known here.", metadata_url)
        return Grant(token)

    def check_form(self, request: Request) -> None:
        """Check the method and the headers that say what is sent and accepted.

        Raises:
            HttpRefusal: They are not those of MCP.
        """
        if request.method not in _METHODS:
            raise refusals.wrong_method(", ".join(_METHODS))
        version = request.headers.get(_VERSION_HEADER)
        if version is not None and (refusal := refusals.unknown_version(version)) is not None:
            raise refusal
        if request.method != "POST":
            return
        if not request.headers.get("content-type", "").lower().startswith("application/json"):
            raise refusals.wrong_media(sent=True)
        accepted = request.headers.get("accept", "")
        if "*/*" not in accepted and not ("application/json" in accepted and "text/event-stream" in accepted):
            raise refusals.wrong_media(sent=False)

    async def read_message(self, request: Request) -> Message:
        """Read the body of a POST.

        Raises:
            HttpRefusal: It is too large, or no JSON.
        """
        body = await read_body(request, self._limit)
        try:
            return Message(body, json.loads(body))
        except (ValueError, RecursionError):
            raise refusals.broken_json() from None


async def read_body(request: Request, limit: int) -> bytes:
    """Read a body of at most so many bytes.

    Raises:
        HttpRefusal: It is larger.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise refusals.too_large(limit)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise refusals.too_large(limit)
    return bytes(body)


def is_loopback(host: str) -> bool:
    """Return True for an address that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _split(value: str) -> list[str]:
    return [name.rstrip("/") for name in split_list(value)]


def _host_name(value: str) -> str:
    """Return the name in a Host header, without the port; empty if it is none."""
    try:
        return urlsplit(f"//{value}").hostname or ""
    except ValueError:
        return ""
