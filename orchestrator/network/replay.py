"""Replays an HTTP archive: finds the entry of a request, and builds the response from it."""

from __future__ import annotations

import base64
import re
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.models.url_globs import origin_pattern
from orchestrator.network import fulfil, har
from orchestrator.network.rules import PausedRequest
from orchestrator.system.secrets import MASK, without_credentials

_PLAIN = "***"
"""Stands for a masked value in replayed headers, which take only ASCII characters."""
_MOST_PLAYED = 10_000
"""Requests whose number of answers is remembered; a page can make up as many as it likes for a masked entry."""
_NOT_PLAYED = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"})
"""Headers that are not replayed: they describe the transfer of the body, which is recorded decoded."""


class Replay:
    """An archive to replay; several entries for one request are used in order, the last one repeatedly."""

    def __init__(self, path: Path) -> None:
        self._entries: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
        self._masked: list[Mapping[str, Any]] = []
        self._played: defaultdict[tuple[str, ...], int] = defaultdict(int)
        self._lock = threading.Lock()
        self.patterns: set[str] = set()
        for entry in har.read(path):
            recorded = entry["request"]
            if entry["response"]["status"] < 100:  # noqa: PLR2004 - HTTP's lowest; the request had no response
                continue
            self._entries[str(recorded.get("method")), _bare(recorded["url"])].append(entry)
            self.patterns.add(origin_pattern(recorded["url"]))
            if MASK in recorded["url"]:
                self._masked.append(entry)

    def find_response(self, request: PausedRequest) -> dict[str, Any] | None:
        """Return the parameters of CDP's `Fetch.fulfillRequest`; None if the archive has no entry."""
        if request.preflight and self._find_entries(request.effective_method, request):
            return fulfil.build_preflight_response(request)
        entries = self._find_entries(request.method, request)
        if not entries:
            return None
        with self._lock:
            key = request.method, _bare(request.url), request.body
            number = self._played[key]
            self._played[key] = self._played.pop(key, 0) + 1
            if len(self._played) > _MOST_PLAYED:
                del self._played[next(iter(self._played))]
        return _played(entries[min(number, len(entries) - 1)], request)

    def _find_entries(self, method: str, request: PausedRequest) -> list[Mapping[str, Any]]:
        """Find the entries of a request by method, URL and body; an entry without a body fits any."""
        url = _bare(request.url)
        candidates = self._entries.get((method, url)) or [
            entry
            for entry in self._masked
            if entry["request"].get("method") == method and _matches_recorded(_bare(entry["request"]["url"]), url)
        ]
        same = [entry for entry in candidates if _body(entry) == request.body]
        return same or [
            entry for entry in candidates if not _body(entry) or _matches_recorded(_body(entry), request.body)
        ]


def _played(entry: Mapping[str, Any], request: PausedRequest) -> dict[str, Any]:
    response = entry["response"]
    content = response.get("content") or {}
    text = str(content.get("text") or "")
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
    headers = [
        (str(header["name"]), str(header["value"]).replace(MASK, _PLAIN))
        for header in response.get("headers") or ()
        if str(header["name"]).lower() not in _NOT_PLAYED and not str(header["name"]).startswith(":")
    ]
    return fulfil.build_response(int(response["status"]), headers, body, request)


def _body(entry: Mapping[str, Any]) -> str:
    return str((entry["request"].get("postData") or {}).get("text") or "")


def _matches_recorded(recorded: str, text: str) -> bool:
    """Return True if a text equals the recorded one, in which a mask stands for any characters."""
    if MASK not in recorded:
        return recorded == text
    return re.fullmatch(".*".join(map(re.escape, recorded.split(MASK))), text, re.DOTALL) is not None


def _bare(url: str) -> str:
    return without_credentials(url.partition("#")[0])
