"""Errors as text and as data, for every door."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from orchestrator.errors import OrchestratorError

_BESIDE = ("warnings", "events", "restored", "recovered", "matches", "session", "next")
"""Facts that stand beside `error` in the data, as in any other result."""


def error_text(error: OrchestratorError) -> str:
    """Return `code: message. Hint.`, then a line or a block for each fact that the message does not contain."""
    return "\n".join([f"{error.code}: {error}", *list_facts(error)])


def list_facts(error: OrchestratorError) -> list[str]:
    """Return a line or a block for each fact about an error that its message does not contain."""
    sentence = str(error)
    lines = [line for name, value in error.details.items() for line in _fact(name, value, sentence)]
    if error.session_id and not re.search(rf"(?<![\w.-]){re.escape(error.session_id)}(?![\w-])", sentence):
        lines.append(f"Session: {error.session_id}.")
    return lines


def _fact(name: str, value: Any, sentence: str) -> list[str]:
    if name in {"warnings", "events"}:
        return [f"{name.removesuffix('s').capitalize()}: {item}" for item in value]
    items = value if isinstance(value, list | tuple) else [value]
    if all(_spelled(item) in sentence for item in items):
        return []
    title = " ".join(name.split("_")).capitalize()
    if isinstance(value, list | tuple):
        return [f"{title}:", *(f"- {_spelled(item)}" for item in items)]
    return [f"{title}: {_spelled(value)}"]


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def error_data(error: OrchestratorError) -> dict[str, Any]:
    """Return an error as the data of a result."""
    facts: dict[str, Any] = json.loads(json.dumps(error.details, default=str))
    beside = {name: facts.pop(name) for name in _BESIDE if facts.get(name)}
    named = {"sessionId": error.session_id} if error.session_id else {}
    own: Mapping[str, Any] = {
        "code": error.code,
        "message": error.message,
        **named,
        "hint": error.hint,
        "retryable": error.retryable,
    }
    more = {to_camel(name): value for name, value in facts.items()}
    return {**beside, "error": {**own, **{name: value for name, value in more.items() if name not in own}}}
