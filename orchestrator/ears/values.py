"""Writes the values of BiDi as people write them, in short."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.errors import brief

Clean = Callable[[str], str]
"""Strikes out of a string what must not be read, before it is shortened."""
_ITEMS = 10
_STRING = 200
"""Characters of a string inside an array or object; one that stands for itself is cut by whoever shows it."""
_DEPTH = 3


def told(value: Any, clean: Clean, depth: int = 0) -> str:
    """A remote value as text: `{a: 1, list: [1, 2]}`.

    Source: https://www.w3.org/TR/webdriver-bidi/#type-script-RemoteValue.
    """
    if not isinstance(value, Mapping):
        return clean(str(value))
    kind, inner = str(value.get("type")), value.get("value")
    if isinstance(inner, list):
        return _several(kind, inner, clean, depth)
    if kind == "string":
        said = clean(str(inner))
        return json.dumps(brief(said, _STRING), ensure_ascii=False) if depth else said
    if isinstance(inner, Mapping):
        return brief(clean(_composed(kind, inner)), _STRING)
    return kind if inner is None else json.dumps(inner) if isinstance(inner, bool) else clean(str(inner))


def _several(kind: str, items: list[Any], clean: Clean, depth: int) -> str:
    of_pairs = kind in {"object", "map"}
    opened, closed = "{}" if of_pairs or kind == "set" else "[]"
    if depth >= _DEPTH:
        return f"{opened}…{closed}"
    shown = [(_pair if of_pairs else told)(item, clean, depth + 1) for item in items[:_ITEMS]]
    more = [f"… {len(items) - _ITEMS} more"] if len(items) > _ITEMS else []
    return f"{opened}{', '.join(shown + more)}{closed}"


def _pair(item: Any, clean: Clean, depth: int) -> str:
    name, value = item
    return f"{clean(name) if isinstance(name, str) else told(name, clean, depth)}: {told(value, clean, depth)}"


def _composed(kind: str, inner: Mapping[str, Any]) -> str:
    if kind == "regexp":
        return f"/{inner.get('pattern')}/{inner.get('flags') or ''}"
    if kind != "node":
        return kind
    said = inner.get("attributes") or {}
    marks = [f"#{said['id']}"] if said.get("id") else []
    marks += [f".{one}" for one in str(said.get("class") or "").split()]
    return f"<{inner.get('localName') or inner.get('nodeValue') or kind}{''.join(marks)}>"
