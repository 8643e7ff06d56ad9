"""The supported browsers: names, drivers and capabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from orchestrator.models.browser_support import TITLES
from orchestrator.webdriver.capabilities import merge_capabilities


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser and how to request it, locally or elsewhere.

    Attributes:
        name: Its name in a start's `browser`.
        w3c_name: Its `browserName`.
        driver: The program of its WebDriver.
        options: The vendor capability with `args` and `binary`; empty if there is none.
        headless: The switch for headless mode; empty if there is none.
        page_load_strategy: Its `pageLoadStrategy`.
        with_bidi: Its `pageLoadStrategy` where BiDi reports navigations; empty for the same.
    """

    name: str
    w3c_name: str
    driver: str = ""
    options: str = ""
    headless: str = ""
    # We wait for the rest of loading inside the page, in slices: a waiting command cannot be interrupted.
    page_load_strategy: str = "eager"
    with_bidi: str = ""

    @property
    def title(self) -> str:
        """Its name for people."""
        return TITLES.get(self.name, self.name)

    def capabilities(self, args: Sequence[str] = (), *, headless: bool = False, bidi: bool = False) -> dict[str, Any]:
        """The W3C capabilities that request it, with these switches if it takes any; `bidi` if BiDi is requested."""
        strategy = (bidi and self.with_bidi) or self.page_load_strategy
        wanted: dict[str, Any] = {"browserName": self.w3c_name, "pageLoadStrategy": strategy}
        if headless and self.headless:
            wanted[self.options] = {"args": [self.headless]}
        return merge_capabilities(wanted, {self.options: {"args": list(args)}}) if args and self.options else wanted


BROWSERS: Mapping[str, Browser] = MappingProxyType(
    {
        browser.name: browser
        for browser in (
            # With another strategy a driver of Chromium holds back all commands while a page loads, and stops a load
            # that takes longer than its timeout.
            Browser("chrome", "chrome", "chromedriver", "goog:chromeOptions", "--headless=new", with_bidi="none"),
            Browser("firefox", "firefox", "geckodriver", "moz:firefoxOptions", "-headless"),
            Browser("edge", "MicrosoftEdge", "msedgedriver", "ms:edgeOptions", "--headless=new", with_bidi="none"),
            Browser("safari", "safari", "safaridriver"),
            # With "eager", WebKitWebDriver sometimes misses that a page is interactive, and waits until its timeout.
            Browser(
                "webkitgtk", "MiniBrowser", "WebKitWebDriver", "webkitgtk:browserOptions", page_load_strategy="normal"
            ),
        )
    }
)
"""The five browsers by name."""


def browser_named(name: str) -> Browser:
    """The browser of a start: Chromium is requested as Chrome, unknown browsers by their own name."""
    known = BROWSERS.get("chrome" if name == "chromium" else name)
    return known or Browser(name, name)
