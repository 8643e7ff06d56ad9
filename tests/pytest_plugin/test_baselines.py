"""Baselines of outlines and pictures, which are files beside the test."""

from __future__ import annotations

import re

import pytest

from tests.pytest_plugin.conftest import Project
from tests.servers.site import Reply, Site

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(240)]

TESTS = """
import pytest

pytestmark = pytest.mark.users("ann", navigation_url="/cart")

@pytest.fixture
def anyio_backend():
    return "asyncio"

def test_outline(ann):
    ann.expect_outline("cart", ignore=["#time"], timeout=500)

def test_picture(ann):
    ann.expect_screenshot("cart", mask=["#time"], timeout=500)

@pytest.mark.anyio
async def test_nearly(async_sessions):
    await async_sessions["ann"].expect_screenshot("cart", mask=["#time"], max_ratio=0.5)

def test_same(ann):
    ann.navigate("/same")
    ann.expect_outline("same")
    ann.expect_screenshot("same", mask=["#time"])
"""


def test_a_session_is_expected_to_show_its_baseline(project: Project, site: Site) -> None:
    """It is written where there is none, but not in CI; what differs is shown by lines and pictures, or rewritten."""
    shown = {"pay": "Pay"}
    clock = "<style>p { position: absolute; top: 200px; width: 90px }</style><p id=time></p>"
    ticks = "<script>document.querySelector('p').append(Date.now())</script>"
    site.page("/cart", lambda _: Reply(f"{clock}{ticks}<h1>Cart</h1><button>{shown['pay']}</button>"))
    site.page("/same", "<h1>Mug</h1>")
    project.write("test_cart.py", TESTS)
    project.write("pytest.ini", f"[pytest]\naddopts = -p no:cacheprovider\norchestrator_base_url = {site.url('/')}\n")
    written = project.run("-k", "not nearly")
    assert written.counts() == {"passed": 3, "deselected": 1, "warnings": 4}, written.text
    folder = project.folder / "baselines" / "test_cart"
    outline, picture = folder / "cart-web-chrome.txt", folder / "cart-web-chrome.png"
    assert f"BaselineWritten: Written: {outline}" in written.text
    assert outline.read_text("utf-8").splitlines() == ['heading "Cart" [level=1]', 'button "Pay"']

    shown["pay"] = "Buy"
    project.environment["CI"] = "true"
    project.write("test_new.py", "def test_new(web):\n    web.expect_outline('new')\n")
    done = project.run()
    assert done.counts() == {"failed": 3, "passed": 2}, done.text
    assert "BaselineMissing: There is no baseline baselines/test_new/new-web-chrome.txt, and in CI none" in done.text
    assert "BaselineDiffers: ann does not show baselines/test_cart/cart-web-chrome.txt." in done.text
    assert 'only in baseline: button "Pay"' in done.text
    assert 'only in ann: button "Buy"' in done.text
    assert "of the pixels differ from baseline" in done.text
    results = project.folder / "test-results" / "test_cart-test_picture"
    page = (results / "baseline-1.html").read_text("utf-8")
    assert re.findall(r'src="([^"]+)"', page) == [
        f"baseline-1-{name}.png" for name in ("now", "baseline", "what-differs")
    ]
    assert "<h2>Ignored</h2><ul><li>#time</li></ul>" in page
    assert {path.name for path in results.glob("baseline-1-*.png")} == {*re.findall(r'src="([^"]+)"', page)}

    before = picture.read_bytes()
    assert project.run("--orchestrator-update").counts() == {"passed": 5, "warnings": 3}
    assert outline.read_text("utf-8").splitlines()[1] == 'button "Buy"'
    assert picture.read_bytes() != before
