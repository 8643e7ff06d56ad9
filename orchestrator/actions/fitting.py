"""What every tab of a session gets once: the page engine in all its documents, and a page area of the right size."""

from __future__ import annotations

from contextlib import suppress

from orchestrator.emulation import Viewport
from orchestrator.errors import RemoteFailure
from orchestrator.snapshot.page import SOURCE
from orchestrator.webdriver.remote import Remote

_SIZES = "return [innerWidth, innerHeight, outerWidth, outerHeight]"


def prepare(remote: Remote) -> None:
    """Put the page engine into every document of the current tab from its start.

    A remote end without CDP gets the engine into each page when it is first asked there.
    """
    with suppress(RemoteFailure):
        remote.cdp("Page.addScriptToEvaluateOnNewDocument", source=SOURCE)


def fit(remote: Remote, viewport: Viewport) -> Viewport:
    """Make the current tab's page area this large: the window's frame differs between browsers, systems and modes.

    Returns the size that it came to.
    """
    wanted = [viewport.width, viewport.height]
    reached = _resize(remote, wanted)
    if reached != wanted:
        # A window has a smallest width, 500 px in Chromium; below it the page area is emulated, or was until now.
        with suppress(RemoteFailure):
            remote.cdp("Emulation.clearDeviceMetricsOverride")
            reached = _resize(remote, wanted)
    if reached != wanted:
        with suppress(RemoteFailure):
            stretch(remote, *wanted)
            reached = remote.script(_SIZES)[:2]
    return _viewport(reached)


def measured(remote: Remote) -> Viewport:
    """The size of the current tab's page area as it is."""
    return _viewport(remote.script(_SIZES))


def _viewport(sizes: list[int]) -> Viewport:
    return Viewport(width=max(sizes[0], 1), height=max(sizes[1], 1))


def _resize(remote: Remote, wanted: list[int]) -> list[int]:
    """Give the window the size in which its page area has the wanted one; what that came to."""
    inner: list[int] = remote.script(_SIZES)
    if inner[:2] != wanted:
        remote.execute("setWindowRect", width=wanted[0] + inner[2] - inner[0], height=wanted[1] + inner[3] - inner[1])
        inner = remote.script(_SIZES)
    return inner[:2]


def lay_out_anew(remote: Remote, width: int, height: int) -> None:
    """Give the page its size and scroll bars back.

    Chromium forgets the bars when it draws outside the viewport, until a resize.
    """
    stretch(remote, width, height + 1)
    remote.cdp("Emulation.clearDeviceMetricsOverride")
    if remote.script(_SIZES)[:2] != [width, height]:
        stretch(remote, width, height)


def stretch(remote: Remote, width: int, height: int) -> None:
    """Give the page area a size that its window has not; Chromium only."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
    remote.cdp("Emulation.setDeviceMetricsOverride", **metrics)
