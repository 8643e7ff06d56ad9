"""get_console: what pages said while nobody asked."""

from __future__ import annotations

from typing import Any

from tests.e2e.stage import Stage


def since(stage: Stage) -> float:
    """The place after all that was heard so far."""
    return float(stage.ok("get_console")["until"])


def heard(stage: Stage, start: float, **arguments: Any) -> list[tuple[str, str]]:
    """Level and text of what was said after it."""
    entries = stage.ok("get_console", since=start, **arguments)["entries"]
    return [(one["level"], one["text"]) for one in entries]


def test_what_a_page_says_is_heard_in_order(stage: Stage) -> None:  # X6
    """Level, text with its values, place; text and data say the same."""
    start = since(stage)
    url = stage.show(
        "<p>talks<script>\nconsole.log('hello', {a: 1, b: ['x', null]}, [1, 2], true);\nconsole.warn('careful');"
        "console.debug('%s-formatted', 'is');console.info(document.querySelector('p'))</script>"
    )
    assert heard(stage, start) == [
        ("info", 'hello {a: 1, b: ["x", null]} [1, 2] true'),
        ("warn", "careful"),
        ("debug", "is-formatted"),
        ("info", "<p>"),
    ]
    answer = stage.call("get_console", since=start)
    first = answer.data["entries"][0]
    assert (first["where"], first["source"]) == (f"{url}:2:9", "console")
    assert f"info: {first['text']} ({url}:2:9)" in answer.text
