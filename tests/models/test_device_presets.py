"""The presets: facts of devices, found by their common names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from orchestrator.automation.browser.emulator import metrics
from orchestrator.errors import InvalidArgument
from orchestrator.lifecycle.start import _check_device
from orchestrator.models.device_presets import LANDSCAPE, DevicePreset, device_presets, find_preset
from orchestrator.models.emulation import Viewport
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import SessionType
from tests.generators.device_presets import FILE, described

PRESETS = device_presets()
OF_BEFORE = """iPhone SE, iPhone XR, iPhone 11, iPhone 12 Pro Max, iPhone 13 Mini, iPhone 14, iPhone 15 Pro,
iPhone 16, iPhone 16 Pro Max, iPad, iPad Mini, iPad Air, iPad Pro, iPad Pro 11, Pixel 5, Pixel 7, Pixel 7 Pro, Pixel 9,
Galaxy S8+, Galaxy S9+, Galaxy S20 Ultra, Galaxy S22, Galaxy S23, Galaxy S24, Galaxy A55, Galaxy Tab S9"""


def test_every_device_preset_has_consistent_values(subtests: pytest.Subtests) -> None:
    """Sizes, pixels and touch are consistent, and the user agent takes the browser's version."""
    for name, one in PRESETS.items():
        with subtests.test(name):
            check_values(one)


def check_values(one: DevicePreset) -> None:
    """Assert that the values of a preset are consistent."""
    assert 290 <= min(one.width, one.height) <= max(one.width, one.height) <= 1400
    assert one.width <= one.screen_width
    assert one.height <= one.screen_height
    assert 1 <= one.scale <= 4.5
    assert one.mobile == (one.touch > 0)
    agent = one.user_agent("156.0.8078.79")
    assert "{" not in agent
    assert "Chrome/" not in agent or "Chrome/156.0.0.0 " in agent
    assert "Edg/" not in agent or agent.endswith("Edg/156.0.0.0")
    if one.name.startswith(("iPhone", "iPad")):
        assert (one.system, one.browser) == ("iOS", "webkit")
        assert f" OS {one.release.replace('.', '_')} like Mac OS X" in agent
    if one.name.startswith(("Pixel", "Nexus")):
        assert one.system == "Android"
        assert f"; {one.model}" in agent


def test_every_mobile_preset_has_a_landscape_twin_with_the_screen_turned(subtests: pytest.Subtests) -> None:
    """Phones and tablets have a portrait and a landscape preset that differ only in the turned screen."""
    for name in sorted({one.name.removesuffix(LANDSCAPE) for one in PRESETS.values() if one.mobile}):
        with subtests.test(name):
            check_twins(find_preset(name), find_preset(f"{name}{LANDSCAPE}"))


def check_twins(upright: DevicePreset, lying: DevicePreset) -> None:
    """Assert that the second preset is the first one with the screen turned."""
    assert (upright.portrait, lying.portrait) == (True, False)
    assert (upright.screen_width, upright.screen_height) == (lying.screen_height, lying.screen_width)
    assert upright.agent == lying.agent
    turned = metrics(lying, Viewport(width=lying.width, height=lying.height))
    assert turned["screenOrientation"] == {"type": "landscapePrimary", "angle": 90}
    assert (turned["screenWidth"], turned["screenHeight"]) == (lying.screen_width, lying.screen_height)


def test_every_name_passes_the_validation_of_a_start() -> None:
    """Each device of the file is accepted by the validation of a browser's start, under its exact name."""
    assert len(PRESETS) >= 220
    for name in PRESETS:
        _check_device(StartRequest(type=SessionType.BROWSER, device=name))
        assert find_preset(name).name == name


def test_names_that_playwright_lacks_stay() -> None:
    """The names of this project's own first list all exist."""
    upright = OF_BEFORE.replace("\n", " ").split(", ")
    assert {*upright, *(f"{name}{LANDSCAPE}" for name in upright)} - PRESETS.keys() == set()


@pytest.mark.parametrize(
    ("name", "area", "screen", "scale"),
    [
        ("iPhone 14", (390, 664), (390, 844), 3),
        ("iPhone 14 landscape", (750, 340), (844, 390), 3),
        ("iPhone SE (3rd gen)", (375, 667), (375, 667), 2),
        ("iPad (gen 7)", (810, 1080), (810, 1080), 2),
        ("Pixel 4a (5G)", (412, 765), (412, 892), 2.63),
        ("Galaxy Z Flip 6 Cover", (360, 298), (360, 374), 2),
        ("Desktop Firefox HiDPI", (1280, 720), (1792, 1120), 2),
    ],
)
def test_presets_have_playwrights_facts(
    name: str, area: tuple[int, int], screen: tuple[int, int], scale: float
) -> None:
    """Page area, screen and scale are those of Playwright's list; a landscape screen is turned."""
    one = find_preset(name)
    assert ((one.width, one.height), (one.screen_width, one.screen_height), one.scale) == (area, screen, scale)


def test_the_generator_reads_what_playwright_exports() -> None:
    """A descriptor and its landscape twin become one row; the browser's version becomes a placeholder."""
    upright = {
        "userAgent": "Mozilla/5.0 (Linux; Android 14; Pixel 99) AppleWebKit/537.36 Chrome/159.0.8154.6 Mobile Safari",
        "viewport": {"width": 412, "height": 839},
        "screen": {"width": 412, "height": 915},
        "deviceScaleFactor": 2.625,
        "isMobile": True,
        "hasTouch": True,
        "defaultBrowserType": "chromium",
    }
    lying = {**upright, "viewport": {"width": 863, "height": 360}, "screen": {"width": 915, "height": 412}}
    made = described("9.9.9", {"Pixel 99": upright, "Pixel 99 landscape": lying})
    assert '"source": "playwright-core 9.9.9 (Apache-2.0)' in made
    row = next(line for line in made.splitlines() if "Pixel 99" in line)
    assert '"viewport": [412, 839], "landscape": [863, 360], "screen": [412, 915], "scale": 2.625' in row
    assert '"system": "Android", "release": "14.0.0", "machine": "Linux armv81", "model": "Pixel 99"' in row
    assert "Chrome/{version}.0.0.0 Mobile" in row
    ours = FILE.read_text("utf-8").partition('"ours"')[2]
    assert made.endswith(ours)


def test_the_file_is_read_with_the_first_device() -> None:
    """Importing the module reads nothing: a server starts without the list."""
    code = (
        "from orchestrator.models import device_presets as d; before = d.device_presets.cache_info().currsize;"
        "d.find_preset('Pixel 7'); print(before, d.device_presets.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]


@pytest.mark.parametrize("written", ["iPhone 14", "iphone 14", " IPHONE  14 "])
def test_device_names_are_found_in_any_case_and_spacing(written: str) -> None:
    """A device is found by its name in any case and spacing."""
    assert find_preset(written).name == "iPhone 14"


@pytest.mark.parametrize(
    ("written", "meant"), [("iPhone14", "iPhone 14"), ("Pixl 7", "Pixel 7"), ("S20 Ultra", "Galaxy S20 Ultra")]
)
def test_an_unknown_device_name_is_refused_with_the_nearest(written: str, meant: str) -> None:  # X47
    """The hint offers the nearest name."""
    with pytest.raises(InvalidArgument) as refused:
        find_preset(written)
    assert repr(meant) in refused.value.hint


def test_a_desktop_preset_has_no_landscape_twin() -> None:
    """The hint offers landscape for phones and tablets only."""
    with pytest.raises(InvalidArgument) as refused:
        find_preset("Desktop Chrome landscape")
    assert "phones and tablets also with 'landscape'" in refused.value.hint


def test_presets_distinguish_phones_from_tablets_and_desktops() -> None:
    """The client hint `mobile`, which sites use, is false for tablets and desktops."""
    phones = {name for name, one in PRESETS.items() if one.phone}
    assert {"iPhone 14", "Pixel 7", "Galaxy S20 Ultra", "BlackBerry Z30"} <= phones
    assert not {"iPad Air", "iPad (gen 7)", "Galaxy Tab S9", "Nexus 10", "Desktop Chrome"} & phones
