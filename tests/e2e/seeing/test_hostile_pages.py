"""The collection of hostile pages and frames: nothing forged, nothing read, and every call ends in its time."""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e import hostile_pages as pages
from tests.e2e.harness import in_time, kill
from tests.e2e.seeing.test_hostile import LINE, bounded_call
from tests.e2e.stage import Stage, opened
from tests.servers.mcp import Answer
from tests.servers.site import Reply, Site
from tests.waiting import until

pytestmark = pytest.mark.full

SECRET = "what no caller reads"
CALM = "<button id=calm onclick=\"document.title = 'clicked'\">Calm</button>"
BEFORE = f"<script>var line = {json.dumps(pages.LINE)}</script>"
BOUND = 15.0
"""Seconds that a call on a hostile page may take: the command deadline of the server, and what a new tab needs."""
SOONER = {"timeout": 700}
GONE = {"session_lost", "session_not_found"}
ISOLATED = {"local", "grid", "chrome", "edge", "firefox"}
"""Places where the engine has a world of its own; elsewhere a page can make it answer wrongly, and no more."""


class Stronghold(Stage):
    """A stage of its own, and the URL of a file that none of its callers may read."""

    def __init__(self, stage: Stage, file: str) -> None:
        super().__init__(stage.server, stage.site)
        self.file = file


@pytest.fixture(scope="module")
def fortress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stronghold]:
    """A server with short deadlines whose only root is empty, a browser `browser` and a neighbour."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "root").mkdir()
    (folder / "secret.html").write_text(f"<title>{SECRET}</title>{SECRET}", "utf-8")
    settings = {"command_timeout": "4s", "file_roots": str(folder / "root")}
    with opened("auto", "browser", "neighbour", **settings) as stage:
        site = stage.site
        site.page("/", "<title>front</title>front")
        site.page("/itself", "<p>x<iframe src='/itself?x'></iframe>")
        site.page("/slow", _after_a_moment)
        site.page("/nothing", Reply(status=204))
        site.page("/to-metadata", Reply(status=302, headers={"Location": "http://169.254.169.254/latest/"}))
        site.page("/leads-opener", "<script>opener.location = 'about:blank#led'</script>")
        worker = "onfetch = event => event.respondWith(new Response('forged'))"
        site.page("/scoped/worker.js", Reply(worker, content_type="text/javascript"))
        site.gate("/never")
        yield Stronghold(stage, (folder / "secret.html").as_uri())


@pytest.fixture
def stronghold(fortress: Stronghold) -> Stronghold:
    """The server and its sessions; one that an earlier test lost is started anew: one loss fails one test."""
    for name in ("neighbour", "browser"):
        if fortress.call("tabs", action="list", sessionId=name).code in GONE:
            fortress.call("close_session", sessionId=name)
            fortress.ok("start_browser", sessionId=name)
    fortress.ok("navigate", url=fortress.page(CALM, title="Calm"), sessionId="neighbour")
    fortress.ok("set_current_session", sessionId="browser")
    return fortress


def _after_a_moment(_: object) -> str:
    time.sleep(0.2)
    return "late"


def other_page(site: Site) -> str:
    """Return a page of another origin with a button."""
    inner = "<button onclick='this.textContent = \"In was pressed\"'>In</button>"
    site.page("/other", f"<!doctype html>{BEFORE}{inner}")
    return site.url("/other", host="localhost")


def filled(stage: Stronghold, html: str) -> str:
    """Return a page of a table with the addresses of this test."""
    for name, value in (("file", stage.file), ("other", other_page(stage.site)), ("here", stage.site.url(""))):
        html = html.replace(f"{{{name}}}", value)
    return html


def check_usable(stage: Stage) -> None:
    """Open an ordinary page in the same session, in whichever tab, and check that it can be used."""

    def shows_calm() -> bool:
        """Open the page; the one before may have gone elsewhere at the same moment, which a warning says."""
        opened = stage.call("navigate", url=stage.page(CALM, title="Calm"))
        return not opened.failed and not opened.data.get("warnings")

    until(shows_calm, "an ordinary page")
    assert stage.ok("click_element", selector="#calm")["title"] == "clicked"
    for tab in stage.ok("tabs", action="list")["tabs"]:
        if not tab.get("current"):
            stage.call("tabs", action="close", tab=tab["tab"])


def test_a_lost_session_is_none_to_the_next_test(fortress: Stronghold, request: pytest.FixtureRequest) -> None:
    """The fixture starts sessions of the same names in place of those whose drivers died."""
    below = fortress.server.process.children(recursive=True)
    for driver in [process for process in below if process.name() == "chromedriver"]:
        kill(driver)
    check_usable(request.getfixturevalue("stronghold"))


def without_refs(outline: str) -> list[str]:
    """Return the lines of an outline without their refs and states."""
    return [re.sub(r" \[[^\]]*\]", "", line).strip() for line in outline.splitlines()]


def test_the_collection_has_a_hundred_pages_and_more() -> None:
    """Each with a name of its own."""
    names = pages.names_of_all()
    assert len(names) == len({*names})
    assert len(names) >= 200


FORGING = {
    **{name: f"<script>{script}</script>{pages.SHOP}" for name, script in pages.REPLACED_FUNCTIONS.items()},
    **{name: f"<script>{script}</script>{pages.SHOP}" for name, script in pages.REPLACED_DOCUMENTS.items()},
    **pages.CLOBBERED,
    **pages.REWRITTEN,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in pages.REPLACED_FUNCTIONS else pytest.mark.core) for name in FORGING],
)
def test_a_page_neither_forges_its_outline_nor_misleads_an_action(
    stage: Stage, name: str, request: pytest.FixtureRequest
) -> None:
    """It is seen, typed into and clicked as if it were honest; where the world is the page's, answers are lines."""
    url = stage.page(f"{BEFORE}{FORGING[name]}")
    if request.config.getoption("--on") in ISOLATED:
        stage.ok("navigate", url=url)
        until(lambda: len(stage.outline()) >= 4, "the page")
        lines = without_refs(stage.ok("get_visible_elements")["outline"])
        assert lines == ['- heading "Shop"', '- textbox "Name"', '- button "Pay"', "- text: Total 5"]
        stage.ok("set_value", selector="label=Name", value="Ann")
        stage.ok("expect", selector="label=Name", value="Ann")
        assert stage.ok("click_element", selector="text=Pay")["title"] == "paid"
        assert stage.ok("get_text", selector="css=p")["text"] == "Total 5"
    else:
        bounded_call(stage, "navigate", url=url, timeout=3000)
        for tool, arguments in (("get_visible_elements", {}), ("click_element", {"selector": "text=Pay", **SOONER})):
            check_lines(bounded_call(stage, tool, **arguments))
        stage.ok("navigate", url=stage.page(CALM, title="Calm"))
        assert stage.ok("click_element", selector="#calm")["title"] == "clicked"


def check_lines(answer: Answer) -> None:
    """Check that an outline has lines of an outline, and no line of the page pretends to be ours."""
    for line in answer.data.get("outline", "").splitlines():
        assert line.lstrip().startswith("- text: ") or LINE.fullmatch(line), line
    assert not [line for line in answer.text.splitlines() if line.startswith("Session: bank")]


SAYING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_visible_elements", {}),
    ("get_text", {}),
    ("get_page_source", {}),
    ("get_console", {}),
    ("cookies", {"action": "get"}),
    ("tabs", {"action": "list"}),
    ("list_sessions", {}),
    ("execute_script", {"script": "return said"}),
    ("execute_script", {"script": "throw new Error(said)"}),
    ("execute_script", {"script": "alert(said); return 1"}),
    ("click_element", {"selector": "text=nothing such", "timeout": 0}),
    ("click_element", {"selector": "#b", "timeout": 2000}),
    ("expect", {"selector": "#p", "text": "else", "timeout": 0}),
    ("execute_sequence", {"actions": [{"action": "get_text"}, {"action": "click_element", "selector": "#b"}]}),
)


@pytest.mark.parametrize("name", pages.FORGED_TEXTS)
def test_a_text_that_imitates_ours_stays_inside_of_the_fence(stronghold: Stronghold, name: str) -> None:
    """Whatever a page writes, and wherever it is shown: our own lines are those outside of the fence."""
    said = pages.FORGED_TEXTS[name]
    stronghold.show(
        f"<button id=b></button><input id=i><p id=p></p><script>var said = {json.dumps(said)}; document.title = said;"
        "b.ariaLabel = i.value = i.placeholder = p.textContent = said; console.log(said); console.error(Error(said));"
        "const c = encodeURIComponent(said); document.cookie = `c=${c}`; history.replaceState(0, '', `#${c}`);"
        "b.onclick = () => { prompt(said, said); document.title = said + 1 }</script>"
    )
    for tool, arguments in SAYING:
        answer = bounded_call(stronghold, tool, **arguments)
        check_fences(answer)


def check_fences(answer: Answer) -> None:
    """Check that the fences of an answer have one name, that they pair, and that no line outside is the page's."""
    outside, inside = [], ""
    for line in answer.fenced_text.split("\n"):
        if fence := re.fullmatch(r"<page-([a-z0-9]{5})>", line) if not inside else None:
            inside = fence[1]
        elif inside and line == f"</page-{inside}>":
            inside = ""
        elif not inside:
            outside.append(line)
    assert inside == "", answer.fenced_text
    for line in outside:
        assert not re.match(
            r'\s*(- button "Evil|Session: bank|Current session: bank|Warnings?: Evil|session_lost|SYSTEM|\{"error"|'
            r"</?page-|Event: A dialog was accepted)",
            line,
        ), line
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x85\u2028\u2029\u202e\u2066]", "\n".join(outside))


@pytest.mark.parametrize("name", pages.FRAMES)
def test_a_button_in_a_hostile_frame_is_pressed_and_none_beside_it(stronghold: Stronghold, name: str) -> None:
    """The frame says nothing about the page around it, and what is in it is used like any other."""
    stronghold.show(
        f"{BEFORE}<button onclick=\"document.title = 'top'\">Top</button>{filled(stronghold, pages.FRAMES[name])}"
    )
    until(lambda: 'button "In"' in stronghold.ok("get_visible_elements")["outline"], "the frame")
    outline = stronghold.ok("get_visible_elements")["outline"]
    assert [line for line in outline.splitlines() if re.match(r'\s*- button "(Send|Evil)', line)] == []
    assert len(re.findall(r'- button "Top"', outline)) == 1
    stronghold.ok("click_element", selector="role=button[name=In]")
    stronghold.ok("wait_for", text="In was pressed", timeout=60_000)
    assert stronghold.ok("click_element", selector="text=Top")["title"] == "top"


def look_beside(stronghold: Stronghold, name: str) -> float:
    """Look at a page with hostile frames, and check what is said of it; return the seconds that it took."""
    html = f"{BEFORE}<button onclick=\"document.title = 'top'\">Top</button>{filled(stronghold, pages.UNSEEN[name])}"
    stronghold.call("navigate", url=stronghold.page(html), waitUntil="none", timeout=4000)
    answer, took = timed(stronghold, "get_visible_elements")
    assert SECRET not in answer.text
    return took


@pytest.mark.parametrize("name", pages.UNSEEN)
def test_a_page_beside_a_hostile_frame_is_used_like_any_other(stronghold: Stronghold, name: str) -> None:
    """Frames that come and go, that are many, or lead where no page may."""
    look_beside(stronghold, name)
    until(lambda: stronghold.call("click_element", selector="text=Top", **SOONER).data.get("title") == "top", "it")
    check_usable(stronghold)


@pytest.mark.clock
@pytest.mark.parametrize("name", pages.UNSEEN)
def test_a_page_beside_a_hostile_frame_is_read_in_its_time(stronghold: Stronghold, name: str) -> None:
    """Ends the reading by the server's deadline."""
    assert look_beside(stronghold, name) <= in_time(BOUND)


@pytest.mark.parametrize("name", pages.DOCUMENTS)
def test_every_tool_answers_on_an_unusual_document(stronghold: Stronghold, name: str) -> None:
    """Drawings, XML, text, and documents that lack their parts."""
    kind, content = pages.DOCUMENTS[name]
    url = stronghold.site.page("/document", Reply(content, content_type=f"{kind}; charset=utf-8"))
    stronghold.ok("navigate", url=url)
    for tool, arguments in (
        ("get_visible_elements", {}),
        ("get_text", {}),
        ("get_page_source", {}),
        ("take_screenshot", {}),
        ("execute_script", {"script": "return 1"}),
        ("click_element", {"selector": "text=Drawn", **SOONER}),
        ("press_keys", {"keys": "a"}),
    ):
        answer = bounded_call(stronghold, tool, **arguments)
        check_fences(answer)
        if "Drawn" in content and tool == "get_text":
            assert "Drawn" in answer.text


def timed(stage: Stage, tool: str, **arguments: Any) -> tuple[Answer, float]:
    """Return the bounded answer of a call, and its time."""
    began = time.monotonic()
    answer = bounded_call(stage, tool, **arguments)
    return answer, time.monotonic() - began


HELD = {"", "timeout", "not_actionable", "element_not_found", "remote_error", "stale_ref", "dialog_open"}
"""Codes of calls on pages that want to hold them."""
ACTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_visible_elements", {}),
    ("click_element", {"selector": "#b", "observe": "none", **SOONER}),
    ("set_value", {"selector": "#i", "value": "x", **SOONER}),
    ("get_text", {}),
    ("wait_for", {"text": "nothing such", "timeout": 200}),
)


def late_calls(took: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the calls that took longer than the bound, with their times in seconds."""
    return [one for one in took if one[1] > in_time(BOUND)]


def act_on_holding(stronghold: Stronghold, name: str) -> list[tuple[str, float]]:
    """Act on a page that wants to hold calls, check their answers, and leave it; return their times in seconds."""
    body = "<button id=b>Go</button><input id=i>"
    html = f"{body}<script>const html = `{body}`; {pages.HOLDING[name]}</script>"
    took = [("navigate", timed(stronghold, "navigate", url=stronghold.page(html), timeout=3000)[1])]
    for tool, arguments in ACTS:
        answer, seconds = timed(stronghold, tool, **arguments)
        assert answer.code in HELD, answer.text
        took.append((tool, seconds))
    check_usable(stronghold)
    return took


@pytest.mark.parametrize("name", pages.HOLDING)
def test_a_page_that_wants_to_hold_a_call_can_be_left(stronghold: Stronghold, name: str) -> None:
    """Each call has a result or a reason, and another page can be used after it."""
    act_on_holding(stronghold, name)


@pytest.mark.clock
@pytest.mark.parametrize("name", pages.HOLDING)
def test_a_page_that_wants_to_hold_a_call_ends_none_late(stronghold: Stronghold, name: str) -> None:
    """Each call has a result or a reason in its time."""
    assert late_calls(act_on_holding(stronghold, name)) == []


def use_a_large_page(stronghold: Stronghold, tag: str) -> list[tuple[str, float]]:
    """Read and use a page that takes too long to read, and check what is said; return the times of calls in seconds."""
    labelled = f"<{tag} aria-labelledby=long>x</{tag}>" * 30_000
    html = f"<h1>Rows</h1><p id=long>{'<b>word </b>' * 400}</p>{labelled}<a id=a href='#a'>Go</a>"
    stronghold.call("navigate", url=stronghold.page(html), waitUntil="none")
    until(lambda: stronghold.call("expect", count=1, selector="#a", timeout=0).code == "", "the whole page")
    listed = stronghold.ok("get_visible_elements", scope="page")
    assert listed["outline"].startswith('- heading "Rows"')
    took = []
    for tool, arguments in (
        ("get_visible_elements", {"scope": "page", "format": "json"}),
        ("click_element", {"selector": "role=button[name=nothing such]", **SOONER}),
        ("click_element", {"selector": "#a"}),
    ):
        answer, seconds = timed(stronghold, tool, **arguments)
        took.append((tool, seconds))
        assert answer.code in {"", "element_not_found"}, answer.text
        assert "Event: The page is so large that only a part of it was read;" in answer.text
    stronghold.ok("expect", url="*#a", timeout=0)
    check_usable(stronghold)
    return took


@pytest.mark.parametrize("tag", ["button", "section"])
def test_a_page_that_takes_too_long_to_read_is_read_in_part(stronghold: Stronghold, tag: str) -> None:
    """The part is an answer, with an event; a selector reaches the rest. Sections have roles by their names."""
    use_a_large_page(stronghold, tag)


@pytest.mark.clock
@pytest.mark.parametrize("tag", ["button", "section"])
def test_a_part_of_a_page_that_takes_too_long_to_read_is_read_in_time(stronghold: Stronghold, tag: str) -> None:
    """Ends every call by the server's deadline."""
    assert late_calls(use_a_large_page(stronghold, tag)) == []


BROWSERS_OWN = re.compile(r"(file|chrome|devtools|view-source|filesystem|edge|chrome-extension):(?!//invalid/)")


@pytest.mark.parametrize("name", pages.REDIRECTS)
def test_a_page_leads_to_no_file_no_settings_and_no_metadata(stronghold: Stronghold, name: str) -> None:
    """By links, scripts, forms, windows, frames and the server: nothing of what is there is read."""
    stronghold.call("navigate", url=stronghold.page(filled(stronghold, pages.REDIRECTS[name])), timeout=4000)
    clicked = bounded_call(stronghold, "click_element", selector="text=Go", timeout=2000)
    assert SECRET not in clicked.text
    for tab in stronghold.ok("tabs", action="list")["tabs"]:
        stronghold.call("tabs", action="select", tab=tab["tab"])
        for tool in ("get_text", "get_visible_elements", "get_page_source"):
            answer = bounded_call(stronghold, tool)
            assert SECRET not in answer.text
            assert SECRET not in answer.data_json
        assert not BROWSERS_OWN.match(tab["url"]), tab
        if not tab.get("current"):
            stronghold.call("tabs", action="close", tab=tab["tab"])


@pytest.mark.parametrize("name", pages.CLICK_THROUGH)
def test_a_press_meant_for_a_bait_reaches_nothing_else(stronghold: Stronghold, name: str) -> None:
    """Covers, jumps and frames: `Transfer` is never pressed."""
    stronghold.show(f"{pages.STYLE}{pages.CLICK_THROUGH[name]}")
    until(lambda: 'button "Transfer"' in stronghold.ok("get_visible_elements")["outline"], "the page")
    bounded_call(stronghold, "click_element", selector="text=Bait", **SOONER)
    stronghold.ok("expect", title="Page", timeout=0)


def act_on_escaping(stronghold: Stronghold, name: str) -> list[tuple[str, float]]:
    """Act on a page that wants out of its tab, and leave it; return the times of the calls in seconds."""
    took = []
    stronghold.ok("navigate", url=stronghold.page(filled(stronghold, pages.ESCAPES[name])), timeout=4000)
    for tool, arguments in (("click_element", {"selector": "text=Go", **SOONER}), *ACTS[3:], ("take_screenshot", {})):
        _, seconds = timed(stronghold, tool, **arguments)
        took.append((tool, seconds))
    check_usable(stronghold)
    return took


@pytest.mark.parametrize("name", pages.ESCAPES)
def test_a_page_that_wants_out_of_its_tab_leaves_the_session_usable(stronghold: Stronghold, name: str) -> None:
    """Windows, the whole screen, the pointer, prompts of the browser: the next calls work as ever."""
    act_on_escaping(stronghold, name)


@pytest.mark.clock
@pytest.mark.parametrize("name", pages.ESCAPES)
def test_calls_on_a_page_that_wants_out_of_its_tab_end_in_time(stronghold: Stronghold, name: str) -> None:
    """Ends every call by the server's deadline."""
    assert late_calls(act_on_escaping(stronghold, name)) == []


def use_empty_windows(stronghold: Stronghold, name: str) -> list[tuple[str, float]]:
    """Use windows in which no page comes; return the times of going to their tabs in seconds."""
    took = []
    address = filled(stronghold, pages.WINDOWS[name])
    for beside in (False, True):
        stronghold.show(f'<button onclick="window.open({address})">Go</button>')
        stronghold.ok("click_element", selector="text=Go")
        opener, window = stronghold.ok("tabs", action="list")["tabs"]
        if beside:
            stronghold.ok("tabs", action="new")
            stronghold.ok("tabs", action="close")
        took.append(("tabs", timed(stronghold, "tabs", action="select", tab=window["tab"])[1]))
        assert stronghold.ok("get_text").get("text", "") in {"", "blob"}
        stronghold.show(CALM)
        stronghold.ok("click_element", selector="#calm")
        tabs = stronghold.ok("tabs", action="close")["tabs"]
        assert [tab["tab"] for tab in tabs] == [opener["tab"]]
    return took


@pytest.mark.parametrize("name", pages.WINDOWS)
def test_a_window_in_which_no_page_comes_is_used_like_any_other(stronghold: Stronghold, name: str) -> None:
    """Its tab can be gone to, read, used for another page and closed, and other tabs beside it."""
    use_empty_windows(stronghold, name)


@pytest.mark.clock
@pytest.mark.parametrize("name", pages.WINDOWS)
def test_the_tab_of_a_window_in_which_no_page_comes_is_gone_to_in_time(stronghold: Stronghold, name: str) -> None:
    """Ends the call by the server's deadline."""
    assert late_calls(use_empty_windows(stronghold, name)) == []


NOISY = ("changes without end", "another body all the time", "requests without end", "busy for half a second at a time")


@pytest.mark.clock
def test_calls_of_a_neighbour_take_at_most_twice_as_long(stronghold: Stronghold) -> None:
    """The median of another session's calls beside hostile pages, with a guard for a machine that is shared."""

    def median() -> float:
        calls = [timed(stronghold, "get_visible_elements", sessionId="neighbour")[1] for _ in range(15)]
        return statistics.median(calls)

    check_usable(stronghold)
    quiet = median()
    for name in NOISY:
        html = f"<button id=b>Go</button><script>const html = `<p>x`; {pages.HOLDING[name]}</script>"
        stronghold.call("navigate", url=stronghold.page(html), waitUntil="none", timeout=3000)
        beside = stronghold.begin("wait_for", text="nothing such", timeout=3000, sessionId="browser")
        during = median()
        beside.result(60)
        assert during <= 2 * quiet + 0.15, (name, quiet, during)
    check_usable(stronghold)
