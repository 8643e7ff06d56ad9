"""Parts of the outline: scope, root, query, roles, limit and offset, JSON."""

from __future__ import annotations

from orchestrator.snapshot.methods import READY, SNAPSHOT
from orchestrator.snapshot.web.world import HOOKS, PageWorld, engine_source
from tests.snapshot.untyped import UntypedEngine
from tests.snapshot.web.chromium import Browser, Numbers, RecordingWorld, without_refs

TALL = "<main><button>Near</button><div style='height:3000px'></div><button>Far</button></main>"


def lines(page: UntypedEngine, **params: object) -> list[str]:
    """A snapshot's lines without refs."""
    return [without_refs(line) for line in page.call(SNAPSHOT, **params)["lines"]]


def test_a_snapshot_is_limited_to_the_viewport_by_default(browser: Browser) -> None:
    """Elements below the fold are left out and counted; the landmark around visible ones stays."""
    page = browser.open(TALL)
    answer = page.call(SNAPSHOT)
    assert [without_refs(line) for line in answer["lines"]] == ["- main", '  - button "Near"']
    assert (answer["total"], answer["outside"]) == (2, 1)
    assert lines(page, scope="page") == ["- main", '  - button "Near"', '  - button "Far"']


def test_elements_scrolled_out_of_a_container_are_left_out_of_the_viewport(browser: Browser) -> None:
    """Inside a scrolling container only the part in view counts as visible."""
    page = browser.open("""<div style='height:50px;overflow:auto'><button>A</button>
      <div style='height:500px'></div><button>B</button></div>""")
    assert lines(page) == ['- button "A"']


def test_a_query_keeps_matching_lines_and_their_ancestors(browser: Browser) -> None:
    """Name, text and value are searched, ignoring case."""
    page = browser.open("<nav><a href=#>Mug</a><a href=#>Cup</a></nav><input aria-label=x value='a mug'><p>none</p>")
    assert lines(page, query="MUG") == ["- navigation", '  - link "Mug"', '- textbox "x" = "a mug"']


def test_a_roles_filter_keeps_only_lines_of_those_roles(browser: Browser) -> None:
    """Lines of the requested roles are listed without the lines around them."""
    page = browser.open("<nav><a href=#>Mug</a></nav><h1>T</h1>")
    assert lines(page, roles=["link", "heading"]) == ['- link "Mug"', '- heading "T" [level=1]']


def test_limit_and_offset_page_through_a_snapshot(browser: Browser) -> None:
    """Some of the lines come with their total number."""
    page = browser.open("".join(f"<button>{n}</button>" for n in range(10)))
    answer = page.call(SNAPSHOT, limit=3, offset=4)
    assert [without_refs(line) for line in answer["lines"]] == ['- button "4"', '- button "5"', '- button "6"']
    assert (answer["total"], answer["shown"]) == (10, 3)


def test_a_root_locator_limits_the_snapshot_to_that_element(browser: Browser) -> None:
    """The outline of one element starts with its own line."""
    page = browser.open("<nav id=n><a href=#>Mug</a></nav><h1>T</h1>")
    assert lines(page, locator={"by": "css", "value": "#n"}) == ["- navigation", '  - link "Mug"']


def test_json_selectors_find_their_own_elements(browser: Browser) -> None:
    """Each selector, by test id, role or CSS, leads back to its element."""
    page = browser.open("""<button data-testid=pay>Pay</button><button>Twice</button><button>Twice</button>
      <a href=#>One</a><ul><li>x</ul>""")
    elements = page.call(SNAPSHOT, json=True)["elements"]
    assert [each["selector"] for each in elements] == [
        "testid=pay", "html > body > button:nth-of-type(2)", "html > body > button:nth-of-type(3)",
        'role=link[name="One"]',
        "html > body > ul:nth-of-type(1)", "html > body > ul:nth-of-type(1) > li:nth-of-type(1)",
    ]  # fmt: skip
    for each in elements:
        found = page.call(READY, locator={"by": "css", "value": each["cssSelector"]}, need="visible", slice=0)
        assert found["ref"] == each["ref"]


def test_refs_stay_with_their_elements(browser: Browser) -> None:
    """An element keeps its ref while it lives, wherever the page moves it; a removed one is stale."""
    page = browser.open("<button id=a>A</button><button id=b>B</button>")
    before = page.call(SNAPSHOT)["lines"]
    browser.js("document.body.append(document.getElementById('a'))")
    assert sorted(page.call(SNAPSHOT)["lines"]) == sorted(before)
    ref = before[0].split("[")[1].rstrip("]")
    browser.js("document.getElementById('a').remove()")
    answer = page.call(READY, locator={"by": "ref", "value": ref}, need="visible", slice=0)
    assert (answer["reason"], answer["detail"]) == ("stale", f"{ref} is no longer on the page")


def test_ref_numbers_are_not_reused_in_a_new_document(browser: Browser) -> None:
    """Refs of a new document continue the numbers of the last one."""
    page = browser.open("<button>A</button>")
    first = page.call(SNAPSHOT)["lines"][0]
    assert browser.open("<button>A</button>").call(SNAPSHOT)["lines"][0] != first


def test_a_snapshot_reserves_more_ref_numbers_when_they_run_out(browser: Browser) -> None:
    """A range of ref numbers that is too short is extended, and the snapshot is complete."""
    browser.open("<button>x</button>" * 300)
    page = UntypedEngine(PageWorld(browser.remote, None, isolated=True), Numbers(step=1))
    page.call(SNAPSHOT, limit=1)
    assert len({line.split("[")[1] for line in page.call(SNAPSHOT, scope="page", limit=300)["lines"]}) == 300


def test_a_script_or_snapshot_that_runs_out_of_ref_numbers_is_not_repeated(browser: Browser) -> None:
    """Missing ref numbers are filled in afterwards: a script runs once, and the page is walked once."""
    browser.open("<button>x</button>" * 30)
    world = RecordingWorld(browser)
    page = UntypedEngine(world, Numbers(step=1))
    answer = page.evaluate("window.runs = (window.runs ?? 0) + 1; return [...document.querySelectorAll('button')]", [])
    assert browser.js("return window.runs") == 1
    assert len({element["ref"] for element in answer["value"]}) == 30
    browser.open("<button>x</button>" * 30)
    world.called.clear()
    page.call(SNAPSHOT)
    assert world.called == ["snapshot", "numbered"]


def test_the_page_engine_installs_itself_once_and_adds_no_global_to_the_page(browser: Browser) -> None:
    """The engine is installed by the first call, a second install does nothing, and the page has no new global."""
    browser.open("x")
    browser.js("document.body.append(document.createElement('iframe'))")
    world = PageWorld(browser.remote, None, isolated=True)
    ref = UntypedEngine(world, Numbers()).call(SNAPSHOT, scope="page")["lines"]
    world.run(engine_source(world.key), [])
    browser.js(HOOKS)
    assert UntypedEngine(world, Numbers()).call(SNAPSHOT, scope="page")["lines"] == ref
    names = "return Reflect.ownKeys(window).map(String).filter(key => /orch/.test(key))"
    assert browser.js(names) == []
