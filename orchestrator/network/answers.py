"""Answers that a request gets in the network's place, as CDP's `Fetch.fulfillRequest` takes them."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from orchestrator.network.rules import Request, Rule

Header = tuple[str, str]
"""Name and value; a name may come several times."""

_KINDS = (("{", "application/json"), ("[", "application/json"), ("<", "text/html; charset=utf-8"))
"""What a body is that begins so, where nobody says."""
_TEXT = "text/plain; charset=utf-8"


def answer(status: int, headers: Iterable[Header], body: bytes, request: Request) -> dict[str, Any]:
    """The parameters of the command, but for the request's id; another origin's page is let read it."""
    given = [*headers]
    if not any(name.lower() == "access-control-allow-origin" for name, _ in given):
        given += _cross_origin(request)
    return {
        "responseCode": status,
        "responsePhrase": _phrase(status),
        "responseHeaders": [{"name": name, "value": value} for name, value in given],
        "body": base64.b64encode(body).decode(),
    }


def fulfilled(rule: Rule, request: Request) -> dict[str, Any]:
    """What a rule of `fulfil` answers.

    Raises:
        OSError: Its file cannot be read any more.
    """
    if request.preflight:
        return allowed(request)
    body = rule.path.read_bytes() if rule.path else (rule.body or "").encode()
    named = {name.lower() for name in rule.headers}
    headers = [*rule.headers.items()]
    if "content-type" not in named or rule.content_type:
        headers = [one for one in headers if one[0].lower() != "content-type"]
        headers.append(("Content-Type", rule.content_type or _kind(rule)))
    return answer(rule.status or HTTPStatus.OK, headers, body, request)


def allowed(request: Request) -> dict[str, Any]:
    """What a CORS preflight is answered whose request will be answered here, too."""
    headers = [
        ("Access-Control-Allow-Methods", request.asked),
        ("Access-Control-Allow-Headers", request.headers.get("access-control-request-headers", "*")),
    ]
    return answer(HTTPStatus.NO_CONTENT, headers, b"", request)


def _cross_origin(request: Request) -> list[Header]:
    origin, there = request.headers.get("origin"), urlsplit(request.url)
    if not origin or origin == f"{there.scheme}://{there.netloc}":
        return []
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Credentials", "true"),
        ("Vary", "Origin"),
    ]


def _kind(rule: Rule) -> str:
    if rule.path:
        return mimetypes.guess_type(rule.path.name)[0] or "application/octet-stream"
    begins = (rule.body or "").lstrip()
    return next((kind for mark, kind in _KINDS if begins.startswith(mark)), _TEXT)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
