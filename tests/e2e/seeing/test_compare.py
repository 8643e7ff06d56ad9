"""compare_sessions: text, elements and screenshots of several sessions."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.e2e.stage import Stage, opened, refused

pytestmark = pytest.mark.full

NAMES = ("left", "right")


@pytest.fixture(scope="module")
def two() -> Iterator[Stage]:
    """Two browsers side by side."""
    with opened("auto", *NAMES) as stage:
        yield stage


def _show(stage: Stage, *pages: str) -> None:
    for name, html in zip(NAMES, pages, strict=True):
        stage.show(html, sessionId=name)


def _compare(stage: Stage, of: str, **more: Any) -> dict[str, Any]:
    return stage.ok("compare_sessions", sessionIds=list(NAMES), of=of, **more)


@pytest.mark.parametrize("of", ["text", "elements", "screenshot"])
def test_sessions_on_equal_pages_compare_as_the_same(two: Stage, of: str) -> None:  # W2 W5
    """Sessions on equal pages have no difference of any kind."""
    page = "<h1>Cart</h1><p>2 mugs</p><button>Pay now</button>"
    _show(two, page, page)
    answer = two.call("compare_sessions", sessionIds=list(NAMES), of=of)
    assert answer.data == {"same": True, "base": "left", "differences": []}
    assert answer.text == "All sessions show the same as left."


def test_text_that_differs_is_listed_for_both_sessions(two: Stage) -> None:
    """Lines that only one session has are listed under its name, common lines are not."""
    _show(two, "<p>Total</p><p>12.00</p><p>Thanks</p>", "<p>Total</p><p>13.00</p><p>Thanks</p><p>Bye</p>")
    answer = two.call("compare_sessions", sessionIds=list(NAMES), of="text")
    assert answer.data["differences"] == [{"sessionId": "right", "missing": ["12.00"], "added": ["13.00", "Bye"]}]
    assert "- only in left: 12.00\n- only in right: 13.00" in answer.text


def test_elements_are_compared_by_role_name_and_state(two: Stage) -> None:
    """Markup, order of attributes and focus do not count; roles, names, values and states do."""
    _show(
        two,
        "<button>Pay now</button><input aria-label=Name value=Ann><a href=/a>Help</a>",
        "<div role=button tabindex=0>Pay now</div><input value=Bob aria-label=Name autofocus><a href=/b>Help</a>",
    )
    assert _compare(two, "elements")["differences"] == [
        {"sessionId": "right", "missing": ['textbox "Name" = "Ann"'], "added": ['textbox "Name" = "Bob"']}
    ]


def test_ignored_elements_do_not_count_in_any_comparison(two: Stage) -> None:
    """Selectors exclude their matches from text, elements and pictures; one without a match is no error."""
    page = "<p>Fixed</p><p class=clock style='background:{0}'>{0}</p><button id={0}>{0}</button>"
    _show(two, page.format("red"), page.format("blue"))
    ignore = [".clock", "button", "#nowhere"]
    for of in ("text", "elements", "screenshot"):
        assert _compare(two, of)["same"] is False
        assert _compare(two, of, ignore=ignore)["same"] is True, of


def test_a_screenshot_comparison_marks_in_red_where_the_screens_differ(two: Stage) -> None:
    """The ratio is the share of pixels that differ; the picture is red there, in the answer and in the file."""
    square = "<style>body {{ margin: 0 }}</style><div style='width:128px;height:72px;background:{}'></div>"
    _show(two, square.format("navy"), square.format("orange"))
    answer = two.call("compare_sessions", sessionIds=list(NAMES), of="screenshot")
    (difference,) = answer.data["differences"]
    assert difference["ratio"] == pytest.approx(0.01)
    assert "1.00% of the pixels differ from left" in answer.text
    for raw in (Path(difference["path"]).read_bytes(), base64.b64decode(answer.image.data)):
        picture = Image.open(io.BytesIO(raw)).convert("RGB")
        assert picture.size == (1280, 720)
        assert picture.getpixel((64, 36)) == (214, 0, 60)
        assert picture.getpixel((640, 360)) == (255, 255, 255)


def test_screenshots_of_different_sizes_differ_outside_the_smaller_viewport(two: Stage) -> None:
    """A smaller viewport is not stretched: the area outside it differs."""
    _show(two, "<p>Same", "<p>Same")
    two.ok("set_viewport", width=640, height=720, sessionId="right")
    assert _compare(two, "screenshot")["differences"][0]["ratio"] == pytest.approx(0.5)
    two.ok("set_viewport", width=1280, height=720, sessionId="right")


def test_long_differences_are_cut_and_counted(two: Stage) -> None:
    """Forty lines each way are listed, the rest is counted."""
    _show(two, "<p>Start", "<p>Start" + "".join(f"<p>row {number}" for number in range(100)))
    (difference,) = _compare(two, "text")["differences"]
    assert (len(difference["added"]), difference["more"]) == (40, 60)


@pytest.mark.parametrize(
    ("wrong", "code", "expected"),
    [
        ({"sessionIds": ["left"]}, "invalid_argument", "sessionIds"),
        ({"sessionIds": ["left", "left"]}, "invalid_argument", "sessionIds names a session twice"),
        ({"sessionIds": ["left", "left:default"]}, "invalid_argument", "'left'"),
        ({"sessionIds": ["left", "nobody"]}, "session_not_found", "No session: nobody. Open sessions: "),
        ({"of": "colour"}, "invalid_argument", "of"),
        ({"ignore": ["a["]}, "invalid_argument", "a["),
    ],
    ids=str,
)
def test_compare_sessions_refuses_wrong_sessions_and_selectors_by_name(
    two: Stage, wrong: dict[str, Any], code: str, expected: str
) -> None:
    """Too few, duplicate and unknown sessions, and invalid selectors, are named."""
    call = two.call("compare_sessions", **{"sessionIds": list(NAMES), "of": "text", **wrong})
    assert expected in refused(call, code)
