"""Prepares the tabs of a browser that has just started: page engine, viewport, names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.automation.browser.viewport import resize_page_area
from orchestrator.errors import StartFailed
from orchestrator.models import browser_support
from orchestrator.models.device_presets import find_preset
from orchestrator.models.emulation import DEFAULT_VIEWPORT, Emulation, Viewport
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import SessionRecord, Tab
from orchestrator.snapshot.web.sandbox_world import preload_engine
from orchestrator.snapshot.web.world import install_page_engine
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.devtools import DevTools, debugger_address
from orchestrator.webdriver.remote import Remote


def prepare_first_tab(
    remote: Remote, bidi: Bidi | None, request: StartRequest, record: SessionRecord, handle: str
) -> dict[str, Any]:
    """Prepare the tab of a new browser, in the requested viewport or, on a restart, in the recorded one.

    Returns the fields of the record. Without a `handle` it is the current tab.
    """
    emulation, size = (record.emulation, record.viewport) if record.viewport else _requested_viewport(request)
    if bidi is not None and browser_support.is_firefox(record.capabilities):
        preload_engine(bidi, record.remote_session_id)
    install_page_engine(remote, record.capabilities)
    window = resize_page_area(remote, emulation.window or size, bidi)
    handle = handle or remote.execute("w3cGetCurrentWindowHandle")
    tab = Tab(name=f"t{record.tab_next}", handle=handle, prepared=True, viewport=window)
    return {
        "tabs": (tab,),
        "tabs_used": (tab.name,),
        "tab_next": record.tab_next + 1,
        "emulation": emulation,
        "viewport": size if emulation.device else window,
    }


def adopt_open_tabs(remote: Remote, request: StartRequest, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Name the tabs of the user's browser, which stay as they are; a first page gets a new tab.

    Returns the fields of the record.

    Raises:
        StartFailed: The browser at this address does not answer.
    """
    address = debugger_address(capabilities)
    try:
        open_tabs = DevTools(address).tabs()
    except OSError as cause:
        raise StartFailed(
            f"The browser at {address} does not answer.", hint="Check that it is running, and try again."
        ) from cause
    handles = [handle for handle, url in open_tabs.items() if not url.startswith("devtools:")]
    if request.navigation_url is not None or not handles:
        handles.insert(0, remote.execute("newWindow", type="tab")["handle"])
    remote.execute("switchToWindow", handle=handles[0])
    install_page_engine(remote, capabilities)
    viewport = resize_page_area(remote, request.viewport, None) if "viewport" in request.model_fields_set else None
    tabs = [Tab(name=f"t{number}", handle=handle) for number, handle in enumerate(handles, 1)]
    tabs[0] = tabs[0].model_copy(update={"prepared": True, "viewport": viewport})
    return {"viewport": viewport, "tabs": tabs, "tabs_used": ("t1",), "tab_next": len(tabs) + 1}


def _requested_viewport(request: StartRequest) -> tuple[Emulation, Viewport]:
    if request.device is None:
        return Emulation(), request.viewport
    preset = find_preset(request.device)
    by_preset = "viewport" not in request.model_fields_set
    size = Viewport(width=preset.width, height=preset.height) if by_preset else request.viewport
    return Emulation(device=preset.name, window=DEFAULT_VIEWPORT), size
