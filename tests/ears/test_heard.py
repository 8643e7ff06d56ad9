"""What is kept of what was heard, and how it is written."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from orchestrator.ears.console import Console
from orchestrator.ears.downloads import Downloads
from orchestrator.ears.logs import messages
from orchestrator.ears.network import Network
from orchestrator.ears.ring import Ring
from orchestrator.ears.values import told
from orchestrator.secrets import Redactor


def test_the_oldest_make_room() -> None:  # X6 X7
    """For more entries than a thousand, and for more than a million characters; the last one stays."""
    ring: Ring[int] = Ring()
    for number in range(1200):
        ring.put(str(number), number, number, 1)
    heard = ring.since(0)
    assert (heard.entries[:2], heard.dropped) == ([200, 201], 200)
    ring.put("large", -1, 2000, 2_000_000)
    assert ring.since(0, clear=True) == ([-1], 2000, 1200)
    assert ring.since(0) == ([], 2000, 0)


def test_no_two_have_the_same_place() -> None:
    """Of one moment, and when a clock goes back: what came later has a later place; what changes gets a new one."""
    ring: Ring[str] = Ring()
    for key in "abc":
        ring.put(key, key, 10.0, 1)
    after = ring.since(0).until
    ring.put("d", "d", 9.0, 1)
    assert ring.since(after).entries == ["d"]
    ring.put("b", "B", 10.0, 1)
    assert ring.since(after).entries == ["B", "d"], "in the order in which they came"


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
def test_values_are_written_as_people_write_them(value: Any, text: str) -> None:
    """In short."""
    assert told(value, str) == text


COMPACT = "2026-11-22 13:05:01.123"
THREADTIME = "11-22 13:05:01.123  4711  4720 E Shop    : no such thing"


@pytest.mark.parametrize(
    ("kind", "level", "message", "said"),
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
def test_lines_of_logs_are_read(kind: str, level: str, message: str, said: tuple[Any, ...]) -> None:
    """Level and text, and the place where there is one."""
    entry = {"timestamp": 1795353822209, "level": level, "message": message, "source": "console-api"}
    [found] = messages(kind, [entry, "no entry"], Redactor())
    assert (found.level, found.text, found.where) == said
    assert (found.time, found.source) == (1795353822.209, "console" if kind == "browser" else kind)


def test_half_a_secret_is_not_left() -> None:
    """It is struck out before a text is cut; one that becomes known later is struck out when it is shown."""
    redactor = Redactor()
    redactor.add("tell-nobody")
    console = Console(redactor)
    text = f"{'x' * 3997}tell-nobody http://ann:hidden@shop.test/"
    console.hear({"type": "console", "level": "info", "timestamp": 1, "args": [{"type": "string", "value": text}]})
    [message] = console.find(0, "debug").entries
    assert "tell" not in message.text
    assert message.text.endswith("•••…")


def test_what_waits_for_more_is_bounded() -> None:
    """Where nobody ever tells more of errors, as in Firefox, their values take no room; the newest are explained."""
    console, large = Console(Redactor()), "x" * 100_000
    stack = {"callFrames": [{"url": "http://a/", "lineNumber": 0, "columnNumber": 0}]}
    tracemalloc.start()
    for number in range(300):
        args = [{"type": "error"}, {"type": "string", "value": large + str(number)}]
        entry = {"type": "console", "level": "error", "timestamp": number, "args": args, "stackTrace": stack}
        console.hear(entry)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 10_000_000
    told = [{"description": "Error: told\n    at http://a/:2:3"}, {}]
    console.explain({"params": {"timestamp": 299, "stackTrace": stack, "args": told}})
    assert console.find(0, "error").entries[-1].text.startswith("Error: told xxx")


def test_downloads_whose_end_is_never_told_are_forgotten() -> None:
    """The last hundred are known by name."""
    downloads = Downloads()
    for number in range(300):
        downloads.begin({"download": str(number), "suggestedFilename": f"{number}.txt"})
    for number in (0, 299):
        downloads.end({"download": str(number), "status": "canceled"})
    assert [one.name for one in downloads.take()] == ["", "299.txt"]


def test_what_a_page_makes_up_is_cut() -> None:
    """Methods and types, too, and secrets in them are struck out."""
    redactor = Redactor()
    redactor.add("tell-nobody")
    network = Network(redactor)
    event = {"request": {"request": "1", "method": f"tell-nobody{'M' * 5000}", "url": "http://a/"}, "timestamp": 1}
    network.sent(event)
    network.answered({**event, "response": {"status": 200, "mimeType": f"tell-nobody{'t' * 5000}"}})
    [one] = network.find(0, None, None).entries
    assert one.mime
    assert all(len(word) < 200 and "tell" not in word for word in (one.method, one.mime))


def test_what_is_told_once_more_is_heard_once() -> None:
    """After a break a browser tells what it remembers: what is new in it is heard, what is not is not."""
    console = Console(Redactor())

    def entry(text: str, when: int) -> dict[str, Any]:
        return {"type": "console", "level": "info", "timestamp": when, "text": text}

    for _ in range(2):
        console.hear(entry("twice", 5))
    console.expect_replay()
    for text, when in (("twice", 5), ("twice", 5), ("missed", 6), ("twice", 5)):
        console.hear(entry(text, when))
    assert [one.text for one in console.find(0, "debug").entries] == ["twice", "twice", "missed", "twice"]
