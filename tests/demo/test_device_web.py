"""Web views of the simulated phones: a page in the app, driven through a real chromedriver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from appium import webdriver
from appium.webdriver.common.appiumby import AppiumBy as By
from selenium.common.exceptions import InvalidArgumentException, InvalidSelectorException, NoSuchElementException
from selenium.webdriver.common.action_chains import ActionChains

from orchestrator.demo.device_server import DeviceServer
from tests.demo.phones import eventually, ios, start
from tests.servers.appium import POCKET_ID

# The tests of app sessions drive the same phones through the whole product.
pytestmark = pytest.mark.full


@pytest.fixture
def web(session: webdriver.Remote) -> Iterator[webdriver.Remote]:
    """The phone in the context of the app's web view."""
    session.get("pocket://screen/web")
    session.switch_to.context(session.contexts[1])
    yield session
    session.switch_to.context("NATIVE_APP")
    session.terminate_app(POCKET_ID)
    session.activate_app(POCKET_ID)


def test_a_web_view_context_has_its_platforms_name_and_css_works_only_there(web: webdriver.Remote) -> None:
    """The web view has its platform's name; css works there and nowhere else."""
    name = web.current_context
    if ios(web):
        assert name.startswith("WEBVIEW_")
        assert name.endswith(".1")
    else:
        assert name == f"WEBVIEW_{POCKET_ID}"
    assert web.contexts == ["NATIVE_APP", name]
    assert web.title == "Pocket web"
    assert web.find_element(By.CSS_SELECTOR, "h1").text == "A page in the app"
    web.switch_to.context("NATIVE_APP")
    with pytest.raises(InvalidSelectorException):
        web.find_element(By.CSS_SELECTOR, "h1")
    assert "A page in the app" in web.page_source
    web.switch_to.context(name)


def test_typing_clicking_scripts_and_w3c_actions_work_in_a_web_view(web: webdriver.Remote) -> None:
    """Typing, clicking, scripts, W3C actions and windows are handled by chromedriver."""
    web.find_element(By.CSS_SELECTOR, "#what").send_keys("Tea")
    web.find_element(By.CSS_SELECTOR, "#order-button").click()
    order = web.find_element(By.CSS_SELECTOR, "#order")
    assert order.text == "Tea"
    assert web.execute_script("return [arguments[0].textContent, arguments[1] + 1]", order, 1) == ["Tea", 2]
    ActionChains(web).click(web.find_element(By.LINK_TEXT, "More")).perform()
    assert web.current_url.endswith("/web.html#more")
    assert web.window_handles == [web.current_window_handle]
    assert web.page_source.startswith("<html")
    assert web.get_screenshot_as_png().startswith(b"\x89PNG")
    with pytest.raises(NoSuchElementException):
        web.find_element(By.CSS_SELECTOR, "#nothing")
    assert web.execute_script("mobile: isLocked") is False


def test_a_page_dialog_is_answered_in_the_web_view_context_or_natively(web: webdriver.Remote) -> None:
    """A dialog of the page is answered in the web view's context, or natively."""
    ask = web.find_element(By.CSS_SELECTOR, "#ask")
    ask.click()
    assert web.switch_to.alert.text == "Sure?"
    web.switch_to.alert.dismiss()
    assert web.find_element(By.CSS_SELECTOR, "#order").text == "no"
    context = web.current_context
    web.switch_to.context("NATIVE_APP")
    if ios(web):
        web.find_element(By.IOS_PREDICATE, "label == 'Ask'").click()
    else:
        web.find_element(By.ANDROID_UIAUTOMATOR, 'new UiSelector().text("Ask")').click()
    assert eventually(web, lambda: web.switch_to.alert.text) == "Sure?"
    web.switch_to.alert.accept()
    web.switch_to.context(context)
    assert web.find_element(By.CSS_SELECTOR, "#order").text == "yes"


def test_an_unknown_context_is_refused_with_a_list_of_contexts(web: webdriver.Remote) -> None:
    """The error for an unknown context lists the existing contexts."""
    with pytest.raises(Exception, match=r"No such context 'WEBVIEW_none'\. There are NATIVE_APP, WEBVIEW_"):
        web.switch_to.context("WEBVIEW_none")


@pytest.mark.parametrize("platform", ["iOS", "Android"])
def test_a_browser_session_on_a_phone_begins_in_a_web_context(device_server: DeviceServer, platform: str) -> None:
    """A web session on a phone begins in a page."""
    name = "Safari" if platform == "iOS" else "Chrome"
    driver = start(device_server.url, platform, app=None, browserName=name)
    try:
        assert driver.current_context.startswith("WEBVIEW_" if platform == "iOS" else "CHROMIUM")
        driver.get("data:text/html,<title>Here</title><input id=a>")
        assert driver.title == "Here"
        driver.find_element(By.CSS_SELECTOR, "#a").send_keys("x")
        with pytest.raises(InvalidArgumentException):
            driver.get("not a url")
    finally:
        driver.quit()
