"""A small authorization server: it publishes its metadata and keys, and signs access tokens."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from tests.servers.json_answers import write_json
from tests.servers.webdriver import listening

_METADATA = "/.well-known/oauth-authorization-server"


class AuthorizationServer(ThreadingHTTPServer):
    """The server.

    Attributes:
        issuer: Its URL.
        resource: The `aud` of its tokens; set it first.
        scope: The scope of tokens for clients that ask at its token endpoint.
        down: True while it answers nothing but errors.
        keys_read: How often its keys were read.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.resource = ""
        self.scope = "orchestrator:read"
        self.down = False
        self.keys_read = 0
        self.keys: dict[str, ec.EllipticCurvePrivateKey] = {}
        self.change_key("first")

    def change_key(self, name: str) -> None:
        """Sign with a new key from now on, and publish no other."""
        self.keys = {name: ec.generate_private_key(ec.SECP256R1())}

    def sign(self, key: ec.EllipticCurvePrivateKey | None = None, **claims: Any) -> str:
        """Sign an access token, valid for a minute; claims replace the usual ones, and None leaves one out."""
        [(name, own)] = self.keys.items()
        usual = {"iss": self.issuer, "aud": self.resource, "sub": "ann", "client_id": "tests", "team": "one"}
        merged = {**usual, "exp": int(time.time()) + 60, "scope": self.scope, **claims}
        kept = {claim: value for claim, value in merged.items() if value is not None}
        return jwt.encode(kept, key or own, algorithm="ES256", headers={"kid": name})

    def answer(self, path: str, form: dict[str, list[str]] | None) -> dict[str, Any] | None:
        """Return the answer to a request; None for one that leads nowhere."""
        if self.down:
            return None
        if path == _METADATA:
            ends = {name: f"{self.issuer}/{name}" for name in ("authorization_endpoint", "token_endpoint")}
            grants = {"grant_types_supported": ["client_credentials"]}
            return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", **ends, **grants}
        if path == "/keys":
            self.keys_read += 1
            facts = [(ECAlgorithm.to_jwk(key.public_key(), as_dict=True), name) for name, key in self.keys.items()]
            return {"keys": [{**key, "kid": name, "use": "sig"} for key, name in facts]}
        if path == "/token_endpoint" and form:
            token = self.sign(aud=form["resource"][0])
            return {"access_token": token, "token_type": "Bearer", "expires_in": 60, "scope": self.scope}
        return None


class _Handler(BaseHTTPRequestHandler):
    server: AuthorizationServer

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))

    def _answer(self, form: dict[str, list[str]] | None) -> None:
        found = self.server.answer(self.path, form)
        write_json(self, json.dumps(found).encode(), 404 if found is None else 200)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def authorization_server() -> Iterator[AuthorizationServer]:
    """Run a server for a block."""
    with listening(server := AuthorizationServer()):
        yield server
