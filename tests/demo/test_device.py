"""The simulated phones through a real Appium and its real client: reading, finding, typing, touching."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from appium import webdriver
from appium.webdriver.common.appiumby import AppiumBy as By
from PIL import Image
from selenium.common.exceptions import (
    InvalidElementStateException,
    InvalidSelectorException,
    NoSuchElementException,
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.interaction import POINTER_TOUCH
from selenium.webdriver.common.actions.pointer_input import PointerInput

from orchestrator.demo.device_server import DeviceServer
from tests.demo.phones import eventually, find, ios, start
from tests.servers.appium import POCKET_ID

# The tests of app sessions drive the same phones through the whole product.
pytestmark = pytest.mark.full


def open_screen(driver: webdriver.Remote, name: str) -> None:
    """Open one of the app's screens by its link."""
    driver.get(f"pocket://screen/{name}")


def text(driver: webdriver.Remote, name: str) -> str:
    """Return the text of the element with this accessibility id."""
    return str(find(driver, name).text)


def test_a_simulated_phone_says_in_its_capabilities_that_it_is_simulated(session: webdriver.Remote) -> None:
    """Capabilities and device name say that the phone is simulated, so no report takes it for a real one."""
    assert session.capabilities["simulated"] is True
    assert session.capabilities["deviceName"].endswith("(simulated)")


def test_a_login_takes_the_same_calls_on_ios_and_android(phone: webdriver.Remote) -> None:
    """Accessibility ids and calls are the same on both platforms and lead to the same screen."""
    find(phone, "emailField").send_keys("ada@example.org")
    find(phone, "passwordField").send_keys("wrong")
    find(phone, "loginButton").click()
    assert "Wrong email or password" in phone.page_source

    find(phone, "passwordField").clear()
    find(phone, "passwordField").send_keys("correct horse")
    find(phone, "loginButton").click()

    assert text(phone, "welcome") == "Welcome ada@example.org"


def test_page_source_has_the_shape_of_xcuitest_or_uiautomator2(phone: webdriver.Remote) -> None:
    """Types, names, positions and states are written as XCUITest and UiAutomator2 do."""
    find(phone, "passwordField").send_keys("secret")
    source = phone.page_source
    root = ET.fromstring(source.encode())  # noqa: S314 our own server's
    assert "secret" not in source
    if ios(phone):
        assert root.tag == "AppiumAUT"
        field = root.find(".//XCUIElementTypeSecureTextField")
        assert field is not None
        assert field.attrib["name"] == "passwordField"
        assert field.attrib["value"] == "••••••"
        keyboard = root.find(".//XCUIElementTypeKeyboard")
        assert keyboard is not None
        assert int(keyboard.attrib["y"]) > 500
    else:
        assert root.tag == "hierarchy"
        field = root.find(".//android.widget.EditText[@password='true']")
        assert field is not None
        assert field.attrib["content-desc"] == "passwordField"
        assert field.attrib["resource-id"] == "org.example.pocket:id/password"
        assert field.attrib["text"] == "••••••"
        assert re.fullmatch(r"(\[\d+,\d+\]){2}", field.attrib["bounds"])


def test_off_screen_elements_are_found_on_ios_and_only_after_a_scroll_on_android(phone: webdriver.Remote) -> None:
    """An off-screen element is found hidden on iOS, and on Android only after a scroll."""
    open_screen(phone, "list")
    if ios(phone):
        below = find(phone, "Add thing 60")
        assert not below.is_displayed()
        below.click()
        assert "Basket: 1, last thing 60" in phone.page_source
    else:
        assert phone.find_elements(By.ACCESSIBILITY_ID, "Add thing 60") == []
        phone.execute_script(
            "mobile: scroll", {"strategy": "accessibility id", "selector": "Add thing 60", "maxSwipes": 30}
        )
        find(phone, "Add thing 60").click()
        assert "Basket: 1, last thing 60" in phone.page_source


LOCATORS = {
    "iOS": [
        (By.ID, "loginButton"),
        (By.CLASS_NAME, "XCUIElementTypeButton"),
        (By.XPATH, "//XCUIElementTypeButton[@label='Log in']"),
        (By.IOS_PREDICATE, "type == 'XCUIElementTypeButton' AND (label CONTAINS[c] 'LOG' OR name BEGINSWITH 'x')"),
        (By.IOS_PREDICATE, "label ==[c] 'log IN' AND NOT name == 'x' AND visible == 1"),
        (By.IOS_CLASS_CHAIN, "**/XCUIElementTypeButton[`label == 'Log in'`][1]"),
        (By.IOS_CLASS_CHAIN, "XCUIElementTypeWindow/**/XCUIElementTypeButton[-1]"),
    ],
    "Android": [
        (By.ID, "org.example.pocket:id/log-in"),
        (By.ID, "log-in"),
        (By.CLASS_NAME, "android.widget.Button"),
        (By.XPATH, "//android.widget.Button[@text='Log in']"),
        (By.ANDROID_UIAUTOMATOR, 'new UiSelector().text("Log in")'),
        (By.ANDROID_UIAUTOMATOR, 'new UiSelector().textContains("og i").clickable(true)'),
        (By.ANDROID_UIAUTOMATOR, 'new UiSelector().className("android.widget.Button").instance(0)'),
        (By.ANDROID_UIAUTOMATOR, 'new UiSelector().resourceId("org.example.pocket:id/log-in")'),
        (
            By.ANDROID_UIAUTOMATOR,
            'new UiSelector().resourceIdMatches(".*/login").childSelector(new UiSelector().description("loginButton"))',
        ),
    ],
}


def test_every_locator_strategy_of_the_platform_finds_the_element(phone: webdriver.Remote) -> None:
    """Every strategy of the platform finds the button."""
    expected = find(phone, "loginButton").id
    found = {
        f"{by} {value}": phone.find_element(by, value).id for by, value in LOCATORS[phone.capabilities["platformName"]]
    }
    assert set(found.values()) == {expected}, found


def test_missing_elements_bad_selectors_and_stale_elements_raise_distinct_errors(phone: webdriver.Remote) -> None:
    """Missing elements, bad selectors and stale elements raise different errors."""
    with pytest.raises(NoSuchElementException, match="No element was found by accessibility id 'nowhere'"):
        find(phone, "nowhere")
    bad = (
        (By.IOS_PREDICATE, "colour == 'red'") if ios(phone) else (By.ANDROID_UIAUTOMATOR, "new UiSelector().colour(1)")
    )
    for by, value in [bad, (By.XPATH, "//[")]:
        with pytest.raises(InvalidSelectorException):
            phone.find_element(by, value)
    with pytest.raises(InvalidSelectorException, match="not supported"):
        phone.find_element(By.CSS_SELECTOR, "#email")
    button = find(phone, "loginButton")
    open_screen(phone, "list")
    phone.terminate_app(POCKET_ID)
    phone.activate_app(POCKET_ID)
    with pytest.raises(StaleElementReferenceException):
        button.click()
    with pytest.raises(InvalidElementStateException, match="Text cannot be typed into"):
        find(phone, "loginButton").send_keys("x")


def test_switches_sliders_and_pickers_report_their_state_and_take_values(phone: webdriver.Remote) -> None:
    """Switches, sliders and pickers report their state and take a value."""
    open_screen(phone, "controls")
    state = "value" if ios(phone) else "checked"
    before = find(phone, "wifi").get_attribute(state)
    find(phone, "wifi").click()
    assert (before, find(phone, "wifi").get_attribute(state)) == (("0", "1") if ios(phone) else ("false", "true"))
    find(phone, "volume").send_keys("0.5" if ios(phone) else "50")
    assert "Volume 50" in phone.page_source
    find(phone, "colour").send_keys("Green")
    assert text(phone, "colour") == "Green"
    with pytest.raises(WebDriverException, match="'Pink' is none of 'Red', 'Green', 'Blue'"):
        find(phone, "colour").send_keys("Pink")


def test_screenshots_are_in_device_pixels(phone: webdriver.Remote) -> None:
    """Lengths are points and screenshots pixels on iOS; Android uses pixels for both."""
    screen = Image.open(io.BytesIO(base64.b64decode(phone.get_screenshot_as_base64())))
    button = find(phone, "loginButton")
    picture = Image.open(io.BytesIO(base64.b64decode(button.screenshot_as_base64)))
    scale = 3 if ios(phone) else 1
    assert screen.size == ((1179, 2556) if ios(phone) else (1082, 2402))
    assert picture.width == pytest.approx(button.rect["width"] * scale, abs=3)
    assert len(set(picture.convert("RGB").get_flattened_data())) > 10


def test_the_soft_keyboard_opens_on_focus_types_into_the_field_and_can_be_hidden(phone: webdriver.Remote) -> None:
    """The focus of a field shows the keyboard, which shrinks the app's screen and can be hidden."""
    open_screen(phone, "note")
    field = find(phone, "noteField")
    low = field.rect["y"]
    assert not phone.is_keyboard_shown()
    field.click()
    assert phone.is_keyboard_shown()
    assert field.rect["y"] < low - 150
    if ios(phone):
        for key in ("h", "i"):
            find(phone, key).click()
        assert field.text == "hi"
        phone.find_element(By.IOS_PREDICATE, "type == 'XCUIElementTypeKey' AND name == 'Return'").click()
        eventually(phone, lambda: "Sent: hi" in phone.page_source)
    else:
        phone.execute_script("mobile: type", {"text": "hi"})
        phone.press_keycode(66)
        eventually(phone, lambda: "Sent: hi" in phone.page_source)
    phone.hide_keyboard()
    assert not phone.is_keyboard_shown()
    assert field.rect["y"] == low


def test_taps_double_taps_long_presses_and_swipes_are_recognised(phone: webdriver.Remote) -> None:
    """Taps, double taps, long presses and swipes are recognised by the app."""
    open_screen(phone, "gestures")
    pad = find(phone, "pad")
    pad.click()
    assert text(phone, "counts").startswith("taps 1, double taps 0, long presses 0, swipe none")
    element = {"elementId": pad.id}
    phone.execute_script("mobile: doubleTap" if ios(phone) else "mobile: doubleClickGesture", element)
    assert text(phone, "counts").startswith("taps 3, double taps 1, long presses 0")
    if ios(phone):
        phone.execute_script("mobile: touchAndHold", {**element, "duration": 0.8})
    else:
        phone.execute_script("mobile: longClickGesture", {**element, "duration": 800})
    assert text(phone, "counts").startswith("taps 3, double taps 1, long presses 1, swipe none")
    for direction in ("up", "left", "down", "right"):
        if ios(phone):
            phone.execute_script("mobile: swipe", {**element, "direction": direction})
        else:
            phone.execute_script("mobile: swipeGesture", {**element, "direction": direction, "percent": 0.7})
        assert f"swipe {direction}" in text(phone, "counts")
    assert text(phone, "counts").startswith("taps 3, double taps 1, long presses 1")


def test_a_resting_touch_by_w3c_actions_is_a_long_press_and_no_tap(phone: webdriver.Remote) -> None:
    """A finger held down by W3C actions is a long press, and no click follows."""
    open_screen(phone, "gestures")
    actions = ActionChains(phone)
    actions.w3c_actions = ActionBuilder(phone, mouse=PointerInput(POINTER_TOUCH, "finger"))
    actions.w3c_actions.pointer_action.move_to(find(phone, "pad")).pointer_down().pause(0.8).pointer_up()
    actions.perform()
    assert text(phone, "counts").startswith("taps 0, double taps 0, long presses 1")


def test_pinches_by_driver_gesture_and_by_w3c_actions_change_the_scale(phone: webdriver.Remote) -> None:
    """A pinch has two fingers, by the driver's gesture as by W3C actions."""
    open_screen(phone, "gestures")
    pad = find(phone, "pad")
    if ios(phone):
        phone.execute_script("mobile: pinch", {"elementId": pad.id, "scale": 2, "velocity": 1})
    else:
        phone.execute_script("mobile: pinchOpenGesture", {"elementId": pad.id, "percent": 0.75})
    assert float(text(phone, "counts").split("scale ")[1].split(",")[0]) > 1.5
    middle = {"x": pad.rect["x"] + pad.rect["width"] // 2, "y": pad.rect["y"] + pad.rect["height"] // 2}
    far = pad.rect["width"] // 4
    builder = ActionBuilder(phone, mouse=PointerInput(POINTER_TOUCH, "one"))
    builder.add_pointer_input(POINTER_TOUCH, "two")
    fingers = [device for device in builder.devices if isinstance(device, PointerInput)]
    for finger, sign in zip(fingers, (-1, 1), strict=True):
        finger.create_pointer_move(duration=0, x=middle["x"] + sign * far, y=middle["y"])
        finger.create_pointer_down(button=0)
        finger.create_pointer_move(duration=300, x=middle["x"] + sign * far // 2, y=middle["y"])
        finger.create_pointer_up(0)
    builder.perform()
    assert float(text(phone, "counts").split("scale ")[1].split(",")[0]) == pytest.approx(0.5, abs=0.1)


def test_dragging_a_card_onto_its_target_drops_it(phone: webdriver.Remote) -> None:
    """A card is dragged to its place by a finger."""
    open_screen(phone, "gestures")
    card, target = find(phone, "card"), find(phone, "target")
    start_at, end_at = middle(card.rect), middle(target.rect)
    if ios(phone):
        names = ("fromX", "fromY", "toX", "toY")
        phone.execute_script(
            "mobile: dragFromToForDuration", {"duration": 0.6, **dict(zip(names, start_at + end_at, strict=True))}
        )
    else:
        phone.execute_script("mobile: dragGesture", {"elementId": card.id, "endX": end_at[0], "endY": end_at[1]})
    assert text(phone, "dropped") == "Dropped"


def middle(rect: dict[str, int]) -> tuple[int, int]:
    """Return the middle of an element."""
    return rect["x"] + rect["width"] // 2, rect["y"] + rect["height"] // 2


def test_a_swipe_scrolls_the_list_and_scroll_gesture_reports_its_end(phone: webdriver.Remote) -> None:
    """The list moves under the finger and stops; Android's gesture reports whether there is more."""
    open_screen(phone, "list")
    phone.swipe(*((200, 600, 200, 200) if ios(phone) else (540, 1700, 540, 500)), 300)
    source = phone.page_source
    assert source == phone.page_source
    if ios(phone):
        assert not find(phone, "Add thing 1").is_displayed()
    else:
        assert phone.find_elements(By.ACCESSIBILITY_ID, "Add thing 1") == []
        rows = find(phone, "Things")
        gesture = {"elementId": rows.id, "direction": "up", "percent": 1.0}
        assert [phone.execute_script("mobile: scrollGesture", gesture) for _ in range(4)][-1] is False
        assert phone.execute_script("mobile: scrollGesture", {**gesture, "direction": "down"}) is True


PAGE = """
<button onclick="sheet.showModal()">Open</button>
<dialog id="sheet" aria-label="Sheet"><p>Really <b>sure</b>?</p><button onclick="sheet.close()">Close</button></dialog>
<iframe srcdoc="<button onclick='this.textContent=`Framed`'>In a frame</button>"></iframe>
<div id="host"></div>
<p aria-hidden="true">Hidden</p>
<img alt="A cat" src="data:," width="20" height="20">
<script>
  host.attachShadow({mode: 'open'}).innerHTML = '<button onclick="this.textContent=`Shadowed`">In a shadow</button>';
</script>
"""


def test_page_source_includes_frames_and_shadow_roots_but_not_what_a_modal_hides(
    device_server: DeviceServer, tmp_path: Path
) -> None:
    """Elements in frames and shadow roots are listed and can be touched; those behind a modal are hidden."""
    (tmp_path / "sim.json").write_text(json.dumps({"name": "Page", "appPackage": "org.example.page"}), "utf-8")
    (tmp_path / "index.html").write_text(PAGE, "utf-8")
    driver = start(device_server.url, "Android", app=str(tmp_path))
    try:
        for name in ("In a frame", "In a shadow"):
            driver.find_element(By.ANDROID_UIAUTOMATOR, f'new UiSelector().text("{name}")').click()
        source = driver.page_source
        assert 'text="Framed"' in source
        assert 'text="Shadowed"' in source
        assert 'content-desc="A cat"' in source
        assert "Hidden" not in source
        driver.find_element(By.ANDROID_UIAUTOMATOR, 'new UiSelector().text("Open")').click()
        source = driver.page_source
        assert 'text="Really sure?"' in source
        assert "Shadowed" not in source
    finally:
        driver.quit()
