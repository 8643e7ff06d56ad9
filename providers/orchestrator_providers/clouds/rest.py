"""Client of a vendor's REST API for one account: bounded in time and size, through a proxy."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import IO, Any
from urllib.parse import urlencode

from orchestrator.errors import OrchestratorError, ProviderAuth, ProviderFailure, brief
from orchestrator.provider import Upload
from orchestrator.system import http
from orchestrator.system.deadline import Deadline
from orchestrator.system.secrets import Redactor

_PIECE = 256 * 1024
_LARGEST = 4 * 1024 * 1024
"""Bytes of an answer that are read."""
_UPLOAD_SILENCE = 300.0
"""Seconds that a vendor may take to process an uploaded app."""
_SLOWEST = 32 * 1024
"""Bytes a second below which an upload is cancelled."""
_SHOWN = 300
"""Characters of a vendor's message that are reported."""
_MESSAGE_FIELDS = ("error", "message", "errors", "reason", "detail", "title")
"""Fields of an answer in which vendors put their error messages."""


class RestApi:
    """A vendor's REST API. Redirects, which would take the credentials elsewhere, are errors.

    Args:
        title: The vendor's name in errors.
        account: User and key, for basic authentication; without a user the key is a bearer token.
        variables: The environment variables that they are from.
    """

    def __init__(self, title: str, account: tuple[str, str], variables: str) -> None:
        user, key = account
        basic = http.basic_auth(user, key)
        self._title = title
        self._variables = variables
        self._authorization = basic if user else f"Bearer {key}"
        self._redactor = Redactor()
        for secret in (key, basic.removeprefix("Basic ")):
            self._redactor.add(secret)

    def request(
        self,
        method: str,
        url: str,
        *,
        json_body: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
        timeout: float,
    ) -> Any:
        """Send a request; return its answer, parsed as JSON, within `timeout` seconds.

        Raises:
            ProviderAuth: The credentials are refused.
            ProviderFailure: No answer, or no success; the message has the vendor's.
        """
        body, headers = None, {}
        if json_body is not None:
            body, headers = json.dumps(json_body).encode(), {"Content-Type": "application/json"}
        elif form is not None:
            body, headers = urlencode(form).encode(), {"Content-Type": "application/x-www-form-urlencoded"}
        return self._send(method, url, headers, body, timeout, Deadline(timeout))

    def upload(self, url: str, upload: Upload, field: str, form: Mapping[str, str]) -> Any:
        """Send a file in pieces, as `field` of a form behind its other fields; return the answer, parsed as JSON.

        Raises:
            ProviderAuth, ProviderFailure: As `request`, or the upload took too long.
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
            deadline = Deadline(_UPLOAD_SILENCE + size / _SLOWEST)
            body = _pieces(head.encode(), file, size, tail, upload, deadline)
            headers = {
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Content-Length": str(len(head.encode()) + size + len(tail)),
            }
            return self._send("POST", url, headers, body, _UPLOAD_SILENCE, deadline)

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | Iterable[bytes] | None,
        timeout: float,
        deadline: Deadline,
    ) -> Any:
        headers = {
            "Authorization": self._authorization,
            "Accept": "application/json",
            "User-Agent": "webdriver-orchestrator",
            **headers,
        }
        endpoint = f"{method} {url.partition('?')[0]}"
        try:
            answer = http.request(
                method, url, timeout=timeout, headers=headers, body=body, deadline=deadline, largest=_LARGEST
            )
        except OSError as error:
            reason = self._redactor.text(str(error)).rstrip(".")
            raise ProviderFailure(
                f"{self._title} does not answer to {endpoint}: {reason}.", hint="Check the connection, and try again."
            ) from None
        text = answer.body.decode("utf-8", "replace")
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            raise self._refusal(endpoint, answer.status, text)
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError:
            raise ProviderFailure(
                f"{self._title} answered {endpoint} with no JSON.", hint="Check api_url in the setting clouds."
            ) from None

    def _refusal(self, endpoint: str, status: int, text: str) -> OrchestratorError:
        message = self._redactor.text(brief(_message(text), _SHOWN)).rstrip(".")
        answer = f"{status}: {message}" if message else str(status)
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            return ProviderAuth(
                f"{self._title} refused the credentials ({endpoint} answered {answer}).",
                hint=f"Check {self._variables}.",
            )
        return ProviderFailure(f"{self._title} answered {endpoint} with {answer}.")


def _pieces(
    head: bytes, file: IO[bytes], size: int, tail: bytes, upload: Upload, deadline: Deadline
) -> Iterator[bytes]:
    """Yield a form with a file in it, piece by piece; report progress and stop when the upload is cancelled."""
    yield head
    sent = 0
    while sent < size:
        upload.check()
        if not deadline.seconds_left:
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


def _message(text: str) -> str:
    """Return the error message of an answer as one line: a field of JSON, else its text without tags."""
    try:
        message: Any = json.loads(text)
    except ValueError:
        message = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    while isinstance(message, dict | list) and message:
        if isinstance(message, list):
            inner = message[0]
        else:
            inner = next((message[name] for name in _MESSAGE_FIELDS if message.get(name)), None)
        if inner is None:
            break
        message = inner
    return " ".join((message if isinstance(message, str) else json.dumps(message)).split())
