"""take_screenshot of elements and whole pages, and with marks: checked by pixels, on pages of known colours."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.e2e.stage import Stage, refused
from tests.servers.mcp import Answer

pytestmark = pytest.mark.full

RED, GREEN, BLUE, WHITE = (200, 0, 0), (0, 150, 0), (0, 0, 220), (255, 255, 255)
STYLE = "<style>body{margin:0}.r{background:rgb(200,0,0)}.g{background:rgb(0,150,0)}.b{background:rgb(0,0,220)}</style>"


def picture(answer: Answer) -> Image.Image:
    """Return the image part as a picture."""
    assert not answer.failed, answer.text
    return Image.open(io.BytesIO(base64.b64decode(answer.image.data))).convert("RGB")


def saved(answer: Answer) -> Image.Image:
    """Return the saved file as a picture."""
    return Image.open(Path(answer.text.split("saved: ")[1].split(" (")[0])).convert("RGB")


def take(stage: Stage, **arguments: Any) -> tuple[Image.Image, Answer]:
    """Take a screenshot; return the picture and the answer."""
    answer = stage.call("take_screenshot", **arguments)
    return picture(answer), answer


def offset(answer: Answer) -> tuple[int, int]:
    """Return the tap coordinates of the picture's corner."""
    [(x, y)] = re.findall(r"\+ \((-?\d+), (-?\d+)\)", answer.text)
    return int(x), int(y)


def framed(stage: Stage, host: str, inner: str, style: str = "width:400px;height:200px;border:0") -> None:
    """Show a page with a frame further down."""
    there = stage.page(STYLE + inner).replace("127.0.0.1", host)
    stage.show(f"{STYLE}<div style='height:900px'></div><iframe id=f src='{there}' style='{style}'></iframe>")


hosts = pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])


def test_an_element_screenshot_shows_only_the_element(stage: Stage) -> None:
    """The image shows nothing around the element, and the text gives its position."""
    stage.show(f"{STYLE}<div id=x class=r style='position:absolute;left:100px;top:50px;width:80px;height:40px'></div>")
    image, answer = take(stage, selector="#x")
    assert image.size == (80, 40)
    assert image.getcolors() == [(80 * 40, RED)]
    assert offset(answer) == (100, 50)
    assert saved(answer).size == (80, 40)


@pytest.mark.core
def test_an_element_screenshot_scrolls_to_an_element_below_the_viewport(stage: Stage) -> None:
    """The reported offset is the element's position after scrolling."""
    stage.show(f"{STYLE}<div style='height:3000px'></div><div id=x class=g style='height:60px'></div>")
    image, answer = take(stage, selector="#x")
    assert image.getcolors() == [(image.width * 60, GREEN)]
    assert offset(answer)[1] == round(stage.js("x.getBoundingClientRect().top"))


def test_an_element_screenshot_waits_for_its_element(stage: Stage) -> None:
    """A late element is waited for; one that is never visible is not_actionable."""
    stage.show(
        f"{STYLE}<script>setTimeout(() => {{ document.body.insertAdjacentHTML(`beforeend`, `<p id=x class=b>late`) }},"
        "300)</script>"
    )
    image, _ = take(stage, selector="#x")
    assert image.getpixel((image.width - 5, 3)) == BLUE
    stage.show("<p id=hidden style='display:none'>no</p>")
    refused(stage.call("take_screenshot", selector="#hidden"), "not_actionable")


@pytest.mark.parametrize(("width", "height"), [(300, 1500), (1700, 100), (1600, 1400)])
def test_an_element_larger_than_the_viewport_is_captured_whole(stage: Stage, width: int, height: int) -> None:
    """The image of a large element reaches to its last corner."""
    half = "width:50%;height:100%;float:left"
    stage.show(
        f"{STYLE}<div style='height:200px'></div><div id=x style='width:{width}px;height:{height}px;margin-left:30px'>"
        f"<div class=r style='{half}'></div><div class=g style='{half}'></div></div><div style='height:900px'></div>"
    )
    image, _ = take(stage, selector="#x")
    assert image.size == (width, height)
    assert image.getpixel((0, 0)) == image.getpixel((0, height - 1)) == RED
    assert image.getpixel((width - 1, 0)) == image.getpixel((width - 1, height - 1)) == GREEN


@hosts
def test_an_element_in_a_frame_is_captured_at_its_place(stage: Stage, host: str) -> None:
    """Borders and padding of the frame are taken into account."""
    inner = "<div style='height:500px'></div><div id=x class=b style='width:120px;height:30px;margin-left:7px'></div>"
    framed(stage, host, inner, "width:400px;height:200px;border:9px solid red;padding:5px;margin-left:11px")
    image, _ = take(stage, selector="#x")
    assert image.getcolors() == [(120 * 30, BLUE)]
    image, _ = take(stage, selector="#f")
    assert image.size == (428, 228)
    assert image.getpixel((1, 1)) == (255, 0, 0)


@hosts
def test_an_element_larger_than_the_viewport_in_a_frame_is_captured_whole(stage: Stage, host: str) -> None:
    """A large element is captured whole when its frame is large enough."""
    framed(
        stage, host, "<div id=x class=g style='width:200px;height:1300px'></div>", "width:500px;height:1500px;border:0"
    )
    image, _ = take(stage, selector="#x")
    assert image.getcolors() == [(200 * 1300, GREEN)]


@hosts
def test_an_element_clipped_by_its_frame_is_captured_in_part_and_says_so(stage: Stage, host: str) -> None:
    """The image has the visible part, and the text gives its share of the element."""
    framed(stage, host, "<div id=x class=g style='width:300px;height:1300px'></div>")
    image, answer = take(stage, selector="#x")
    assert image.size == (300, 200)
    assert "Only 300 x 200 of the 300 x 1300 CSS pixels of '#x' can be seen" in answer.text


def test_an_element_in_a_shadow_root_is_captured(stage: Stage) -> None:
    """Elements in a shadow root and in a frame within it are captured."""
    there = stage.page(f"{STYLE}<p id=deep class=r style='margin:0;width:50px;height:20px'>").replace("127", "127")
    stage.show(
        f"{STYLE}<x-a></x-a><script>document.querySelector('x-a').attachShadow({{mode: 'open'}}).innerHTML = "
        f"`<div id=x style='background:rgb(0,0,220);width:90px;height:20px'></div>"
        f"<iframe src='{there.replace('127.0.0.1', 'localhost')}'></iframe>`</script>"
    )
    assert take(stage, selector="#x")[0].getcolors() == [(90 * 20, BLUE)]
    assert take(stage, selector="#deep")[0].getcolors() == [(50 * 20, RED)]


@pytest.mark.core
def test_a_full_page_screenshot_shows_the_whole_page_and_keeps_its_scroll_position(stage: Stage) -> None:
    """The image spans the page from its first pixel to its last, and the scroll position is unchanged."""
    bands = "".join(f"<div class={name} style='height:700px'></div>" for name in "rgb")
    stage.show(STYLE + bands)
    stage.js("scrollTo(0, 400)")
    before = stage.js("[document.documentElement.clientWidth, innerWidth, innerHeight, scrollY]")
    image, answer = take(stage, fullPage=True)
    assert image.height == 2000
    full = saved(answer)
    width = page_width(stage, 1280)
    assert full.size == (width, 2100)
    for y, colour in ((0, RED), (699, RED), (700, GREEN), (1399, GREEN), (1400, BLUE), (2099, BLUE)):
        assert full.getpixel((0, y)) == full.getpixel((width - 1, y)) == colour
    assert offset(answer) == (0, -400)
    shown = image.width
    assert f"({width} x 2100 px, shown as {shown} x 2000 px)" in answer.text
    assert f"is {round(shown / width, 4):g} image pixels" in answer.text
    assert stage.js("[document.documentElement.clientWidth, innerWidth, innerHeight, scrollY]") == before


def test_a_full_page_screenshot_is_cut_at_16384_pixels(stage: Stage) -> None:
    """The text gives the cut part of a longer page."""
    stage.show(f"{STYLE}<div class=g style='height:20000px'></div>")
    image, answer = take(stage, fullPage=True)
    assert image.height == 2000
    width = page_width(stage, 1280)
    assert saved(answer).size == (width, 16_384)
    assert saved(answer).getpixel((700, 16_383)) == GREEN
    assert f"Only {width} x 16384 CSS pixels of {width} x 20000 are shown" in answer.text


def test_a_full_page_screenshot_of_a_narrow_viewport_keeps_its_width(stage: Stage) -> None:
    """A viewport narrower than the smallest window is captured at its width and keeps its size."""
    stage.ok("set_viewport", width=400, height=600)
    stage.show(f"{STYLE}<div class=r style='height:1500px'></div>")
    image, _ = take(stage, fullPage=True)
    width = page_width(stage, 400)
    assert image.size == (width, 1500)
    assert image.getpixel((width - 1, 1499)) == RED
    assert stage.js("[innerWidth, innerHeight]") == [400, 600]
    stage.ok("set_viewport", width=1280, height=720)


def page_width(stage: Stage, viewport: int) -> int:
    """Return the width of a picture of the whole page: Firefox's leave out the strip of the scroll bar."""
    return int(stage.js("document.documentElement.clientWidth")) if stage.browser == "firefox" else viewport


def colours_around(image: Image.Image, left: int, top: int, right: int, bottom: int) -> set[Any]:
    """Return the colours of the line right around a box; empty without such a line."""
    xs, ys = range(left, right), range(top, bottom)
    points = [*((x, y) for x in xs for y in (top - 1, bottom)), *((x, y) for y in ys for x in (left - 1, right))]
    return {image.getpixel(point) for point in points if 0 <= point[0] < image.width and 0 <= point[1] < image.height}


@pytest.mark.parametrize("ground", ["white", "black", "rgb(194,24,91)"])
def test_marks_are_drawn_around_actionable_elements_only(stage: Stage, ground: str) -> None:
    """Marks are visible on any background, and the page itself is not touched."""
    box = "position:absolute;left:100px;top:100px;width:90px;height:30px;border:0;padding:0"
    stage.show(f"<body style='background:{ground}'><button style='{box};background:gray'></button><h1>Title</h1>")
    before = stage.js("document.documentElement.outerHTML")
    plain, _ = take(stage)
    image, _ = take(stage, marks=True)
    assert (194, 24, 91) in colours_around(image, 100, 100, 190, 130)
    assert image.crop((100, 100, 190, 130)).getcolors() == [(90 * 30, (128, 128, 128))]
    assert image.getpixel((150, 132)) == WHITE
    changed = [place for place in ((500, 300), (20, 20), (100, 300)) if image.getpixel(place) != plain.getpixel(place)]
    assert changed == []
    assert stage.js("document.documentElement.outerHTML") == before


def test_marks_in_a_screenshot_show_the_refs_of_the_outline(stage: Stage) -> None:
    """A marked screenshot labels an element with the ref that the outline gives it."""
    stage.show("<button style='position:absolute;left:50px;top:80px'>Only</button>")
    ref = stage.ref('button "Only"')
    first, _ = take(stage, marks=True)
    assert stage.ref('button "Only"') == ref
    assert take(stage, marks=True)[0].tobytes() == first.tobytes()


def test_a_clipped_element_is_marked_where_it_is_visible(stage: Stage) -> None:
    """A button that is partly clipped is marked at its visible part; one out of sight has no mark."""
    stage.show(
        "<div style='position:absolute;left:100px;top:100px;width:200px;height:50px;overflow:auto'>"
        "<div style='height:40px'></div><button style='display:block;width:100px;height:60px;border:0;background:gray'>"
        "</button><div style='height:200px'></div><button>far</button></div>"
    )
    plain, _ = take(stage)
    image, _ = take(stage, marks=True)
    assert (194, 24, 91) in colours_around(image, 100, 140, 200, 150)
    below = (0, 160, image.width, image.height)
    assert image.crop(below).tobytes() == plain.crop(below).tobytes()


@hosts
def test_marks_are_drawn_where_a_frame_shows_its_elements(stage: Stage, host: str) -> None:
    """Marks in a frame are in place in screenshots of the frame and of the whole page."""
    framed(stage, host, "<button style='position:absolute;left:60px;top:70px;width:80px;height:20px'></button>")
    image, _ = take(stage, selector="#f", marks=True)
    assert any(shade == (194, 24, 91) for shade in colours_around(image, 60, 70, 140, 90))
    before = stage.js("[scrollY, innerHeight, document.documentElement.clientWidth]")
    whole, answer = take(stage, fullPage=True, marks=True)
    assert (194, 24, 91) in colours_around(whole, 60, 970, 140, 990)
    assert offset(answer) == (0, -before[0])
    assert stage.js("[scrollY, innerHeight, document.documentElement.clientWidth]") == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"selector": "#x", "fullPage": True}, "either selector or fullPage"),
        ({"marks": "perhaps"}, "'marks' must be true or false"),
        ({"selector": "  "}, "selector is empty"),
        ({"path": "/\x00.png"}, "cannot be a file: embedded null byte"),
        ({"path": "~nobody-of-that-name/x.png"}, "cannot be a file"),
    ],
)
def test_bad_screenshot_arguments_are_refused(stage: Stage, arguments: dict[str, Any], expected: str) -> None:
    """Contradictory or unusable screenshot arguments are an invalid_argument error."""
    assert expected.lower() in refused(stage.call("take_screenshot", **arguments), "invalid_argument").lower()


def test_a_marked_element_screenshot_can_be_saved_as_jpeg(stage: Stage, tmp_path: Path) -> None:
    """The image part and the file at the given path are both JPEG."""
    stage.show("<p id=x><button>Go</button></p>")
    answer = stage.call("take_screenshot", selector="#x", marks=True, format="jpeg", path=str(tmp_path / "x.jpg"))
    assert answer.image.mime_type == "image/jpeg"
    with Image.open(tmp_path / "x.jpg") as image:
        assert image.format == "JPEG"
