"""Logs pulled from a remote end: of a browser without BiDi, or of a device."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from orchestrator.errors import RemoteFailure
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.webdriver.events.console import Console, ConsoleMessage, Level
from orchestrator.webdriver.events.formatting import clean_url, mask_and_cut
from orchestrator.webdriver.remote import Remote

_KINDS = ("browser", "safariConsole", "logcat", "syslog", "crashlog")
"""Logs of pages and apps; other kinds (driver, server) are logs of the automation itself."""
_TEXT = 4000
_LEVELS: dict[str, Level] = {
    "DEBUG": "debug",
    "INFO": "info",
    "WARNING": "warn",
    "WARN": "warn",
    "SEVERE": "error",
    "ERROR": "error",
}
"""Levels by their names at remote ends."""
_LOGCAT: dict[str, Level] = {"V": "debug", "D": "debug", "I": "info", "W": "warn", "E": "error", "F": "error"}
_OF_LOGCAT = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d\.\d+\s+\d+\s+\d+\s+([VDIWEF])\s+(.*)", re.DOTALL)
"""A line of `logcat -v threadtime`: date, time, process, thread, level, tag and text."""
_SYSLOG: dict[str, Level] = {
    "Debug": "debug", "Warning": "warn", "Error": "error", "Fault": "error", "Db": "debug", "E": "error", "F": "error",
}  # fmt: skip
_OF_SYSLOG = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ (Df|Db|I|E|F|A)\s|.*?<(Debug|Info|Notice|Warning|Error|Fault)>", re.DOTALL
)
"""The level in a line: of a simulator as `log stream --style compact` writes it, else of a device's syslog."""
_OF_CHROME = re.compile(r"(\S+) (\d+):(\d+) (.*)", re.DOTALL)
"""A line of chromedriver: URL or source, line and column from 0, text."""


class _LogLine(NamedTuple):
    text: str
    level: Level
    where: str | None = None


def pull_logs(remote: Remote, console: Console, redactor: SessionRedactor) -> bool:
    """Read the remote end's logs into the console, which empties them there; returns False if it has none.

    XCUITest lists all kinds that it knows, but refuses those that were not enabled by a capability.

    Source: Selenium's `GET /session/{id}/se/log/types` and `POST /session/{id}/se/log`, which Appium has, too.

    Raises:
        RemoteFailure: None of the listed logs can be read.
    """
    try:
        kinds = remote.execute("getAvailableLogTypes")
    except RemoteFailure:
        return False
    known = [kind for kind in _KINDS if isinstance(kinds, list) and kind in kinds]
    messages: list[ConsoleMessage] = []
    errors: list[RemoteFailure] = []
    for kind in known:
        try:
            messages += parse_messages(kind, remote.execute("getLog", type=kind), redactor)
        except RemoteFailure as error:
            errors.append(error)
    if errors and len(errors) == len(known):
        raise errors[0]
    for message in sorted(messages, key=lambda message: message.time):
        console.add(message)
    return bool(known)


def parse_messages(kind: str, entries: Any, redactor: SessionRedactor) -> Iterable[ConsoleMessage]:
    """Read the entries of a log, `{timestamp, level, message}` each."""
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping):
            continue
        line = _READERS.get(kind, _plain)(entry, str(entry.get("message") or ""), redactor)
        yield ConsoleMessage(
            time=round(float(entry.get("timestamp") or 0) / 1000, 3),
            level=line.level,
            text=mask_and_cut(line.text, redactor, _TEXT),
            source=_source(entry) if kind == "browser" else kind,
            where=line.where,
        )


def _source(entry: Mapping[str, Any]) -> str:
    source = str(entry.get("source") or "console-api")
    return "console" if source == "console-api" else source


def _plain(entry: Mapping[str, Any], text: str, redactor: SessionRedactor) -> _LogLine:  # noqa: ARG001 - as the others
    level = _LEVELS.get(str(entry.get("level")).upper(), "info")
    return _LogLine(text, level)


def _chrome(entry: Mapping[str, Any], text: str, redactor: SessionRedactor) -> _LogLine:
    _, level, _ = _plain(entry, text, redactor)
    match = _OF_CHROME.fullmatch(text)
    if match is None:
        return _LogLine(text, level)
    place, line, column, message = match.groups()
    with contextlib.suppress(ValueError):
        value = json.loads(message)
        message = value if isinstance(value, str) else message
    where = f"{clean_url(place, redactor)}:{int(line) + 1}:{int(column) + 1}" if "://" in place else None
    return _LogLine(message, level, where)


def _logcat(entry: Mapping[str, Any], text: str, redactor: SessionRedactor) -> _LogLine:
    match = _OF_LOGCAT.fullmatch(text)
    return _LogLine(match[2], _LOGCAT[match[1]]) if match else _plain(entry, text, redactor)


def _syslog(entry: Mapping[str, Any], text: str, redactor: SessionRedactor) -> _LogLine:
    match = _OF_SYSLOG.match(text)
    return _LogLine(text, _SYSLOG.get(match[1] or match[2], "info")) if match else _plain(entry, text, redactor)


def _crash(entry: Mapping[str, Any], text: str, redactor: SessionRedactor) -> _LogLine:  # noqa: ARG001 - as the others
    return _LogLine(text, "error")


_READERS = {"browser": _chrome, "logcat": _logcat, "syslog": _syslog, "crashlog": _crash}
