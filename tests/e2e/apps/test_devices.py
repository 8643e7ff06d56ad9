"""The device around an app, and the apps on it."""

from __future__ import annotations

import pytest

from tests.appium_end import POCKET, POCKET_ID
from tests.e2e.apps.phone import Phone
from tests.e2e.stage import refused


def state(phone: Phone, app: str = POCKET_ID) -> str:
    """The state of an app."""
    return str(phone.ok("manage_app", action="state", app=app)["state"])


def test_an_app_comes_and_goes(phone: Phone) -> None:
    """It is ended, started, sent away and brought back; ending it twice says that it did not run."""
    phone.ok("manage_app", action="terminate")
    assert state(phone) == "not running"
    assert f"{POCKET_ID} did not run." in phone.ok("manage_app", action="terminate")["warnings"]
    answer = phone.ok("manage_app", action="activate")
    assert any('"Pocket"' in line for line in answer["stateChange"]["appeared"])
    phone.ok("manage_app", action="background")
    assert state(phone) == "background"
    phone.ok("manage_app", action="activate")
    phone.ok("manage_app", action="background", seconds=0.1)
    assert state(phone) == "foreground"


def test_an_app_is_removed_and_installed(phone: Phone) -> None:
    """The list of apps has it, and has it not; XCUITest shows nothing until the app that is gone is started again."""
    assert POCKET_ID in phone.ok("manage_app", action="list")["apps"]
    phone.ok("manage_app", action="remove", app=POCKET_ID)
    assert POCKET_ID not in phone.ok("manage_app", action="list")["apps"]
    assert state(phone) == "not installed"
    if phone.is_ios:
        said = refused(phone.call("get_text"), "remote_error")
        assert "is not running, possibly crashed. Start it again: manage_app with action activate." in said
    assert "No app" in refused(phone.call("manage_app", action="terminate"), "invalid_argument")
    phone.ok("manage_app", action="install", app=str(POCKET))
    phone.ok("manage_app", action="activate")
    assert state(phone) == "foreground"


def test_home_leaves_the_app(phone: Phone) -> None:
    """By a key, and by the same key as a button of the device."""
    phone.ok("manage_app", action="activate")
    phone.ok("press_keys", keys="HOME")
    assert state(phone) == "background"
    phone.ok("manage_app", action="activate")
    phone.ok("manage_device", action="press", value="HOME")
    assert state(phone) == "background"


def test_back_goes_back_where_there_is_such_a_key(phone: Phone) -> None:
    """There is none on iOS, which says what to do instead."""
    phone.open("Controls")
    answer = phone.call("press_keys", keys="BACK")
    if phone.is_ios:
        assert "navigation bar" in refused(answer, "unsupported")
    else:
        assert any('heading "Home"' in line for line in answer.data["stateChange"]["appeared"])


def test_the_device_is_turned(phone: Phone) -> None:
    """To what is asked for, or to the other side; a picture then lies across."""
    phone.open("Controls")
    assert phone.ok("manage_device", action="rotate", value="landscape")["value"] == "landscape"
    try:
        image = phone.call("take_screenshot").text
        width, height = image.partition("(")[2].partition(" px")[0].split(" x ")
        assert int(width) > int(height)
    finally:
        assert phone.ok("manage_device", action="rotate")["value"] == "portrait"


def test_the_device_is_locked(phone: Phone) -> None:
    """Nothing of the app is seen until it is unlocked."""
    phone.open("Controls")
    phone.ok("manage_device", action="lock")
    assert "Volume" not in phone.text()
    phone.ok("manage_device", action="unlock")
    phone.ok("wait_for", text="Volume")


def test_the_keyboard_is_hidden(phone: Phone) -> None:
    """It comes with a field; where none is shown that is said."""
    phone.open("Note")
    phone.ok("tap_element", selector="~noteField")
    assert phone.ok("execute_script", script="mobile: isKeyboardShown")["value"] is True
    assert "value" not in phone.ok("manage_device", action="hide_keyboard")
    assert phone.ok("manage_device", action="hide_keyboard")["value"] == "no keyboard is shown"


def test_a_link_opens_its_screen(phone: Phone) -> None:
    """What it shows is told as a change."""
    phone.open("Controls")
    answer = phone.ok("manage_device", action="open_url", value="pocket://item/42")
    assert any('heading "Item"' in line for line in answer["stateChange"]["appeared"])
    assert "Item 42" in phone.text()


def test_the_clipboard_is_kept(phone: Phone) -> None:
    """It is read without a value, and set by one."""
    phone.ok("manage_device", action="clipboard", value="Zürich 8001")
    assert phone.ok("manage_device", action="clipboard")["value"] == "Zürich 8001"


def test_the_device_is_elsewhere(phone: Phone) -> None:
    """The app is told the place, once it may know it."""
    phone.ok("manage_device", action="set_location", value="48.2,16.37")
    phone.open("Alerts")
    phone.ok("tap_element", selector="~locationButton")
    if any(line.startswith("dialog") or "Allow" in line for line in phone.outline()):
        phone.ok("handle_dialog", accept=True)
    phone.ok("wait_for", text="At 48.20, 16.37")


def test_shaking(phone: Phone) -> None:
    """A simulator of iOS can be shaken; Android says that it cannot."""
    phone.open("Gestures")
    answer = phone.call("manage_device", action="shake")
    if phone.is_ios:
        phone.ok("wait_for", text="shakes 1")
    else:
        refused(answer, "unsupported")


@pytest.mark.parametrize("by", ["selector", "ref"])
def test_a_command_of_the_driver_takes_elements(phone: Phone, by: str) -> None:
    """By a selector, or by a ref of the outline."""
    phone.open("Controls")
    given = "~wifi"
    if by == "ref":
        given = next(
            line.partition("[")[2].partition("]")[0]
            for line in phone.ok("get_visible_elements")["outline"].splitlines()
            if "[e" in line and ("Wi-Fi" in line or "wifi" in line)
        )
    script = "mobile: tap" if phone.is_ios else "mobile: clickGesture"
    place = {"x": 5, "y": 5} if phone.is_ios else {}
    phone.ok("set_value", selector="~wifi", value="false")
    phone.ok("execute_script", script=script, args=[{"elementId": {by: given}, **place}])
    phone.ok("expect", selector="~wifi", checked=True)
