"""Results after a new document: what differs from the one before, most important first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

LANGUAGES = "".join(f"<option>Language {n}</option>" for n in range(20))
HEADER = (
    "<header><a href=/>Shop</a><nav>"
    + "".join(f"<a href='/{n}'>Department {n}</a>" for n in range(30))
    + f"</nav><label>Language <select>{LANGUAGES}</select></label></header>"
)
MUGS = "<h1>Mugs</h1><p>Red mug</p><p>Blue mug</p><form method=post action='BASKET'><button>Add</button></form>"
FOOTER = "<footer><a href=/terms>Terms</a></footer>"


def shop(stage: Stage, main: str, *, header: str = HEADER, outside: str = "") -> str:
    """Put a page of the shop on the site."""
    return stage.page(f"{header}<main>{main}</main>{FOOTER}{outside}")


def click(stage: Stage, first: str, selector: str = "text=Add", **arguments: Any) -> dict[str, Any]:
    """Show a page and click in it; return the result of the call."""
    stage.ok("navigate", url=first)
    return stage.ok("click_element", selector=selector, **arguments)


def bare(lines: list[str]) -> list[str]:
    """Return lines without their refs and states."""
    return [line.partition(" [")[0] for line in lines]


def test_the_message_of_a_new_page_of_the_shop_comes_first(stage: Stage) -> None:
    """Header, navigation and languages are as before, and only what is new is told, the alert first."""
    added = "<div role=alert>Red mug has been added to your basket</div>"
    basket = shop(stage, MUGS + "<p>1 article in the basket</p>", outside=added)
    answer = click(stage, shop(stage, MUGS.replace("BASKET", basket)))
    change = answer["stateChange"]
    assert bare(change["appeared"])[:3] == [
        "alert",
        "text: Red mug has been added to your basket",
        "text: 1 article in the basket",
    ]
    assert "Department" not in str(change)
    assert "Language" not in str(change)
    assert "disappeared" not in change or change["disappeared"] == []
    assert "a new document" in answer["warnings"][0]


def test_a_message_is_not_pushed_out_by_a_new_header(stage: Stage) -> None:
    """Under another header, messages, errors of fields and the main part come before the header and its options."""
    header = HEADER.replace("Department", "Section").replace("Language", "Tongue")
    error = "<input aria-label=Size aria-invalid=true aria-describedby=e><p id=e>Choose a size</p>"
    status = "<p class=x>Basket</p>" * 3 + "<div role=status>Saved for later</div><div role=dialog>Subscribe?</div>"
    url = shop(stage, "<p>New</p>" + error, header=header, outside=status)
    change = click(stage, shop(stage, MUGS.replace("BASKET", url)))["stateChange"]
    lines = bare(change["appeared"])
    order = ["text: Saved for later", "text: Subscribe?", "text: Choose a size", "text: New", "text: Basket"]
    assert [line for line in lines if line in order] == [*order, "text: Basket", "text: Basket"]
    assert lines.index("text: Basket") < lines.index('link "Section 0"')
    assert not any("option" in line for line in lines)
    assert len(lines) + len(change.get("changed", [])) <= 40
    assert change["more"] > 0


def test_changed_and_removed_lines_of_the_same_page_are_told(stage: Stage) -> None:
    """A page that comes again without an article, and with another value in a field, is told by these differences."""
    rows = "<ul><li>Red mug<li>Blue mug<li>Tea</ul><label>Name <input value=Ann></label>"
    after = rows.replace("<li>Blue mug", "").replace("Ann", "Bea")
    url = shop(stage, after)
    change = click(stage, shop(stage, f"{rows}<a href='{url}'>Remove</a>"), "text=Remove")["stateChange"]
    assert bare(change.get("appeared", [])) == []
    assert [line.partition("[")[0] + line.partition("] ")[2] for line in change["changed"]] == [
        'textbox "Name" = "Bea"'
    ]
    assert "text: Blue mug" in change["disappeared"]
    assert "text: Red mug" not in change["disappeared"]


def test_a_sequence_tells_a_new_document_from_its_first_one(stage: Stage) -> None:
    """After two navigations the changes are those since the sequence began."""
    last = shop(stage, "<h1>Thank you</h1>")
    first = shop(stage, f"<a href='{shop(stage, f'<a href={last!r}>Pay</a>')}'>Checkout</a>")
    stage.ok("navigate", url=first)
    steps = [{"action": "click_element", "selector": f"text={name}"} for name in ("Checkout", "Pay")]
    change = stage.ok("execute_sequence", actions=steps)["stateChange"]
    assert bare(change["appeared"]) == ['heading "Thank you"']
    assert change["disappeared"] == ['link "Checkout"']


def test_a_page_that_comes_again_unchanged_says_that_its_refs_are_new(stage: Stage) -> None:
    """Nothing visible differs after a reload, and the result says that refs from before are stale."""
    stage.show(HEADER + "<button onclick='location.reload()'>Again</button>")
    answer = stage.ok("click_element", selector="text=Again")
    assert "stateChange" not in answer
    assert "Refs from before are stale" in answer["warnings"][0]


def test_a_page_of_another_origin_begins_with_its_heading_and_main_part(stage: Stage) -> None:
    """Nothing is known of another site: headings, the main part and controls come before its navigation."""
    pay = shop(stage, "<h1>Pay here</h1><p>12.00</p>", outside="<p>Small print</p><button>Help</button>")
    start = stage.page(f"<a href='{pay.replace('127.0.0.1', 'localhost')}'>Pay</a>")
    lines = bare(click(stage, start, "text=Pay")["stateChange"]["appeared"])
    assert lines[:5] == ['heading "Pay here"', "main", "text: 12.00", 'button "Help"', "text: Small print"]
    assert lines[5:7] == ["banner", 'link "Shop"']


@pytest.mark.parametrize("lines", [400, 5000])
def test_a_long_page_that_comes_again_is_told_by_its_differences(stage: Stage, lines: int) -> None:
    """Of long pages the beginning is compared, within limits."""
    rows = "".join(f"<p>Row {n}</p>" for n in range(lines))
    url = stage.page(f"<h1>Rows</h1>{rows}<p role=status>Saved</p>")
    start = stage.page(f"<h1>Rows</h1><a href='{url}'>Save</a>{rows}")
    assert bare(click(stage, start, "text=Save")["stateChange"]["appeared"]) == ["status", "text: Saved"]
