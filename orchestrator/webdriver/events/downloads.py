"""Ended downloads of a browser."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_REMEMBERED = 100


class Downloaded(NamedTuple):
    """An ended download: the file's name and path; the path is None if it was cancelled or denied."""

    name: str
    path: str | None


class DownloadEvents:
    """Ended downloads of a session that were not reported yet.

    Attributes:
        ended: The downloads, oldest first.

    Source: https://www.w3.org/TR/webdriver-bidi/#event-browsingContext-downloadEnd.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self.ended: deque[Downloaded] = deque(maxlen=_REMEMBERED)

    def handle_will_begin(self, event: Mapping[str, Any]) -> None:
        """Note the file's name from `browsingContext.downloadWillBegin`."""
        self._names[_key(event)] = str(event.get("suggestedFilename") or "")
        if len(self._names) > _REMEMBERED:  # the oldest, whose end was never reported
            self._names.pop(next(iter(self._names)))

    def handle_end(self, event: Mapping[str, Any]) -> None:
        """Add a download from `browsingContext.downloadEnd`."""
        name, path = self._names.pop(_key(event), ""), event.get("filepath")
        if event.get("status") != "complete" or not path:
            self.ended.append(Downloaded(name, None))
        else:
            self.ended.append(Downloaded(Path(str(path)).name, str(path)))


def _key(event: Mapping[str, Any]) -> str:
    return str(event.get("download") or event.get("navigation") or event.get("url"))
