"""The chat application in two real windows, driven by selenium alone, without our server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from orchestrator.demo.chat import ChatServer

pytestmark = pytest.mark.full

PASSWORDS = {"alice": "open sesame", "bob": "swordfish"}
MARKUP = "<b>bold</b> & 'quoted' \u2713"


@contextmanager
def window() -> Iterator[webdriver.Chrome]:
    """Open a real Chromium by selenium alone."""
    options = webdriver.ChromeOptions()
    options.add_argument("--headless=new")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    # Chromium leaves a folder where temporary ones are made.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        service = webdriver.ChromeService(shutil.which("chromedriver"), env={**os.environ, "TMPDIR": folder})
        driver = webdriver.Chrome(options, service)
        try:
            yield driver
        finally:
            driver.quit()


def see(driver: webdriver.Chrome, css: str, text: str) -> None:
    """Wait until the text is shown there."""
    WebDriverWait(driver, 10, 0.02).until(lambda page: text in page.find_element(By.CSS_SELECTOR, css).text)


def enter(driver: webdriver.Chrome, name: str, password: str) -> None:
    """Fill in the form of the entrance and send it."""
    for field, value in (("name", name), ("password", password)):
        box = driver.find_element(By.ID, field)
        box.clear()
        box.send_keys(value)
    button = driver.find_element(By.CSS_SELECTOR, "#sign-in button")
    assert (button.accessible_name, button.aria_role) == ("Sign in", "button")
    button.click()


def test_a_chat_message_from_one_window_shows_in_the_other_as_plain_text() -> None:
    """A message written in one window shows in the other as text, never as markup."""
    with ChatServer(PASSWORDS) as chat, window() as alice, window() as bob:
        for driver, name in ((alice, "alice"), (bob, "bob")):
            driver.get(chat.url)
            assert driver.find_element(By.ID, "name").accessible_name == "Name"
            assert driver.find_element(By.ID, "password").accessible_name == "Password"
            enter(driver, name, "a guess")
            see(driver, "[role=alert]", "The name or the password is wrong.")
            enter(driver, name, PASSWORDS[name])
            see(driver, "header", f"Signed in as {name}")
        see(alice, "#people", "bob is online")

        box = alice.find_element(By.ID, "message")
        assert (box.accessible_name, box.aria_role) == ("Message", "textbox")
        box.send_keys(MARKUP)
        alice.find_element(By.XPATH, "//button[.='Send']").click()
        see(bob, "[role=log] article", MARKUP)

        article = bob.find_element(By.CSS_SELECTOR, "[role=log] article")
        assert article.find_element(By.CSS_SELECTOR, ".author").text == "alice"
        assert article.find_element(By.TAG_NAME, "time").text
        assert not article.find_elements(By.TAG_NAME, "b")
        assert box.get_attribute("value") == ""

        alice.find_element(By.XPATH, "//button[.='Sign out']").click()
        see(alice, "#sign-in h1", "Welcome to Duet")
        see(bob, "#people", "alice is offline")
