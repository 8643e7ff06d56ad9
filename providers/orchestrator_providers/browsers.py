"""The browsers: what each is called in the protocol and how it is asked for; one declaration for every provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from orchestrator.abilities import TITLES
from orchestrator.webdriver.capabilities import merge


@dataclass(frozen=True, slots=True)
class Browser:
    """How a browser is asked for, wherever it runs.

    Attributes:
        name: What `browser` of a start calls it.
        w3c_name: Its `browserName`.
        driver: The program that speaks WebDriver for it.
        options: The vendor's capability that holds `args` and `binary`; empty where there is none.
        headless: The switch for a start without a window; empty where there is none.
        loading: How long its driver waits for a page (`pageLoadStrategy`).
    """

    name: str
    w3c_name: str
    driver: str = ""
    options: str = ""
    headless: str = ""
    # The rest of loading is waited for inside the page, in slices: a command that waits cannot be interrupted.
    loading: str = "eager"

    @property
    def title(self) -> str:
        """What people call it."""
        return TITLES.get(self.name, self.name)

    def capabilities(self, args: Sequence[str] = (), *, headless: bool = False) -> dict[str, Any]:
        """The W3C capabilities that ask for it, and how it loads pages; with these switches where it takes any."""
        found: dict[str, Any] = {"browserName": self.w3c_name, "pageLoadStrategy": self.loading}
        if headless and self.headless:
            found[self.options] = {"args": [self.headless]}
        return merge(found, {self.options: {"args": list(args)}}) if args and self.options else found


BROWSERS: Mapping[str, Browser] = MappingProxyType(
    {
        one.name: one
        for one in (
            Browser("chrome", "chrome", "chromedriver", "goog:chromeOptions", "--headless=new"),
            Browser("firefox", "firefox", "geckodriver", "moz:firefoxOptions", "-headless"),
            Browser("edge", "MicrosoftEdge", "msedgedriver", "ms:edgeOptions", "--headless=new"),
            Browser("safari", "safari", "safaridriver"),
            # With "eager", WebKitWebDriver now and then misses that a page has come so far, and waits in vain.
            Browser("webkitgtk", "MiniBrowser", "WebKitWebDriver", "webkitgtk:browserOptions", loading="normal"),
        )
    }
)
"""The five browsers by name."""


def browser(name: str) -> Browser:
    """The browser of a start: Chromium is asked for as Chrome, and one that is none of the five by its own name."""
    known = BROWSERS.get("chrome" if name == "chromium" else name)
    return known or Browser(name, name)
