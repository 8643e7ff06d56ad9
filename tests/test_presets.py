"""The presets: facts of devices, found by the names that people write."""

from __future__ import annotations

import pytest

from orchestrator.actions.pretending import metrics
from orchestrator.emulation import Viewport
from orchestrator.errors import InvalidArgument
from orchestrator.presets import DEVICES, LANDSCAPE, Device, device


@pytest.mark.parametrize("one", DEVICES.values(), ids=lambda one: one.name)
def test_a_preset_is_whole(one: Device) -> None:
    """Sizes, pixels and fingers make sense together, and the user agent takes the browser's version."""
    assert 300 <= min(one.width, one.height) <= max(one.width, one.height) <= 1400
    assert 1 <= one.scale <= 4.5
    assert one.mobile == (one.touch > 0)
    agent = one.user_agent("156.0.8078.79")
    assert "{" not in agent
    assert ("Chrome/156.0.0.0 " in agent) or ("Safari/6" in agent)


@pytest.mark.parametrize("one", [one for one in DEVICES.values() if one.mobile], ids=lambda one: one.name)
def test_it_lies_on_its_side_by_name(one: Device) -> None:
    """Whatever people hold in their hands comes upright and lying; the screen is turned, nothing else."""
    name = one.name.removesuffix(LANDSCAPE)
    upright, lying = device(name), device(f"{name}{LANDSCAPE}")
    assert (upright.width, upright.height) == (lying.height, lying.width)
    assert upright.agent == lying.agent
    assert metrics(lying, Viewport(width=lying.width, height=lying.height))["screenOrientation"] == {
        "type": "landscapePrimary",
        "angle": 90,
    }


@pytest.mark.parametrize("written", ["iPhone 14", "iphone 14", " IPHONE  14 "])
def test_names_are_found_as_they_are_written(written: str) -> None:
    """In any case, with any space."""
    assert device(written).name == "iPhone 14"


@pytest.mark.parametrize(
    ("written", "meant"), [("iPhone14", "iPhone 14"), ("Pixl 7", "Pixel 7"), ("S20 Ultra", "Galaxy S20 Ultra")]
)
def test_an_unknown_name_has_near_ones(written: str, meant: str) -> None:  # X48
    """The hint says what was probably meant."""
    with pytest.raises(InvalidArgument) as refused:
        device(written)
    assert repr(meant) in refused.value.hint


def test_a_desktop_does_not_lie_on_its_side() -> None:
    """The hint does not promise it."""
    with pytest.raises(InvalidArgument) as refused:
        device("Desktop Chrome landscape")
    assert "phones and tablets also with 'landscape'" in refused.value.hint


def test_phones_and_tablets_are_told_apart() -> None:
    """Sites ask the client hint `mobile`: it is not of tablets and desktops."""
    phones = {name for name, one in DEVICES.items() if one.phone}
    assert {"iPhone 14", "Pixel 7", "Galaxy S20 Ultra"} <= phones
    assert not {"iPad Air", "Galaxy Tab S9", "Desktop Chrome"} & phones
