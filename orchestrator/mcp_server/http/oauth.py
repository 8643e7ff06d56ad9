"""Access tokens of an authorization server: this server as a protected resource.

Source: RFC 6750, RFC 9068, RFC 9728.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import anyio.to_thread
import jwt
from jwt.exceptions import PyJWTError
from mcp.server.auth.handlers.metadata import ProtectedResourceMetadataHandler
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import Response

from orchestrator.errors import InvalidArgument
from orchestrator.mcp_server.http import refusals
from orchestrator.mcp_server.http.issuer_keys import IssuerKeys, IssuerUnreachable
from orchestrator.mcp_server.http.tokens import Grant, Role, Token
from orchestrator.models.comma_lists import split_list
from orchestrator.settings import Settings

_ROLES: tuple[Role, ...] = ("read", "act", "admin")
"""The roles, in the order of the setting `oauth_scopes`; the last one that a token has scope for is taken."""
_ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K", "EdDSA"}
)
"""Algorithms of signatures whose keys can be public."""
_REQUIRED = ("exp", "iss", "aud", "sub")
_LEEWAY = 30.0
"""Seconds by which clocks may differ."""
_LONGEST_NAME = 64


class OAuth:
    """Takes access tokens of one issuer that are meant for this server.

    Args:
        settings: The settings, with an issuer.
        resource: The URL of the endpoint of MCP, which is the audience of its tokens.
    """

    def __init__(self, settings: Settings, issuer: str, resource: str) -> None:
        self._issuer = issuer
        self._resource = resource
        self._settings = settings
        self._scopes = dict(zip(split_list(settings.oauth_scopes), _ROLES, strict=True))
        self._keys = IssuerKeys(issuer)
        self.metadata_url = str(build_resource_metadata_url(AnyHttpUrl(resource)))
        metadata = {"resource": resource, "authorization_servers": [issuer], "scopes_supported": [*self._scopes]}
        self._handler = ProtectedResourceMetadataHandler(ProtectedResourceMetadata.model_validate(metadata))

    async def show_metadata(self, request: Request) -> Response:
        """Answer whose tokens are taken here (RFC 9728)."""
        return await self._handler.handle(request)

    async def verify(self, secret: str) -> Grant:
        """Return what an access token grants.

        Raises:
            HttpRefusal: It is none for this server, or grants nothing here; or the issuer cannot be reached.
        """
        claims = await self._read_claims(secret)
        role = next((role for scope, role in reversed(self._scopes.items()) if scope in _scopes_of(claims)), None)
        if role is None:
            raise refusals.insufficient_scope([*self._scopes], self.metadata_url)
        namespace = self._settings.namespace
        if self._settings.oauth_namespace:
            namespace = str(claims.get(self._settings.oauth_namespace, ""))
        client = str(claims.get("client_id") or claims.get("azp") or "")
        identity = json.dumps([self._issuer, claims["sub"], client, role, namespace])
        fields = {
            "name": _name_of(str(claims["sub"])),
            "sha256": hashlib.sha256(identity.encode()).hexdigest(),
            "namespace": namespace,
            "role": role,
        }
        try:
            return Grant(Token.read(fields), float(claims["exp"]))
        except InvalidArgument:
            raise refusals.no_namespace(self._settings.oauth_namespace) from None

    async def _read_claims(self, secret: str) -> dict[str, Any]:
        try:
            key_id = jwt.get_unverified_header(secret).get("kid")
            key = self._keys.find_fresh(key_id) or await anyio.to_thread.run_sync(self._keys.find, key_id)
            if key is None or key.algorithm_name not in _ALGORITHMS:
                raise refusals.unauthorized(self.metadata_url, "The issuer has no key for its signature.")
            return jwt.decode(
                secret,
                key,
                algorithms=[key.algorithm_name],
                audience=self._resource,
                issuer=self._issuer,
                leeway=_LEEWAY,
                options={"require": [*_REQUIRED]},
            )
        except PyJWTError as error:
            raise refusals.unauthorized(self.metadata_url, f"{str(error).rstrip('.')}.") from None
        except IssuerUnreachable as error:
            raise refusals.issuer_unreachable(str(error)) from None


def _scopes_of(claims: dict[str, Any]) -> set[str]:
    """Return a token's scopes: `scope` as RFC 9068 has it, or `scp`, as a text or a list."""
    given = claims.get("scope", claims.get("scp", ""))
    return set(given.split() if isinstance(given, str) else map(str, given) if isinstance(given, list) else ())


def _name_of(subject: str) -> str:
    """Return a subject as the name of a token: for people and logs."""
    return f"oauth-{re.sub('[^A-Za-z0-9._-]', '-', subject)}"[:_LONGEST_NAME]
