"""Buffers of recorded events, and the format of their entries."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import RemoteFailure
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.system.secrets import Redactor
from orchestrator.webdriver.events.buffer import EventBuffer
from orchestrator.webdriver.events.console import Console
from orchestrator.webdriver.events.device_logs import parse_messages
from orchestrator.webdriver.events.download_quota import DownloadQuota
from orchestrator.webdriver.events.downloads import DownloadEvents
from orchestrator.webdriver.events.formatting import format_remote_value
from orchestrator.webdriver.events.requests import RequestLog
from orchestrator.webdriver.events.subscriptions import EventSubscriptions


def session_redactor(*secrets: str) -> SessionRedactor:
    """Return what masks these secrets of the operator's, in a session in which nothing was typed."""
    redactor = Redactor()
    for secret in secrets:
        redactor.add(secret)
    return SessionRedactor(redactor, Path("unused"))


def test_a_full_event_buffer_drops_its_oldest_entries() -> None:  # X6 X7
    """The buffer holds a thousand entries and a million characters, and always the last entry."""
    buffer: EventBuffer[int] = EventBuffer()
    for number in range(1200):
        buffer.put(str(number), number, number, 1)
    heard = buffer.since(0)
    assert (heard.entries[:2], heard.dropped) == ([200, 201], 200)
    buffer.put("large", -1, 2000, 2_000_000)
    assert buffer.since(0, clear=True) == ([-1], 2000, 1200)
    assert buffer.since(0) == ([], 2000, 0)


def test_every_buffered_entry_has_a_place_of_its_own() -> None:
    """Later entries have later places, whatever the clock; a changed one gets a new place."""
    buffer: EventBuffer[str] = EventBuffer()
    for key in "abc":
        buffer.put(key, key, 10.0, 1)
    after = buffer.since(0).until
    buffer.put("d", "d", 9.0, 1)
    assert buffer.since(after).entries == ["d"]
    buffer.put("b", "B", 10.0, 1)
    assert buffer.since(after).entries == ["B", "d"], "in the order in which they came"


STRING = {"type": "string", "value": "a 'b' \"c\""}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (STRING, "a 'b' \"c\""),
        ({"type": "number", "value": -0.5}, "-0.5"),
        ({"type": "number", "value": "NaN"}, "NaN"),
        ({"type": "bigint", "value": "12"}, "12"),
        ({"type": "boolean", "value": False}, "false"),
        ({"type": "undefined"}, "undefined"),
        ({"type": "null"}, "null"),
        ({"type": "date", "value": "2026-11-22T00:00:00.000Z"}, "2026-11-22T00:00:00.000Z"),
        ({"type": "regexp", "value": {"pattern": "a+", "flags": "gi"}}, "/a+/gi"),
        ({"type": "array", "value": [STRING, {"type": "array"}]}, '["a \'b\' \\"c\\"", array]'),
        ({"type": "object", "value": [["a", {"type": "null"}]]}, "{a: null}"),
        ({"type": "map", "value": [[{"type": "number", "value": 1}, STRING]]}, '{1: "a \'b\' \\"c\\""}'),
        ({"type": "set", "value": [{"type": "number", "value": 1}]}, "{1}"),
        ({"type": "array", "value": [{"type": "number", "value": 1}] * 12}, f"[{'1, ' * 10}… 2 more]"),
        ({"type": "node", "value": {"localName": "p", "attributes": {"id": "x", "class": "a b"}}}, "<p#x.a.b>"),
        ({"type": "function"}, "function"),
    ],
)
def test_bidi_values_are_written_in_a_short_readable_form(value: Any, text: str) -> None:
    """BiDi remote values are written as short readable text."""
    assert format_remote_value(value, str) == text


COMPACT = "2026-11-22 13:05:01.123"
THREADTIME = "11-22 13:05:01.123  4711  4720 E Shop    : no such thing"


@pytest.mark.parametrize(
    ("kind", "level", "message", "expected"),
    [
        ("logcat", "ALL", THREADTIME, ("error", "Shop    : no such thing", None)),
        ("logcat", "ALL", THREADTIME.replace(" E ", " V "), ("debug", "Shop    : no such thing", None)),
        ("logcat", "WARN", "--------- beginning of main", ("warn", "--------- beginning of main", None)),
        ("syslog", "ALL", "Nov 22 iPhone Shop[1] <Error>: x", ("error", "Nov 22 iPhone Shop[1] <Error>: x", None)),
        ("syslog", "ALL", "Nov 22 iPhone Shop[1] <Notice>: x", ("info", "Nov 22 iPhone Shop[1] <Notice>: x", None)),
        ("syslog", "ALL", f"{COMPACT} E  Shop[1:2] <Debug>: x", ("error", f"{COMPACT} E  Shop[1:2] <Debug>: x", None)),
        ("syslog", "ALL", f"{COMPACT} Df Shop[1:2] x", ("info", f"{COMPACT} Df Shop[1:2] x", None)),
        ("crashlog", "ALL", "Incident Identifier: 1", ("error", "Incident Identifier: 1", None)),
        ("browser", "SEVERE", 'http://u:p@a.test/x.js 4:9 "it\\"s"', ("error", 'it"s', "http://a.test/x.js:5:10")),
        ("browser", "WARNING", 'console-api 0:9 "a" Object', ("warn", '"a" Object', None)),
        ("browser", "SEVERE", "http://a.test/ - Failed to load", ("error", "http://a.test/ - Failed to load", None)),
    ],
)
def test_log_lines_are_parsed_into_level_text_and_place(
    kind: str, level: str, message: str, expected: tuple[Any, ...]
) -> None:
    """Log lines of devices and browsers give a level, a text, and a place if there is one."""
    entry = {"timestamp": 1795353822209, "level": level, "message": message, "source": "console-api"}
    [found] = parse_messages(kind, [entry, "no entry"], session_redactor())
    assert (found.level, found.text, found.where) == expected
    assert (found.time, found.source) == (1795353822.209, "console" if kind == "browser" else kind)


def test_a_secret_is_redacted_before_a_console_message_is_cut() -> None:
    """A secret is redacted before a console text is cut, so that no half of it is left."""
    redactor = session_redactor("tell-nobody")
    console = Console(redactor)
    text = f"{'x' * 3997}tell-nobody http://ann:hidden@shop.test/"
    console.handle_entry_added(
        {"type": "console", "level": "info", "timestamp": 1, "args": [{"type": "string", "value": text}]}
    )
    [message] = console.find(0, "debug").entries
    assert "tell" not in message.text
    assert message.text.endswith("•••…")


STACK = {"callFrames": [{"url": "http://a/", "lineNumber": 0, "columnNumber": 0}]}


def add_300_large_errors(console: Console) -> None:
    """Add console errors that await their details."""
    for number in range(300):
        args = [{"type": "error"}, {"type": "string", "value": f"{'x' * 100_000}{number}"}]
        entry = {"type": "console", "level": "error", "timestamp": number, "args": args, "stackTrace": STACK}
        console.handle_entry_added(entry)


@pytest.mark.clock
def test_memory_for_console_errors_that_await_details_is_bounded() -> None:
    """Console errors that never get details take little memory."""
    console = Console(session_redactor())
    tracemalloc.start()
    add_300_large_errors(console)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 10_000_000


def test_the_newest_of_many_console_errors_still_gets_its_details() -> None:
    """Console errors that never get details keep no other one from getting its own."""
    console = Console(session_redactor())
    add_300_large_errors(console)
    told = [{"description": "Error: told\n    at http://a/:2:3"}, {}]
    console.handle_console_api_called({"params": {"timestamp": 299, "stackTrace": STACK, "args": told}})
    assert console.find(0, "error").entries[-1].text.startswith("Error: told xxx")


def test_only_the_last_hundred_unfinished_downloads_are_remembered() -> None:
    """A download reported as ended after a hundred others began has no name any more."""
    downloads = DownloadEvents()
    for number in range(300):
        downloads.handle_will_begin({"download": str(number), "suggestedFilename": f"{number}.txt"})
    for number in (0, 299):
        downloads.handle_end({"download": str(number), "status": "canceled"})
    assert [one.name for one in downloads.ended] == ["", "299.txt"]


def test_a_download_whose_response_came_short_is_told_from_a_whole_one() -> None:
    """Firefox ends both as complete; the response that a redirect led to counts, the redirect's own body does not."""
    downloads = DownloadEvents()

    def respond(navigation: str, received: int, announced: int, **more: bool) -> None:
        header = {"name": "Content-Length", "value": {"type": "string", "value": str(announced)}}
        response = {"bodySize": received, "headers": [header], **more}
        downloads.handle_response({"navigation": navigation, "response": response})

    respond("led", 0, 10)
    for navigation, received, cached in (("led", 5, False), ("short", 4, False), ("kept", 0, True)):
        respond(navigation, received, 5, fromCache=cached)
        downloads.handle_end({"navigation": navigation, "status": "complete", "filepath": f"/d/{navigation}"})
    assert [(one.name, one.shortfall) for one in downloads.ended] == [("led", None), ("short", (4, 5)), ("kept", None)]


def test_a_folder_with_a_thousand_downloads_takes_no_more(tmp_path: Path) -> None:
    """The file that is one too many is removed at its end; files elsewhere are left alone."""
    downloads, elsewhere = DownloadEvents(), tmp_path / "other" / "one.txt"
    elsewhere.parent.mkdir()
    elsewhere.touch()
    downloads.quota = DownloadQuota(folder := tmp_path / "downloads", 10, "", "shop")
    folder.mkdir()
    for number in range(1001):
        (path := folder / f"{number}.txt").touch()
        if number >= 999:
            downloads.handle_end({"download": str(number), "status": "complete", "filepath": str(path)})
    downloads.handle_end({"download": "other", "status": "complete", "filepath": str(elsewhere)})
    assert [bool(one.path) for one in downloads.ended] == [True, False, True]
    assert downloads.ended[1].beyond == "10 MB and 1,000 files"
    assert (len([*folder.iterdir()]), elsewhere.exists()) == (1000, True)


def test_long_methods_and_media_types_of_requests_are_cut_and_redacted() -> None:
    """Methods and media types invented by a page are cut, and secrets in them are redacted."""
    redactor = session_redactor("tell-nobody")
    network = RequestLog(redactor)
    event = {"request": {"request": "1", "method": f"tell-nobody{'M' * 5000}", "url": "http://a/"}, "timestamp": 1}
    network.handle_before_request_sent(event)
    network.handle_response({**event, "response": {"status": 200, "mimeType": f"tell-nobody{'t' * 5000}"}})
    [one] = network.find(0, None, None).entries
    assert one.mime
    assert all(len(word) < 200 and "tell" not in word for word in (one.method, one.mime))


def test_replayed_console_messages_are_recorded_once() -> None:
    """Messages that a browser sends again after a break are recorded only if they are new."""
    console = Console(session_redactor())

    def entry(text: str, when: int) -> dict[str, Any]:
        return {"type": "console", "level": "info", "timestamp": when, "text": text}

    for _ in range(2):
        console.handle_entry_added(entry("twice", 5))
    console.expect_replay()
    for text, when in (("twice", 5), ("twice", 5), ("missed", 6), ("twice", 5)):
        console.handle_entry_added(entry(text, when))
    assert [one.text for one in console.find(0, "debug").entries] == ["twice", "twice", "missed", "twice"]


def test_a_part_of_the_set_up_that_fails_is_the_error_of_the_next_call() -> None:
    """What is done after a start is waited for by the session's next call, which gets its error; later calls do not."""
    events = EventSubscriptions(None, session_redactor())

    def refuse() -> None:
        raise RemoteFailure("The browser refused the permissions.")

    events.do_soon([refuse])
    with pytest.raises(RemoteFailure, match="refused the permissions"):
        events.wait_until_listening()
    events.wait_until_listening()
