"""The device around an app, and the apps on it."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import refused
from tests.servers.appium import POCKET, POCKET_ID

pytestmark = pytest.mark.full


def state(phone: Phone, app: str = POCKET_ID) -> str:
    """The state of an app."""
    return str(phone.ok("manage_app", action="state", app=app)["state"])


@pytest.mark.smoke
def test_manage_app_terminates_activates_and_backgrounds_an_app(phone: Phone) -> None:
    """An app is ended, started, sent away and brought back; ending it twice gives a warning."""
    phone.ok("manage_app", action="terminate")
    assert state(phone) == "not running"
    assert f"{POCKET_ID} was not running." in phone.ok("manage_app", action="terminate")["warnings"]
    answer = phone.ok("manage_app", action="activate")
    assert any('"Pocket"' in line for line in answer["stateChange"]["appeared"])
    phone.ok("manage_app", action="background")
    assert state(phone) == "background"
    phone.ok("manage_app", action="activate")
    phone.ok("manage_app", action="background", seconds=0.1)
    assert state(phone) == "foreground"


def test_manage_app_removes_and_installs_an_app(phone: Phone) -> None:
    """A removed app is not listed; once installed and activated again it is in the foreground."""
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


def test_the_home_key_and_button_send_the_app_to_the_background(phone: Phone) -> None:
    """HOME sends the app to the background, as a key and as a button of the device."""
    phone.ok("manage_app", action="activate")
    phone.ok("press_keys", keys="HOME")
    assert state(phone) == "background"
    phone.ok("manage_app", action="activate")
    phone.ok("manage_device", action="press", value="HOME")
    assert state(phone) == "background"


def test_the_back_key_goes_back_on_android_and_is_unsupported_on_ios(phone: Phone) -> None:
    """BACK shows the previous screen on Android; the error on iOS names the alternative."""
    phone.open("Controls")
    answer = phone.call("press_keys", keys="BACK")
    if phone.is_ios:
        assert "navigation bar" in refused(answer, "unsupported")
    else:
        assert any('heading "Home"' in line for line in answer.data["stateChange"]["appeared"])


def test_rotate_turns_the_device_as_asked_or_to_the_other_orientation(phone: Phone) -> None:
    """The device is turned as requested, or to the other orientation without a value; a screenshot shows it."""
    phone.open("Controls")
    assert phone.ok("manage_device", action="rotate", value="landscape")["value"] == "landscape"
    try:
        image = phone.call("take_screenshot").text
        width, height = image.partition("(")[2].partition(" px")[0].split(" x ")
        assert int(width) > int(height)
    finally:
        assert phone.ok("manage_device", action="rotate")["value"] == "portrait"


def test_a_locked_device_shows_nothing_of_the_app_until_unlocked(phone: Phone) -> None:
    """Nothing of the app is visible until the device is unlocked."""
    phone.open("Controls")
    phone.ok("manage_device", action="lock")
    assert "Volume" not in phone.text()
    phone.ok("manage_device", action="unlock")
    phone.ok("wait_for", text="Volume")


def test_hide_keyboard_hides_the_keyboard_or_says_that_none_is_shown(phone: Phone) -> None:
    """The keyboard of a tapped field is hidden; a second call reports that none is shown."""
    phone.open("Note")
    phone.ok("tap_element", selector="~noteField")
    assert phone.ok("execute_script", script="mobile: isKeyboardShown")["value"] is True
    assert "value" not in phone.ok("manage_device", action="hide_keyboard")
    assert phone.ok("manage_device", action="hide_keyboard")["value"] == "no keyboard is shown"


def test_open_url_opens_the_app_screen_of_a_deep_link(phone: Phone) -> None:
    """The screen that a deep link opens is reported as a change."""
    phone.open("Controls")
    answer = phone.ok("manage_device", action="open_url", value="pocket://item/42")
    assert any('heading "Item"' in line for line in answer["stateChange"]["appeared"])
    assert "Item 42" in phone.text()


def test_the_device_clipboard_is_set_and_read_back(phone: Phone) -> None:
    """The clipboard is read without a value, and set by one."""
    phone.ok("manage_device", action="clipboard", value="Zürich 8001")
    assert phone.ok("manage_device", action="clipboard")["value"] == "Zürich 8001"


def test_set_location_gives_the_app_the_set_location(phone: Phone) -> None:
    """The app gets the location that was set, once it has the permission."""
    phone.ok("manage_device", action="set_location", value="48.2,16.37")
    phone.open("Alerts")
    phone.ok("tap_element", selector="~locationButton")
    if any(line.startswith("dialog") or "Allow" in line for line in phone.outline()):
        phone.ok("handle_dialog", accept=True)
    phone.ok("wait_for", text="At 48.20, 16.37")


def test_shake_works_on_ios_and_is_unsupported_on_android(phone: Phone) -> None:
    """An iOS simulator can be shaken; on Android the call is unsupported."""
    phone.open("Gestures")
    answer = phone.call("manage_device", action="shake")
    if phone.is_ios:
        phone.ok("wait_for", text="shakes 1")
    else:
        refused(answer, "unsupported")


@pytest.mark.parametrize("by", ["selector", "ref"])
def test_a_mobile_command_takes_an_element_by_selector_or_ref(phone: Phone, by: str) -> None:
    """A command of the driver gets its element by a selector, or by a ref of the outline."""
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
