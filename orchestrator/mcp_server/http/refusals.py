"""Refusals of requests: an HTTP status, and a JSON error that says what to do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from mcp.shared.inbound import unsupported_protocol_version_rejection
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.responses import Response

_JSON_RPC = {400: -32600, 405: -32600, 406: -32600, 415: -32600}
"""Codes of JSON-RPC by status; of all others the first that servers define themselves."""
_OWN = -32000
PARSE_ERROR = -32700


@dataclass(eq=False)
class HttpRefusal(Exception):
    """A request that is refused before a tool is called: nothing of it was done.

    Attributes:
        status: The HTTP status.
        code: Stable name of the situation.
        message: What happened.
        hint: What to do next.
        retryable: True when the same request can succeed later.
        headers: Further headers of the answer.
        rpc_code: Code of JSON-RPC; default: by the status.
        facts: Further data.
    """

    status: int
    code: str
    message: str
    hint: str
    retryable: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    rpc_code: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def response(self, request_id: Any = None, *, rpc: bool = True) -> Response:
        """Return the answer: an error of JSON-RPC to a request of MCP, else a plain object."""
        data: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "retryable": self.retryable,
        }
        data |= self.facts
        body: dict[str, Any] = {"error": data}
        if rpc:
            code = self.rpc_code or _JSON_RPC.get(self.status, _OWN)
            error = {"code": code, "message": f"{self.message} {self.hint}", "data": data}
            known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
            body = {"jsonrpc": "2.0", "id": known, "error": error}
        text = json.dumps(body, ensure_ascii=False)
        return Response(text, self.status, headers=self.headers, media_type="application/json")


def unauthorized(reason: str = "", metadata_url: str = "") -> HttpRefusal:
    """Return the refusal of a request without a token, or with one that is not taken for a reason.

    `metadata_url` tells clients of OAuth where they learn whose tokens are (RFC 9728).
    """
    maker = "whoever runs this server makes one (orchestrator tokens add)"
    if metadata_url:
        maker += f"; or get one of the authorization server that {metadata_url} names"
    hint = f"Ask for another one: {maker}." if reason else f"Send Authorization: Bearer TOKEN; {maker}."
    scheme = 'Bearer realm="webdriver-orchestrator"' + (', error="invalid_token"' if reason else "")
    scheme += f', resource_metadata="{metadata_url}"' if metadata_url else ""
    return HttpRefusal(401, "unauthorized", reason or "A token is needed.", hint, headers={"WWW-Authenticate": scheme})


def insufficient_scope(scopes: list[str], metadata_url: str) -> HttpRefusal:
    """Return the refusal of an access token that has none of our scopes."""
    scheme = f'Bearer error="insufficient_scope", scope="{scopes[0]}", resource_metadata="{metadata_url}"'
    return HttpRefusal(
        403,
        "insufficient_scope",
        "The access token has no scope for this server.",
        f"Get one with the scope {' or '.join(scopes)}.",
        headers={"WWW-Authenticate": scheme},
    )


def no_namespace(claim: str) -> HttpRefusal:
    """Return the refusal of an access token that does not say whose sessions it reaches."""
    return HttpRefusal(
        403,
        "no_namespace",
        f"The access token has no claim {claim!r} that names a namespace.",
        "Whoever runs the authorization server can add it: letters, digits, '.', '_' and '-'.",
    )


def issuer_unreachable(problem: str) -> HttpRefusal:
    """Return the refusal of an access token that cannot be verified at the moment."""
    return HttpRefusal(
        503,
        "issuer_unreachable",
        f"The access token cannot be verified: the keys of its issuer cannot be read ({problem[:200]}).",
        "Try again in some seconds; nothing of this request was run.",
        retryable=True,
        headers={"Retry-After": "10"},
    )


def wrong_role(needed: str) -> HttpRefusal:
    """Return the refusal of a token whose role does not reach so far."""
    return HttpRefusal(
        403,
        "wrong_role",
        f"This takes a token of the role {needed}.",
        f"Whoever runs this server makes one (orchestrator tokens add NAME --role {needed}).",
    )


def wrong_host(host: str) -> HttpRefusal:
    """Return the refusal of a request for another host: a page that had its name changed to ours."""
    return HttpRefusal(
        421,
        "wrong_host",
        f"This server is not {host[:100]!r}.",
        "Use the address that it was started with, or have that name added to the setting http_hosts.",
    )


def foreign_origin(origin: str) -> HttpRefusal:
    """Return the refusal of a web page of an origin that may not call."""
    return HttpRefusal(
        403,
        "foreign_origin",
        f"Pages of {origin[:100]!r} may not call this server.",
        "Only whoever runs this server can allow it: the setting http_origins.",
    )


def too_large(limit: int) -> HttpRefusal:
    """Return the refusal of a request with a body above the limit, in bytes."""
    return HttpRefusal(
        413,
        "too_large",
        f"The request is larger than {limit // 1_000_000} MB.",
        "Send less at once, or have the setting http_body raised.",
    )


def too_many(limit: str, seconds: int) -> HttpRefusal:
    """Return the refusal of a call above a limit of the token."""
    return HttpRefusal(
        429,
        "rate_limit",
        f"This token may make {limit}.",
        f"Call again in {seconds} s; nothing of this call was run.",
        retryable=True,
        headers={"Retry-After": str(seconds)},
    )


def broken_json() -> HttpRefusal:
    """Return the refusal of a body that is no JSON."""
    return HttpRefusal(
        400, "broken_json", "The body is no JSON.", "Send one message of JSON-RPC as UTF-8.", rpc_code=PARSE_ERROR
    )


def wrong_media(*, sent: bool) -> HttpRefusal:
    """Return the refusal of a request whose body, or whose expected answer, is of another kind."""
    if sent:
        return HttpRefusal(
            415, "wrong_media", "The body is not declared as JSON.", "Send Content-Type: application/json."
        )
    return HttpRefusal(
        406, "wrong_media", "The answer would not be accepted.", "Send Accept: application/json, text/event-stream."
    )


def form_sent() -> HttpRefusal:
    """Return the refusal of a form in place of a file."""
    return HttpRefusal(
        415,
        "wrong_media",
        "The body is a form, not a file.",
        "Send the file itself as the body: curl --data-binary @photo.png -H 'Content-Type: image/png' "
        "-H 'Authorization: Bearer TOKEN' 'URL/files?name=photo.png'.",
    )


def unknown_version(given: str) -> HttpRefusal | None:
    """Return the refusal of a version of the protocol that is not served; None for one that is."""
    if given in HANDSHAKE_PROTOCOL_VERSIONS or (rejected := unsupported_protocol_version_rejection(given)) is None:
        return None
    served = [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS]
    return HttpRefusal(
        400,
        "unknown_version",
        f"This server does not speak version {given[:40]!r} of the protocol.",
        f"Use one of {', '.join(served)}.",
        rpc_code=rejected.code,
        facts={"supported": served, "requested": given[:40]},
    )


def stale_session() -> HttpRefusal:
    """Return the refusal of a session of the protocol that this process does not have."""
    return HttpRefusal(
        404,
        "stale_session",
        "There is no such Mcp-Session-Id here: it ended, or the server was started anew.",
        "Send initialize again, without that header; browser sessions go on under their names.",
        retryable=True,
    )


def not_found(path: str) -> HttpRefusal:
    """Return the refusal of a path that leads nowhere."""
    return HttpRefusal(404, "not_found", f"There is nothing at {path[:100]!r}.", "MCP is at /mcp, files go to /files.")


def wrong_method(allowed: str) -> HttpRefusal:
    """Return the refusal of a method that the path does not have."""
    return HttpRefusal(
        405, "wrong_method", "This path has no such method.", f"Use {allowed}.", headers={"Allow": allowed}
    )


def ending() -> HttpRefusal:
    """Return the refusal of a request to a server that is about to end."""
    return HttpRefusal(
        503,
        "server_ending",
        "The server is ending, and takes no new requests.",
        "Try again in some seconds; nothing of this one was run.",
        retryable=True,
        headers={"Retry-After": "5"},
    )
