"""Image maps: their areas are links below the picture, and are clicked where the picture shows them."""

from __future__ import annotations

import pytest

from tests.e2e.seeing.test_short_outlines import lines
from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
ROOMS = """<map name=plan><area shape=rect coords="0,0,50,50" href="#kitchen" alt=Kitchen>
<area shape=circle coords="100,50,20" href="#bath" alt=Bath>
<area shape=poly coords="150,0,200,0,200,100,190,100,190,10,150,10" href="#hall" alt=Hall>
<area shape=default href="#garden" alt=Garden><area coords="0,60,9,69" alt="No link"></map>"""
PLAN = f"<img usemap='#plan' alt=Plan width=200 height=100 style='border:5px solid;padding:3px' src='{PIXEL}'>{ROOMS}"
FAR = "<div style='height:3000px;width:10px'></div>"


@pytest.mark.core
def test_the_areas_of_an_image_map_are_links_below_the_picture(stage: Stage) -> None:
    """They stand where the map is used, not where it is written; what leads nowhere has no line."""
    stage.show(f"{PLAN}<p>Below</p>")
    assert lines(stage) == [
        'img "Plan"', 'link "Kitchen"', 'link "Bath"', 'link "Hall"', 'link "Garden"', "text: Below",
    ]  # fmt: skip


@pytest.mark.core
@pytest.mark.parametrize("room", ["Kitchen", "Bath", "Hall", "Garden"])
def test_an_area_is_clicked_within_its_shape(room: str, stage: Stage) -> None:
    """Also a polygon whose middle is no part of it, and what the other shapes leave; the picture is scrolled to."""
    stage.show(FAR + PLAN + FAR)
    stage.ok("click_element", selector=f"role=link[name={room}]")
    assert stage.js("location.hash") == f"#{room.lower()}"


def test_an_area_of_a_picture_larger_than_the_viewport_is_scrolled_to(stage: Stage) -> None:
    """Its picture's middle is not where it is."""
    shape = "<map name=sky><area shape=circle coords='3900,2900,9' href='#star' alt=Star></map>"
    stage.show(f"<img usemap='#sky' alt=Sky width=4000 height=3000 src='{PIXEL}'>{shape}")
    assert lines(stage) == ['img "Sky"', "… 1 more outside the viewport (scope: page)"]
    stage.ok("click_element", selector="role=link[name=Star]")
    assert stage.js("location.hash") == "#star"
