"""Locators: the elements that each kind finds."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.snapshot.methods import READY
from tests.snapshot.web.chromium import Browser

PAGE = """<h1 id=h>Checkout</h1><nav><a id=a href=#>Pay later</a></nav>
<form id=form><label for=e>Email</label><input id=e placeholder=you@example.com>
<input id=s placeholder='Search shop'><input id=go type=submit value=Send>
<button id=p data-testid=pay>Pay</button><button id=x aria-label='Close window'>x</button></form>
<span aria-label=Stars id=l><i>★★★</i></span>
<p id=t>Some <b id=b>bold  text</b> here</p><p hidden>bold text</p><div id=d onclick=1>Menu</div>
<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML='<button id=q>In the shade</button>'</script>"""

FOUND: list[tuple[dict[str, Any], list[str]]] = [
    ({"by": "css", "value": "nav > a"}, ["a"]),
    ({"by": "css", "value": "#q"}, ["q"]),
    ({"by": "xpath", "value": "//form/button[1]"}, ["p"]),
    ({"by": "xpath", "value": "(//button)[2]"}, ["x"]),
    ({"by": "testid", "value": "pay"}, ["p"]),
    ({"by": "id", "value": "q"}, ["q"]),
    ({"by": "accessibility_id", "value": "Close window"}, ["x"]),
    ({"by": "accessibility_id", "value": "h"}, ["h"]),
    ({"by": "text", "value": "Pay"}, ["p"]),
    ({"by": "text", "value": "pay l"}, ["a"]),
    ({"by": "text", "value": "bold text"}, ["b"]),
    ({"by": "text", "value": "some bold"}, ["t"]),
    ({"by": "text", "value": "Send"}, ["go"]),
    ({"by": "text", "value": "close"}, ["x"]),
    ({"by": "text", "value": "in the shade"}, ["q"]),
    ({"by": "text", "value": "you@example"}, ["e"]),
    ({"by": "label", "value": "email"}, ["e"]),
    ({"by": "label", "value": "Search"}, ["s"]),
    ({"by": "role", "value": "button"}, ["go", "p", "x", "q"]),
    ({"by": "role", "value": "button", "name": "pay"}, ["p"]),
    ({"by": "role", "value": "link", "name": "Later"}, ["a"]),
    ({"by": "role", "value": "generic", "name": "Menu"}, ["d"]),
    ({"by": "role", "value": "generic", "name": "Stars"}, ["l"]),
    ({"by": "line", "value": "generic", "name": "Stars"}, ["l"]),
    ({"by": "line", "value": "heading", "name": "Checkout"}, ["h"]),
    ({"by": "line", "value": "link", "name": "Pay"}, []),
    ({"by": "css", "value": "button", "within": {"by": "css", "value": "#host"}}, ["q"]),
    ({"by": "xpath", "value": "//input", "within": {"by": "css", "value": "nav"}}, []),
    ({"by": "text", "value": "Pay", "exact": True}, ["p"]),
    ({"by": "text", "value": "pay", "exact": True}, []),
    ({"by": "text", "value": "^pay L", "flags": "i"}, ["a"]),
    ({"by": "text", "value": "b.ld", "flags": ""}, ["b"]),
    ({"by": "text", "value": "^Some .* here$", "flags": ""}, ["t"]),
    ({"by": "text", "value": "^Close", "flags": ""}, ["x"]),
    ({"by": "label", "value": "^e-?mail$", "flags": "i"}, ["e"]),
    ({"by": "label", "value": "email", "exact": True}, []),
    ({"by": "role", "value": "button", "name": "pay", "exact": True}, []),
    ({"by": "role", "value": "button", "name": "^(pay|in)", "flags": "i"}, ["p", "q"]),
    ({"by": "attribute", "value": "search", "name": "placeholder"}, ["s"]),
    ({"by": "attribute", "value": "search", "name": "placeholder", "exact": True}, []),
    ({"by": "attribute", "value": "@example", "name": "placeholder", "flags": ""}, ["e"]),
    ({"by": "css_with_text", "value": "p", "name": "BOLD text"}, ["t"]),
    ({"by": "css_with_text", "value": "button", "name": "in the"}, ["q"]),
    ({"by": "css_with_text", "value": "button, a", "name": "Pay"}, ["p"]),
    ({"by": "css_with_text", "value": "a", "name": "Pay", "exact": True}, []),
    ({"by": "css_with_text", "value": "input", "name": "^S.nd", "flags": ""}, ["go"]),
]


@pytest.mark.parametrize(("locator", "ids"), FOUND, ids=[f"{each['by']} {each['value']}" for each, _ in FOUND])
def test_a_locator_finds_its_elements_with_the_best_match_first(
    locator: dict[str, Any], ids: list[str], browser: Browser
) -> None:
    """Exact matches precede partial ones, visible ones hidden ones, the deepest element those around it."""
    page = browser.open(PAGE)
    answer = page.call(READY, locator=locator, need="present", slice=0)
    assert answer["matches"] == len(ids)
    if ids:
        found = page.evaluate("return arguments[0].id", [{"ref": answer["ref"]}])
        assert found["value"] == ids[0]


@pytest.mark.parametrize(
    "locator",
    [
        {"by": "css", "value": "a["},
        {"by": "xpath", "value": "//a["},
        {"by": "magic", "value": "x"},
        {"by": "text", "value": "a(", "flags": ""},
        {"by": "css_with_text", "value": "a[", "name": "x"},
    ],
)
def test_an_invalid_selector_is_refused_and_quoted(locator: dict[str, Any], browser: Browser) -> None:
    """A selector that cannot be evaluated is refused at once, with a message that quotes it."""
    answer = browser.open("x").call(READY, locator=locator, slice=5000)
    assert answer["reason"] == "invalid"
    assert locator["value"] in answer["detail"] or locator["by"] in answer["detail"]


def test_app_only_selectors_are_refused_in_a_web_page_with_an_alternative(browser: Browser) -> None:
    """An Android or iOS selector is invalid in a web page, and the message names an alternative."""
    page = browser.open("x")
    said = "is for screens of {} apps; in a web page use CSS, text=, role= or a ref"
    for by, whose in (("android", "Android"), ("ios", "iOS"), ("chain", "iOS")):
        answer = page.call(READY, locator={"by": by, "value": "x"}, slice=5000)
        assert (answer["reason"], answer["detail"]) == ("invalid", f"{by}= {said.format(whose)}")
