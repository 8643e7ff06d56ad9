"""wait_for and expect: what is to hold, alone and together, and what is told when it does not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

LATER = "<script>later = f => setTimeout(f, 300)</script>"


@pytest.mark.parametrize(
    ("html", "arguments"),
    [
        ("<script>later(() => { document.body.innerHTML = '<b id=x>x</b>' })</script>", {"selector": "#x"}),
        ("<b id=x hidden>x</b><script>later(() => { x.hidden = false })</script>", {"selector": "#x"}),
        ("<b id=x>x</b><script>later(() => { x.hidden = true })</script>", {"selector": "#x", "state": "hidden"}),
        ("<b id=x>x</b><script>later(() => { x.remove() })</script>", {"selector": "#x", "state": "hidden"}),
        ("<b id=x>x</b><script>later(() => { x.remove() })</script>", {"selector": "#x", "state": "gone"}),
        (
            "<button id=x disabled>x</button><script>later(() => { x.disabled = false })</script>",
            {"selector": "#x", "state": "enabled"},
        ),
        ("<script>later(() => { document.body.append('Order 12 sent') })</script>", {"text": "order 12"}),
        (
            "<p>done</p><p id=x></p><script>later(() => { x.textContent = 'All done.' })</script>",
            {"selector": "#x", "text": "done"},
        ),
        ("<script>later(() => history.pushState({}, '', '?step=2'))</script>", {"url": "**?step=2"}),
        ("<script>later(() => { location.hash = 'end' })</script>", {"url": "*#end"}),
        ("<script>later(() => { document.title = 'Paid' })</script>", {"title": "Paid"}),
    ],
    ids=["visible", "shown", "hidden", "removed", "gone", "enabled", "text", "text-in", "url", "hash", "title"],
)
def test_it_waits_until_it_holds(stage: Stage, html: str, arguments: dict[str, str]) -> None:
    """Each condition, from not yet to there."""
    stage.show(LATER + html)
    answer = stage.call("wait_for", **arguments)
    assert not answer.failed, answer.text
    assert answer.data["waitedMs"] >= 0
    assert {"url", "title"} <= set(answer.data)


def test_all_that_is_given_must_hold_at_once(stage: Stage) -> None:
    """Selector, text, URL and title together."""
    stage.show(
        f"{LATER}<p id=x>no</p><script>later(() => {{ x.textContent = 'yes'; later(() => {{ document.title = 'T2';"
        "later(() => { history.pushState({}, '', '#3'); ready = true }) }) })</script>"
    )
    stage.ok("wait_for", selector="#x", text="yes", title="T2", url="**#3")
    assert stage.js("ready") is True


def test_what_does_not_come_is_a_timeout_that_says_how_it_is(stage: Stage) -> None:
    """What was waited for, what is there instead, and lines of the page with refs."""
    stage.show("<h1>Cart</h1><p id=x>empty</p>")
    answer = stage.call("wait_for", selector="#x", text="paid", timeout=200)
    text = refused(answer, "timeout")
    assert "'#x'" in text
    assert "'paid'" in text
    assert "'empty'" in text
    assert answer.data["error"]["retryable"] is True
    assert any(line.startswith('heading "Cart"') for line in answer.data["error"]["candidates"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"selector": "#none"}, "it is 'gone'"),
        ({"selector": "#x", "state": "hidden"}, "it is 'visible'"),
        ({"selector": "#x", "state": "gone"}, "it is 'visible'"),
        ({"selector": "#off", "state": "enabled"}, "it is 'visible, disabled'"),
        ({"url": "**/other"}, "'**/other'"),
        ({"title": "Other"}, "it is 'Page'"),
        ({"text": "nowhere"}, "'nowhere'"),
    ],
)
def test_each_wait_in_vain_is_told(stage: Stage, arguments: dict[str, str], said: str) -> None:
    """Expected and actual, in a sentence."""
    stage.show("<b id=x>x</b><button id=off disabled>off</button>")
    text = refused(stage.call("wait_for", timeout=100, **arguments), "timeout")
    assert said in text
    assert "Waited " in text


@pytest.mark.core
def test_waiting_goes_on_across_a_navigation(stage: Stage) -> None:
    """The page that holds what is waited for may not be the one on which the wait began."""
    there = stage.page("<h1 id=x>Welcome</h1>", title="There")
    stage.show(f"{LATER}<script>later(() => {{ location.href = '{there}' }})</script>")
    assert stage.ok("wait_for", selector="#x")["url"] == there


@pytest.mark.parametrize(
    "arguments",
    [
        {"visible": True},
        {"visible": False, "selector": "#hidden"},
        {"text": " Add   to cart "},
        {"containsText": "to CART"},
        {"value": "Ann", "selector": "#field"},
        {"enabled": True},
        {"enabled": False, "selector": "#off"},
        {"checked": True, "selector": "#on"},
        {"checked": False, "selector": "#unchecked"},
        {"count": 2, "selector": "input[type=checkbox]"},
        {"count": 0, "selector": ".none"},
        {"attribute": {"name": "title"}},
        {"attribute": {"name": "title", "value": "Adds it"}},
        {"text": "Add to cart", "enabled": True, "count": 1},
    ],
)
def test_an_element_is_as_expected(stage: Stage, arguments: dict[str, Any]) -> None:
    """Each field alone, and several together."""
    stage.show(
        "<button id=b title='Adds it'>Add to\n cart</button><p id=hidden hidden>h</p><input id=field value=Ann>"
        "<button id=off disabled>x</button><input type=checkbox id=on checked><input type=checkbox id=unchecked>"
    )
    answer = stage.call("expect", **{"selector": "#b", **arguments})
    assert not answer.failed, answer.text


def test_the_page_is_as_expected(stage: Stage) -> None:
    """URL as a glob, and title."""
    url = stage.show("x", title="Cart (2)")
    for expected in (
        {"url": url},
        {"url": "http://127.0.0.1:*/*"},
        {"title": "Cart (2)"},
        {"title": "Cart", "url": "**"},
    ):
        assert not stage.call("expect", **expected).failed


def test_a_selector_alone_expects_that_it_is_visible(stage: Stage) -> None:
    """What one means by it."""
    stage.show("<p id=x>x</p><p id=y hidden>y</p>")
    assert not stage.call("expect", selector="#x").failed
    refused(stage.call("expect", selector="#y", timeout=50), "expectation_failed")


@pytest.mark.parametrize(
    ("arguments", "expected", "actual"),
    [
        ({"visible": False}, {"visible": False}, {"visible": True}),
        ({"text": "Pay"}, {"text": "Pay"}, {"text": "Pay now"}),
        ({"containsText": "later"}, {"containsText": "later"}, {"containsText": "Pay now"}),
        ({"value": "Bob", "selector": "#f"}, {"value": "Bob"}, {"value": "Ann"}),
        ({"enabled": False}, {"enabled": False}, {"enabled": True}),
        ({"checked": True, "selector": "#c"}, {"checked": True}, {"checked": False}),
        ({"count": 3, "selector": "button"}, {"count": 3}, {"count": 1}),
        ({"attribute": {"name": "id", "value": "z"}}, {"attribute": "z"}, {"attribute": "b"}),
        ({"attribute": {"name": "alt"}}, {"attribute": "alt present"}, {"attribute": None}),
        ({"text": "Pay", "enabled": True}, {"text": "Pay"}, {"text": "Pay now"}),
    ],
)
def test_what_is_not_as_expected_is_told_with_both(
    stage: Stage, arguments: dict[str, Any], expected: dict[str, Any], actual: dict[str, Any]
) -> None:
    """`expectation_failed` with expected, actual and the outline near it; what held is not blamed."""
    stage.show("<h1>Till</h1><button id=b>Pay now</button><input id=f value=Ann><input type=checkbox id=c>")
    answer = stage.call("expect", **{"selector": "#b", "timeout": 100, **arguments})
    text = refused(answer, "expectation_failed")
    error = answer.data["error"]
    assert error["expected"] == expected
    assert error["actual"] == actual
    assert f"'{arguments.get('selector', '#b')}'" in error["message"]
    assert any(line.startswith('button "Pay now" [e') for line in error["candidates"])
    assert all(line in text for line in error["candidates"])


@pytest.mark.core
def test_it_retries_until_it_is_as_expected(stage: Stage) -> None:
    """What comes later is waited for."""
    stage.show(f"{LATER}<output id=o>0</output><script>later(() => {{ o.textContent = '1' }})</script>")
    assert not stage.call("expect", selector="#o", text="1").failed


def test_not_waits_until_it_no_longer_holds(stage: Stage) -> None:
    """And fails, naming what still holds, when it stays."""
    stage.show(f"{LATER}<p id=x>Loading</p><script>later(() => x.remove())</script><p id=y>Loading</p>")
    assert not stage.call("expect", **{"selector": "#x", "visible": True, "not": True}).failed
    answer = stage.call("expect", **{"selector": "#y", "text": "Loading", "not": True, "timeout": 100})
    assert "this still holds" in refused(answer, "expectation_failed")
    assert "'#y'" in answer.text


def test_what_is_missing_is_told_with_what_is_like_it(stage: Stage) -> None:
    """The nearest lines of the page, for the next try."""
    stage.show("<button>Pay later</button><p>text</p>")
    answer = stage.call("expect", selector="text=Pay now", visible=True, timeout=100)
    refused(answer, "expectation_failed")
    assert answer.data["error"]["candidates"][0].startswith('button "Pay later" [e')


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("wait_for", {}, "ive at least one of selector, text, url, title"),
        ("wait_for", {"text": "x", "state": "gone"}, "tate needs selector"),
        ("wait_for", {"selector": "x", "state": "there"}, "'state' must be 'visible', 'hidden', 'enabled' or 'gone'"),
        ("expect", {}, "ive what to expect"),
        ("expect", {"text": "x"}, "ext needs selector"),
        ("expect", {"containsText": "x"}, "ontainsText needs selector"),
        ("expect", {"selector": "x", "count": -1}, "'count'"),
        ("expect", {"selector": "##"}, "'##' is not a valid selector"),
        ("wait_for", {"selector": "##"}, "'##' is not a valid selector"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(stage: Stage, tool: str, arguments: dict[str, Any], said: str) -> None:
    """Nothing is waited for."""
    assert said in refused(stage.call(tool, timeout=60_000, **arguments), "invalid_argument")


@pytest.mark.parametrize(("tool", "code"), [("expect", "expectation_failed"), ("wait_for", "timeout")])
def test_a_ref_that_is_gone_is_nothing(stage: Stage, tool: str, code: str) -> None:
    """Waiting for it to be gone succeeds; expecting it fails like any other element that is not there."""
    stage.show("<button id=b>Go</button>")
    ref = stage.ref("button")
    stage.js("b.remove()")
    assert not stage.call("wait_for", selector=ref, state="gone").failed
    assert not stage.call("expect", selector=ref, count=0).failed
    refused(stage.call(tool, selector=ref, timeout=50), code)
