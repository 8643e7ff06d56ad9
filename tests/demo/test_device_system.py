"""The simulated phones beyond one app: alerts, permissions, the states of apps, the device itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from appium import webdriver
from appium.webdriver.common.appiumby import AppiumBy as By
from selenium.common.exceptions import NoAlertPresentException, WebDriverException

from orchestrator.demo.device_server import DeviceServer
from tests.demo.phones import eventually, find, ios, start
from tests.servers.appium import POCKET, POCKET_ID

# The tests of app sessions drive the same phones through the whole product.
pytestmark = pytest.mark.full

DENY = {"iOS": "Don\u2019t Allow", "Android": "Don\u2019t allow"}
SETTINGS = {"iOS": "com.apple.Preferences", "Android": "com.android.settings"}


def press(driver: webdriver.Remote, label: str) -> None:
    """Tap the button with this label, in an alert as well."""
    if ios(driver):
        driver.find_element(By.IOS_PREDICATE, f'type == "XCUIElementTypeButton" AND label == "{label}"').click()
    else:
        driver.find_element(By.ANDROID_UIAUTOMATOR, f'new UiSelector().text("{label}")').click()


def answered(driver: webdriver.Remote, text: str) -> None:
    """Wait until the app shows the result of an answer."""
    eventually(driver, lambda: find(driver, "answer").text == text)


def test_an_alert_covers_the_app_until_it_is_accepted(phone: webdriver.Remote) -> None:
    """An alert covers the app until it is accepted; then there is none."""
    phone.get("pocket://screen/alerts")
    with pytest.raises(NoAlertPresentException):
        _ = phone.switch_to.alert.text
    find(phone, "alertButton").click()
    assert eventually(phone, lambda: phone.switch_to.alert.text) == "The kettle boils"
    assert "OK" in phone.page_source
    assert "alertButton" not in phone.page_source
    assert phone.get_screenshot_as_png().startswith(b"\x89PNG")
    phone.switch_to.alert.accept()
    answered(phone, "Seen")


def test_a_confirm_dialog_is_answered_by_tapping_its_buttons(phone: webdriver.Remote) -> None:
    """Buttons of a confirm dialog are elements that can be tapped."""
    phone.get("pocket://screen/alerts")
    find(phone, "confirmButton").click()
    press(phone, "Cancel")
    answered(phone, "Kept")
    find(phone, "confirmButton").click()
    press(phone, "OK")
    answered(phone, "Deleted")


def test_a_prompt_takes_a_text_or_is_dismissed(phone: webdriver.Remote) -> None:
    """A prompt is accepted with the text that was set, or dismissed."""
    phone.get("pocket://screen/alerts")
    find(phone, "promptButton").click()
    assert phone.switch_to.alert.text == "Your name?"
    phone.switch_to.alert.send_keys("Grace")
    phone.switch_to.alert.accept()
    answered(phone, "Name: Grace")
    find(phone, "promptButton").click()
    phone.switch_to.alert.dismiss()
    answered(phone, "Name: null")


def test_a_location_permission_is_asked_for_once_until_the_app_is_removed(phone: webdriver.Remote) -> None:
    """The app gets the location once the user allowed it, and does not ask again; removing the app resets that.

    On iOS the question belongs to another app: it is in the source only with a setting.
    """
    phone.set_location(52.52, 13.4)
    phone.get("pocket://screen/alerts")
    find(phone, "locationButton").click()
    assert "location" in eventually(phone, lambda: phone.switch_to.alert.text).lower()
    if ios(phone):
        assert "XCUIElementTypeAlert" not in phone.page_source
        phone.update_settings({"respectSystemAlerts": True})
    press(phone, DENY[phone.capabilities["platformName"]])
    answered(phone, "No place: 1")

    phone.remove_app(POCKET_ID)
    assert not phone.is_app_installed(POCKET_ID)
    phone.install_app(str(POCKET))
    phone.activate_app(POCKET_ID)
    phone.get("pocket://screen/alerts")
    find(phone, "locationButton").click()
    eventually(phone, lambda: phone.switch_to.alert.text)
    phone.switch_to.alert.accept()
    answered(phone, "At 52.52, 13.40")
    phone.set_location(48.86, 2.35)
    find(phone, "locationButton").click()
    answered(phone, "At 48.86, 2.35")


def test_app_states_follow_activating_backgrounding_and_terminating(phone: webdriver.Remote) -> None:
    """States of two apps follow activation, background and termination; typed text survives the background."""
    settings = SETTINGS[phone.capabilities["platformName"]]
    find(phone, "emailField").send_keys("kept")
    assert [phone.query_app_state(app) for app in (POCKET_ID, settings, "org.example.none")] == [4, 1, int(ios(phone))]
    phone.activate_app(settings)
    assert "Airplane Mode" in phone.page_source
    assert [phone.query_app_state(app) for app in (POCKET_ID, settings)] == [3, 4]
    phone.background_app(-1)
    assert phone.query_app_state(settings) == 3
    find(phone, "Pocket").click()
    eventually(phone, lambda: phone.query_app_state(POCKET_ID) == 4)
    assert find(phone, "emailField").text == "kept"
    phone.background_app(1)
    assert phone.query_app_state(POCKET_ID) == 4
    assert phone.terminate_app(POCKET_ID) is True
    assert phone.terminate_app(POCKET_ID) is False
    assert POCKET_ID in phone.execute_script("mobile: listApps")
    with pytest.raises(WebDriverException, match=r"'org\.example\.none' is not installed"):
        phone.activate_app("org.example.none")


def test_a_deep_link_opens_its_app_whether_it_runs_or_not(phone: webdriver.Remote) -> None:
    """A link opens its app, running or not."""
    phone.get("pocket://item/7")
    assert find(phone, "itemText").text == "Item 7"
    phone.terminate_app(POCKET_ID)
    key = "bundleId" if ios(phone) else "package"
    phone.execute_script("mobile: deepLink", {"url": "pocket://item/8", key: POCKET_ID})
    assert find(phone, "itemText").text == "Item 8"
    with pytest.raises(WebDriverException, match="No app on this device opens 'nobody://x'"):
        phone.execute_script("mobile: deepLink", {"url": "nobody://x"})


def test_rotating_the_phone_swaps_width_and_height_and_lays_the_app_out_anew(phone: webdriver.Remote) -> None:
    """The app is laid out anew in landscape, and as before after the return to portrait."""
    upright = phone.get_window_size()
    phone.orientation = "LANDSCAPE"
    assert phone.orientation == "LANDSCAPE"
    assert phone.get_window_size() == {"width": upright["height"], "height": upright["width"]}
    assert find(phone, "loginButton").rect["width"] > upright["width"]
    phone.orientation = "PORTRAIT"
    assert phone.get_window_size() == upright


def test_a_locked_phone_shows_nothing_of_the_app(phone: webdriver.Remote) -> None:
    """A locked phone shows nothing of the app."""
    phone.lock()
    assert phone.is_locked()
    assert "loginButton" not in phone.page_source
    phone.unlock()
    assert not phone.is_locked()
    assert find(phone, "loginButton").is_displayed()


def test_clipboard_text_is_read_back_as_it_was_set(phone: webdriver.Remote) -> None:
    """Text that is put on the clipboard is read back unchanged."""
    phone.set_clipboard_text("grüße")
    assert phone.get_clipboard_text() == "grüße"


def test_home_leaves_the_app_and_back_and_shaking_act_as_on_the_platform(phone: webdriver.Remote) -> None:
    """Home leaves the app; BACK on Android hides the keyboard, then goes back, then home; iOS shakes."""
    if ios(phone):
        phone.get("pocket://screen/gestures")
        phone.shake()
        assert "shakes 1" in find(phone, "counts").text
        phone.back()
        assert "List" in phone.page_source
        phone.execute_script("mobile: pressButton", {"name": "home"})
    else:
        phone.get("pocket://screen/note")
        find(phone, "noteField").click()
        phone.press_keycode(4)
        assert not phone.is_keyboard_shown()
        phone.press_keycode(4)
        assert 'text="Home"' in phone.page_source
        with pytest.raises(WebDriverException, match="Key code 999 is not simulated"):
            phone.press_keycode(999)
        phone.press_keycode(3)
    assert phone.query_app_state(POCKET_ID) == 3


def test_unknown_mobile_method_fails(phone: webdriver.Remote) -> None:
    """An unknown mobile method fails, and so does JavaScript outside a web view."""
    with pytest.raises(WebDriverException, match="Unsupported execute method 'mobile: makeCoffee'"):
        phone.execute_script("mobile: makeCoffee", {})
    with pytest.raises(WebDriverException, match="scripts run in a web view only"):
        phone.execute_script("return 1")


def test_a_phone_reports_its_device_info_battery_and_time(phone: webdriver.Remote) -> None:
    """Device info, battery and time can be read, and on Android the current package and activity."""
    assert phone.execute_script("mobile: deviceInfo")["simulated"] is True
    assert phone.battery_info["level"] == 1
    assert phone.get_device_time()
    if not ios(phone):
        assert (phone.current_package, phone.current_activity) == (POCKET_ID, ".MainActivity")


def test_auto_accept_and_auto_grant_capabilities_answer_permission_alerts(
    device_server: DeviceServer, tmp_path: Path
) -> None:
    """Permissions are given by autoAcceptAlerts on iOS and autoGrantPermissions on Android, in a zipped app."""
    bundle = Path(shutil.make_archive(str(tmp_path / "pocket"), "zip", POCKET)).rename(tmp_path / "pocket.ipa")
    for platform, capability in (("iOS", "autoAcceptAlerts"), ("Android", "autoGrantPermissions")):
        driver = start(device_server.url, platform, app=str(bundle), **{capability: True})
        try:
            driver.set_location(1, 2)
            driver.get("pocket://screen/alerts")
            find(driver, "locationButton").click()
            answered(driver, "At 1.00, 2.00")
        finally:
            driver.quit()
