"""Waiting for conditions, reading text, scrolling, and values in and out of scripts."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest

from tests.snapshot.chromium import Browser, Site, without_refs

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
def test_conditions_hold_or_do_not(css: str | None, conditions: dict[str, Any], browser: Browser) -> None:
    """Each condition is true here, and its negation is not."""
    page = browser.open(PAGE)
    locator = css and {"by": "css", "value": css}
    assert page.call("wait", conditions=conditions, locator=locator, slice=0)["ok"]
    assert not page.call("wait", conditions=conditions, locator=locator, slice=0, **{"not": True})["ok"]


def test_a_failure_has_expected_actual_and_what_is_near(browser: Browser) -> None:
    """The reader sees what was there instead."""
    answer = browser.open(PAGE).call(
        "wait", conditions={"text": "Cart 3"}, locator={"by": "css", "value": "h1"}, slice=0
    )
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
def test_urls_are_globs(glob: str, holds: bool, browser: Browser, site: Site) -> None:  # noqa: FBT001 (a table's column)
    """Without a scheme the glob stands for the end of the address."""
    page = browser.visit(site.url("/shop?q=1"))
    assert page.call("wait", conditions={"url": glob}, slice=0)["ok"] is holds


def test_it_waits_inside_the_page(browser: Browser) -> None:
    """A condition that comes true within the slice ends the call."""
    page = browser.open("<p>0</p><script>setTimeout(() => document.querySelector('p').textContent = 1, 100)</script>")
    assert page.call("wait", conditions={"pageText": "1"}, slice=5000)["ok"]


def test_text_reads_as_people_see_it(browser: Browser) -> None:
    """Blocks are lines; what is hidden and what is typed into fields is left out."""
    html = "<p>One <b>two</b></p><p hidden>no</p><div>three<br>four</div><input value=no><table><tr><td>a<td>b</table>"
    assert browser.open(html).call("text")["text"] == "One two\nthree\nfour\na b"


def test_scrolling_is_told(browser: Browser) -> None:
    """How far a wheel moved the page, and where it cannot go further."""
    page = browser.open("<div style='height:900px'>x</div>")
    info = page.call("scrollInfo", direction="down")
    assert (info["before"], info["atEnd"]) == ([0, 0], False)
    browser.js("scrollTo(0, 9999)")
    answer = page.call("scrolled", direction="down", slice=1000)
    assert answer["moved"] > 0
    assert answer["atEnd"]


def test_what_scrolls_inside_the_page_is_found(browser: Browser) -> None:
    """Where the page itself cannot scroll its largest pane is meant."""
    html = "<div id=s style='height:300px;overflow:auto'><p style='height:900px'>x</p></div>"
    page = browser.open(html)
    info = page.call("scrollInfo", direction="down")
    page.evaluate("arguments[0].scrollTop = 100", [{"ref": info["ref"]}])
    assert page.call("scrolled", direction="down", slice=1000)["moved"] == 100


SERIALIZED = {
    "return undefined": None, "return NaN": None, "return [1, 'a', true, null]": [1, "a", True, None],
    "return new Date(0)": "1970-01-01T00:00:00.000Z", "return new Map([['a', new Set([1])]])": {"a": [1]},
    "const a = {}; a.a = a; return a": {"a": "[circular]"}, "return function go() {}": "[function go]",
    "return await Promise.resolve(5)": 5, "return 7 // with a comment": 7, "return {a: undefined, b: Infinity}":
        {"a": None, "b": None}, "return arguments[0] + arguments[1].x": 3, "return window": "[Window]",
    "return 12n": "12", "const {x, y} = new DOMRect(1, 2); return {x, y}": {"x": 1, "y": 2},
}  # fmt: skip


@pytest.mark.parametrize("body", SERIALIZED)
def test_values_come_back_as_json(body: str, browser: Browser) -> None:
    """Whatever a script returns has a JSON form."""
    assert browser.open("x").evaluate(body, [1, {"x": 2}])["value"] == SERIALIZED[body]


def test_elements_go_in_and_out_as_refs(browser: Browser) -> None:
    """A ref or a locator becomes the element, an element becomes its ref."""
    page = browser.open("<button>A</button>")
    out = page.evaluate("return {found: [document.querySelector('button')]}", [])["value"]["found"][0]
    back = page.evaluate("return arguments[0] === arguments[1]", [out, {"locator": {"by": "css", "value": "button"}}])
    assert back["value"] is True


def test_a_script_runs_once_even_if_refs_run_out(browser: Browser) -> None:
    """Its value is kept while more numbers are reserved."""
    page = browser.open("<i>x</i>" * 200)
    answer = page.evaluate("window.runs = (window.runs ?? 0) + 1; return [...document.querySelectorAll('i')]", [])
    assert len({each["ref"] for each in answer["value"]}) == 200
    assert browser.js("return window.runs") == 1


def test_a_page_of_5000_rows_takes_time_in_proportion(browser: Browser) -> None:
    """Ten times the rows take about ten times as long, for the outline and for a search."""

    def cost(rows: int) -> float:
        page = browser.open(f"<table>{'<tr><td>Mug<td><button>Add</button>' * rows}</table>")
        locator = {"by": "role", "value": "button", "name": "Add"}
        times = []
        for _ in range(3):
            start = perf_counter()
            page.call("snapshot", json=False, scope="page", limit=10)
            page.call("mark")
            page.call("ready", locator=locator, need="present", slice=0)
            times.append(perf_counter() - start)
        return min(times)

    assert cost(5000) < 30 * cost(500)


def test_deep_nesting_is_bounded(browser: Browser) -> None:
    """Three hundred buttons in each other with a long text cost what their number says."""
    html = "<div role=button>" * 300 + "x" * 20_000
    assert browser.open(html).call("snapshot", scope="page")["total"] == 300
