"""press_keys with text: typing at the caret."""

from __future__ import annotations

import pytest

from tests.e2e.stage import HEAR, Stage, refused

pytestmark = pytest.mark.full

FIELDS = """<input id=a value=onetwo><textarea id=t>first</textarea><div id=r contenteditable>rich</div>
<input id=p type=password><iframe id=f srcdoc="<input id=inner value=in>"></iframe>"""


def test_text_is_typed_at_the_caret_and_what_is_there_is_kept(stage: Stage) -> None:
    """Unlike set_value, it replaces only what is selected; the events are trusted."""
    stage.show(f"{FIELDS}{HEAR}<script>hear('input'); a.focus(); a.setSelectionRange(3, 3)</script>")
    stage.ok("press_keys", text=" Enter+2 ")
    assert stage.js("a.value") == "one Enter+2 two"
    assert all(event["trusted"] for event in stage.heard("input"))


@pytest.mark.parametrize(
    ("selector", "look", "holds"),
    [("#t", "t.value", {"first", "x", "y"}), ("#r", "r.innerText", {"rich", "x", "y"})],
)
def test_a_line_break_is_enter(stage: Stage, selector: str, look: str, holds: set[str]) -> None:
    """Text areas and editors get a new line."""
    stage.show(
        f"{FIELDS}<script>t.setSelectionRange(5, 5); getSelection().selectAllChildren(r);"
        "getSelection().collapseToEnd()</script>"
    )
    stage.ok("press_keys", text="\nx\ny", selector=selector)
    held = stage.js(look)
    assert {*held.split()} == holds or "x\ny" in held


def test_text_is_typed_inside_a_frame(stage: Stage) -> None:
    """The selector may lead into a frame."""
    stage.show(FIELDS)
    stage.ok("press_keys", text="X", selector="#f >> #inner")
    assert "X" in stage.js("f.contentDocument.getElementById('inner').value")


def test_text_for_a_password_field_is_never_shown(stage: Stage) -> None:
    """With or without a selector, what is typed there is masked when the page shows it."""
    stage.show(f"{FIELDS}<p id=out></p><script>p.oninput = () => out.textContent = p.value; p.focus()</script>")
    answer = stage.call("press_keys", text="swordfish-77")
    assert not answer.failed
    assert "swordfish" not in answer.text + stage.call("get_text", selector="#out").text


@pytest.mark.parametrize("given", [{}, {"keys": "Enter", "text": "x"}])
def test_either_keys_or_text_is_given(stage: Stage, given: dict[str, str]) -> None:
    """Both or neither is refused with what each is for."""
    text = refused(stage.call("press_keys", **given), "invalid_argument")
    assert "press_keys takes keys or text" in text
    assert "text is typed at the caret" in text


def test_an_editor_in_a_frame_of_its_own_is_filled_typed_into_and_read(stage: Stage) -> None:
    """An editor that replaced a text area by an editable frame, as TinyMCE does, is filled, added to and read."""
    stage.show(
        "<label for=t>Body</label><textarea id=t></textarea><script>"
        "t.style.display = 'none'; f = document.createElement('iframe'); f.title = 'Rich Text Area'; t.after(f);"
        "d = f.contentDocument; d.open(); d.write('<body contenteditable=true aria-label=Rich><p><br></p></body>');"
        "d.close(); d.addEventListener('input', () => { t.value = d.body.innerText.trim() })</script>"
    )
    editor = "iframe >> body"
    stage.ok("set_value", selector=editor, value="Lovely")
    stage.ok("press_keys", selector=editor, text=" tea")
    stage.ok("press_keys", keys="Enter")
    stage.ok("press_keys", text="and cake")
    stage.ok("expect", selector=editor, containsText="and cake")
    assert stage.js("t.value").split("\n")[0] == "Lovely tea"
    assert stage.ok("get_text", selector=editor)["text"].split() == ["Lovely", "tea", "and", "cake"]
    assert any("Rich" in line for line in stage.outline())
