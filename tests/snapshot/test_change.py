"""Settling and differences: when the page has come to rest, and what is other than before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.snapshot.chromium import Browser, Site, without_refs


def settle(browser: Browser, stability: int = 50, limit: int = 300) -> dict[str, Any]:
    """Wait in the page."""
    return browser.page.call("settle", stability=stability, slice=limit)


def delta(browser: Browser, html: str, script: str) -> dict[str, list[str]]:
    """What a script changes."""
    page = browser.open(html)
    page.call("mark")
    browser.js(script)
    answer = page.call("delta", limit=40)
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
        {"appeared": ["text: Cocoa", "listitem"], "disappeared": ["listitem", "text: Cocoa"], "changed": []},
}  # fmt: skip


@pytest.mark.parametrize("script", DELTAS)
def test_a_delta_tells_what_is_other(script: str, browser: Browser) -> None:
    """Lines appear, disappear, change and move by element; where the focus is, and what is drawn anew, do not count."""
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
def test_what_a_dialog_withdraws_has_not_gone(script: str, appeared: list[str], browser: Browser) -> None:
    """What is still seen behind it neither goes when it opens nor comes back when it closes."""
    opening = f"const top = document.getElementById('top'); {script}"
    assert delta(browser, BEHIND, opening) == {"appeared": appeared, "disappeared": [], "changed": []}
    browser.page.call("mark")
    browser.js("app.ariaHidden = null; app.inert = false")
    assert browser.page.call("delta", limit=40)["appeared"] == []


def test_what_is_withdrawn_out_of_sight_has_gone(browser: Browser) -> None:
    """A menu that slides in and out comes and goes."""
    menu = "<nav id=n aria-hidden=true style='position:fixed;left:-500px;width:200px'><a href=/>Home</a></nav>"
    shown = {"appeared": ["navigation", 'link "Home"'], "disappeared": [], "changed": []}
    assert delta(browser, menu, "n.style.left = 0; n.ariaHidden = null") == shown


def test_refs_that_a_page_made_stale_are_counted(browser: Browser) -> None:
    """Elements that others like them took the place of are no difference; those who have refs of them are told."""
    page = browser.open("<button>Add</button><button>Pay</button>")
    page.call("mark")
    page.call("ready", locator={"by": "text", "value": "Pay"}, slice=0)
    browser.js("document.body.innerHTML = document.body.innerHTML")
    answer = page.call("delta", limit=40)
    assert (answer["redrawn"], answer["appeared"], answer["disappeared"]) == (1, [], [])


def test_a_delta_is_bounded(browser: Browser) -> None:
    """At most so many lines in all, and how many more there are."""
    page = browser.open("<p>x</p>")
    page.call("mark")
    browser.js("document.body.innerHTML = '<hr>'.repeat(50)")
    answer = page.call("delta", limit=40)
    assert (len(answer["appeared"]), answer["more"]) == (40, 11)


def test_url_and_title_are_part_of_it(browser: Browser, site: Site) -> None:
    """A change of either is told with both sides."""
    page = browser.visit(site.url("/"))
    page.call("mark")
    browser.js("document.title = 'New'; history.pushState({}, '', '/next')")
    answer = page.call("delta")
    assert answer["url"] == {"from": site.url("/"), "to": site.url("/next")}
    assert answer["title"] == {"from": "", "to": "New"}


def test_a_new_document_appears_whole(browser: Browser) -> None:
    """Without a mark everything is new, headings and text included."""
    browser.open("<p>old</p>").call("mark")
    answer = browser.open("<h1>New</h1><p>text</p>").call("delta", limit=40)
    assert not answer["sameDocument"]
    assert [without_refs(line) for line in answer["appeared"]] == ['heading "New" [level=1]', "text: text"]
    assert answer["disappeared"] == []


UNREST = {
    "<div aria-busy=true>x</div>": "div is busy",
    "<div role=progressbar aria-label=Loading>x</div>": 'progressbar "Loading" is visible',
    "<div role=progressbar aria-label=Up aria-valuenow=40>x</div>": 'progressbar "Up" is visible',
    "<div class='big my-spinner'>x</div>": "div.big is visible",
    "<p id=clock>0</p><script>setInterval(() => clock.textContent++, 10)</script>": "the page keeps changing (#clock)",
    "<style>@keyframes a{to{top:0}}</style><p id=box style='animation:a 9s'>x</p>": "an animation of #box is running",
}


@pytest.mark.parametrize("html", UNREST)
def test_unrest_has_its_reason(html: str, browser: Browser) -> None:
    """What keeps the page from settling is named in words."""
    browser.open(html).call("mark")
    answer = settle(browser)
    assert (answer["settled"], answer.get("reason")) == (False, UNREST[html])


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
def test_what_does_not_count_lets_it_settle(html: str, browser: Browser) -> None:
    """Spinners that nobody sees, endless animations, hidden changes and event streams are no unrest."""
    browser.open(html).call("mark")
    assert settle(browser, limit=2000)["settled"]


@pytest.mark.parametrize(
    "script",
    ["fetch('/slow?id=1').then(() => document.title = 'came')",
     "const x = new XMLHttpRequest(); x.open('GET', '/slow?id=2'); x.onload = () => document.title = 'came'; x.send()"],
    ids=["fetch", "xhr"],
)  # fmt: skip
def test_requests_since_the_mark_are_waited_for(script: str, browser: Browser, site: Site) -> None:
    """A request counts until it is answered; its address is named."""
    page = browser.visit(site.url("/"))
    page.call("mark")
    browser.js(script)
    assert settle(browser)["reason"] == "a request to /slow is still in flight"
    site.gate.set()
    assert settle(browser, limit=5000)["settled"]
    assert page.call("state")["title"] == "came"


def test_requests_before_the_mark_do_not_count(browser: Browser, site: Site) -> None:
    """A long poll that was there before is none of the steps' doing."""
    page = browser.visit(site.url("/"))
    browser.js("fetch('/slow')")
    page.call("mark")
    assert settle(browser, limit=3000)["settled"]


def test_a_request_inside_a_frame_counts(browser: Browser, site: Site) -> None:
    """Same-origin frames are part of the page that settles."""
    page = browser.visit(site.url("/"))
    browser.js("document.body.innerHTML = '<iframe srcdoc=x></iframe>'")
    page.call("mark")
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
