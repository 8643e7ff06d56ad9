"""wait_for and expect: conditions, alone and combined, and reports on those that fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

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
def test_wait_for_waits_until_each_kind_of_condition_holds(stage: Stage, html: str, arguments: dict[str, str]) -> None:
    """Each condition of wait_for fails at first and is met later."""
    stage.show(LATER + html)
    answer = stage.call("wait_for", **arguments)
    assert not answer.failed, answer.text
    assert answer.data["waitedMs"] >= 0
    assert {"url", "title"} <= set(answer.data)


def test_all_conditions_of_wait_for_must_hold_at_once(stage: Stage) -> None:
    """Selector, text, URL and title are waited for together."""
    stage.show(
        f"{LATER}<p id=x>no</p><script>later(() => {{ x.textContent = 'yes'; later(() => {{ document.title = 'T2';"
        "later(() => { history.pushState({}, '', '#3'); ready = true }) }) })</script>"
    )
    stage.ok("wait_for", selector="#x", text="yes", title="T2", url="**#3")
    assert stage.js("ready") is True


@pytest.mark.required
def test_a_wait_for_timeout_reports_the_actual_state_and_candidates(stage: Stage) -> None:
    """The error has the expectation, the actual state, and lines of the page with refs."""
    stage.show("<h1>Cart</h1><p id=x>empty</p>")
    answer = stage.call("wait_for", selector="#x", text="paid", timeout=200)
    text = refused(answer, "timeout")
    assert "'#x'" in text
    assert "'paid'" in text
    assert "'empty'" in text
    assert answer.data["error"]["retryable"] is True
    assert any(line.startswith('heading "Cart"') for line in answer.data["error"]["candidates"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"selector": "#none"}, "but is 'gone'"),
        ({"selector": "#x", "state": "hidden"}, "but is 'visible'"),
        ({"selector": "#x", "state": "gone"}, "but is 'visible'"),
        ({"selector": "#off", "state": "enabled"}, "but is 'visible, disabled'"),
        ({"url": "**/other"}, "'**/other'"),
        ({"title": "Other"}, "but is 'Page'"),
        ({"text": "nowhere"}, "'nowhere'"),
    ],
)
def test_each_unmet_condition_of_wait_for_is_explained(stage: Stage, arguments: dict[str, str], expected: str) -> None:
    """The timeout gives the expected and the actual state in a sentence."""
    stage.show("<b id=x>x</b><button id=off disabled>off</button>")
    text = refused(stage.call("wait_for", timeout=100, **arguments), "timeout")
    assert expected in text
    assert "Timed out after " in text


@pytest.mark.core
def test_waiting_goes_on_across_a_navigation(stage: Stage) -> None:
    """The condition may be met by another page than the one on which the wait began."""
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
def test_expect_passes_for_each_element_condition_that_holds(stage: Stage, arguments: dict[str, Any]) -> None:
    """Each element condition of expect passes alone, and several pass together."""
    stage.show(
        "<button id=b title='Adds it'>Add to\n cart</button><p id=hidden hidden>h</p><input id=field value=Ann>"
        "<button id=off disabled>x</button><input type=checkbox id=on checked><input type=checkbox id=unchecked>"
    )
    answer = stage.call("expect", **{"selector": "#b", **arguments})
    assert not answer.failed, answer.text


def test_expect_passes_for_a_matching_url_or_title(stage: Stage) -> None:
    """Page conditions of expect are the URL, also as a glob, and the title."""
    url = stage.show("x", title="Cart (2)")
    for expected in (
        {"url": url},
        {"url": "http://127.0.0.1:*/*"},
        {"title": "Cart (2)"},
        {"title": "Cart", "url": "**"},
    ):
        assert not stage.call("expect", **expected).failed


def test_expect_with_a_selector_alone_checks_that_it_is_visible(stage: Stage) -> None:
    """A selector without conditions is expected to be visible."""
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
def test_a_failed_expectation_reports_expected_and_actual_values(
    stage: Stage, arguments: dict[str, Any], expected: dict[str, Any], actual: dict[str, Any]
) -> None:
    """The error has expected, actual and the outline near it; conditions that held are not listed."""
    stage.show("<h1>Till</h1><button id=b>Pay now</button><input id=f value=Ann><input type=checkbox id=c>")
    answer = stage.call("expect", **{"selector": "#b", "timeout": 100, **arguments})
    text = refused(answer, "expectation_failed")
    error = answer.data["error"]
    assert error["expected"] == expected
    assert error["actual"] == actual
    assert f"'{arguments.get('selector', '#b')}'" in error["message"]
    assert any(line.startswith('button "Pay now" [e') for line in error["candidates"])
    assert all(line in text for line in error["candidates"])


@pytest.mark.smoke
@pytest.mark.core
def test_expect_retries_until_the_condition_holds(stage: Stage) -> None:
    """An expected text that comes later is waited for."""
    stage.show(f"{LATER}<output id=o>0</output><script>later(() => {{ o.textContent = '1' }})</script>")
    assert not stage.call("expect", selector="#o", text="1").failed


def test_expect_not_waits_until_the_condition_no_longer_holds(stage: Stage) -> None:
    """A negated expectation is waited for; its failure names what still holds."""
    stage.show(f"{LATER}<p id=x>Loading</p><script>later(() => x.remove())</script><p id=y>Loading</p>")
    assert not stage.call("expect", **{"selector": "#x", "visible": True, "not": True}).failed
    answer = stage.call("expect", **{"selector": "#y", "text": "Loading", "not": True, "timeout": 100})
    assert "still true: " in refused(answer, "expectation_failed")
    assert "'#y'" in answer.text


def test_a_failed_expectation_lists_similar_elements_as_candidates(stage: Stage) -> None:
    """The error for a missing element has the nearest lines of the page."""
    stage.show("<button>Pay later</button><p>text</p>")
    answer = stage.call("expect", selector="text=Pay now", visible=True, timeout=100)
    refused(answer, "expectation_failed")
    assert answer.data["error"]["candidates"][0].startswith('button "Pay later" [e')


TOPICS = "".join(f"<a href=#>Topic {n}</a>" for n in range(20))
SHOP = f"""<header><nav>{TOPICS}</nav></header><main><h1>Basket</h1><p>Your order was not placed.</p>
<button id=checkout-button>Go on</button><button>Remove</button><p><button>Wrap it</button></p></main>"""


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ({"text": "Order placed"}, "text: Your order was not placed."),
        ({"selector": "main", "text": "Order was placed"}, "text: Your order was not placed."),
        ({"selector": "text=Remvoe"}, 'button "Remove"'),
        ({"selector": "role=button[name=Topik 7]"}, 'link "Topic 7"'),
        ({"selector": "#checkoutBtn"}, 'button "Go on"'),
        ({"selector": "role=button[name=Pay]"}, 'button "Go on"'),
        ({"text": "Thank you"}, 'heading "Basket"'),
        ({"url": "**/thanks"}, 'heading "Basket"'),
    ],
)
def test_the_candidates_of_a_failed_wait_are_near_what_was_looked_for(
    stage: Stage, arguments: dict[str, str], first: str
) -> None:
    """Lines with much the same text come first, slips of the pen allowed; if there are none, headings and messages."""
    stage.show(SHOP)
    answer = stage.call("wait_for", timeout=100, **arguments)
    refused(answer, "timeout")
    candidates = answer.data["error"]["candidates"]
    assert candidates[0].startswith(first), candidates
    assert len(candidates) <= 5


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
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
def test_invalid_arguments_of_wait_for_and_expect_are_refused_at_once(
    stage: Stage, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    """Invalid arguments are refused without any waiting."""
    assert expected in refused(stage.call(tool, timeout=60_000, **arguments), "invalid_argument")


@pytest.mark.parametrize(("tool", "code"), [("expect", "expectation_failed"), ("wait_for", "timeout")])
def test_a_stale_ref_counts_as_a_missing_element(stage: Stage, tool: str, code: str) -> None:
    """Waiting for a stale ref to be gone succeeds; expecting it fails as for any missing element."""
    stage.show("<button id=b>Go</button>")
    ref = stage.ref("button")
    stage.js("b.remove()")
    assert not stage.call("wait_for", selector=ref, state="gone").failed
    assert not stage.call("expect", selector=ref, count=0).failed
    refused(stage.call(tool, selector=ref, timeout=50), code)
