"""Settling of a page, and its changes."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.snapshot.methods import DELTA, MARK, READY, SETTLE, STATE
from tests.snapshot.web.chromium import Browser, Site, without_refs
from tests.waiting import until

PATIENT = 25_000
"""Ms that a page has for settling; a command to the browser has 30 s."""


def settle(browser: Browser, stability: int = 50, limit: int = 300) -> dict[str, Any]:
    """Wait in the page until it settles."""
    answer: dict[str, Any] = browser.page.call(SETTLE, stability=stability, slice=limit)
    return answer


def delta(browser: Browser, html: str, script: str) -> dict[str, list[str]]:
    """Return the change caused by a script."""
    page = browser.open(html)
    page.call(MARK)
    browser.js(script)
    answer = page.call(DELTA, limit=40)
    return {key: [without_refs(line) for line in answer[key]] for key in ("appeared", "disappeared", "changed")}


DELTAS = {
    "document.body.append(document.createElement('hr'))": {"appeared": ["separator"], "disappeared": [], "changed": []},
    "document.querySelector('button').remove()": {"appeared": [], "disappeared": ['button "Add"'], "changed": []},
    "document.querySelector('button').disabled = true":
        {"appeared": [], "disappeared": [], "changed": ['button "Add" [disabled]']},
    "document.querySelector('input').value = 'x'":
        {"appeared": [], "disappeared": [], "changed": ['textbox "N" = "x"']},
    "document.querySelector('p').textContent = '1 item'":
        {"appeared": [], "disappeared": [], "changed": ["text: 1 item"]},
    "document.querySelector('button').hidden = true": {"appeared": [], "disappeared": ['button "Add"'], "changed": []},
    "document.querySelector('button').focus()": {"appeared": [], "disappeared": [], "changed": []},
    "document.body.prepend(document.querySelector('p'))":
        {"appeared": [], "disappeared": [], "changed": ["text: 0 items [moved]"]},
    "document.querySelector('ul').prepend(document.querySelector('li:last-child'))":
        {"appeared": [], "disappeared": [], "changed": ["listitem [moved]"]},
    "document.body.innerHTML = document.body.innerHTML": {"appeared": [], "disappeared": [], "changed": []},
    "document.body.innerHTML = document.body.innerHTML.replace('<li>Tea', '<li>Mate')":
        {"appeared": ["text: Mate"], "disappeared": ["text: Tea"], "changed": []},
    "const ul = document.querySelector('ul'); ul.innerHTML = ul.innerHTML.replace(/(.*)(<li>.*)/, '$2$1')":
        {"appeared": ["text: Cocoa"], "disappeared": ["text: Cocoa"], "changed": []},
}  # fmt: skip


@pytest.mark.parametrize("script", DELTAS)
def test_a_delta_lists_lines_that_appeared_disappeared_changed_or_moved(script: str, browser: Browser) -> None:
    """Lines appear, disappear, change and move by element; the focus and redrawn elements do not count."""
    html = "<button>Add</button><input aria-label=N><p>0 items</p><ul><li>Tea</li><li>Cake</li><li>Cocoa</li></ul>"
    assert delta(browser, html, script) == DELTAS[script]


BEHIND = "<div id=app><h1>Shop</h1><button>Buy</button></div><div id=top></div>"


@pytest.mark.parametrize(
    ("script", "appeared"),
    [
        ("app.ariaHidden = 'true'; top.innerHTML = '<div role=dialog>Sure?</div>'", ["dialog", "text: Sure?"]),
        ("app.inert = true", []),
        ("app.ariaHidden = 'true'; app.append('sold')", ["text: sold"]),
    ],
)
def test_content_behind_a_modal_dialog_is_not_reported_as_disappeared(
    script: str, appeared: list[str], browser: Browser
) -> None:
    """Content still visible behind a dialog neither disappears when it opens nor appears when it closes."""
    opening = f"const top = document.getElementById('top'); {script}"
    assert delta(browser, BEHIND, opening) == {"appeared": appeared, "disappeared": [], "changed": []}
    browser.page.call(MARK)
    browser.js("app.ariaHidden = null; app.inert = false")
    assert browser.page.call(DELTA, limit=40)["appeared"] == []


def test_an_offscreen_menu_is_reported_as_appeared_when_it_slides_in(browser: Browser) -> None:
    """A menu that is aria-hidden and outside the viewport appears when it slides in."""
    menu = "<nav id=n aria-hidden=true style='position:fixed;left:-500px;width:200px'><a href=/>Home</a></nav>"
    shown = {"appeared": ["navigation", 'link "Home"'], "disappeared": [], "changed": []}
    assert delta(browser, menu, "n.style.left = 0; n.ariaHidden = null") == shown


def test_stale_refs_of_redrawn_elements_are_counted(browser: Browser) -> None:
    """Elements replaced by equal ones are no difference, but known refs that became stale are counted."""
    page = browser.open("<button>Add</button><button>Pay</button>")
    page.call(MARK)
    page.call(READY, locator={"by": "text", "value": "Pay"}, slice=0)
    browser.js("document.body.innerHTML = document.body.innerHTML")
    answer = page.call(DELTA, limit=40)
    assert (answer["redrawn"], answer["appeared"], answer["disappeared"]) == (1, [], [])


def test_a_delta_lists_at_most_its_limit_of_lines_and_counts_the_rest(browser: Browser) -> None:
    """A delta has at most `limit` lines in all and counts the rest."""
    page = browser.open("<p>x</p>")
    page.call(MARK)
    browser.js("document.body.innerHTML = '<hr>'.repeat(50)")
    answer = page.call(DELTA, limit=40)
    assert (len(answer["appeared"]), answer["more"]) == (40, 11)


def test_a_delta_reports_url_and_title_before_and_after(browser: Browser, site: Site) -> None:
    """A change of URL or title is reported with the old and the new value."""
    page = browser.visit(site.url("/"))
    page.call(MARK)
    browser.js("document.title = 'New'; history.pushState({}, '', '/next')")
    answer = page.call(DELTA)
    assert answer["url"] == {"from": site.url("/"), "to": site.url("/next")}
    assert answer["title"] == {"from": "", "to": "New"}


def test_every_line_of_a_new_document_is_reported_as_appeared(browser: Browser) -> None:
    """A document without a mark is new as a whole, headings and text included."""
    browser.open("<p>old</p>").call(MARK)
    answer = browser.open("<h1>New</h1><p>text</p>").call(DELTA, limit=40)
    assert not answer["sameDocument"]
    assert [without_refs(line) for line in answer["appeared"]] == ['heading "New" [level=1]', "text: text"]
    assert answer["disappeared"] == []


UNREST = {
    "<div aria-busy=true>x</div>": "div is busy",
    "<div role=progressbar aria-label=Loading>x</div>": 'progressbar "Loading" is visible',
    "<div role=progressbar aria-label=Up aria-valuenow=40>x</div>": 'progressbar "Up" is visible',
    "<div class='big my-spinner'>x</div>": "div.big is visible",
    "<p id=clock>0</p><script>setInterval(() => clock.textContent++, 10)</script>": "the page keeps changing (#clock)",
    "<style>@keyframes a{to{top:0}}</style><p id=box style='animation:a 900s'>x</p>": "an animation of #box is running",
}


@pytest.mark.parametrize("html", UNREST)
def test_a_page_that_does_not_settle_names_the_reason(html: str, browser: Browser) -> None:
    """The reason is named in words, once the page has changed for the first time."""
    browser.open(html).call(MARK)

    def told() -> str | None:
        answer = settle(browser, stability=600_000, limit=50)
        assert not answer["settled"]
        return None if answer["reason"] == "the page has just changed" else str(answer["reason"])

    assert until(told, "a reason") == UNREST[html]


@pytest.mark.parametrize(
    "html",
    [
        "<p>x</p>",
        "<div class=spinner hidden>x</div>",
        "<div style='height:3000px'>feed</div><div class=spinner>what comes when one scrolls there</div>",
        "<div class=spinner style='opacity:0'>x</div>",
        "<div role=progressbar aria-valuenow=100>x</div>",
        "<style>@keyframes a{to{opacity:.5}}</style><p style='animation:a 1s infinite'>x</p>",
        "<p id=c hidden>0</p><script>setInterval(() => {c.textContent++; c.title++}, 10)</script>",
        "<script>new EventSource('/x')</script>",
    ],
)
def test_invisible_or_endless_activity_does_not_keep_a_page_from_settling(html: str, browser: Browser) -> None:
    """Invisible spinners, endless animations, hidden changes and event streams are no unrest."""
    browser.open(html).call(MARK)
    assert settle(browser, limit=PATIENT)["settled"]


@pytest.mark.parametrize(
    "script",
    ["fetch('/slow?id=1').then(() => document.title = 'came')",
     "const x = new XMLHttpRequest(); x.open('GET', '/slow?id=2'); x.onload = () => document.title = 'came'; x.send()"],
    ids=["fetch", "xhr"],
)  # fmt: skip
def test_settling_waits_for_requests_sent_since_the_mark(script: str, browser: Browser, site: Site) -> None:
    """A request counts until it is answered; its URL path is named."""
    page = browser.visit(site.url("/"))
    page.call(MARK)
    browser.js(script)
    assert settle(browser)["reason"] == "a request to /slow is still in flight"
    site.gate.set()
    assert settle(browser, limit=PATIENT)["settled"]
    assert page.call(STATE)["title"] == "came"


def test_settling_ignores_requests_sent_before_the_mark(browser: Browser, site: Site) -> None:
    """A long poll that was open before the mark does not keep the page from settling."""
    page = browser.visit(site.url("/"))
    browser.js("fetch('/slow')")
    page.call(MARK)
    assert settle(browser, limit=PATIENT)["settled"]


def test_settling_waits_for_a_request_of_a_same_origin_frame(browser: Browser, site: Site) -> None:
    """Same-origin frames are part of the page that settles."""
    page = browser.visit(site.url("/"))
    browser.js("document.body.innerHTML = '<iframe srcdoc=x></iframe>'")
    page.call(MARK)
    browser.js("frames[0].fetch('/slow')")
    assert settle(browser, limit=300)["reason"] == "a request to /slow is still in flight"


def test_watching_requests_changes_nothing_for_the_page(browser: Browser, site: Site) -> None:
    """Fetch still looks native, rejects as ever, and hands out its own promise."""
    browser.visit(site.url("/"))
    assert browser.js("""
      const seen = [fetch, XMLHttpRequest.prototype.send].map(each => String(each).includes('[native code]'))
      let unhandled = 0; addEventListener('unhandledrejection', () => unhandled++)
      return fetch('http://127.0.0.1:1/').catch(error =>
        [...seen, error.name, unhandled, fetch('/') instanceof Promise])
    """) == [True, True, "TypeError", 0, True]
