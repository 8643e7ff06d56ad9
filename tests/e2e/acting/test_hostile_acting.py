"""Pages that never settle, prevent leaving or hang: calls are bounded and report it, and the session stays usable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, opened, refused
from tests.servers.site import Reply
from tests.waiting import until

pytestmark = pytest.mark.full

CALM = "<button id=calm onclick=\"document.title = 'clicked'\">Calm</button>"
CLOSED = re.compile(r"(A|\d+) tabs? that the page opened w(?:as|ere) closed")


def check_usable(stage: Stage) -> None:
    """Open an ordinary page in the same session, and check that a click works."""
    stage.ok("navigate", url=stage.page(CALM, title="Calm"))
    assert stage.ok("click_element", selector="#calm")["title"] == "clicked"


@pytest.fixture(autouse=True)
def _usable_afterwards(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    for name in ("stage", "hasty"):
        if name in request.fixturenames:
            check_usable(request.getfixturevalue(name))


DEADLINE = 10
"""Seconds: short, since tests wait for its end, and long enough for every other command on a slow machine."""


@pytest.fixture(scope="module")
def hasty() -> Iterator[Stage]:
    """A server with a short command deadline, which opens the browser's own pages."""
    with opened(command_timeout=f"{DEADLINE}s", file_urls="all") as stage:
        yield stage


ACTS: list[tuple[str, dict[str, Any]]] = [
    ("get_visible_elements", {}),
    ("click_element", {"selector": "button", "timeout": 800, "observe": "none"}),
    ("set_value", {"selector": "input", "value": "x", "timeout": 800}),
    ("wait_for", {"text": "nothing such", "timeout": 300}),
    ("get_text", {}),
    ("execute_script", {"script": "return 1"}),
    (
        "execute_sequence",
        {"actions": [{"action": "hover", "selector": "button", "timeout": 800}], "stabilityTimeoutMs": 500},
    ),
]


def act(stage: Stage) -> dict[str, str]:
    """Try typical calls of an agent; return each answer's code; no answer may be oversized or an internal error."""
    codes = {}
    for tool, arguments in ACTS:
        answer = stage.call(tool, **arguments)
        assert len(answer.text) <= 20_000
        assert len(answer.data_json) <= 20_000
        assert "Internal error" not in answer.text
        codes[tool] = answer.code
    return codes


UNREST = {
    "moving": "setInterval(() => { b.style.left = `${Math.random() * 500}px` }, 10)",
    "replaced": "const f = () => { document.body.innerHTML = html; requestAnimationFrame(f) }; f()",
    "reloading": "setTimeout(() => location.reload(), 50)",
    "pushing": "let n = 0; setInterval(() => history.pushState(0, '', `#${n++}`), 5)",
    "growing": "setInterval(() => document.body.append('more '.repeat(100)), 20)",
    "busy": "setInterval(() => { for (const end = Date.now() + 60; Date.now() < end;); }, 70)",
    "overlay": "document.body.append(o); onmousemove = event => { o.style.left = `${event.clientX - 30}px`;"
    "o.style.top = `${event.clientY - 30}px` }",
    "debugger": "b.onclick = () => { debugger }; setInterval(() => { debugger }, 50)",
    "printing": "b.onclick = () => { print(); print() }",
    "titles": "setInterval(() => { document.title = Math.random() }, 5)",
}


@pytest.mark.parametrize("kind", UNREST)
def test_every_call_on_a_restless_page_ends_in_time(stage: Stage, kind: str) -> None:
    """Calls on a page that keeps changing end within their time, with a result or a reason."""
    body = "<button id=b style='position: absolute; top: 90px'>Go</button><input>"
    over = "<i id=o style='position: fixed; width: 60px; height: 60px; background: red; z-index: 9'></i>"
    stage.call("navigate", url=stage.page(f"{body}{over}<script>const html = `{body}`; {UNREST[kind]}</script>"))
    codes = act(stage)
    assert codes["get_visible_elements"] == ""
    assert codes["wait_for"] == "timeout"
    assert set(codes.values()) <= {"", "timeout", "not_actionable", "element_not_found", "remote_error"}


def test_a_document_without_elements_can_still_be_inspected(stage: Stage) -> None:
    """Every reading tool works on a document without any element."""
    stage.show("<button>Go</button><script>onmousedown = () => document.documentElement.remove()</script>")
    assert stage.ok("click_element", selector="button")["stateChange"]["disappeared"] == ['button "Go"']
    for tool, arguments in (*ACTS, ("get_page_source", {}), ("scroll", {"direction": "down"}), ("take_screenshot", {})):
        assert "Internal error" not in stage.call(tool, **arguments).text
    assert "url" in stage.ok("press_keys", keys="a")


def test_acting_works_on_a_page_that_removes_builtin_javascript_functions(stage: Stage) -> None:
    """Constructors, registries and timers are used as they were before the page's scripts removed them."""
    stage.show(
        "<button id=b onclick=\"document.title = 'did'\">Go</button><script>"
        "Object.keys = Object.assign = () => { throw 1 };"
        "window.Promise = window.Map = window.Set = window.WeakMap = window.MutationObserver = null;"
        "window.setTimeout = window.queueMicrotask = window.getComputedStyle = () => { throw 2 };"
        "window.JSON = null; document.querySelector = document.querySelectorAll = () => null</script>"
    )
    assert stage.ok("click_element", selector="text=Go")["title"] == "did"
    assert len(stage.outline()) == 1
    assert "0.2 s" in refused(stage.call("execute_script", script="await {then() {}}", timeout=200), "timeout")


def test_a_page_that_breaks_array_methods_is_read_like_any_other(stage: Stage) -> None:
    """Functions that a page replaces are not those of the page engine, which has a world of its own."""
    stage.show("<button>Go</button><script>Array.prototype.map = Array.prototype.filter = () => { throw 1 }</script>")
    assert stage.ok("get_visible_elements")["outline"].startswith('- button "Go"')
    act(stage)


def test_sixty_popup_windows_are_reported_briefly_and_closed_with_the_session(stage: Stage) -> None:
    """Of 60 windows of a click 39 are kept and the others closed, in a few lines; closing the session ends them all."""
    stage.ok("start_browser", sessionId="windows")
    url = stage.page("<button onclick=\"for (let i = 0; i < 60; i++) window.open('about:blank')\">Go</button>")
    stage.ok("navigate", url=url, sessionId="windows")
    answers = [stage.ok("click_element", selector="button", sessionId="windows")]

    def told() -> list[list[str]]:
        return [answer["events"] for answer in answers if "events" in answer]

    def all_met() -> bool:
        answers.append(stage.ok("tabs", action="list", sessionId="windows"))
        closed = [found for events in told() for event in events if (found := CLOSED.match(event))]
        return sum(1 if found[1] == "A" else int(found[1]) for found in closed) == 21

    until(all_met, "the end of 21 windows")
    assert len(answers[-1]["tabs"]) == 40
    assert any(event.startswith("The page opened ") for events in told() for event in events)
    assert max(map(len, told())) <= 5
    assert stage.ok("close_session", sessionId="windows")["closed"] == ["windows"]


def test_a_link_with_base_target_blank_is_reported_as_a_new_tab(stage: Stage) -> None:
    """`<base target=_blank>`: the page stays, and the result has the link's destination."""
    stage.show(f"<base target=_blank><a href='{stage.page('there')}'>Go</a>")
    [event] = stage.ok("click_element", selector="a")["events"]
    name = event.partition("opened tab ")[2].partition(";")[0]
    stage.ok("tabs", action="close", tab=name)


def test_a_modal_dialog_that_keeps_the_focus_can_be_acted_on(stage: Stage) -> None:
    """An element behind the modal is reported as covered by it, and the modal's own button can be clicked."""
    stage.show(
        "<button id=a>Behind</button><dialog id=d><button id=n onclick='d.close()'>Done</button></dialog><script>"
        "d.showModal(); d.oncancel = event => event.preventDefault(); addEventListener('focusout', () => n.focus())"
        "</script>"
    )
    covered = refused(stage.call("click_element", selector="#a", timeout=300), "not_actionable")
    assert "covered by dialog" in covered
    stage.ok("click_element", selector="#n")
    stage.ok("click_element", selector="#a")


def test_navigating_to_an_endless_response_is_bounded_by_the_timeout(stage: Stage) -> None:
    """A response without an end is shown as far as it was loaded, or reported as an error in time."""
    stage.site.page("/endless", Reply("<button>Go</button>", headers={"Content-Length": "1000000"}))
    answer = stage.call("navigate", url=stage.site.url("/endless"), timeout=1500)
    assert answer.code in {"", "timeout", "remote_error"}


@pytest.mark.parametrize(
    "script",
    ["setInterval(() => alert('again'), 1)", "b.onclick = () => { for (;;) alert('again') }", "onbeforeunload = ask"],
    ids=["by-itself", "on-click", "on-leaving"],
)
def test_a_page_with_endless_dialogs_can_be_left(stage: Stage, script: str) -> None:
    """Endless dialogs are answered a few times and then reported; the page can be left, if necessary by a new tab."""
    ask = "const ask = event => { for (let i = 0; i < 50; i++) alert(i); event.preventDefault(); return 'stay' };"
    stage.call("navigate", url=stage.page(f"<button id=b>Go</button><input><script>{ask}{script}</script>"))
    act(stage)
    check_usable(stage)


def test_a_page_that_opens_dialogs_in_a_loop_is_told_as_one_by_each_call(stage: Stage) -> None:
    """Neither a look nor an act waits out its time where one dialog follows the other."""
    html = "<button>Go</button><script>setTimeout(() => { for (;;) alert(1) })</script>"
    stage.call("navigate", url=stage.page(html))
    calls = [
        stage.call("get_visible_elements"),
        stage.call("get_text"),
        stage.call("click_element", selector="button"),
    ]
    assert {call.code for call in calls} == {"dialog_open"}
    assert all("The page opens one after another: navigate elsewhere." in call.text for call in calls)
    check_usable(stage)


def test_equal_events_of_a_call_are_reported_once_with_their_number(stage: Stage) -> None:
    """A page that opens the same dialog again and again does not fill the result with the same sentence."""
    stage.show("<button id=b>Go</button><script>b.onclick = () => { for (let i = 0; i < 12; i++) alert(1) }</script>")
    (event,) = stage.ok("click_element", selector="#b")["events"]
    assert event.startswith("A dialog was ")
    assert event.endswith(" (12 times)")


def test_closing_a_session_never_waits_for_its_page(stage: Stage) -> None:
    """A session closes even if its page hangs or asks before it is left."""
    asks = "<input><script>onbeforeunload = event => { for (;;) alert(1); event.preventDefault() }</script>"
    for name, html in (("asks", asks), ("hangs", "<input><script>setTimeout(() => { for (;;); }, 500)</script>")):
        stage.ok("start_browser", sessionId=name)
        stage.call("navigate", url=stage.page(html), sessionId=name)
        stage.call("set_value", selector="input", value="x", keystrokes=True, sessionId=name, timeout=300)
        assert stage.ok("close_session", sessionId=name)["closed"] == [name]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("execute_script", {"script": "for (;;);", "timeout": 60_000}),
        ("click_element", {"selector": "#b"}),
        ("execute_sequence", {"actions": [{"action": "click_element", "selector": "#b"}]}),
    ],
)
def test_a_hanging_page_costs_a_call_and_is_left_in_another_tab(
    hasty: Stage, tool: str, arguments: dict[str, Any]
) -> None:
    """The call ends at the command deadline and the tab stays; the next navigation leaves the page by another tab."""
    hasty.show("<button id=b onclick='for (;;);'>Go</button>")
    text = refused(hasty.call(tool, **arguments), "timeout")
    assert f"The page did not answer within {DEADLINE} s: it is busy, and its tab stays as it is." in text
    check_usable(hasty)


def test_a_page_that_is_busy_for_longer_than_a_call_keeps_its_tab(hasty: Stage) -> None:
    """Slow is not hung: the click is a timeout, and the next call waits for the page and finds it where it was."""
    url = hasty.show(
        "<button>Go</button><script>onclick = () => { for (const end = Date.now() + LONGER; Date.now() < end;);"
        "document.title = 'done' }</script>".replace("LONGER", str(DEADLINE * 1250))
    )
    refused(hasty.call("click_element", selector="button"), "timeout")
    found = hasty.ok("get_visible_elements")
    assert (found["url"], found["title"]) == (url, "done")


def test_a_page_that_hangs_while_loading_can_be_left(hasty: Stage) -> None:
    """A page that hangs while it loads is left by the next navigation, or its tab is closed."""
    assert hasty.call("navigate", url=hasty.page("<script>for (;;);</script>")).failed
    stuck = hasty.call("navigate", url=hasty.page(CALM))
    assert not stuck.failed or "its tab was closed" in stuck.text
    check_usable(hasty)


@pytest.mark.parametrize("crash", ["chrome://crash", "deep"])
def test_a_session_survives_the_crash_of_its_page(hasty: Stage, crash: str) -> None:
    """A crash costs the session at most its tab, and later calls work."""
    deep = hasty.page(
        "<script>let e = document.body; for (let i = 0; i < 5000; i++) { const d = document.createElement('div');"
        "e.append(d); e = d } e.innerHTML = '<button>Deep</button>'</script>"
    )
    answer = hasty.call("navigate", url=deep if crash == "deep" else crash)
    if answer.failed:
        assert "The page crashed, and its tab was closed" in refused(answer, "timeout")
    hasty.call("get_visible_elements")
    check_usable(hasty)


def test_a_click_waits_for_a_page_that_is_busy_for_six_seconds(stage: Stage) -> None:
    """A page that does not answer for six seconds is waited for within the command deadline."""
    stage.show(
        "<button>Go</button><script>onclick = () => { for (const end = Date.now() + 6e3; Date.now() < end;);"
        "document.title = 'done' }</script>"
    )
    assert stage.ok("click_element", selector="button")["title"] == "done"
