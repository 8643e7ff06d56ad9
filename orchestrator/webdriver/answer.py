"""What a remote end answered to a command, read from selenium's raw response."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.errors import brief
from orchestrator.webdriver import unreached

DIALOG_TEXT = 500
"""Characters of a dialog that are told; a browser shows ten thousand."""
_SAYS_GONE = {
    "disconnected": "",
    "Unable to execute request for an existing session": "the node of the Grid that it ran on is gone: ",
    "the instrumentation process is not running": "",
}
"""What errors without a code of their own contain where the browser, a Grid node or UiAutomator2's server is gone."""
_GONE = frozenset({"invalid session id", "no such session"})


class Answer:
    """What came back: a value, or a W3C error code with its message."""

    def __init__(self, value: Any, error: str | None = None, message: str = "", dialog: str = "") -> None:
        self.value = value
        self.error = error
        self.message = message
        self.dialog = dialog

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Answer:
        """Read selenium's raw response: an error has the HTTP status beside its undecoded body."""
        status = raw.get("status", 0)
        if not status:
            return cls(raw.get("value"))
        try:
            value = json.loads(raw["value"])["value"]
            message = _first_line(str(value.get("message", "")))
            dialog = brief(str((value.get("data") or {}).get("text", "")), DIALOG_TEXT)
            return cls(None, str(value["error"]), message, dialog)
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls(None, f"HTTP {status}", _first_line(unreached.readable(str(raw.get("value", "")))))

    @property
    def gone(self) -> str | None:
        """What it says of a session that is no more; None where the session is there."""
        what = next((what for words, what in _SAYS_GONE.items() if words in self.message), None)
        return f"{what or ''}{self.message}" if self.error in _GONE or what is not None else None


def _first_line(message: str) -> str:
    """A driver's message without session info and stack trace."""
    text = message.partition("\n  (Session info")[0].partition("\nBuild info")[0].partition("\nStacktrace")[0]
    return " ".join(text.split()).rstrip(".")[:500]
