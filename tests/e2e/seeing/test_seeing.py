"""get_visible_elements, get_text and take_screenshot: pages as outline, data, text and picture."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

SHOP = """
<header><nav aria-label=Main><a href=#a>Home</a> <a href=#b>Shop</a></nav></header>
<main><h1>Mugs</h1><p>Two kinds.</p>
<ul><li><img alt="A red mug" width=20 height=20> Red mug <button>Add</button>
<li>Blue mug <button disabled>Add</button></ul>
<form aria-label=Order><label>Name <input value=Ann></label><label>Code <input type=password value=hidden-code></label>
<label><input type=checkbox checked> Gift</label><label>Size <select><option>S<option selected>M</select></label>
<textarea aria-label=Note>no hurry</textarea><button aria-expanded=false>More</button></form></main>
<p hidden>never seen</p>
"""
OUTLINE = """\
- banner
  - navigation "Main"
    - link "Home"
    - link "Shop"
- main
  - heading "Mugs" [level=1]
  - text: Two kinds.
  - list
    - listitem
      - img "A red mug"
      - text: Red mug
      - button "Add"
    - listitem
      - text: Blue mug
      - button "Add" [disabled]
  - form "Order"
    - textbox "Name" = "Ann"
    - textbox "Code" = "•••"
    - checkbox "Gift" [checked]
    - combobox "Size" [2 options] = "M"
    - textbox "Note" = "no hurry"
    - button "More" [collapsed]"""


def without_refs(outline: str) -> str:
    """Remove the refs from outline lines for a comparison."""
    return re.sub(r" \[e\d+\]", "", outline)


@pytest.mark.smoke
@pytest.mark.core
def test_the_outline_lists_landmarks_text_and_controls_with_their_states(stage: Stage) -> None:
    """Landmarks, headings, text, controls with names, states and values; passwords masked, hidden elements omitted."""
    url = stage.show(SHOP, title="Shop")
    answer = stage.call("get_visible_elements")
    assert without_refs(answer.data["outline"]) == OUTLINE
    assert (answer.data["url"], answer.data["title"]) == (url, "Shop")
    assert answer.data["shown"] == answer.data["total"] == len(OUTLINE.splitlines())
    assert answer.data["outline"] in answer.text
    assert url in answer.text


def test_every_element_in_the_outline_has_a_stable_ref_of_its_own(stage: Stage) -> None:
    """Text lines have no ref, and the same elements keep theirs from outline to outline."""
    stage.show(SHOP)
    lines = stage.outline()
    refs = [re.search(r" \[(e\d+)\]", line) for line in lines]
    assert [ref is None for ref in refs] == [line.strip().startswith("- text:") for line in lines]
    numbers = [ref[1] for ref in refs if ref]
    assert len(set(numbers)) == len(numbers)
    assert stage.outline() == lines


def test_elements_outside_the_viewport_are_counted_in_the_outline(stage: Stage) -> None:
    """The scope viewport counts elements outside of it, and the scope page lists everything."""
    stage.show("<button>Near</button><div style='height:4000px'></div><button>Far</button><p>end</p>")
    near = stage.ok("get_visible_elements")
    assert without_refs(near["outline"]) == '- button "Near"\n… 2 more outside the viewport (scope: page)'
    far = stage.ok("get_visible_elements", scope="page")
    assert without_refs(far["outline"]) == '- button "Near"\n- button "Far"\n- text: end'
    assert (far["shown"], far["total"]) == (3, 3)


def test_an_outline_with_a_root_shows_only_what_is_inside_it(stage: Stage) -> None:
    """The root is any selector; one that matches nothing is element_not_found."""
    stage.show(SHOP)
    inside = without_refs("\n".join(stage.outline(root="role=list")))
    assert inside.splitlines()[0] == "- list"
    assert "Blue mug" in inside
    assert "Order" not in inside
    text = refused(stage.call("get_visible_elements", root="#none"), "element_not_found")
    assert "'#none'" in text


def test_an_outline_query_keeps_matching_lines_and_their_ancestors(stage: Stage) -> None:
    """A query ignores case, and the lines above each match show its place."""
    stage.show(SHOP)
    assert [line.strip() for line in without_refs("\n".join(stage.outline(query="RED MUG"))).splitlines()] == [
        "- main",
        "- list",
        "- listitem",
        '- img "A red mug"',
        "- text: Red mug",
    ]


def test_outline_roles_keep_only_elements_of_those_roles(stage: Stage) -> None:
    """Roles are given one or several, in any case, also together with a query."""
    stage.show(SHOP)
    assert without_refs("\n".join(stage.outline(roles=["Button", "link"]))).splitlines() == [
        '- link "Home"',
        '- link "Shop"',
        '- button "Add"',
        '- button "Add" [disabled]',
        '- button "More" [collapsed]',
    ]
    assert without_refs("\n".join(stage.outline(roles=["button"], query="more"))) == '- button "More" [collapsed]'


def test_limit_and_offset_page_through_the_outline(stage: Stage) -> None:
    """Together the parts are the whole outline; `next` names the next offset."""
    stage.show("".join(f"<button>Button {n}</button>" for n in range(25)))
    found: list[str] = []
    for offset in (0, 10, 20):
        part = stage.ok("get_visible_elements", limit=10, offset=offset)
        assert part["total"] == 25
        found += part["outline"].splitlines()
        assert part["shown"] == len(part["outline"].splitlines())
        assert ("next" in part) == (offset < 20), part
    assert found == stage.outline()


def test_the_json_format_lists_elements_with_selectors_that_find_them_again(stage: Stage) -> None:
    """Role, name, value, states, and selectors that find the element again."""
    stage.show(SHOP)
    answer = stage.call("get_visible_elements", format="json")
    elements = {(element["role"], element["name"]): element for element in answer.data["elements"]}
    name = elements["textbox", "Name"]
    assert name["value"] == "Ann"
    assert elements["textbox", "Code"]["value"] == "•••"
    assert elements["checkbox", "Gift"]["states"] == ["checked"]
    assert "outline" not in answer.data
    for element in answer.data["elements"]:
        assert json.dumps(element, ensure_ascii=False) in answer.text
        for selector in (element["selector"], element["cssSelector"]):
            script = "return arguments[0] === arguments[1]"
            args = [{"ref": element["ref"]}, {"selector": selector}]
            assert stage.ok("execute_script", script=script, args=args)["value"] is True, element


@pytest.mark.parametrize("form", ["outline", "json"])
def test_a_long_outline_is_cut_and_says_how_to_go_on(stage: Stage, form: str) -> None:
    """A long outline is cut at whole lines within max_output, and an offset leads on."""
    stage.show("".join(f"<button>Button with quite a long name number {n}</button>" for n in range(900)))
    answer = stage.call("get_visible_elements", scope="page", limit=1000, format=form)
    assert len(answer.text) <= 20_000
    assert len(json.dumps(answer.data, ensure_ascii=False)) <= 20_000
    assert answer.data["total"] == 900
    assert 0 < answer.data["shown"] < 900
    assert "offset" in answer.data["next"]
    assert answer.data["next"] in answer.text
    rest = stage.call("get_visible_elements", scope="page", limit=1, offset=answer.data["shown"], format=form)
    assert f"number {answer.data['shown']}" in rest.text


def test_the_outline_shows_focus_open_details_and_dialogs(stage: Stage) -> None:
    """Focus, open details and an opened dialog are shown as the page is now."""
    stage.show(
        "<input id=f aria-label=F><details open><summary>Sum</summary>inside</details>"
        "<dialog id=d aria-label=Ask>really?</dialog><script>f.focus()</script>"
    )
    outline = without_refs("\n".join(stage.outline()))
    assert '- textbox "F" [focused]' in outline
    assert "inside" in outline
    assert "Ask" not in outline
    stage.js("d.showModal()")
    assert '- dialog "Ask"' in without_refs("\n".join(stage.outline()))


def test_open_shadow_roots_are_part_of_the_outline(stage: Stage) -> None:
    """Slotted content is listed at its place in the shadow root."""
    stage.show(
        "<x-card><b slot=title>Slotted</b></x-card><script>document.querySelector('x-card')"
        ".attachShadow({mode: 'open'}).innerHTML = '<h2><slot name=title></slot></h2><button>Inside</button>'"
        "</script>"
    )
    assert without_refs("\n".join(stage.outline())) == '- heading "Slotted" [level=2]\n- button "Inside"'


def test_a_password_is_masked_in_the_outline_when_the_page_shows_it_in_clear(stage: Stage) -> None:
    """The eye button turns the field into a text field: its value stays masked."""
    stage.show("<input id=p type=password aria-label=P><button onclick=\"p.type = 'text'\">Show</button>")
    stage.ok("set_value", selector="#p", value="open-sesame-1")
    stage.ok("click_element", selector="text=Show")
    answer = stage.call("get_visible_elements")
    assert "open-sesame-1" not in answer.text
    assert 'textbox "P"' in answer.text


def test_an_empty_page_has_an_empty_outline(stage: Stage) -> None:
    """An empty outline is no error."""
    stage.ok("navigate", url="about:blank")
    answer = stage.call("get_visible_elements")
    assert not answer.failed
    assert (answer.data["outline"], answer.data["total"]) == ("", 0)


def test_get_text_returns_the_visible_text_of_a_page_or_an_element(stage: Stage) -> None:
    """Text is the visible text, line by line, without scripts, styles and hidden parts."""
    stage.show(
        "<h1>Title</h1><p>one <b>two</b><br>three</p><p id=x hidden>no</p><style>p{}</style><script>1</script>"
        "<ul><li>a<li>b</ul>"
    )
    answer = stage.call("get_text")
    assert answer.data["text"] == "Title\none two\nthree\na\nb"
    assert answer.data["text"] in answer.text
    assert stage.ok("get_text", selector="b")["text"] == "two"
    several = stage.ok("get_text", selector="li")
    assert (several["text"], several["matches"]) == ("a", 2)


def test_a_long_text_is_cut_and_says_how_to_go_on(stage: Stage) -> None:
    """Text and data stay within max_output, and next gives the omitted length and the next step."""
    stage.show("<p>" + "words and words " * 4000)
    answer = stage.call("get_text")
    assert len(answer.text) <= 20_000
    assert len(json.dumps(answer.data, ensure_ascii=False)) <= 20_000
    assert "Cut: " in answer.data["next"]
    assert answer.data["next"] in answer.text


def picture(image: object) -> Image.Image:
    """Return an image part as a picture."""
    return Image.open(io.BytesIO(base64.b64decode(image.data)))  # type: ignore[attr-defined]


@pytest.mark.smoke
@pytest.mark.core
def test_a_screenshot_is_an_image_and_a_file(stage: Stage) -> None:
    """An image part, no structured content, no base64 in the text; the text gives path and size."""
    stage.show("<body style='margin:0;background:rgb(1,200,3)'>")
    answer = stage.call("take_screenshot")
    assert answer.raw.structured_content is None
    assert answer.image.mime_type == "image/png"
    shot = picture(answer.image)
    assert shot.size == (1280, 720)
    assert shot.convert("RGB").getpixel((600, 300)) == (1, 200, 3)
    assert len(answer.text) < 1000
    path = Path(answer.text.split("saved: ")[1].split(" (")[0])
    assert path.read_bytes() == base64.b64decode(answer.image.data)
    assert "1280 x 720" in answer.text


def test_each_screenshot_has_a_file_of_its_own(stage: Stage) -> None:
    """Screenshot files are never overwritten."""
    paths = {stage.call("take_screenshot").text.split("saved: ")[1].split(" (")[0] for _ in range(3)}
    assert len(paths) == 3


@pytest.mark.parametrize(("form", "name"), [("png", "a/b/shot.png"), ("jpeg", "shot.jpg"), ("jpeg", "shot.JPEG")])
def test_a_screenshot_is_saved_at_the_given_path(stage: Stage, tmp_path: Path, form: str, name: str) -> None:
    """The file has the given format, and missing folders are made."""
    answer = stage.call("take_screenshot", path=str(tmp_path / name), format=form)
    assert answer.image.mime_type == f"image/{form}"
    with Image.open(tmp_path / name) as shot:
        assert shot.format == form.upper()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "shot.gif"}, "does not end in .png"),
        ({"path": "shot.png", "format": "jpeg"}, "does not end in .jpg or .jpeg"),
        ({"format": "gif"}, "'format' must be 'png' or 'jpeg'"),
    ],
)
def test_a_screenshot_that_cannot_be_saved_is_refused(stage: Stage, arguments: dict[str, str], expected: str) -> None:
    """An unusable path or format is an invalid_argument error that names valid ones."""
    assert expected in refused(stage.call("take_screenshot", **arguments), "invalid_argument")


def test_a_screenshot_below_a_file_is_refused(stage: Stage, tmp_path: Path) -> None:
    """A path that no folder leads to is an invalid_argument error."""
    file = tmp_path / "file"
    file.touch()
    text = refused(stage.call("take_screenshot", path=str(file / "shot.png")), "invalid_argument")
    assert "cannot be written" in text


@pytest.mark.parametrize(("width", "height"), [(2400, 600), (300, 3000)])
def test_a_large_screenshot_is_scaled_to_2000_pixels(stage: Stage, width: int, height: int) -> None:
    """The longer side has 2,000 pixels, and the text gives the size of a CSS pixel in the image."""
    stage.ok("start_browser", sessionId="large", viewport={"width": width, "height": height})
    try:
        answer = stage.call("take_screenshot", sessionId="large")
        shot = picture(answer.image)
        assert max(shot.size) == 2000
        assert f"{shot.width} x {shot.height}" in answer.text
        scale = float(re.findall(r"is ([\d.]+) image pixels", answer.text)[0])
        assert scale == pytest.approx(2000 / max(width, height), abs=0.001)
    finally:
        stage.ok("close_session", sessionId="large")
