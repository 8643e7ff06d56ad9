"""Navigations of a page whose servers take long: never stopped by us, told by calls, waited for by `wait_for`."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.mcp import Answer

pytestmark = pytest.mark.full

WAITS = "has been waiting for its server for"
WAYS = {
    "form": "<form method=post action='{path}'><button id=b>Order</button></form>",
    "link": "<a id=b href='{path}'>Order</a>",
    "script": "<button id=b onclick=\"setTimeout(() => {{ location = '{path}' }}, 30)\">Order</button>",
    "Enter": "<form action='{path}'><input id=b name=q></form>",
}


def order(stage: Stage, way: str, path: str) -> Answer:
    """Show a page that leads to this path in some way, and make it go there."""
    stage.site.page(path, "<!doctype html><title>Receipt</title><h1>Thank you</h1><button>Print</button>")
    stage.show(WAYS[way].format(path=path), title="Basket")
    step = (
        {"action": "press_keys", "selector": "#b", "keys": "Enter"}
        if way == "Enter"
        else {"action": "click_element", "selector": "#b"}
    )
    return stage.call("execute_sequence", actions=[step], stabilityTimeoutMs=1000)


@pytest.mark.required
def test_a_form_whose_answer_takes_long_is_sent_once_and_waited_for(stage: Stage) -> None:
    """The answer names the navigation, tabs are listed meanwhile, and `wait_for` passes once the page is there."""
    gate = stage.site.gate("/receipt")
    answer = order(stage, "form", "/receipt")
    gate.wait_entered()
    assert answer.data["stable"] is False
    assert answer.data["unstableReason"].startswith(f"a navigation to {stage.site.url('/receipt')} {WAITS}")
    assert answer.data["unstableReason"].endswith("wait_for goes on waiting")
    assert [tab["title"] for tab in stage.ok("tabs", action="list")["tabs"]] == ["Basket"]
    waiting = stage.begin("wait_for", text="Thank you", timeout=60_000)
    assert not waiting.done()
    gate.open()
    assert not waiting.result(60).failed
    assert stage.outline()[-1].startswith('- button "Print"')
    assert len(stage.site.visits("/receipt")) == 1


@pytest.mark.parametrize("way", WAYS)
def test_calls_say_which_navigation_waits_for_its_server(stage: Stage, way: str) -> None:
    """A look shows no page and says why, an act is a timeout that says so, and neither stops the navigation."""
    path = f"/slow-{way}"
    gate = stage.site.gate(path)
    assert WAITS in order(stage, way, path).text
    look = stage.call("get_visible_elements")
    assert not look.failed
    assert f"A navigation to {stage.site.url(path)} {WAITS}" in look.text
    assert WAITS in refused(stage.call("click_element", selector="text=Order", timeout=300), "timeout")
    assert WAITS in refused(stage.call("wait_for", text="Thank you", timeout=300), "timeout")
    gate.open()
    assert not stage.call("wait_for", text="Thank you", timeout=30_000).failed
    assert len(stage.site.visits(path)) == 1


def test_a_navigation_that_waits_is_given_up_by_navigate(stage: Stage) -> None:
    """`navigate` goes elsewhere at once, and what was waited for does not come back."""
    gate = stage.site.gate("/given-up")
    order(stage, "link", "/given-up")
    gate.wait_entered()
    stage.show("<h1>Elsewhere</h1>", title="Elsewhere")
    gate.open()
    assert stage.ok("get_visible_elements")["title"] == "Elsewhere"


def test_navigate_with_a_limit_stops_its_own_load_alone(stage: Stage) -> None:
    """The page before is still shown and works."""
    gate = stage.site.gate("/own-limit")
    stage.show("<button onclick='document.title = `pressed`'>Go</button>", title="Before")
    refused(stage.call("navigate", url=stage.site.url("/own-limit"), timeout=500), "timeout")
    assert stage.ok("click_element", selector="text=Go")["title"] == "pressed"
    gate.open()


@pytest.mark.parametrize("kind", ["204", "download"])
def test_a_navigation_without_a_page_is_not_waited_for(stage: Stage, kind: str) -> None:
    """An empty answer and a download leave the page as it was, and the next calls work at once."""
    from tests.servers.site import Reply  # noqa: PLC0415

    path = f"/no-page-{kind}"
    attached = {"Content-Disposition": "attachment; filename=a.csv"}
    stage.site.page(
        path, Reply(status=204) if kind == "204" else Reply("a;b", content_type="text/csv", headers=attached)
    )
    stage.show(f"<a id=b href='{path}'>Get</a><button onclick='document.title = `pressed`'>Go</button>")
    assert stage.ok("click_element", selector="#b")["stable"] is True
    assert stage.ok("click_element", selector="text=Go")["title"] == "pressed"
