"""A vendor's REST API, as one account: bounded in time and size, and through the proxy that the environment names."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import secrets
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from orchestrator.errors import OrchestratorError, ProviderAuth, ProviderFailure, brief
from orchestrator.provider import Upload
from orchestrator.secrets import Redactor

_PIECE = 256 * 1024
_LARGEST = 4 * 1024 * 1024
"""Bytes of an answer that are read."""
_SILENT = 300.0
"""Seconds that a vendor may think about an app that it was sent."""
_SLOWEST = 32 * 1024
"""Bytes a second below which an upload is given up."""
_SAID = 300
_SAYING = ("error", "message", "errors", "reason", "detail", "title")
"""Where in an answer a vendor says what is wrong."""


class Api:
    """One vendor's REST API.

    Args:
        title: What the vendor is called in errors.
        account: User and key, for basic authentication; without a user the key is a bearer's token.
        variables: The environment variables that they are from.
    """

    def __init__(self, title: str, account: tuple[str, str], variables: str) -> None:
        user, key = account
        token = b64encode(f"{user}:{key}".encode()).decode()
        self._title = title
        self._variables = variables
        self._authorization = f"Basic {token}" if user else f"Bearer {key}"
        self._redactor = Redactor()
        for secret in (key, token):
            self._redactor.add(secret)
        # A redirection would take the credentials to another place.
        self._opener = build_opener(_NoRedirection())

    def ask(
        self,
        method: str,
        url: str,
        *,
        json_body: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
        timeout: float,
    ) -> Any:
        """Send a request; returns its answer, read as JSON, within `timeout` seconds.

        Raises:
            ProviderAuth: The credentials are refused.
            ProviderFailure: Nobody answers, or it is no success; it says what the vendor said.
        """
        body, kind = None, ""
        if json_body is not None:
            body, kind = json.dumps(json_body).encode(), "application/json"
        elif form is not None:
            body, kind = urlencode(form).encode(), "application/x-www-form-urlencoded"
        request = Request(url, body, {"Content-Type": kind} if kind else {}, method=method)  # noqa: S310 — a setting's
        return self._answer(request, timeout, time.monotonic() + timeout)

    def upload(self, url: str, upload: Upload, field: str, form: Mapping[str, str]) -> Any:
        """Send a file in pieces, as a form's `field` behind its other fields; returns the answer, read as JSON.

        Raises:
            ProviderAuth, ProviderFailure: As for `ask`, or it took too long.
        """
        boundary = secrets.token_hex(16)
        head = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in form.items()
        )
        name = upload.path.name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        head += f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
        head += "Content-Type: application/octet-stream\r\n\r\n"
        tail = f"\r\n--{boundary}--\r\n".encode()
        with upload.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            deadline = time.monotonic() + _SILENT + size / _SLOWEST
            body = _pieces(head.encode(), file, size, tail, upload, deadline)
            headers = {
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Content-Length": str(len(head.encode()) + size + len(tail)),
            }
            request = Request(url, body, headers, method="POST")  # noqa: S310 — a setting's
            return self._answer(request, _SILENT, deadline)

    def _answer(self, request: Request, timeout: float, deadline: float) -> Any:
        request.add_unredirected_header("Authorization", self._authorization)
        request.add_header("Accept", "application/json")
        request.add_header("User-Agent", "webdriver-orchestrator")
        where = f"{request.get_method()} {request.full_url.partition('?')[0]}"
        try:
            with self._opener.open(request, timeout=timeout) as answer:
                text = _read(answer, deadline)
        except HTTPError as error:
            with error:
                text = ""
                with contextlib.suppress(OSError, http.client.HTTPException):
                    text = _read(error, deadline)
            raise self._refusal(where, error.code, text) from None
        except (URLError, http.client.HTTPException, OSError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            said = self._redactor.text(str(reason) or type(reason).__name__).rstrip(".")
            raise ProviderFailure(
                f"{self._title} does not answer to {where}: {said}.", hint="Look at the connection, and try again."
            ) from None
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError:
            raise ProviderFailure(
                f"{self._title} answered {where} with what is no JSON.", hint="Check api_url in the setting clouds."
            ) from None

    def _refusal(self, where: str, status: int, text: str) -> OrchestratorError:
        said = self._redactor.text(brief(_message(text), _SAID)).rstrip(".")
        told = f"{status}: {said}" if said else str(status)
        if status in {401, 403}:
            return ProviderAuth(
                f"{self._title} refused the credentials ({where} answered {told}).",
                hint=f"Check {self._variables}.",
            )
        return ProviderFailure(f"{self._title} answered {where} with {told}.")


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none: it is an answer like any other that is no success."""


def _pieces(head: bytes, file: IO[bytes], size: int, tail: bytes, upload: Upload, deadline: float) -> Iterator[bytes]:
    """A form with a file in it, piece by piece; whoever waits hears how far it is, and can leave."""
    yield head
    sent = 0
    while sent < size:
        upload.check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{_megabytes(sent)} of {_megabytes(size)} were sent in time")
        piece = file.read(min(_PIECE, size - sent))
        if not piece:
            raise OSError("the file became shorter while it was sent")
        yield piece
        sent += len(piece)
        upload.tell(f"sent {_megabytes(sent)} of {_megabytes(size)}")
    yield tail


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def _read(answer: Any, deadline: float) -> str:
    found = bytearray()
    while len(found) < _LARGEST and (piece := answer.read1(_PIECE)):
        found += piece
        if time.monotonic() > deadline:
            raise TimeoutError("its answer has no end")
    return found.decode("utf-8", "replace")


def _message(text: str) -> str:
    """What an answer says, as a line: JSON's own word for it, else its text without tags."""
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    while isinstance(found, dict | list) and found:
        inner = (
            found[0] if isinstance(found, list) else next((found[name] for name in _SAYING if found.get(name)), None)
        )
        if inner is None:
            break
        found = inner
    return " ".join((found if isinstance(found, str) else json.dumps(found)).split())
