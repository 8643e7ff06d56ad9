"""The checkout demonstration: one purchase in a shop's web page and in both of its apps at the same time, over MCP."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, get_args

from orchestrator.demo.device_server import DeviceServer, DeviceServerFailed, appium_folder, install_appium, missing
from orchestrator.demo.shop import Platform, bundle, web
from orchestrator.demo.shop.receipts import Receipt, differences
from orchestrator.demo.shop.screens import side_by_side
from orchestrator.demo.steps import Say, StepFailed, Steps, client_of, innermost, made_folder, together

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
"""One list of steps for a web page and two apps: the words are those that people see."""


async def run(out: Path, headless: bool, broken: str | None, console: Say) -> int:  # noqa: FBT001 the command's flag
    """Run the demonstration.

    Args:
        out: The folder for the picture of the last screens and the server's log; made when it is not there.
        headless: False shows the browser's window.
        broken: The platform whose shop has a mistake built in, which must be found.
        console: Takes a line of text at a time, as `typer.echo` does.

    Returns:
        The exit code: 0 only if all platforms were bought from and agree, or just the broken one differs.
    """
    folder = made_folder(out)
    code = 1
    try:
        with (
            tempfile.TemporaryDirectory(prefix="checkout-") as made,
            (folder / _LOG).open("w", encoding="utf-8") as log,
        ):
            code = await _Story(Path(made), folder, broken, console).tell(log, headless=headless)
    except StepFailed:
        pass
    except Exception as error:  # noqa: BLE001 without an answer the transport raises groups of anything
        console(f"The demonstration stopped: {innermost(error)}")
    if code:
        console(f"The MCP server's log is in {folder / _LOG}")
    return code


class _Story:
    """What happens in the demonstration, in order."""

    def __init__(self, made: Path, out: Path, broken: str | None, say: Say) -> None:
        self._made = made
        self._out = out
        self._broken = broken
        self._say = say

    async def tell(self, log: Any, *, headless: bool) -> int:
        """Do all of it; whatever happens, every session is closed at the end."""
        shops = {name: bundle(self._made / name, name, broken=name == self._broken) for name in get_args(Platform)}
        async with AsyncExitStack() as stack:
            site = stack.enter_context(web(shops["web"]))
            settings: dict[str, str] = {}
            names: list[str] = ["web"]
            try:
                device = stack.enter_context(self._phones())
                settings["appium_url"] = device.url
                names += _DEVICES
            except DeviceServerFailed as lack:
                self._say(f"Only the web part, because the simulated phones do not run. {lack}")
            client = await stack.enter_async_context(client_of("checkout", log, **settings))
            steps = Steps(client, self._say)
            try:
                await together(
                    partial(self._open_page, steps, site.url, headless),
                    *(partial(self._open_app, steps, name, shops[name]) for name in names if name != "web"),
                )
                return await self._buy(steps, names)
            finally:
                await steps.close("all sessions")

    def _phones(self) -> DeviceServer:
        """A server for the simulated phones; Appium is installed for it where only that is missing."""
        if missing() and shutil.which("npm") and not (appium_folder() / "node_modules").is_dir():
            self._say(f"Installing Appium into {appium_folder()}, once.")
            install_appium()
        return DeviceServer()

    async def _open_page(self, steps: Steps, url: str, headless: bool) -> None:  # noqa: FBT001 passed on
        viewport = {"width": 480, "height": 900}
        page = {"navigationUrl": url, "headless": headless, "viewport": viewport}
        await steps.call("the shop's page", "start_browser", sessionId="web", **page)

    async def _open_app(self, steps: Steps, name: str, app: Path) -> None:
        platform, device = _DEVICES[name]
        wish = {"platform": platform, "deviceName": device, "appPath": str(app)}
        await steps.call(
            f"the shop's app on {platform} (simulated device)", "start_app_session", sessionId=name, **wish
        )

    async def _buy(self, steps: Steps, names: Sequence[str]) -> int:
        bought = await steps.call(
            f"the same purchase on {', '.join(names)}",
            "execute_parallel",
            sequences=[{"sessionIds": names, "actions": PURCHASE}],
            verbose=True,
        )
        self._table({name: bought["results"][name]["steps"] for name in names})
        receipts, screens = {}, {}
        for name in names:
            text = await steps.call(f"the receipt on {name}", "get_text", sessionId=name)
            receipts[name] = Receipt.read(text["text"])
            screens[name] = self._made / f"{name}.png"
            await steps.call(f"the last screen of {name}", "take_screenshot", sessionId=name, path=str(screens[name]))
        picture = side_by_side(screens, self._out / _PICTURE)
        return self._verdict(receipts, picture)

    def _table(self, steps: Mapping[str, list[dict[str, Any]]]) -> None:
        names = list(steps)
        self._say("")
        self._say(f"{'step':<44}" + "".join(f"{name:>12}" for name in names))
        for index, step in enumerate(PURCHASE):
            what = f"{step['action']} {step.get('selector') or step.get('text')}"
            times = "".join(f"{steps[name][index]['durationMs']:>9} ms" for name in names)
            self._say(f"{what:<44}{times}")
        self._say("")

    def _verdict(self, receipts: Mapping[str, Receipt], picture: Path) -> int:
        for name, receipt in receipts.items():
            self._say(f"{name:<8} {receipt.confirmation} {receipt.items}; delivery {receipt.delivery}, {receipt.total}")
        odd = differences(receipts)
        for name, told in odd.items():
            self._say(f"{name} differs: {'; '.join(told)}.")
        if not odd:
            self._say(f"Items, sums and confirmation agree on {', '.join(receipts)}.")
        self._say(f"screens {picture}")
        expected = [self._broken] if self._broken and len(receipts) > 1 else []
        complete = all(receipt.complete for receipt in receipts.values())
        return 0 if complete and [*odd] == expected else 1
