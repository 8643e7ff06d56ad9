"""How what was heard is written: without secrets, short enough, with people's line numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.errors import brief
from orchestrator.secrets import Redactor, without_credentials, without_users

_URL = 1000
"""Characters of an address; one of data can have millions."""


def masked(text: str, redactor: Redactor, longest: int) -> str:
    """The beginning of a text, without the secrets that are known and without user and password in addresses.

    What is known only later is struck out when it is shown; but half a secret would not be found any more, so it is
    struck out before the text is cut.
    """
    return brief(redactor.text(without_users(text)), longest)


def address(url: Any, redactor: Redactor) -> str:
    """An address as it may be kept and shown."""
    return masked(without_credentials(str(url or "")), redactor, _URL)


def place(frame: Mapping[str, Any], redactor: Redactor) -> str:
    """Where a frame of a stack is: `url:line:column`, counted from 1; empty for code that has no address."""
    url = address(frame.get("url"), redactor)
    return f"{url}:{_from_one(frame, 'lineNumber')}:{_from_one(frame, 'columnNumber')}" if url else ""


def frames(stack: Any) -> list[Mapping[str, Any]]:
    """The frames of a stack trace that have an address: what drivers run in pages has none."""
    found = stack.get("callFrames") if isinstance(stack, Mapping) else None
    return [one for one in found or () if isinstance(one, Mapping) and one.get("url")]


def _from_one(frame: Mapping[str, Any], name: str) -> int:
    number = frame.get(name)
    return number + 1 if isinstance(number, int) else 1
