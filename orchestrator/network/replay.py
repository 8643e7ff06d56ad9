"""Answers requests from an archive: which of its entries a request gets, and what that answers."""

from __future__ import annotations

import base64
import re
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.network import answers, archive
from orchestrator.network.globs import origin_pattern
from orchestrator.network.rules import Request
from orchestrator.secrets import MASK, without_credentials

_PLAIN = "***"
"""What stands in headers that are played back for a value that was masked: they take no other characters."""
_NOT_PLAYED = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"})
"""Headers of the way that the body took; it is played back as it was read."""


class Replay:
    """One archive. Of several entries for one request the first comes first, and the last again and again."""

    def __init__(self, path: Path) -> None:
        self._found: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
        self._masked: list[Mapping[str, Any]] = []
        self._played: defaultdict[tuple[str, ...], int] = defaultdict(int)
        self._lock = threading.Lock()
        self.patterns: set[str] = set()
        for entry in archive.read(path):
            asked = entry["request"]
            if entry["response"]["status"] < 100:  # noqa: PLR2004 - HTTP's lowest; it was never answered
                continue
            self._found[str(asked.get("method")), _bare(asked["url"])].append(entry)
            self.patterns.add(origin_pattern(asked["url"]))
            if MASK in asked["url"]:
                self._masked.append(entry)

    def answer(self, request: Request) -> dict[str, Any] | None:
        """What CDP's `Fetch.fulfillRequest` takes for it; None where the archive has nothing."""
        if request.preflight and self._of(request.asked, request):
            return answers.allowed(request)
        entries = self._of(request.method, request)
        if not entries:
            return None
        with self._lock:
            key = request.method, _bare(request.url), request.body
            number = self._played[key]
            self._played[key] += 1
        return _played(entries[min(number, len(entries) - 1)], request)

    def _of(self, method: str, request: Request) -> list[Mapping[str, Any]]:
        """The entries of a request: those of its body, too, where they were recorded with one."""
        url = _bare(request.url)
        found = self._found.get((method, url)) or [
            entry
            for entry in self._masked
            if entry["request"].get("method") == method and _alike(_bare(entry["request"]["url"]), url)
        ]
        same = [entry for entry in found if _body(entry) == request.body]
        return same or [entry for entry in found if not _body(entry) or _alike(_body(entry), request.body)]


def _played(entry: Mapping[str, Any], request: Request) -> dict[str, Any]:
    told = entry["response"]
    content = told.get("content") or {}
    text = str(content.get("text") or "")
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
    headers = [
        (str(one["name"]), str(one["value"]).replace(MASK, _PLAIN))
        for one in told.get("headers") or ()
        if str(one["name"]).lower() not in _NOT_PLAYED and not str(one["name"]).startswith(":")
    ]
    return answers.answer(int(told["status"]), headers, body, request)


def _body(entry: Mapping[str, Any]) -> str:
    return str((entry["request"].get("postData") or {}).get("text") or "")


def _alike(recorded: str, now: str) -> bool:
    """Whether a text is the one that was recorded, with anything in place of what was masked there."""
    if MASK not in recorded:
        return recorded == now
    return re.fullmatch(".*".join(map(re.escape, recorded.split(MASK))), now, re.DOTALL) is not None


def _bare(url: str) -> str:
    return without_credentials(url.partition("#")[0])
