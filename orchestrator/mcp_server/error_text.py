"""Errors as text and as data, for every door."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from orchestrator.errors import OrchestratorError
from orchestrator.models.results import Quote, own_line, quote_lines

_BESIDE = ("warnings", "events", "restored", "recovered", "matches", "session", "next")
"""Facts that stand beside `error` in the data, as in any other result."""


_FROM_PAGES = frozenset({"candidates", "actual", "console"})
"""Facts that a page wrote."""
_WORDS = re.compile("_|(?<=[a-z])(?=[A-Z])")
"""The places between the words of a fact's name."""


def error_lines(error: OrchestratorError) -> list[str]:
    """Return `code: message. Hint.`, then the lines of the facts that this program knows."""
    return [own_line(line) for line in (f"{error.code}: {error.sentence}", *list_facts(error))]


def error_quotes(error: OrchestratorError) -> list[Quote]:
    """Return the facts that a page wrote."""
    return quote_lines(_list(error, lambda name: name in _FROM_PAGES))


def list_facts(error: OrchestratorError) -> list[str]:
    """Return a line or a block for each fact of this program's that the message does not contain."""
    lines = _list(error, lambda name: name not in _FROM_PAGES)
    sentence = error.sentence
    if error.session_id and not re.search(rf"(?<![\w.-]){re.escape(error.session_id)}(?![\w-])", sentence):
        lines.append(f"Session: {error.session_id}.")
    return lines


def _list(error: OrchestratorError, chosen: Callable[[str], bool]) -> list[str]:
    sentence = error.sentence
    return [line for name, value in error.details.items() if chosen(name) for line in _fact(name, value, sentence)]


def _fact(name: str, value: Any, sentence: str) -> list[str]:
    if name in {"warnings", "events"}:
        return [f"{name.removesuffix('s').capitalize()}: {item}" for item in value]
    items = value if isinstance(value, list | tuple) else [value]
    if all(_spelled(item) in sentence for item in items):
        return []
    title = " ".join(_WORDS.split(name)).capitalize()
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
