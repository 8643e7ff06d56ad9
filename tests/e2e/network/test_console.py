"""get_console: console messages of pages, recorded at any time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home, kill
from tests.e2e.stage import Stage, refused
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full


def position(stage: Stage) -> float:
    """Return the position after the last recorded entry."""
    return float(stage.ok("get_console")["until"])


def entries_after(stage: Stage, start: float, **arguments: Any) -> list[tuple[str, str]]:
    """Return level and text of the entries after a position."""
    entries = stage.ok("get_console", since=start, **arguments)["entries"]
    return [(one["level"], one["text"]) for one in entries]


def test_console_messages_are_recorded_in_order_with_level_and_location(stage: Stage) -> None:  # X6
    """Entries have level, text with its values, and location; text and data of the answer say the same."""
    start = position(stage)
    url = stage.show(
        "<p>talks<script>\nconsole.log('hello', {a: 1, b: ['x', null]}, [1, 2], true);\nconsole.warn('careful');"
        "console.debug('%s-formatted', 'is');console.info(document.querySelector('p'))</script>"
    )
    assert entries_after(stage, start) == [
        ("info", 'hello {a: 1, b: ["x", null]} [1, 2] true'),
        ("warn", "careful"),
        ("debug", "is-formatted"),
        ("info", "<p>"),
    ]
    answer = stage.call("get_console", since=start)
    first = answer.data["entries"][0]
    assert (first["where"], first["source"]) == (f"{url}:2:9", "console")
    assert f"info: {first['text']} ({url}:2:9)" in answer.text


def test_uncaught_and_logged_errors_are_recorded_with_their_stack(stage: Stage) -> None:
    """Errors that are thrown later, left in a promise or logged by the page are recorded."""
    start = position(stage)
    url = stage.show(
        "<script>\nfunction deep() { throw new TypeError('boom') }\nsetTimeout(function later() { deep(); })\n"
        "console.error('seen', new RangeError('told'), {code: 7}); console.warn(new Error('a'), new Error('b'));\n"
        "Promise.reject(new Error('left'))</script>"
    )
    entries = until(lambda: (seen := stage.ok("get_console", since=start)["entries"])[3:] and seen, "four errors")
    found = {one["text"]: one for one in entries}
    assert found["TypeError: boom"]["stack"] == [f"deep ({url}:2:25)", f"later ({url}:3:31)"]
    assert found["TypeError: boom"]["source"] == "javascript"
    assert found["Error: left"]["level"] == "error"
    [(text, told)] = [(text, one) for text, one in found.items() if text.startswith("seen ")]
    assert text == "seen RangeError: told {code: 7}" or stage.browser == "firefox", text
    assert (told["source"], told["where"]) == ("console", f"{url}:4:9")
    if stage.browser != "firefox":  # which gives the stacks of thrown errors alone
        assert told["stack"] == [f"{url}:4:23"]
    assert found["Error: a Error: b"]["level"] == "warn"


def test_get_console_filters_by_since_level_and_limit(stage: Stage) -> None:
    """Entries are filtered by an earlier answer's end and by level; the newest are listed and all counted."""
    start = position(stage)
    stage.show(
        "<script>for (let i = 0; i < 20; i++) console.log(`n${i}`); console.warn('w'); console.error('e')</script>"
    )
    answer = stage.ok("get_console", since=start, limit=3)
    assert [one["text"] for one in answer["entries"]] == ["n19", "w", "e"]
    assert (answer["total"], answer["next"]) == (22, "19 older ones are not shown: raise limit, or filter.")
    assert entries_after(stage, start, level="warn") == [("warn", "w"), ("error", "e")]
    stage.js("console.log('new')")
    assert entries_after(stage, answer["until"]) == [("info", "new")]
    assert entries_after(stage, position(stage)) == []


def test_console_messages_of_frames_tabs_and_workers_are_recorded(stage: Stage) -> None:
    """Messages of frames, tabs and workers of a session are in its console."""
    start = position(stage)
    stage.show(
        "<iframe srcdoc=\"<script>console.log('in a frame')</script>\"></iframe>"
        "<script>new Worker(URL.createObjectURL(new Blob([\"console.log('at work'); postMessage(1)\"])))"
        ".onmessage = () => document.body.append('worked')</script>"
    )
    stage.ok("wait_for", text="worked")
    stage.ok("tabs", action="new", url=stage.page("<script>console.log('in a tab')</script>"))
    assert {text for _, text in entries_after(stage, start)} == {"in a frame", "at work", "in a tab"}
    stage.ok("tabs", action="close")


def test_the_recorded_console_is_bounded_and_can_be_cleared(stage: Stage) -> None:  # X6
    """The oldest entries are dropped, long messages are cut, and cleared ones do not come back."""
    start = stage.ok("get_console", clear=True)["until"]
    stage.js("[...Array(1200).keys()].map(i => console.log(`n${i}`)).length")
    stage.js("console.log('x'.repeat(1e6))")
    answer = stage.ok("get_console", since=start, limit=2)
    assert (answer["total"], answer["dropped"]) == (1000, 201)
    assert answer["entries"][0]["text"] == "n1199"
    assert len(answer["entries"][1]["text"]) < 5000
    everything = stage.call("get_console", since=start, limit=1000)
    assert len(everything.text) <= 20_000
    assert everything.data["entries"][-1]["text"].startswith("xxx"), "the newest are shown"
    assert stage.ok("get_console", clear=True)["total"] == 1000
    assert stage.ok("get_console")["total"] == 0
    stage.js("console.log('after')")
    assert entries_after(stage, start) == entries_after(stage, answer["until"]) == [("info", "after")]


def test_typed_passwords_and_url_credentials_are_masked_in_the_console(stage: Stage) -> None:
    """A typed password, and user and password in a URL, are in no console entry."""
    start = position(stage)
    secret = 'zK9 "ünguessable" & \\ 3319'
    stage.show("<label>Word <input type=password id=pw></label>")
    stage.ok("set_value", selector="#pw", value=secret)
    stage.js(
        "console.log(pw.value, {nested: [pw.value]}, 'x'.repeat(189) + ' ' + pw.value, 'http://ann:hidden@shop.test/')"
    )
    stage.js("console.error(new Error(pw.value)), setTimeout(() => { throw new Error(pw.value) })")
    stage.js("console.log('%s', pw.value)")
    answer = stage.call("get_console", since=start)
    assert "ünguess" not in answer.raw.model_dump_json()
    assert "hidden" not in answer.text
    assert "http://shop.test/" in answer.text
    assert answer.text.count("•••") >= 5


def test_get_console_works_as_a_step_of_a_sequence(stage: Stage) -> None:
    """A step reads messages that an earlier step of its sequence wrote to the console."""
    start = position(stage)
    steps = [
        {"action": "execute_script", "script": "console.warn('from a step')"},
        {"action": "get_console", "since": start, "level": "warn"},
    ]
    answer = stage.ok("execute_sequence", actions=steps, verbose=True)
    assert answer["steps"][1]["result"]["entries"][0]["text"] == "from a step"


def test_get_console_reads_the_driver_log_of_a_session_without_bidi(stage: Stage) -> None:
    """Entries of the driver log have the same shape; get_network is refused and names its requirement."""
    stage.ok("start_browser", sessionId="classic", capabilities={"webSocketUrl": False})
    url = stage.show(
        "<script>console.log('hi', 1);\nconsole.warn('it\\'s \"quoted\"');setTimeout(() => { throw new Error('boom') })"
        "</script>",
        sessionId="classic",
    )

    def all_said() -> list[dict[str, Any]]:
        found = stage.ok("get_console", sessionId="classic")["entries"]
        entries = [one for one in found if one["source"] != "network"]  # the site has no icon
        return entries[2:] and entries

    entries = until(all_said, "three messages")
    said = [(one["level"], one["source"], one["text"]) for one in entries]
    assert said == [
        ("info", "console", '"hi" 1'),
        ("warn", "console", 'it\'s "quoted"'),
        ("error", "javascript", "Uncaught Error: boom"),
    ]
    assert entries[1]["where"] == f"{url}:2:9"
    graver = stage.ok("get_console", sessionId="classic", level="warn")["entries"]
    assert [one for one in graver if one["source"] != "network"] == entries[1:3]
    text = refused(stage.call("get_network", sessionId="classic"), "unsupported")
    assert "'classic'" in text
    assert "webSocketUrl: true" in text
    stage.ok("close_session", sessionId="classic")
    stage.ok("set_current_session", sessionId="browser")


def test_the_next_server_reads_the_console_messages_of_a_page_that_is_still_open(home: Home) -> None:
    """Messages of an open page outlive a killed server, and its `since` holds in the next one."""
    with Site() as site:
        url = site.page("/talk", "<script>console.log('early'); console.warn('late')</script>")
        with home.serve(park_ttl="300") as first:
            first.ok("start_browser", sessionId="ann", navigationUrl=url)
            assert first.ok("get_console")["total"] == 2
            place = first.ok("get_console")["until"]
            kill(first.process)
        with home.serve(park_ttl="300") as second:
            found = second.ok("get_console", sessionId="ann")
            assert [one["text"] for one in found["entries"]] == ["early", "late"]
            second.ok("execute_script", script="console.log('now')", sessionId="ann")
            later = second.ok("get_console", sessionId="ann", since=place)["entries"]
            assert [one["text"] for one in later] == ["now"]
            second.ok("close_session", sessionId="ann")


def test_what_pages_write_to_the_console_goes_to_no_file(stage: Stage) -> None:
    """The browser keeps no log of its own, which a page could fill."""
    stage.show("<script>for (let i = 0; i < 50; i++) console.log('x'.repeat(10_000))</script>")
    logs = [*Path(os.environ["ORCHESTRATOR_HOME"], "run").rglob("chrome_debug.log")]
    assert not logs
