"""Ended downloads of a browser."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.webdriver.events.download_quota import DownloadQuota

_REMEMBERED = 100


class Shortfall(NamedTuple):
    """A response that ended before its length: the bytes of its body that came, and those that it announced."""

    received: int
    announced: int


class Downloaded(NamedTuple):
    """An ended download: the file's name and path; the path is None if it was cancelled or denied.

    `beyond` names the limits that it was cancelled for; `shortfall` says how much of the file there is, if not all.
    """

    name: str
    path: str | None
    beyond: str = ""
    shortfall: Shortfall | None = None


class DownloadEvents:
    """Ended downloads of a session that were not reported yet.

    Attributes:
        ended: The downloads, oldest first.
        quota: What they may have together; None where they are not on this machine, or not in a folder of ours.

    Source: https://www.w3.org/TR/webdriver-bidi/#event-browsingContext-downloadEnd.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._shortfalls: dict[str, Shortfall] = {}
        self.ended: deque[Downloaded] = deque(maxlen=_REMEMBERED)
        self.quota: DownloadQuota | None = None

    def handle_will_begin(self, event: Mapping[str, Any]) -> None:
        """Note the file's name from `browsingContext.downloadWillBegin`."""
        self._names[_key(event)] = str(event.get("suggestedFilename") or "")
        if len(self._names) > _REMEMBERED:  # the oldest, whose end was never reported
            self._names.pop(next(iter(self._names)))
        if self.quota and event.get("download"):
            self.quota.begin(str(event["download"]))

    def handle_response(self, event: Mapping[str, Any]) -> None:
        """Note from `network.responseCompleted` that a document came short: Firefox ends its download as complete."""
        if not event.get("navigation"):
            return
        key = _key(event)
        self._shortfalls.pop(key, None)  # that of a redirect
        if shortfall := _shortfall(event["response"]):
            self._shortfalls[key] = shortfall
            if len(self._shortfalls) > _REMEMBERED:  # the oldest, which was no download
                self._shortfalls.pop(next(iter(self._shortfalls)))

    def handle_end(self, event: Mapping[str, Any]) -> None:
        """Add a download from `browsingContext.downloadEnd`."""
        key = _key(event)
        name, path, shortfall = self._names.pop(key, ""), event.get("filepath"), self._shortfalls.pop(key, None)
        path = path if event.get("status") == "complete" else None
        if self.quota and self.quota.end(str(event.get("download")), Path(str(path)) if path else None):
            self.ended.append(Downloaded(name, None, self.quota.limits))
        elif not path:
            self.ended.append(Downloaded(name, None))
        else:
            self.ended.append(Downloaded(Path(str(path)).name, str(path), shortfall=shortfall))


def _key(event: Mapping[str, Any]) -> str:
    return str(event.get("download") or event.get("navigation") or event.get("url"))


def _shortfall(response: Mapping[str, Any]) -> Shortfall | None:
    if response.get("fromCache"):
        return None
    lengths = [
        int(header["value"]["value"]) for header in response["headers"] if header["name"].lower() == "content-length"
    ]
    received = int(response["bodySize"])
    return Shortfall(received, lengths[0]) if lengths and received < lengths[0] else None
