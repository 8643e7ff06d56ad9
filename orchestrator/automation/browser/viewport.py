"""Resizes the page area of a tab, and measures it."""

from __future__ import annotations

from contextlib import suppress

from orchestrator.errors import RemoteFailure
from orchestrator.models.emulation import Viewport
from orchestrator.webdriver.remote import Remote

_SIZES = "return [innerWidth, innerHeight, outerWidth, outerHeight]"


def resize_page_area(remote: Remote, viewport: Viewport) -> Viewport:
    """Resize the current tab's page area by resizing its window; returns the size that was reached.

    The sizes of window frames differ between browsers, systems and modes.
    """
    wanted = [viewport.width, viewport.height]
    reached = _resize(remote, wanted)
    if reached != wanted:
        # Windows have a minimum width, 500 px in Chromium; below it, the page area is emulated, perhaps already.
        with suppress(RemoteFailure):
            remote.cdp("Emulation.clearDeviceMetricsOverride")
            reached = _resize(remote, wanted)
    if reached != wanted:
        with suppress(RemoteFailure):
            override_page_area(remote, *wanted)
            reached = remote.script(_SIZES)[:2]
    return _viewport(reached)


def measure_page_area(remote: Remote) -> Viewport:
    """The current size of the tab's page area."""
    return _viewport(remote.script(_SIZES))


def _viewport(sizes: list[int]) -> Viewport:
    return Viewport(width=max(sizes[0], 1), height=max(sizes[1], 1))


def _resize(remote: Remote, wanted: list[int]) -> list[int]:
    """Resize the window so that its page area gets this size; returns the size that was reached."""
    inner: list[int] = remote.script(_SIZES)
    if inner[:2] != wanted:
        remote.execute("setWindowRect", width=wanted[0] + inner[2] - inner[0], height=wanted[1] + inner[3] - inner[1])
        inner = remote.script(_SIZES)
    return inner[:2]


def restore_page_area(remote: Remote, width: int, height: int) -> None:
    """Restore the page area's size and scroll bars.

    Captures beyond the viewport remove the scroll bars in Chromium until the next resize.
    """
    override_page_area(remote, width, height + 1)
    remote.cdp("Emulation.clearDeviceMetricsOverride")
    if remote.script(_SIZES)[:2] != [width, height]:
        override_page_area(remote, width, height)


def override_page_area(remote: Remote, width: int, height: int) -> None:
    """Emulate a page area of another size than the window's; Chromium only."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
    remote.cdp("Emulation.setDeviceMetricsOverride", **metrics)
