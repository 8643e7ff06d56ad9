"""The checkout scenario: one purchase on web, iOS and Android at once, over MCP."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, get_args

from orchestrator.demo.device_server import DeviceServer, DeviceServerFailed, appium_folder, install_appium, missing
from orchestrator.demo.mcp_client import (
    DemoToolCaller,
    Say,
    StepFailed,
    client_with_server,
    innermost,
    made_folder,
    run_together,
)
from orchestrator.demo.shop import Platform, bundle, web
from orchestrator.demo.shop.contact_sheet import write_contact_sheet
from orchestrator.demo.shop.receipts import Receipt, differences

_LOG, _PICTURE = "checkout-server.log", "checkout.png"
_DEVICES = {"ios": ("iOS", "iPhone 15"), "android": ("Android", "Pixel 8")}
_BUYER = {
    "Full name": "Ada Byron",
    "Email": "ada@example.com",
    "Street and number": "Analytical Row 1",
    "City": "London",
}


def _tap(name: str) -> dict[str, Any]:
    return {"action": "tap_element", "selector": f"role=button[name={name}]"}


PURCHASE: list[dict[str, Any]] = [
    _tap("Add Mug"),
    _tap("Add Teapot"),
    _tap("Add Teapot"),
    _tap("Cart (3)"),
    _tap("Check out"),
    *({"action": "set_value", "selector": f"label={label}", "value": value} for label, value in _BUYER.items()),
    {"action": "scroll", "selector": "role=button[name=Pay now]"},
    _tap("Pay now"),
    {"action": "wait_for", "text": "Thank you, Ada Byron!"},
]
"""The same steps for a web page and two apps: selectors are the texts that users see."""


async def run(out: Path, headless: bool, broken: str | None, console: Say) -> int:  # noqa: FBT001 the command's flag
    """Run the demonstration.

    Args:
        out: The folder for the image of the last screens and the server's log; created if necessary.
        headless: False shows the browser's window.
        broken: The platform whose shop gets a bug, which must be found.
        console: Prints a line of text, as `typer.echo` does.

    Returns:
        The exit code: 0 only if the purchase succeeded on all platforms and they agree, or only the broken one differs.
    """
    folder = made_folder(out)
    code = 1
    try:
        with (
            tempfile.TemporaryDirectory(prefix="checkout-") as temporary,
            (folder / _LOG).open("w", encoding="utf-8") as log,
        ):
            code = await _CheckoutScenario(Path(temporary), folder, broken, console).play(log, headless=headless)
    except StepFailed:
        pass
    except Exception as error:  # noqa: BLE001 without an answer the transport raises groups of anything
        console(f"The demonstration stopped: {innermost(error)}")
    if code:
        console(f"The MCP server's log is in {folder / _LOG}")
    return code


class _CheckoutScenario:
    """The steps of the demonstration, in order."""

    def __init__(self, temporary: Path, out: Path, broken: str | None, say: Say) -> None:
        self._temporary = temporary
        self._out = out
        self._broken = broken
        self._say = say

    async def play(self, log: Any, *, headless: bool) -> int:
        """Run all steps; every session is closed at the end, also after an error."""
        shops = {name: bundle(self._temporary / name, name, broken=name == self._broken) for name in get_args(Platform)}
        async with AsyncExitStack() as stack:
            site = stack.enter_context(web(shops["web"]))
            settings: dict[str, str] = {}
            names: list[str] = ["web"]
            try:
                device = stack.enter_context(self._phones())
                settings["appium_url"] = device.url
                names += _DEVICES
            except DeviceServerFailed as error:
                self._say(f"Only the web part, because the simulated phones do not run. {error}")
            client = await stack.enter_async_context(client_with_server("checkout", log, **settings))
            steps = DemoToolCaller(client, self._say)
            try:
                await run_together(
                    partial(self._open_page, steps, site.url, headless),
                    *(partial(self._open_app, steps, name, shops[name]) for name in names if name != "web"),
                )
                return await self._buy(steps, names)
            finally:
                await steps.close("all sessions")

    def _phones(self) -> DeviceServer:
        """A server for the simulated phones; Appium is installed if nothing else is missing."""
        if missing() and shutil.which("npm") and not (appium_folder() / "node_modules").is_dir():
            self._say(f"Installing Appium into {appium_folder()}, once.")
            install_appium()
        return DeviceServer()

    async def _open_page(self, steps: DemoToolCaller, url: str, headless: bool) -> None:  # noqa: FBT001 passed on
        viewport = {"width": 480, "height": 900}
        page = {"navigationUrl": url, "headless": headless, "viewport": viewport}
        await steps.call("the shop's page", "start_browser", sessionId="web", **page)

    async def _open_app(self, steps: DemoToolCaller, name: str, app: Path) -> None:
        platform, device = _DEVICES[name]
        request = {"platform": platform, "deviceName": device, "appPath": str(app)}
        await steps.call(
            f"the shop's app on {platform} (simulated device)", "start_app_session", sessionId=name, **request
        )

    async def _buy(self, steps: DemoToolCaller, names: Sequence[str]) -> int:
        purchase = await steps.call(
            f"the same purchase on {', '.join(names)}",
            "execute_parallel",
            sequences=[{"sessionIds": names, "actions": PURCHASE}],
            verbose=True,
        )
        self._print_table({name: purchase["results"][name]["steps"] for name in names})
        receipts, screens = {}, {}
        for name in names:
            text = await steps.call(f"the receipt on {name}", "get_text", sessionId=name)
            receipts[name] = Receipt.read(text["text"])
            screens[name] = self._temporary / f"{name}.png"
            await steps.call(f"the last screen of {name}", "take_screenshot", sessionId=name, path=str(screens[name]))
        picture = write_contact_sheet(screens, self._out / _PICTURE)
        return self._print_result(receipts, picture)

    def _print_table(self, steps: Mapping[str, list[dict[str, Any]]]) -> None:
        names = list(steps)
        self._say("")
        self._say(f"{'step':<44}" + "".join(f"{name:>12}" for name in names))
        for index, step in enumerate(PURCHASE):
            title = f"{step['action']} {step.get('selector') or step.get('text')}"
            times = "".join(f"{steps[name][index]['durationMs']:>9} ms" for name in names)
            self._say(f"{title:<44}{times}")
        self._say("")

    def _print_result(self, receipts: Mapping[str, Receipt], picture: Path) -> int:
        for name, receipt in receipts.items():
            self._say(f"{name:<8} {receipt.confirmation} {receipt.items}; delivery {receipt.delivery}, {receipt.total}")
        differing = differences(receipts)
        for name, clauses in differing.items():
            self._say(f"{name} differs: {'; '.join(clauses)}.")
        if not differing:
            self._say(f"Items, sums and confirmation agree on {', '.join(receipts)}.")
        self._say(f"screens {picture}")
        expected = [self._broken] if self._broken and len(receipts) > 1 else []
        complete = all(receipt.complete for receipt in receipts.values())
        return 0 if complete and [*differing] == expected else 1
