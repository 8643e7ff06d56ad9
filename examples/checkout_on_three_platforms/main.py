"""The same steps buy in a shop's web page and its two apps at the same time; the receipts are compared.

The phones are simulated, behind a real Appium server. For your own app on real phones omit `DeviceServer`, start Appium
with its drivers, and pass your `app_path` and `device_name`.
Run it with `.venv/bin/python examples/checkout_on_three_platforms/main.py`, after `make appium`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import anyio

from orchestrator import Orchestrator
from orchestrator.demo.device_server import DeviceServer
from orchestrator.demo.shop import bundle, web
from orchestrator.settings import Settings

PURCHASE: list[dict[str, Any]] = [
    {"action": "tap_element", "selector": "role=button[name=Add Planter]"},
    {"action": "tap_element", "selector": "role=button[name=Cart (1)]"},
    {"action": "tap_element", "selector": "role=button[name=Check out]"},
    {"action": "set_value", "selector": "label=Full name", "value": "Ada Byron"},
    {"action": "set_value", "selector": "label=Email", "value": "ada@example.com"},
    {"action": "set_value", "selector": "label=Street and number", "value": "Analytical Row 1"},
    {"action": "set_value", "selector": "label=City", "value": "London"},
    {"action": "set_value", "selector": "role=switch[name=Express delivery]", "value": "true"},
    {"action": "scroll", "selector": "role=button[name=Pay now]"},
    {"action": "tap_element", "selector": "role=button[name=Pay now]"},
    {"action": "expect", "selector": "text=Thank you, Ada Byron!", "visible": True},
]
PLATFORMS = ["web", "ios", "android"]


async def buy(orchestrator: Orchestrator, apps: dict[str, Path], address: str) -> None:
    """Start three sessions at the same time, run the steps in all of them, and compare the results."""
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: orchestrator.start_browser("web", navigation_url=address))
        for name, device in (("ios", "iPhone 15"), ("android", "Pixel 8")):
            app = {"app_path": str(apps[name]), "device_name": device}
            group.start_soon(lambda name=name, app=app: orchestrator.start_app_session(name, name, **app))

    bought = await orchestrator.execute_parallel([{"session_ids": PLATFORMS, "actions": PURCHASE}])
    for name, result in bought.results.items():
        print(f"{name}: {result['completed']} of {len(PURCHASE)} steps {result.get('failed', '')}")

    compared = await orchestrator.compare_sessions(PLATFORMS, of="elements")
    print(compared)


async def main() -> None:
    """Serve the shop as a page and as two apps, start an Appium server and an orchestrator, and buy."""
    with tempfile.TemporaryDirectory() as folder, DeviceServer() as phones:
        shops = {name: bundle(Path(folder) / name, name) for name in ("web", "ios", "android")}
        settings = Settings.load({"appium_url": phones.url})
        with web(shops["web"]) as page:
            async with Orchestrator(settings) as orchestrator:
                await buy(orchestrator, shops, page.url)


if __name__ == "__main__":
    anyio.run(main)
