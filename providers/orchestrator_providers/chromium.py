"""How Chrome, Chromium and Edge are asked for on this machine."""

from __future__ import annotations

import os
from typing import Any

from orchestrator import machine
from orchestrator.provider import Start

_BROWSER_UI = 87
"""Height of tabs and address bar: a window of 807 shows a page of 720."""

_FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A choice of search engine covers the first page in the European Economic Area.
    "--disable-search-engine-choice-screen",
    # No question for the password of the desktop's or macOS's key ring.
    "--password-store=basic",
    "--use-mock-keychain",
    # The note that the browser is automated slides in up to 0.4 s after the start and takes 56 pixels from the page.
    "--disable-infobars",
    # A page of the browser's own for the list below its address bar: loaded at every start, it takes as much processor
    # time as the rest of the start, and 50 MB.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    # Sessions side by side have covered windows and background tabs; their timers and frames must not slow down.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)

_PREFERENCES = {
    # Otherwise a window asks to save each password typed, and another to change one that is known from a leak.
    "credentials_enable_service": False,
    "profile.password_manager_leak_detection": False,
    # An empty page instead of the new-tab page, which has scripts and texts of its own.
    "session.restore_on_startup": 4,
    "session.startup_urls": ["about:blank"],
}


def asked(start: Start) -> dict[str, Any]:
    """Its switches and preferences, as the vendor's options hold them."""
    viewport = start.request.viewport
    flags = [*_FLAGS, f"--user-data-dir={start.profile() or start.folder() / 'profile'}"]
    flags.append(f"--window-size={viewport.width},{viewport.height + _BROWSER_UI}")
    flags += machine.needed_switches(os.environ)
    return {"args": flags, "prefs": dict(_PREFERENCES)}
