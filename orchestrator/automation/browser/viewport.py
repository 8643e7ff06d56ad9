"""Resizes the page area of a tab, and measures it."""

from __future__ import annotations

from contextlib import suppress

from orchestrator.errors import RemoteFailure
from orchestrator.models.emulation import Viewport
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.remote import Remote

_SIZES = "return [innerWidth, innerHeight, outerWidth, outerHeight]"


def resize_page_area(remote: Remote, viewport: Viewport, bidi: Bidi | None) -> Viewport:
    """Resize the current tab's page area by resizing its window; returns the size that was reached.

    The sizes of window frames differ between browsers, systems and modes. Windows have a minimum width, 500 px in
    Chromium and Firefox; below it, the page area is emulated: by CDP, else by BiDi, then in all tabs.
    """
    wanted = [viewport.width, viewport.height]
    reached = _resize(remote, wanted)
    if reached != wanted:  # perhaps it is emulated already
        reached = _resize_anew(remote, wanted, bidi) or reached
    if reached != wanted:
        reached = _emulate(remote, wanted, bidi) or reached
    return _viewport(reached)


def _resize_anew(remote: Remote, wanted: list[int], bidi: Bidi | None) -> list[int]:
    """Resize the window after the end of an emulation; returns the size that was reached, empty without means to it."""
    try:
        remote.cdp("Emulation.clearDeviceMetricsOverride")
    except RemoteFailure:
        if bidi is None or not _set_by_bidi(bidi, None):
            return []
    return _resize(remote, wanted)


def _emulate(remote: Remote, wanted: list[int], bidi: Bidi | None) -> list[int]:
    """Emulate the size; returns the size that was reached, empty without means to it."""
    try:
        override_page_area(remote, *wanted)
    except RemoteFailure:
        if bidi is None or not _set_by_bidi(bidi, {"width": wanted[0], "height": wanted[1]}):
            return []
    return remote.script_list(_SIZES, 4)[:2]


def _set_by_bidi(bidi: Bidi, viewport: dict[str, int] | None) -> bool:
    """Emulate a size in all tabs of the session, or none (`browsingContext.setViewport`); False if that is refused."""
    with suppress(RemoteFailure):
        bidi.call("browsingContext.setViewport", viewport=viewport, userContexts=[bidi.user_context])
        return True
    return False


def measure_page_area(remote: Remote) -> Viewport:
    """The current size of the tab's page area."""
    return _viewport(remote.script_list(_SIZES, 4))


def _viewport(sizes: list[int]) -> Viewport:
    return Viewport(width=max(sizes[0], 1), height=max(sizes[1], 1))


def _resize(remote: Remote, wanted: list[int]) -> list[int]:
    """Resize the window so that its page area gets this size; returns the size that was reached."""
    inner: list[int] = remote.script_list(_SIZES, 4)
    if inner[:2] != wanted:
        remote.execute("setWindowRect", width=wanted[0] + inner[2] - inner[0], height=wanted[1] + inner[3] - inner[1])
        inner = remote.script_list(_SIZES, 4)
    return inner[:2]


def restore_page_area(remote: Remote, width: int, height: int) -> None:
    """Restore the page area's size and scroll bars.

    Captures beyond the viewport remove the scroll bars in Chromium until the next resize.
    """
    override_page_area(remote, width, height + 1)
    remote.cdp("Emulation.clearDeviceMetricsOverride")
    if remote.script_list(_SIZES, 4)[:2] != [width, height]:
        override_page_area(remote, width, height)


def override_page_area(remote: Remote, width: int, height: int) -> None:
    """Emulate a page area of another size than the window's; Chromium only."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
    remote.cdp("Emulation.setDeviceMetricsOverride", **metrics)
