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
    assert "New document" in answer["warnings"][0]


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
    """Nothing visible differs after a reload, and the result says that old refs are stale."""
    stage.show(HEADER + "<button onclick='location.reload()'>Again</button>")
    answer = stage.ok("click_element", selector="text=Again")
    assert "stateChange" not in answer
    assert "old refs are stale" in answer["warnings"][0]


@pytest.mark.required
def test_the_button_of_a_product_is_told_with_its_new_ref_though_the_list_before_had_such_buttons(stage: Stage) -> None:
    """What was said of a line does not help where its ref is stale: the one button that counts is named and works."""
    product = shop(
        stage, "<h1>Red mug</h1><p>Holds 0.3 l</p><button onclick='this.after(`In it`)'>Put in basket</button>"
    )
    rows = "".join(f"<li><a href='{product}'>Mug {n}</a> <button>Put in basket</button></li>" for n in range(9))
    change = click(stage, shop(stage, f"<h1>Mugs</h1><ul>{rows}</ul>"), "text=Mug 4")["stateChange"]
    assert bare(change["appeared"]) == ['heading "Red mug"', "text: Holds 0.3 l", 'button "Put in basket"']
    ref = change["appeared"][-1].partition("[")[2].partition("]")[0]
    assert stage.ok("click_element", selector=ref)["stateChange"]["appeared"] == ["text: In it"]


def test_a_form_that_comes_again_with_an_error_is_told_with_its_fields(stage: Stage) -> None:
    """The fields and the button of a refused form stay as they were; only their refs are new."""
    fields = "<label>User <input></label><label>Password <input type=password></label><button>Sign in</button>"
    refused = shop(stage, f"<h1>Sign in</h1><p role=alert>Wrong password</p><form>{fields}</form>")
    first = shop(stage, f"<h1>Sign in</h1><form action='{refused}'>{fields}</form>")
    lines = bare(click(stage, first, "role=button[name='Sign in']")["stateChange"]["appeared"])
    assert lines[:2] == ["alert", "text: Wrong password"]
    assert lines[2:] == ['textbox "User"', 'textbox "Password"', 'button "Sign in"']


def test_without_a_main_part_buttons_and_the_links_between_what_is_new_are_told(stage: Stage) -> None:
    """Links around what is new belong to every page of the site; the same ones amidst it may be what counts."""
    menu = "<div><a href=/a>Mugs</a><a href=/b>Teapots</a></div>"
    end = "<div><a href=/t>Terms</a></div>"
    second = stage.page(f"{menu}<h1>Delivery</h1><a href=/edit>Edit</a><p>Tomorrow</p><button>Continue</button>{end}")
    first = stage.page(
        f"{menu}<h1>Address</h1><a href=/edit>Edit</a><a href='{second}'>Next</a><button>Continue</button>{end}"
    )
    lines = bare(click(stage, first, "text=Next")["stateChange"]["appeared"])
    assert lines == ['heading "Delivery"', "text: Tomorrow", 'button "Continue"', 'link "Edit"']


def test_of_equal_buttons_of_a_new_page_the_first_is_told_as_one_of_several(stage: Stage) -> None:
    """A list whose rows all have the same button is told by its rows; the first button says that there are more."""

    def rows(page: int) -> str:
        return "".join(f"<li>Article {page}{n} <button>Put in basket</button></li>" for n in range(9))

    second = shop(stage, f"<ul>{rows(2)}</ul>")
    change = click(stage, shop(stage, f"<ul>{rows(1)}</ul><a href='{second}'>Next</a>"), "text=Next")["stateChange"]
    assert bare(change["appeared"])[-2:] == ["text: Article 28", 'button "Put in basket"']
    assert change["appeared"][-1].endswith("[first of 9]")
    assert "more" not in change


def test_the_buttons_of_a_long_page_are_told_though_its_texts_fill_the_answer(stage: Stage) -> None:
    """A quarter of the forty lines is held free for buttons and fields, new ones as well as those of before."""
    rows = "".join(f"<p>Sentence {n}</p>" for n in range(90))
    last = "<label>Number <input type=number></label><button>Put in basket</button>"
    url = shop(stage, f"<h1>Red mug</h1>{rows}{last}")
    change = click(stage, shop(stage, f"<a href='{url}'>Red mug</a><button>Put in basket</button>"), "text=Red mug")[
        "stateChange"
    ]
    lines = bare(change["appeared"])
    assert len(lines) == 40
    assert lines[-2:] == ['spinbutton "Number"', 'button "Put in basket"']
    assert change["more"] == 1 + 90 + 2 + len(["link that went"]) - 40


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
