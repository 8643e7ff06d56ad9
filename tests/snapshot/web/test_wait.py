"""Waiting for conditions, reading text, scrolling, and values in and out of scripts."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest

from orchestrator.snapshot.methods import MARK, READY, SCROLL_INFO, SCROLLED, SNAPSHOT, TEXT, WAIT
from tests.snapshot.web.chromium import Browser, Site, without_refs

PAGE = """<h1>Cart  <b>2</b></h1><input id=i value=5 aria-label=N><input id=c type=checkbox checked>
<button disabled>Off</button>
<ul><li>A<li>B</ul><p hidden>gone</p><a href=/x title=T>link</a>"""

HELD = [
    ("h1", {"visible": True}), ("p", {"visible": False}), ("p", {"state": "hidden"}), (".none", {"state": "gone"}),
    ("h1", {"text": "Cart 2"}), ("h1", {"containsText": "cart"}), ("input", {"value": "5"}),
    ("button", {"enabled": False}),
    ("#c", {"checked": True}), ("li", {"count": 2}), (".none", {"count": 0}), ("a", {"attribute": {"name": "title"}}),
    ("a", {"attribute": {"name": "href", "value": "/x"}}), (None, {"title": "Page"}), (None, {"pageText": "cart 2"}),
    (None, {"url": "data:*"}), ("h1", {"visible": True, "text": "Cart 2"}),
]  # fmt: skip


@pytest.mark.parametrize(("css", "conditions"), HELD)
def test_a_true_wait_condition_holds_and_its_negation_does_not(
    css: str | None, conditions: dict[str, Any], browser: Browser
) -> None:
    """Each condition is true here, and its negation is not."""
    page = browser.open(PAGE)
    locator = css and {"by": "css", "value": css}
    assert page.call(WAIT, conditions=conditions, locator=locator, slice=0)["ok"]
    assert not page.call(WAIT, conditions=conditions, locator=locator, slice=0, **{"not": True})["ok"]


def test_an_unmet_condition_reports_expected_actual_and_nearby_lines(browser: Browser) -> None:
    """The error gives the actual state."""
    answer = browser.open(PAGE).call(WAIT, conditions={"text": "Cart 3"}, locator={"by": "css", "value": "h1"}, slice=0)
    assert answer["failed"] == [{"condition": "text", "expected": "Cart 3", "actual": "Cart 2"}]
    assert without_refs(answer["near"][0]) == 'heading "Cart 2" [level=1]'


@pytest.mark.parametrize(
    ("glob", "holds"),
    [
        ("/shop", True),
        ("*/shop?q=*", True),
        ("shop", True),
        ("http://*/shop?q=1", True),
        ("/sho", False),
        ("http://x/*", False),
    ],
)
def test_a_url_condition_is_matched_as_a_glob(glob: str, holds: bool, browser: Browser, site: Site) -> None:  # noqa: FBT001 (a table's column)
    """A glob without a scheme is matched against the end of the URL."""
    page = browser.visit(site.url("/shop?q=1"))
    assert page.call(WAIT, conditions={"url": glob}, slice=0)["ok"] is holds


def test_a_wait_ends_once_the_page_meets_its_condition(browser: Browser) -> None:
    """A condition that comes true within the wait's time ends the call."""
    page = browser.open("<p>0</p><script>setTimeout(() => document.querySelector('p').textContent = 1, 100)</script>")
    assert page.call(WAIT, conditions={"pageText": "1"}, slice=25_000)["ok"]


def test_page_text_has_a_line_per_block_and_no_hidden_text(browser: Browser) -> None:
    """Blocks and rows are lines; values of fields count, hidden text does not."""
    html = (
        "<p>One <b>two</b></p><p hidden>no</p><div>three<br>four</div><input value=five><table><tr><td>a<td>b</table>"
    )
    assert browser.open(html).call(TEXT)["text"] == "One two\nthree\nfour\nfive\na\tb"


def test_a_scroll_reports_its_distance_and_whether_the_end_is_reached(browser: Browser) -> None:
    """A scroll reports how far the page moved and whether it can go further."""
    page = browser.open("<div style='height:900px'>x</div>")
    info = page.call(SCROLL_INFO, direction="down")
    assert (info["before"], info["atEnd"]) == ([0, 0], False)
    browser.js("scrollTo(0, 9999)")
    answer = page.call(SCROLLED, direction="down", slice=1000)
    assert answer["moved"] > 0
    assert answer["atEnd"]


def test_the_largest_pane_is_scrolled_where_the_page_itself_cannot_scroll(browser: Browser) -> None:
    """A page that cannot scroll itself is scrolled by its largest scrollable pane."""
    html = "<div id=s style='height:300px;overflow:auto'><p style='height:900px'>x</p></div>"
    page = browser.open(html)
    info = page.call(SCROLL_INFO, direction="down")
    page.evaluate("arguments[0].scrollTop = 100", [{"ref": info["ref"]}])
    assert page.call(SCROLLED, direction="down", slice=1000)["moved"] == 100


SERIALIZED = {
    "return undefined": None, "return NaN": None, "return [1, 'a', true, null]": [1, "a", True, None],
    "return new Date(0)": "1970-01-01T00:00:00.000Z", "return new Map([['a', new Set([1])]])": {"a": [1]},
    "const a = {}; a.a = a; return a": {"a": "[circular]"}, "return function go() {}": "[function go]",
    "return await Promise.resolve(5)": 5, "return 7 // with a comment": 7, "return {a: undefined, b: Infinity}":
        {"a": None, "b": None}, "return arguments[0] + arguments[1].x": 3, "return window": "[Window]",
    "return 12n": "12", "const {x, y} = new DOMRect(1, 2); return {x, y}": {"x": 1, "y": 2},
}  # fmt: skip


@pytest.mark.parametrize("body", SERIALIZED)
def test_script_results_come_back_as_json(body: str, browser: Browser) -> None:
    """Every return value of a script has a JSON form."""
    assert browser.open("x").evaluate(body, [1, {"x": 2}])["value"] == SERIALIZED[body]


def test_scripts_take_and_return_elements_as_refs(browser: Browser) -> None:
    """A ref or a locator becomes the element, an element becomes its ref."""
    page = browser.open("<button>A</button>")
    out = page.evaluate("return {found: [document.querySelector('button')]}", [])["value"]["found"][0]
    back = page.evaluate("return arguments[0] === arguments[1]", [out, {"locator": {"by": "css", "value": "button"}}])
    assert back["value"] is True


def test_a_script_runs_once_even_if_ref_numbers_run_out(browser: Browser) -> None:
    """A script's value is kept while more ref numbers are reserved."""
    page = browser.open("<i>x</i>" * 200)
    answer = page.evaluate("window.runs = (window.runs ?? 0) + 1; return [...document.querySelectorAll('i')]", [])
    assert len({each["ref"] for each in answer["value"]}) == 200
    assert browser.js("return window.runs") == 1


@pytest.mark.clock
def test_snapshot_and_search_time_grow_in_proportion_to_the_rows_of_a_page(browser: Browser) -> None:
    """Ten times the rows take about ten times as long, for the outline and for a search."""

    def cost(rows: int) -> float:
        page = browser.open(f"<table>{'<tr><td>Mug<td><button>Add</button>' * rows}</table>")
        locator = {"by": "role", "value": "button", "name": "Add"}
        times = []
        for _ in range(3):
            start = perf_counter()
            page.call(SNAPSHOT, json=False, scope="page", limit=10)
            page.call(MARK)
            page.call(READY, locator=locator, need="present", slice=0)
            times.append(perf_counter() - start)
        return min(times)

    assert cost(5000) < 30 * cost(500)


def test_300_nested_buttons_around_a_long_text_are_all_listed(browser: Browser) -> None:
    """Buttons nested 300 deep around a long text are listed within the time of a test."""
    html = "<div role=button>" * 300 + "x" * 20_000
    assert browser.open(html).call(SNAPSHOT, scope="page")["total"] == 300
