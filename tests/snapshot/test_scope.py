"""What of the outline is given: scope, root, query, roles, pages of it, JSON."""

from __future__ import annotations

from typing import Any

from orchestrator.snapshot.page import SOURCE, Page
from tests.snapshot.chromium import Browser, Numbers, without_refs

TALL = "<main><button>Near</button><div style='height:3000px'></div><button>Far</button></main>"


def lines(page: Page, **params: object) -> list[str]:
    """A snapshot's lines without refs."""
    return [without_refs(line) for line in page.call("snapshot", **params)["lines"]]


def test_the_viewport_is_the_scope_unless_told(browser: Browser) -> None:
    """What is below the fold is left out and counted; the landmark around stays."""
    page = browser.open(TALL)
    answer = page.call("snapshot")
    assert [without_refs(line) for line in answer["lines"]] == ["- main", '  - button "Near"']
    assert (answer["total"], answer["outside"]) == (2, 1)
    assert lines(page, scope="page") == ["- main", '  - button "Near"', '  - button "Far"']


def test_what_a_scroller_hides_is_outside(browser: Browser) -> None:
    """Inside a box that scrolls only the part in its window counts as visible."""
    page = browser.open("""<div style='height:50px;overflow:auto'><button>A</button>
      <div style='height:500px'></div><button>B</button></div>""")
    assert lines(page) == ['- button "A"']


def test_a_query_keeps_what_has_the_text_and_the_lines_above(browser: Browser) -> None:
    """Name, text and value are searched, whatever the case."""
    page = browser.open("<nav><a href=#>Mug</a><a href=#>Cup</a></nav><input aria-label=x value='a mug'><p>none</p>")
    assert lines(page, query="MUG") == ["- navigation", '  - link "Mug"', '- textbox "x" = "a mug"']


def test_roles_keep_only_those(browser: Browser) -> None:
    """Lines of the wanted roles stand without the ones around them."""
    page = browser.open("<nav><a href=#>Mug</a></nav><h1>T</h1>")
    assert lines(page, roles=["link", "heading"]) == ['- link "Mug"', '- heading "T" [level=1]']


def test_limit_and_offset_cut_pages(browser: Browser) -> None:
    """The total tells how many there would be."""
    page = browser.open("".join(f"<button>{n}</button>" for n in range(10)))
    answer = page.call("snapshot", limit=3, offset=4)
    assert [without_refs(line) for line in answer["lines"]] == ['- button "4"', '- button "5"', '- button "6"']
    assert (answer["total"], answer["shown"]) == (10, 3)


def test_a_root_narrows_it(browser: Browser) -> None:
    """The outline of one element starts with its own line."""
    page = browser.open("<nav id=n><a href=#>Mug</a></nav><h1>T</h1>")
    assert lines(page, locator={"by": "css", "value": "#n"}) == ["- navigation", '  - link "Mug"']


def test_json_has_selectors_that_find_the_same(browser: Browser) -> None:
    """Each selector, by test id, role or CSS, leads back to its element."""
    page = browser.open("""<button data-testid=pay>Pay</button><button>Twice</button><button>Twice</button>
      <a href=#>One</a><ul><li>x</ul>""")
    elements = page.call("snapshot", json=True)["elements"]
    assert [each["selector"] for each in elements] == [
        "testid=pay", "html > body > button:nth-of-type(2)", "html > body > button:nth-of-type(3)",
        'role=link[name="One"]',
        "html > body > ul:nth-of-type(1)", "html > body > ul:nth-of-type(1) > li:nth-of-type(1)",
    ]  # fmt: skip
    for each in elements:
        found = page.call("ready", locator={"by": "css", "value": each["cssSelector"]}, need="visible", slice=0)
        assert found["ref"] == each["ref"]


def test_refs_stay_with_their_elements(browser: Browser) -> None:
    """An element keeps its number while it lives, wherever the page moves it; a removed one is stale."""
    page = browser.open("<button id=a>A</button><button id=b>B</button>")
    before = page.call("snapshot")["lines"]
    browser.js("document.body.append(document.getElementById('a'))")
    assert sorted(page.call("snapshot")["lines"]) == sorted(before)
    ref = before[0].split("[")[1].rstrip("]")
    browser.js("document.getElementById('a').remove()")
    answer = page.call("ready", locator={"by": "ref", "value": ref}, need="visible", slice=0)
    assert (answer["reason"], answer["detail"]) == ("stale", f"{ref} is no longer on the page")


def test_numbers_are_never_used_twice(browser: Browser) -> None:
    """A new document goes on where the last one stopped."""
    page = browser.open("<button>A</button>")
    first = page.call("snapshot")["lines"][0]
    assert browser.open("<button>A</button>").call("snapshot")["lines"][0] != first


def test_running_out_of_numbers_is_met_by_more(browser: Browser) -> None:
    """A range that is too short is prolonged, and the answer is whole."""
    browser.open("<button>x</button>" * 300)
    page = Page(browser.run, Numbers(step=1))
    page.call("snapshot", limit=1)
    assert len({line.split("[")[1] for line in page.call("snapshot", scope="page", limit=300)["lines"]}) == 300


def test_what_lacks_numbers_is_not_done_twice(browser: Browser) -> None:
    """Only the numbers are filled in: a script with elements runs once, and the page is walked once."""
    sent: list[str] = []

    def run(script: str, args: list[Any]) -> object:
        sent.append(str(args[0]))
        return browser.run(script, args)

    browser.open("<button>x</button>" * 30)
    page = Page(run, Numbers(step=1))
    answer = page.evaluate("window.runs = (window.runs ?? 0) + 1; return [...document.querySelectorAll('button')]", [])
    assert browser.js("return window.runs") == 1
    assert len({element["ref"] for element in answer["value"]}) == 30
    browser.open("<button>x</button>" * 30)
    sent.clear()
    page.call("snapshot")
    assert sent == ["snapshot", "numbered"]


def test_the_engine_installs_itself_where_it_is_missing(browser: Browser) -> None:
    """The first call brings it along, the next ones are short, and a second install does nothing."""
    sent: list[int] = []

    def run(script: str, args: list[object]) -> object:
        sent.append(len(script))
        return browser.run(script, args)

    browser.open("x")
    browser.js("document.body.append(document.createElement('iframe'))")
    page = Page(run, Numbers())
    page.call("state")
    browser.js(f"window.first = window[Symbol.for('webdriver-orchestrator')]; {SOURCE}")
    assert browser.js("return window.first === window[Symbol.for('webdriver-orchestrator')]")
    assert (
        browser.js("return Object.keys(window).concat(Object.getOwnPropertyNames(window)).filter(k => /orch/.test(k))")
        == []
    )
    assert max(sent) < 1000
