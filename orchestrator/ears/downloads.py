"""What a browser downloads: heard when it is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_REMEMBERED = 100


class Downloaded(NamedTuple):
    """A download that ended: the file's name, and where it is; no path where it was cancelled, or denied."""

    name: str
    path: str | None


class Downloads:
    """The downloads of a session that ended and were not told yet.

    Source: https://www.w3.org/TR/webdriver-bidi/#event-browsingContext-downloadEnd.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._ended: deque[Downloaded] = deque(maxlen=_REMEMBERED)

    def begin(self, event: Mapping[str, Any]) -> None:
        """Take in a `browsingContext.downloadWillBegin`."""
        self._names[_key(event)] = str(event.get("suggestedFilename") or "")
        if len(self._names) > _REMEMBERED:  # whose end was never told
            self._names.pop(next(iter(self._names)))

    def end(self, event: Mapping[str, Any]) -> None:
        """Take in a `browsingContext.downloadEnd`."""
        name, path = self._names.pop(_key(event), ""), event.get("filepath")
        if event.get("status") != "complete" or not path:
            self._ended.append(Downloaded(name, None))
        else:
            self._ended.append(Downloaded(Path(str(path)).name, str(path)))

    def take(self) -> list[Downloaded]:
        """Those that ended since the last time."""
        return [self._ended.popleft() for _ in range(len(self._ended))]


def _key(event: Mapping[str, Any]) -> str:
    return str(event.get("download") or event.get("navigation") or event.get("url"))
