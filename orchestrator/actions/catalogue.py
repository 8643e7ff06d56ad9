"""The catalogue of the actions that ship with the project."""

from __future__ import annotations

from orchestrator.actions import (
    apps,
    console,
    devices,
    emulation,
    forms,
    mouse,
    navigation,
    network,
    policies,
    reading,
    screenshot,
    scripts,
    storage,
    touch,
    waits,
    windows,
)
from orchestrator.actions.base import AnyAction, Catalogue

_AREAS = (
    navigation,
    reading,
    screenshot,
    mouse,
    touch,
    forms,
    waits,
    scripts,
    console,
    policies,
    windows,
    emulation,
    storage,
    network,
    apps,
    devices,
)

_LISTED = (
    "navigate", "get_visible_elements", "get_text", "get_page_source", "take_screenshot", "click_element",
    "hover", "scroll", "tap_element", "swipe", "pinch", "drag_and_drop", "set_value", "press_keys",
    "select_option", "upload_files", "wait_for", "expect", "execute_script", "run_script", "get_console",
    "get_network", "handle_dialog", "set_policy", "tabs", "switch_frame", "set_viewport", "emulate",
    "cookies", "save_storage_state", "passkeys", "print_page", "audit_page", "route", "har", "switch_context",
    "manage_app", "manage_device",
)  # fmt: skip
"""Actions in the order in which tools and docs list them: the most used first. Others follow."""


def _ordered() -> list[type[AnyAction]]:
    actions = [action for area in _AREAS for action in area.ACTIONS]
    positions = {verb: number for number, verb in enumerate(_LISTED)}
    return sorted(actions, key=lambda action: positions.get(action.verb, len(positions)))


CATALOGUE = Catalogue(_ordered())
"""The actions that ship with the project."""
