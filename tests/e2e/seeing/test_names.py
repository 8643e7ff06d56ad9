"""Names where the standards give none, and placeholders: they are in the outline, and elements are found by them."""

from __future__ import annotations

import re

import pytest

from tests.e2e.stage import Stage
from tests.servers.site import Reply

pytestmark = pytest.mark.full

TOOLBAR = """
<style>.cog::before {content: '\\e900'} button, a {padding: 9px}</style>
<span aria-label=Settings><a role=tab tabindex=0><i class=cog></i></a></span>
<button onclick="done.textContent = 'removed'"><img src="data:," alt=""><svg width=9 height=9>
<use href="/icons.svg#trash-can"></use></svg></button>
<button data-testid=save-draft onclick="done.textContent = 'saved'"><i class=cog></i></button>
<p id=done></p>"""


def lines(stage: Stage, **arguments: str) -> list[str]:
    """Return the lines of the outline, without refs."""
    return [re.sub(r" \[e\d+\]", "", line) for line in stage.outline(**arguments)]


@pytest.mark.core
def test_icons_without_a_name_show_where_theirs_is_from(stage: Stage) -> None:
    """A label around it, the part of a file that it shows, its test id; signs of icon fonts are no text."""
    stage.show(TOOLBAR)
    assert lines(stage) == [
        '- tab "Settings"',
        '- button "trash-can" [name from image file]',
        '- button "save-draft" [name from test id]',
    ]


@pytest.mark.core
@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ('button "trash-can" [name from image file]', "removed"),
        ("role=button[name=trash-can]", "removed"),
        ('- button "save-draft" [name from test id]', "saved"),
    ],
)
def test_a_control_is_found_by_the_name_that_stands_in(selector: str, said: str, stage: Stage) -> None:
    """Its line, copied without the ref, and its role and name lead to it."""
    stage.show(TOOLBAR)
    stage.ok("click_element", selector=selector)
    assert stage.js("done.textContent") == said


@pytest.mark.core
def test_text_that_a_style_of_another_origin_writes_is_part_of_a_name(stage: Stage) -> None:
    """Such a sheet cannot be read; its effect can."""
    stage.site.page("/far.css", Reply("b::before {content: 'No. '}", 200, "text/css"))
    sheet = stage.site.url("/far.css", host="localhost")
    stage.show(f"<link rel=stylesheet href='{sheet}'><button><b>5</b></button>")
    assert lines(stage) == ['- button "No. 5"']


@pytest.mark.core
def test_a_labelled_element_without_a_role_has_a_line(stage: Stage) -> None:
    """It is found by that line, and the outline of it is what it contains."""
    stage.show("<p>Rated <span aria-label='4 of 5 stars'>★★★★</span></p>")
    assert lines(stage) == ["- text: Rated", '- generic "4 of 5 stars"', "  - text: ★★★★"]
    assert lines(stage, root='generic "4 of 5 stars"')[-1].endswith("text: ★★★★")


@pytest.mark.core
def test_the_placeholder_of_an_empty_named_field_is_shown_and_found(stage: Stage) -> None:
    """By text and by a query; once the field has a value, its line has that instead."""
    stage.show("<label>Mail <input placeholder='you@example.com [work]'></label><label>Code <input></label>")
    line = '- textbox "Mail" [placeholder="you@example.com [work]"]'
    assert lines(stage) == [line, '- textbox "Code"']
    assert lines(stage, query="you@ex") == [line]
    stage.ok("set_value", selector="text=you@example.com", value="a@b.org")
    assert lines(stage, query="Mail") == ['- textbox "Mail" [focused] = "a@b.org"']
    stage.ok("set_value", selector=line, value="c@d.org")
    assert stage.js("document.querySelector('input').value") == "c@d.org"


@pytest.mark.core
def test_no_name_contains_a_password(stage: Stage) -> None:
    """The value of a field inside a label is part of a name, a secret never."""
    stage.show(
        "<span id=both>Key <input type=password value=hidden-key> for <input value=3 aria-label=doors> doors</span>"
        "<button aria-labelledby=both>Open</button>"
    )
    assert lines(stage)[-1] == '- button "Key for 3 doors"'
