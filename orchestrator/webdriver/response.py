"""The answer of a remote end to a command: a value, or a W3C error code with its message."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from orchestrator.errors import brief

DIALOG_TEXT = 500
"""Characters of a dialog's text that are reported; a browser shows ten thousand."""
_SAYS_GONE = {
    "disconnected": "",
    "Unable to execute request for an existing session": "the node of the Grid that it ran on is gone: ",
    "the instrumentation process is not running": "",
    "Failed to decode response from marionette": "the browser is gone: ",
    "Failed to write request to stream": "the browser is gone: ",
    "Tried to run command without establishing a connection": "the browser is gone: ",
}
"""Parts of messages that mean a lost browser, Grid node or UiAutomator2 server, with words that explain them.

These errors have no code of their own."""
_NOT_WEBDRIVER = "its answer is not WebDriver's"
_GONE = frozenset({"invalid session id", "no such session"})
_BEFOREUNLOAD = "Unexpected dialog type beforeunload"
"""chromedriver 156's refusal of a command when it has not accepted this dialog yet, which its capabilities ask for."""


class RemoteResponse:
    """A value, or an error: its W3C code, its message, and the text of the dialog that caused it."""

    def __init__(self, value: Any, error: str | None = None, message: str = "", dialog: str = "") -> None:
        self.value = value
        self.error = error
        self.message = message
        self.dialog = dialog

    @classmethod
    def read(cls, status: int, body: bytes) -> RemoteResponse:
        """Read an HTTP answer: its status, and its body, of which nothing is shown unless it is WebDriver's JSON.

        Whoever may name a URL could read any service that this machine reaches otherwise, by its errors.
        """
        text = body.decode("utf-8", "replace").strip()
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return cls._read_success(status, text)
        # Whoever asks for a password need not know WebDriver: its status is the error.
        error = None if status == HTTPStatus.UNAUTHORIZED else cls._read_error(text)
        return error or cls(None, f"HTTP {status}", _phrase(status))

    @classmethod
    def _read_success(cls, status: int, text: str) -> RemoteResponse:
        try:
            answer = json.loads(text)
            value = answer["value"]
        except (ValueError, TypeError, KeyError):
            return cls(None, f"HTTP {status}", _NOT_WEBDRIVER)
        # The JSON Wire Protocol had a status of its own, which is 0 for success.
        return cls(None, f"HTTP {answer['status']}", _first_line(str(value))) if answer.get("status") else cls(value)

    @classmethod
    def _read_error(cls, text: str) -> RemoteResponse | None:
        """Read an error as W3C WebDriver writes it; None where it is none."""
        try:
            value = json.loads(text)["value"]
            message = _first_line(str(value.get("message", "")))
            dialog = brief(str((value.get("data") or {}).get("text", "")), DIALOG_TEXT)
            return cls(None, str(value["error"]), message, dialog)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    @property
    def session_lost_reason(self) -> str | None:
        """The reason of an error that means a lost session; None for any other answer."""
        explanation = next((explanation for words, explanation in _SAYS_GONE.items() if words in self.message), None)
        is_lost = self.error in _GONE or explanation is not None
        return f"{explanation or ''}{self.message}" if is_lost else None

    @property
    def left_beforeunload_open(self) -> bool:
        """True if the command was refused for a beforeunload dialog that the driver should have accepted."""
        return _BEFOREUNLOAD in self.message


def _phrase(status: int) -> str:
    """Return the standard's words for a status: those of the server may be any text."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return _NOT_WEBDRIVER


def _first_line(message: str) -> str:
    """Return a driver's message without session info and stack trace."""
    text = message.partition("\n  (Session info")[0].partition("\nBuild info")[0].partition("\nStacktrace")[0]
    return " ".join(text.split()).rstrip(".")[:500]
