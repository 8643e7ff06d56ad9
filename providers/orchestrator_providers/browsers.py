"""The browsers: what each is called in the protocol and how it is asked for; one declaration for every provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Browser:
    """How a browser is asked for, wherever it runs.

    Attributes:
        name: What people call it, and `browser` of a start.
        w3c_name: Its `browserName`.
        options: The vendor's capability that holds `args` and `binary`; empty where there is none.
        headless: The switch for a start without a window; empty where there is none.
    """

    name: str
    w3c_name: str
    options: str = ""
    headless: str = ""

    def capabilities(self, args: Sequence[str] = (), *, headless: bool = False) -> dict[str, Any]:
        """The W3C capabilities that ask for it, with these switches where it takes any."""
        given = [*args, *([self.headless] if headless and self.headless else [])]
        return {"browserName": self.w3c_name, **({self.options: {"args": given}} if given and self.options else {})}


BROWSERS: Mapping[str, Browser] = MappingProxyType(
    {
        one.name: one
        for one in (
            Browser("chrome", "chrome", "goog:chromeOptions", "--headless=new"),
            Browser("firefox", "firefox", "moz:firefoxOptions", "-headless"),
            Browser("edge", "MicrosoftEdge", "ms:edgeOptions", "--headless=new"),
            Browser("safari", "safari"),
            Browser("webkitgtk", "MiniBrowser", "webkitgtk:browserOptions"),
        )
    }
)
"""The five browsers by name."""


def browser(name: str) -> Browser:
    """The browser of a start: Chromium is asked for as Chrome, and one that is none of the five by its own name."""
    known = BROWSERS.get("chrome" if name == "chromium" else name)
    return known or Browser(name, name)
