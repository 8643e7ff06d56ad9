"""Access tokens of an authorization server, which the server over HTTP takes as a protected resource."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from orchestrator.errors import InvalidArgument
from orchestrator.mcp_server.http.issuer_keys import IssuerKeys, IssuerUnreachable
from orchestrator.mcp_server.http.oauth import OAuth
from orchestrator.mcp_server.http.refusals import HttpRefusal
from orchestrator.settings import Settings
from tests.mcp_server.test_http import LIST, PING, error
from tests.servers.authorization import AuthorizationServer, authorization_server
from tests.servers.http_mcp import HttpServer, http_server
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def issuer() -> Iterator[AuthorizationServer]:
    """An authorization server."""
    with authorization_server() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, issuer: AuthorizationServer) -> Iterator[HttpServer]:
    """A server that takes its tokens, whose claim `team` names the namespace."""
    options = ("--oauth-issuer", issuer.issuer, "--oauth-namespace", "team")
    with http_server(tmp_path_factory.mktemp("oauth") / "home", *options) as started:
        issuer.resource = started.url
        yield started


class _Memory:
    """What a client keeps of its authorization."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def test_a_client_of_the_sdk_finds_the_issuer_and_calls_with_its_token(
    server: HttpServer, issuer: AuthorizationServer
) -> None:
    """From the 401 to the metadata of the resource and of the issuer, to a token, and to tools of its scope's role."""
    memory = _Memory()
    authorized = ClientCredentialsOAuthProvider(server.url, memory, "tests", "made-up", issuer=issuer.issuer)
    async with (
        httpx2.AsyncClient(auth=authorized, timeout=PATIENCE) as http,
        Client(streamable_http_client(server.url, http_client=http)) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "get_text" in names
        assert "start_browser" not in names
        assert not (await client.call_tool("list_sessions", {})).is_error
    assert memory.tokens is not None
    assert issuer.keys_read == 1


def test_the_metadata_of_the_resource_name_the_issuer_and_the_scopes(
    server: HttpServer, issuer: AuthorizationServer
) -> None:
    """RFC 9728: without a token, at the path that the 401 names, and at the root."""
    refused = server.request(None, PING)
    place = f"{server.base}/.well-known/oauth-protected-resource/mcp"
    assert refused.headers["WWW-Authenticate"] == f'Bearer realm="webdriver-orchestrator", resource_metadata="{place}"'
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        metadata = json.loads(server.request(method="GET", path=path).data)
        assert metadata["resource"] == server.url
        assert metadata["authorization_servers"] == [issuer.issuer]
        assert metadata["scopes_supported"] == ["orchestrator:read", "orchestrator:act", "orchestrator:admin"]


def _public_pem(issuer: AuthorizationServer) -> bytes:
    [key] = issuer.keys.values()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form)


def _forged(issuer: AuthorizationServer, algorithm: str) -> str:
    """Return a token that is not signed, or with the public key as if it were a secret one."""
    claims = jwt.decode(issuer.sign(scope="orchestrator:admin"), options={"verify_signature": False})
    token = jwt.encode(claims, "x" * 32, algorithm="HS256", headers={"kid": "first"})
    header, body, _ = token.split(".")
    if algorithm == "none":
        header = jwt.utils.base64url_encode(b'{"alg": "none", "kid": "first"}').decode()
        return f"{header}.{body}."
    signed = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = signed.sign(f"{header}.{body}".encode(), _public_pem(issuer))
    return f"{header}.{body}.{jwt.utils.base64url_encode(signature).decode()}"


def test_tokens_that_are_not_of_the_issuer_for_this_server_and_now_are_refused(
    server: HttpServer, issuer: AuthorizationServer
) -> None:
    """401 with `invalid_token`; an access token for another resource is one of them, and so is each forged one."""
    other = ec.generate_private_key(ec.SECP256R1())
    refused = {
        "expired": issuer.sign(exp=int(time.time()) - 60),
        "for another resource": issuer.sign(aud="https://other.example/mcp"),
        "for none": issuer.sign(aud=None),
        "of another issuer": issuer.sign(iss="https://other.example"),
        "without an end": issuer.sign(exp=None),
        "without a subject": issuer.sign(sub=None),
        "signed by another key": issuer.sign(other),
        "not signed": _forged(issuer, "none"),
        "signed by the public key": _forged(issuer, "HS256"),
        "of an unknown key": jwt.encode({"sub": "ann"}, other, "ES256", {"kid": "unknown"}),
        "no token": "abc.def",
        "of tokens.toml, revoked": "wdo_unknown",
    }
    for why, token in refused.items():
        response = server.request(token, PING)
        assert (response.status, error(response)["code"]) == (401, "unauthorized"), why
        assert 'error="invalid_token"' in response.headers["WWW-Authenticate"], why
        assert token.encode() not in response.data
    assert server.request(issuer.sign(), PING).status == 400  # taken, but no session of the protocol


def test_scopes_give_roles_and_a_token_without_one_is_refused(server: HttpServer, issuer: AuthorizationServer) -> None:
    """`act` changes, `read` does not, `admin` also sees the metrics; scopes of others give nothing."""

    def start(scope: str) -> str:
        answer = server.call(issuer.sign(scope=scope), "close_session", {"sessionId": "nobody"})
        code: str = answer["structuredContent"]["error"]["code"]
        return code

    assert start("openid orchestrator:read") == "denied"
    assert start("orchestrator:read orchestrator:act") == "session_not_found"
    metrics = {
        scope: server.request(issuer.sign(scope=scope), method="GET", path="/metrics").status
        for scope in ("orchestrator:act", "orchestrator:admin")
    }
    assert metrics == {"orchestrator:act": 403, "orchestrator:admin": 200}
    for claims in ({"scope": "openid"}, {"scope": None}, {"scope": None, "scp": ["openid"]}):
        response = server.request(issuer.sign(**claims), PING)
        assert (response.status, error(response)["code"]) == (403, "insufficient_scope")
        assert 'error="insufficient_scope"' in response.headers["WWW-Authenticate"]
    assert server.request(issuer.sign(scope=None, scp=["orchestrator:read"]), PING).status == 400


def test_subjects_are_callers_of_their_own_in_the_namespace_of_their_claim(
    server: HttpServer, issuer: AuthorizationServer
) -> None:
    """A file that ann sent is there for ann's next token, and for nobody else's; without a namespace none is taken."""

    def list_names(**claims: Any) -> list[str]:
        token = issuer.sign(scope="orchestrator:act", **claims)
        return [file["name"] for file in json.loads(server.request(token, method="GET", path="/files").data)["files"]]

    server.request(issuer.sign(scope="orchestrator:act"), b"x", path="/files?name=mine.txt")
    assert list_names(exp=int(time.time()) + 120) == ["mine.txt"]
    for other in ({"sub": "ben"}, {"team": "two"}, {"client_id": "other"}):
        assert list_names(**other) == []
    for team in (None, "../one", ""):
        response = server.request(issuer.sign(team=team), LIST)
        assert (response.status, error(response)["code"]) == (403, "no_namespace")


def test_tokens_that_were_made_here_are_taken_beside_them(server: HttpServer) -> None:
    """`tokens.toml` goes on to count, for scrapes and scripts."""
    assert server.request(server.token("script"), PING).status == 400


def test_new_keys_of_the_issuer_are_found_and_old_ones_forgotten() -> None:
    """Unknown keys cause one request in ten seconds; a key that is gone is trusted for five minutes at most."""
    now = 0.0
    with authorization_server() as issuer:
        keys = IssuerKeys(issuer.issuer, lambda: now)
        assert keys.find("first") is not None
        issuer.change_key("second")
        assert [keys.find("second") for _ in range(5)] == [None] * 5
        assert issuer.keys_read == 1
        now = 10.0
        assert keys.find("second") is not None
        assert keys.find("first") is None
        now, issuer.down = 400.0, True
        assert keys.find("second") is not None
        now, issuer.down = 500.0, False
        issuer.change_key("third")
        assert keys.find("second") is None


async def test_an_issuer_that_cannot_be_reached_is_told_and_is_no_fault_of_the_token(tmp_path: Path) -> None:
    """503, `retryable`."""
    with authorization_server() as issuer:
        token = issuer.sign()
    with pytest.raises(IssuerUnreachable):
        IssuerKeys(issuer.issuer).find("first")
    with pytest.raises(HttpRefusal) as refused:
        await OAuth(Settings(home=tmp_path), issuer.issuer, "http://127.0.0.1/mcp").verify(token)
    assert (refused.value.status, refused.value.code, refused.value.retryable) == (503, "issuer_unreachable", True)


@pytest.mark.parametrize("url", ["http://issuer.example", "issuer.example", "ftp://127.0.0.1"])
def test_an_issuer_must_be_reached_by_tls(url: str) -> None:
    """Else whoever is on the way could give us keys; a server of this machine is an exception."""
    with pytest.raises(InvalidArgument, match="oauth_issuer"):
        Settings.load({"oauth_issuer": url})
