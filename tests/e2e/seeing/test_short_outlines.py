"""One line a thing: toolbars, cells of grids and closed selects; queries count what they look for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.seeing.test_seeing import without_refs
from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

WRAPPED = (
    "<x-button aria-label=Save tabindex=0></x-button><script>document.querySelector('x-button').attachShadow("
    "{mode: 'open'}).innerHTML = `<button aria-label=Save onclick='saved = 1'><svg width=9 height=9 /></button>`"
    "</script>"
)
TIGHT = "<span onclick='1' style='display:inline-block;padding:4px'><button>Cut</button></span>"
CARD = "<div onclick='1' style='width:300px;height:200px'><button>Like</button></div>"
NAMED = "<span aria-label='Clipboard tools' onclick='1'><button>Paste</button></span>"
MENU = "<span onclick='1' aria-expanded=true aria-label=More><button>More</button></span>"
GRID = """<div role=grid><div role=row>
<div role=gridcell tabindex=-1><input type=checkbox aria-label='Select Mug'></div>
<div role=gridcell tabindex=-1><div role=presentation><span role=none tabindex=-1>Mug</span></div></div>
<div role=gridcell aria-selected=true><button>Edit</button></div>
<div role=gridcell><a href=#>Buy</a> now</div></div></div>"""

TITLE = "<h3><a href=#x>Mug</a></h3><h3>Mugs <a href=#y>all</a></h3>"
PICTURE = "<a href=#x><img alt=Mug width=9 height=9></a><h3><a href=#x>Mug</a></h3><a href=#y>Mug</a>"
ITEMS = "<ul><li><a href=#x>Mug</a><li>Tea<li><a href=#y>Cup</a> new</ul>"
SORTED = "<table><tr><th><a href=#x>Name</a><th aria-sort=ascending>Price<tr><td>Mug<td>3</table>"


def lines(stage: Stage, **arguments: Any) -> list[str]:
    """Return the lines of the outline without refs and indentation."""
    return [line.strip(" -") for line in without_refs("\n".join(stage.outline(**arguments))).splitlines()]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (WRAPPED, ['button "Save"']),
        (TIGHT, ['button "Cut"']),
        (f"<div aria-label=Cut>{TIGHT}</div>", ['button "Cut"']),
        (CARD, ["generic [clickable]", 'button "Like"']),
        (NAMED, ['generic "Clipboard tools" [clickable]', 'button "Paste"']),
        (MENU, ['generic "More" [expanded] [clickable]', 'button "More"']),
    ],
    ids=["same name", "no name", "around both", "a card", "another name", "a state"],
)
def test_a_wrapper_of_a_control_has_no_line_of_its_own(html: str, expected: list[str], stage: Stage) -> None:
    """A wrapper with another name or a state, or one that is much larger, is a thing of its own."""
    stage.show(html)
    assert lines(stage) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (TITLE, ['link "Mug" [heading level=3]', 'heading "Mugs all" [level=3]', 'link "all"']),
        (PICTURE, ['link "Mug" [heading level=3]', 'link "Mug"']),
        (ITEMS, ["list", 'link "Mug"', "listitem", "text: Tea", "listitem", 'link "Cup"', "text: new"]),
        (SORTED, ["table", "row", 'link "Name"', 'columnheader "Price"', "row", 'cell "Mug"', 'cell "3"']),
    ],
    ids=["heading", "picture and title", "items", "column"],
)
def test_a_link_that_is_all_of_something_has_the_only_line(html: str, expected: list[str], stage: Stage) -> None:
    """A heading of one link is told with it, and so are a picture and a title that lead to the same place."""
    stage.show(html)
    assert lines(stage) == expected


def test_a_heading_of_one_link_is_found_by_either_role(stage: Stage) -> None:
    """The filter by role and selectors know it as a heading, too."""
    stage.show(TITLE)
    assert lines(stage, roles=["heading"]) == ['link "Mug" [heading level=3]', 'heading "Mugs all" [level=3]']
    assert stage.ok("get_text", selector='role=heading[name="Mug"]')["text"] == "Mug"


def test_changes_are_told_without_lines_that_only_group(stage: Stage) -> None:
    """They have no indentation there: a list, an item or a row without a name or state says nothing."""
    rows = "<ul><li>Mug</ul><table><tr aria-selected=true><td>Tea<td></table>"
    stage.show(f"<button onclick='place.innerHTML = place.innerHTML ? `` : `{rows}`'>Show</button><div id=place></div>")
    appeared = stage.ok("click_element", selector="text=Show")["stateChange"]["appeared"]
    assert without_refs("\n".join(appeared)).splitlines() == ["text: Mug", "row [selected]", 'cell "Tea"']
    gone = stage.ok("click_element", selector="text=Show")["stateChange"]["disappeared"]
    assert gone == ["text: Mug", "row [selected]", 'cell "Tea"']


def test_a_new_page_is_named_once(stage: Stage) -> None:
    """Its title and URL follow what was done, without those of the page before."""
    url = stage.page("<h1>Basket</h1>", title="Basket")
    stage.show(f"<a href='{url}'>Basket</a>", title="Shop")
    text = stage.call("click_element", selector="text=Basket").text
    assert text.startswith(f"Done.\nNow 'Basket' at {url}\n")
    assert "Shop" not in text
    assert text.count(url) == 1


def test_the_button_of_a_wrapper_is_clicked_by_its_line(stage: Stage) -> None:
    """What is shown can be acted on."""
    stage.show(WRAPPED)
    stage.ok("click_element", selector='button "Save"')
    assert stage.js("saved") == 1


def test_a_grid_cell_has_one_line(stage: Stage) -> None:
    """Its text is its name; a control that is all it holds stands for it, unless the cell has a state."""
    stage.show(GRID)
    assert lines(stage) == [
        "grid",
        "row",
        'checkbox "Select Mug"',
        'gridcell "Mug"',
        "gridcell [selected]",
        'button "Edit"',
        "gridcell",
        'link "Buy"',
        "text: now",
    ]
    assert stage.ok("get_text", selector='gridcell "Mug"')["text"] == "Mug"


def test_a_closed_select_shows_its_value_and_the_number_of_its_options(stage: Stage) -> None:
    """Its options are listed for a caller who asks for them: by the select as root, a query or their role."""
    options = "".join(f"<option>Language {n}" for n in range(30))
    stage.show(
        f"<select aria-label=Language>{options}</select><select aria-label=None></select><p>Language of the page"
    )
    closed = [
        'combobox "Language" [30 options] = "Language 0"',
        'combobox "None" [0 options]',
        "text: Language of the page",
    ]
    assert lines(stage) == closed
    assert len(lines(stage, root="select")) == 31
    assert lines(stage, query="language 29") == [closed[0], 'option "Language 29"']
    assert len(stage.outline(roles=["option"])) == 30
    stage.ok("select_option", selector="label=Language", values=["Language 29"])
    assert lines(stage)[0] == 'combobox "Language" [30 options] [focused] = "Language 29"'


def test_text_inside_an_input_is_not_shown(stage: Stage) -> None:
    """A script can put text into an input, where no browser shows it."""
    fill = "<script>document.querySelectorAll('input').forEach(each => each.append('never seen'))</script>"
    stage.show(f"<label>Name <input></label><input type=checkbox aria-label=Gift><input type=checkbox>{fill}")
    assert lines(stage) == ['textbox "Name"', 'checkbox "Gift"', "checkbox"]
    assert stage.ok("get_text")["text"] == "Name"


def test_a_query_counts_its_matches_outside_the_viewport(stage: Stage) -> None:
    """Other elements down there do not count, nor do the lines above a match."""
    far = (
        "<main><ul>" + "".join(f"<li><button>Buy {n}</button>" for n in range(5)) + "</ul><button>Leave</button></main>"
    )
    stage.show(f"<button>Buy nothing</button><div style='height:4000px'></div>{far}")
    assert lines(stage, query="buy") == ['button "Buy nothing"', "… 5 more outside the viewport (scope: page)"]
    assert lines(stage, query="leave") == ["… 1 more outside the viewport (scope: page)"]
    assert lines(stage, query="nothing") == ['button "Buy nothing"']
    assert lines(stage, roles=["button"])[-1] == "… 6 more outside the viewport (scope: page)"
    assert stage.ok("get_visible_elements", query="buy", format="json")["next"].startswith("… 5 more outside")
