"""Logs that a remote end keeps until it is asked: a classic browser's console, and those of devices."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from orchestrator.ears.console import Console, Level, Message
from orchestrator.ears.words import address, masked
from orchestrator.errors import RemoteFailure
from orchestrator.secrets import Redactor
from orchestrator.webdriver.remote import Remote

_KINDS = ("browser", "safariConsole", "logcat", "syslog", "crashlog")
"""Those that say what pages and apps do; others (driver, server) say what drives them."""
_TEXT = 4000
_LEVELS: dict[str, Level] = {
    "DEBUG": "debug",
    "INFO": "info",
    "WARNING": "warn",
    "WARN": "warn",
    "SEVERE": "error",
    "ERROR": "error",
}
"""How remote ends call them."""
_LOGCAT: dict[str, Level] = {"V": "debug", "D": "debug", "I": "info", "W": "warn", "E": "error", "F": "error"}
_OF_LOGCAT = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d\.\d+\s+\d+\s+\d+\s+([VDIWEF])\s+(.*)", re.DOTALL)
"""A line of `logcat -v threadtime`: date, time, process, thread, level, tag and text."""
_SYSLOG: dict[str, Level] = {
    "Debug": "debug", "Warning": "warn", "Error": "error", "Fault": "error", "Db": "debug", "E": "error", "F": "error",
}  # fmt: skip
_OF_SYSLOG = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ (Df|Db|I|E|F|A)\s|.*?<(Debug|Info|Notice|Warning|Error|Fault)>", re.DOTALL
)
"""How a line says its level: in a simulator as `log stream --style compact` writes it, else as a device's syslog."""
_OF_CHROME = re.compile(r"(\S+) (\d+):(\d+) (.*)", re.DOTALL)
"""What chromedriver writes: address or source, line and column from 0, text."""


class _Said(NamedTuple):
    text: str
    level: Level
    where: str | None = None


def pull(remote: Remote, console: Console, redactor: Redactor) -> bool:
    """Take in what the remote end has of its logs by now, which empties them; False where it keeps none.

    Source: Selenium's `GET /session/{id}/se/log/types` and `POST /session/{id}/se/log`, which Appium has, too.
    XCUITest names every kind that it knows, and refuses those that a capability would have to switch on.

    Raises:
        RemoteFailure: None of those that it names can be read.
    """
    try:
        kinds = remote.execute("getAvailableLogTypes")
    except RemoteFailure:
        return False
    known = [kind for kind in _KINDS if isinstance(kinds, list) and kind in kinds]
    found: list[Message] = []
    refused: list[RemoteFailure] = []
    for kind in known:
        try:
            found += messages(kind, remote.execute("getLog", type=kind), redactor)
        except RemoteFailure as error:
            refused.append(error)
    if refused and len(refused) == len(known):
        raise refused[0]
    for one in sorted(found, key=lambda one: one.time):
        console.add(one)
    return bool(known)


def messages(kind: str, entries: Any, redactor: Redactor) -> Iterable[Message]:
    """What the entries of a log say, `{timestamp, level, message}` each."""
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping):
            continue
        said = _READERS.get(kind, _plain)(entry, str(entry.get("message") or ""), redactor)
        yield Message(
            time=round(float(entry.get("timestamp") or 0) / 1000, 3),
            level=said.level,
            text=masked(said.text, redactor, _TEXT),
            source=_source(entry) if kind == "browser" else kind,
            where=said.where,
        )


def _source(entry: Mapping[str, Any]) -> str:
    said = str(entry.get("source") or "console-api")
    return "console" if said == "console-api" else said


def _plain(entry: Mapping[str, Any], text: str, redactor: Redactor) -> _Said:  # noqa: ARG001 - as the others
    level = _LEVELS.get(str(entry.get("level")).upper(), "info")
    return _Said(text, level)


def _chrome(entry: Mapping[str, Any], text: str, redactor: Redactor) -> _Said:
    _, level, _ = _plain(entry, text, redactor)
    found = _OF_CHROME.fullmatch(text)
    if found is None:
        return _Said(text, level)
    place, line, column, rest = found.groups()
    with contextlib.suppress(ValueError):
        told = json.loads(rest)
        rest = told if isinstance(told, str) else rest
    known = "://" in place
    return _Said(rest, level, f"{address(place, redactor)}:{int(line) + 1}:{int(column) + 1}" if known else None)


def _logcat(entry: Mapping[str, Any], text: str, redactor: Redactor) -> _Said:
    found = _OF_LOGCAT.fullmatch(text)
    return _Said(found[2], _LOGCAT[found[1]]) if found else _plain(entry, text, redactor)


def _syslog(entry: Mapping[str, Any], text: str, redactor: Redactor) -> _Said:
    found = _OF_SYSLOG.match(text)
    return _Said(text, _SYSLOG.get(found[1] or found[2], "info")) if found else _plain(entry, text, redactor)


def _crash(entry: Mapping[str, Any], text: str, redactor: Redactor) -> _Said:  # noqa: ARG001 - as the others
    return _Said(text, "error")


_READERS = {"browser": _chrome, "logcat": _logcat, "syslog": _syslog, "crashlog": _crash}
