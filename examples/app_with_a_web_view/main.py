"""A native app with a web view: one session signs in natively, then works in the page as in a browser.

The app is that of the tests, on a simulated phone behind a real Appium server. Run it after `make appium` with
`.venv/bin/python examples/app_with_a_web_view/main.py tests/servers/apps/pocket`.
"""

from __future__ import annotations

import sys

from orchestrator.demo.device_server import DeviceServer
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator


def main(app: str) -> None:
    """Sign in with taps, switch to the web view, order there, switch back."""
    with DeviceServer() as phones, Orchestrator(Settings.load({"appium_url": phones.url})) as orchestrator:
        phone = orchestrator.start_app_session("Android", app_path=app, device_name="Pixel 8")
        phone.set_value("~emailField", "ann@example.org")
        phone.set_value("~passwordField", "correct horse")
        phone.tap_element("~loginButton")
        phone.tap_element("role=button[name=Web view]")

        contexts = phone.switch_context().contexts
        print("Contexts:", [context.partition("_")[0] for context in contexts])
        phone.switch_context("WEBVIEW")
        phone.set_value("#what", "Tea")
        phone.click_element("#order-button")
        print("The page in the app says:", phone.get_text("#order").text)

        phone.switch_context("NATIVE_APP")
        phone.tap_element("role=button[name=Back]")
        print("Back in the app:", phone.get_visible_elements(roles=["heading"]).outline)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.stderr.write("Give the app's folder: tests/servers/apps/pocket in a checkout of this project.\n")
        sys.exit(2)
    main(sys.argv[1])
