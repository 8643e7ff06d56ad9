"""print_page: the page as PDF, with the parameters of Print Page."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

THREE_PAGES = "".join(f"<h1 style='break-after: page'>Part {n}</h1>" for n in (1, 2)) + "<h1>Part 3</h1>"


def pages(path: str) -> list[tuple[float, float]]:
    """Return the size of each page of a PDF in points."""
    content = Path(path).read_bytes()
    assert content.startswith(b"%PDF-")
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):  # Firefox's has its pages in one
        with suppress(zlib.error):
            content += zlib.decompress(stream)
    boxes = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", content)
    return [(float(width), float(height)) for width, height in boxes]


def test_a_page_is_printed_below_home_on_as_many_sheets_as_it_needs(stage: Stage) -> None:
    """Without parameters the paper is the specification's, US Letter upright."""
    stage.show(THREE_PAGES)
    printed = stage.ok("print_page")
    assert pages(printed["path"]) == [(612, 792)] * 3
    assert Path(printed["path"]).stat().st_size == printed["size"]
    assert Path(printed["path"]).parent.parent.name == "prints"


def test_paper_orientation_and_pages_are_those_that_were_asked_for(stage: Stage, tmp_path: Path) -> None:
    """Lengths are in cm; the file is the one that was named."""
    stage.show(THREE_PAGES)
    file = str(tmp_path / "two.pdf")
    a4 = {"width": 21, "height": 29.7, "orientation": "landscape"}
    assert stage.ok("print_page", path=file, pageRanges=["2-3"], **a4)["path"] == file
    for printed in pages(file):
        assert printed == pytest.approx((842, 595), abs=1)
    assert len(pages(file)) == 2


def test_wrong_parameters_of_printing_are_refused_with_what_is_wrong(stage: Stage, tmp_path: Path) -> None:
    """Nothing is written."""
    stage.show(THREE_PAGES)
    assert "margin leaves no room" in refused(stage.call("print_page", width=2), "invalid_argument")
    assert "does not end in .pdf" in refused(stage.call("print_page", path=str(tmp_path / "a.png")), "invalid_argument")
    assert "pageRanges" in refused(stage.call("print_page", pageRanges=["3-x"]), "invalid_argument")
    assert list(tmp_path.iterdir()) == []
