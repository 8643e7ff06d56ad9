"""Formats remote values, URLs and stack traces as text without secrets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.errors import brief
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.system.secrets import without_credentials, without_users

_URL = 1000
"""Characters of a URL; a data URL can have millions."""

Clean = Callable[[str], str]
"""Redacts a string before it is cut."""
_LONGEST = 24_000
"""Characters of a text that are looked at: more than are shown, since masking shortens it."""
_ITEMS = 10
_STRING = 200
"""Characters of a string inside an array or object; a string that is the whole value is cut by the caller."""
_DEPTH = 3


def mask_and_cut(text: str, redactor: SessionRedactor, longest: int) -> str:
    """Redact known secrets, and users and passwords in URLs, then cut the text.

    The order matters: half a secret would not be recognised. Secrets that become known later are redacted when the text
    is shown.
    """
    return brief(without_users(mask_beginning(text, redactor)), longest)


def mask_beginning(text: str, redactor: SessionRedactor) -> str:
    """Redact known secrets in as much of a text as any cut leaves of it: megabytes are not searched for nothing."""
    return redactor.beginning(text, _LONGEST)


def clean_url(url: Any, redactor: SessionRedactor) -> str:
    """Return a URL without credentials and secrets, and not too long."""
    return mask_and_cut(without_credentials(str(url or "")), redactor, _URL)


def format_location(frame: Mapping[str, Any], redactor: SessionRedactor) -> str:
    """Return the location of a stack frame as `url:line:column`, counted from 1; empty for code without a URL."""
    url = clean_url(frame.get("url"), redactor)
    return f"{url}:{_from_one(frame, 'lineNumber')}:{_from_one(frame, 'columnNumber')}" if url else ""


def find_stack_frames(stack: Any) -> list[Mapping[str, Any]]:
    """Return the frames of a stack trace that have a URL, which scripts of drivers lack."""
    frames = stack.get("callFrames") if isinstance(stack, Mapping) else None
    return [frame for frame in frames or () if isinstance(frame, Mapping) and frame.get("url")]


def _from_one(frame: Mapping[str, Any], name: str) -> int:
    number = frame.get(name)
    return number + 1 if isinstance(number, int) else 1


def format_remote_value(value: Any, clean: Clean, depth: int = 0) -> str:
    """Return a remote value as text, such as `{a: 1, list: [1, 2]}`.

    Source: https://www.w3.org/TR/webdriver-bidi/#type-script-RemoteValue.
    """
    if not isinstance(value, Mapping):
        return clean(str(value))
    kind, inner = str(value.get("type")), value.get("value")
    if isinstance(inner, list):
        return _collection(kind, inner, clean, depth)
    if kind == "string":
        text = clean(str(inner))
        return json.dumps(brief(text, _STRING), ensure_ascii=False) if depth else text
    if isinstance(inner, Mapping):
        return brief(clean(_composed(kind, inner)), _STRING)
    return kind if inner is None else json.dumps(inner) if isinstance(inner, bool) else clean(str(inner))


def _collection(kind: str, items: list[Any], clean: Clean, depth: int) -> str:
    of_pairs = kind in {"object", "map"}
    opened, closed = "{}" if of_pairs or kind == "set" else "[]"
    if depth >= _DEPTH:
        return f"{opened}…{closed}"
    shown = [(_pair if of_pairs else format_remote_value)(item, clean, depth + 1) for item in items[:_ITEMS]]
    more = [f"… {len(items) - _ITEMS} more"] if len(items) > _ITEMS else []
    return f"{opened}{', '.join(shown + more)}{closed}"


def _pair(item: Any, clean: Clean, depth: int) -> str:
    name, value = item
    shown = clean(name) if isinstance(name, str) else format_remote_value(name, clean, depth)
    return f"{shown}: {format_remote_value(value, clean, depth)}"


def _composed(kind: str, inner: Mapping[str, Any]) -> str:
    if kind == "regexp":
        return f"/{inner.get('pattern')}/{inner.get('flags') or ''}"
    if kind != "node":
        return kind
    attributes = inner.get("attributes") or {}
    suffixes = [f"#{attributes['id']}"] if attributes.get("id") else []
    suffixes += [f".{name}" for name in str(attributes.get("class") or "").split()]
    return f"<{inner.get('localName') or inner.get('nodeValue') or kind}{''.join(suffixes)}>"
