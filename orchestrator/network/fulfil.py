"""Responses to intercepted requests, as CDP's `Fetch.fulfillRequest` takes them."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from orchestrator.network.rules import PausedRequest, Rule

Header = tuple[str, str]
"""Name and value; a name may occur several times."""

_KINDS = (("{", "application/json"), ("[", "application/json"), ("<", "text/html; charset=utf-8"))
"""Default content types by the first character of the body."""
_TEXT = "text/plain; charset=utf-8"


def build_response(status: int, headers: Iterable[Header], body: bytes, request: PausedRequest) -> dict[str, Any]:
    """Build the parameters of `Fetch.fulfillRequest`, without the request's id.

    Unless the headers say otherwise, a page of another origin may read the response.
    """
    complete = [*headers]
    if not any(name.lower() == "access-control-allow-origin" for name, _ in complete):
        complete += _cross_origin(request)
    return {
        "responseCode": status,
        "responsePhrase": _phrase(status),
        "responseHeaders": [{"name": name, "value": value} for name, value in complete],
        "body": base64.b64encode(body).decode(),
    }


def build_rule_response(rule: Rule, request: PausedRequest) -> dict[str, Any]:
    """Build the response of a `fulfil` rule.

    Raises:
        OSError: The rule's file can no longer be read.
    """
    if request.preflight:
        return build_preflight_response(request)
    body = rule.path.read_bytes() if rule.path else (rule.body or "").encode()
    named = {name.lower() for name in rule.headers}
    headers = [*rule.headers.items()]
    if "content-type" not in named or rule.content_type:
        headers = [header for header in headers if header[0].lower() != "content-type"]
        headers.append(("Content-Type", rule.content_type or _kind(rule)))
    return build_response(rule.status or HTTPStatus.OK, headers, body, request)


def build_refusal(request: PausedRequest) -> dict[str, Any]:
    """Build the response to a request for what pages must not load; it says so to whoever reads the page.

    A response, since a failed request in a frame can make the driver fail the navigation of the page.
    """
    is_file = request.url.lower().startswith("file:")
    text = "denied: this file is not among those that tools may use (the setting file_roots)."
    if not is_file:
        text = "denied: pages must not lead to this origin (the settings allowed_origins and blocked_origins)."
    return build_response(HTTPStatus.FORBIDDEN, [("Content-Type", _TEXT)], text.encode(), request)


def build_blocked_page(request: PausedRequest) -> dict[str, Any]:
    """Build the page that stands for a navigation which a rule blocks, where a failed request cannot."""
    text = f"blocked: a rule for requests (tool route) blocks {request.url}."
    return build_response(HTTPStatus.FORBIDDEN, [("Content-Type", _TEXT)], text.encode(), request)


def build_preflight_response(request: PausedRequest) -> dict[str, Any]:
    """Build the response to a CORS preflight whose request will be fulfilled, too."""
    headers = [
        ("Access-Control-Allow-Methods", request.effective_method),
        ("Access-Control-Allow-Headers", request.headers.get("access-control-request-headers", "*")),
    ]
    return build_response(HTTPStatus.NO_CONTENT, headers, b"", request)


def _cross_origin(request: PausedRequest) -> list[Header]:
    origin, target = request.headers.get("origin"), urlsplit(request.url)
    if not origin or origin == f"{target.scheme}://{target.netloc}":
        return []
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Credentials", "true"),
        ("Vary", "Origin"),
    ]


def _kind(rule: Rule) -> str:
    if rule.path:
        return mimetypes.guess_type(rule.path.name)[0] or "application/octet-stream"
    body = (rule.body or "").lstrip()
    return next((kind for beginning, kind in _KINDS if body.startswith(beginning)), _TEXT)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
