"""Elements in frames that a page turns, tilts, mirrors or zooms are pressed and filled where they are drawn."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

FORM = """<body style='margin: 0'><input id=f aria-label=Seat><p id=told></p><script>
for (let row = 1; row <= 8; row += 1) {
  const seat = document.createElement('button');
  seat.textContent = `Row ${row}`;
  seat.style = 'display: block; width: 70px; height: 18px; padding: 0; border: 0; margin: 0 0 2px 90px';
  seat.onclick = () => { told.textContent += `${seat.textContent}; ` };
  document.body.append(seat);
}
</script>"""
"""A field, and buttons below each other that tell which of them was pressed."""

STYLES = {
    "turned": "rotate: 37deg",
    "upside-down": "transform: rotate(180deg)",
    "mirrored": "scale: -1 1",
    "slanted": "transform: skew(20deg, 10deg) scale(1.4, .8)",
    "tilted": "transform: perspective(500px) rotateY(40deg) rotateX(15deg)",
    "zoomed-and-turned": "zoom: .7; transform: rotate(-75deg)",
}


def show_turned(stage: Stage, style: str, host: str) -> None:
    """Show a page with a frame of this style, which has borders and paddings of its own."""
    src = stage.page(FORM).replace("127.0.0.1", host)
    stage.show(
        f"<div style='padding: 150px 0 0 150px'><div style='width: 340px; {style}'><iframe title=Hall src='{src}'"
        " style='border: solid; border-width: 3px 7px 11px 13px; padding: 5px 17px; width: 280px; height: 230px'>"
        "</iframe></div></div>"
    )


hosts = pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])


@hosts
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_elements_in_a_frame_that_is_turned_get_the_press_meant_for_them(stage: Stage, style: str, host: str) -> None:
    """The one that was named, once, and no neighbour."""
    show_turned(stage, style, host)
    frame = "iframe[title=Hall] >> "
    for row in (8, 1, 5):
        stage.ok("click_element", selector=f"{frame}text=Row {row}")
    stage.ok("set_value", selector=f"{frame}label=Seat", value="12 B")
    assert stage.ok("get_text", selector=f"{frame}#told")["text"] == "Row 8; Row 1; Row 5;"
    assert not stage.call("expect", selector=f"{frame}label=Seat", value="12 B").failed


@pytest.mark.required
def test_a_button_in_a_frame_that_is_turned_is_clicked(stage: Stage) -> None:
    """In one of another site, which cannot know how it is shown."""
    show_turned(stage, "rotate: 90deg", "localhost")
    stage.ok("click_element", selector="iframe[title=Hall] >> text=Row 7")
    assert stage.ok("get_text", selector="iframe[title=Hall] >> #told")["text"] == "Row 7;"


@hosts
def test_a_frame_in_a_frame_is_turned_by_both(stage: Stage, host: str) -> None:
    """The maps of both are applied, one after the other."""
    inner = stage.page(FORM).replace("127.0.0.1", host)
    middle = stage.page(
        f"<iframe title=Hall src='{inner}' style='rotate: 60deg; margin: 90px 40px' width=220 height=220>"
    )
    stage.show(
        f"<iframe title=House src='{middle}' width=460 height=460 style='transform: skewX(12deg) rotate(-100deg)'>"
    )
    stage.ok("click_element", selector="iframe[title=House] >> iframe[title=Hall] >> text=Row 3")
    assert stage.ok("get_text", selector="iframe[title=House] >> iframe[title=Hall] >> #told")["text"] == "Row 3;"


def test_an_element_in_a_turned_frame_that_is_covered_is_not_pressed(stage: Stage) -> None:
    """The cover is found at the point where the element is drawn, and named."""
    show_turned(stage, "rotate: 90deg", "127.0.0.1")
    stage.js(
        "document.body.insertAdjacentHTML('beforeend', '<div role=dialog aria-label=Offer "
        'style="position: fixed; inset: 0"></div>\')'
    )
    text = refused(
        stage.call("click_element", selector="iframe[title=Hall] >> text=Row 7", timeout=400), "not_actionable"
    )
    assert 'covered by dialog "Offer"' in text


@hosts
def test_an_element_in_a_turned_frame_is_pressed_where_a_page_scrolls_it_into_view(stage: Stage, host: str) -> None:
    """The frame stands below the fold."""
    src = stage.page(FORM).replace("127.0.0.1", host)
    stage.show(
        f"<p style='height: 3000px'>Long</p><iframe title=Hall src='{src}' style='rotate: 45deg' width=300 height=240>"
    )
    stage.ok("click_element", selector="iframe[title=Hall] >> text=Row 6")
    assert stage.ok("get_text", selector="iframe[title=Hall] >> #told")["text"] == "Row 6;"
