"""The driver of Appium's client, over our own connection."""

from __future__ import annotations

from typing import Any

import pytest
from appium.webdriver.mobilecommand import MobileCommand

from orchestrator.webdriver.app_driver import AppDriver, app_endpoints
from orchestrator.webdriver.remote import Remote
from tests.snapshot.native.phone import phone


class Sent:
    """Records the commands that are sent; each is answered with the same value."""

    def __init__(self, value: Any = None) -> None:
        self.commands: list[tuple[str, dict[str, Any]]] = []
        self.value = value

    def __call__(self, command: str, **params: Any) -> Any:
        """Record a command."""
        self.commands.append((command, params))
        return self.value


def test_the_driver_sends_what_both_drivers_of_appium_take() -> None:
    """Each call is one command with the arguments that Appium documents, and returns the value of its answer."""
    sent = Sent("aGk=")
    driver = AppDriver(sent)
    driver.orientation = "landscape"
    driver.set_location(48.2, 16.37, altitude=0)
    driver.set_clipboard_text("hi")
    assert driver.get_clipboard_text() == "hi"
    driver.press_keycode(3, None)
    driver.press_keycode(29, 1)
    assert driver.current_context == "aGk="
    script = "w3cExecuteScript"
    content = {"content": "aGk=", "contentType": "plaintext"}
    assert sent.commands == [
        (MobileCommand.SET_SCREEN_ORIENTATION, {"orientation": "LANDSCAPE"}),
        (MobileCommand.SET_LOCATION, {"location": {"latitude": 48.2, "longitude": 16.37, "altitude": 0}}),
        (script, {"script": "mobile: setClipboard", "args": [content]}),
        (script, {"script": "mobile: getClipboard", "args": [{"contentType": "plaintext"}]}),
        (script, {"script": "mobile: pressKey", "args": [{"keycode": 3}]}),
        (script, {"script": "mobile: pressKey", "args": [{"keycode": 29, "metastate": 1}]}),
        (MobileCommand.GET_CURRENT_CONTEXT, {}),
    ]


def test_the_clients_endpoints_are_known() -> None:
    """Names and paths are the client's."""
    endpoints = app_endpoints()
    assert endpoints[MobileCommand.SET_LOCATION] == ("POST", "/session/$sessionId/location")
    assert endpoints[MobileCommand.GET_CURRENT_CONTEXT] == ("GET", "/session/$sessionId/context")
    assert "goog" not in str(endpoints)


def test_a_remote_sends_commands_of_the_client_to_their_endpoints() -> None:
    """A command that selenium lacks goes to the client's endpoint; an unknown one is our own bug."""
    with phone() as server:
        server.elements["1"] = (0, 0, 1, 1), "android.view.View"
        remote = Remote(f"http://127.0.0.1:{server.server_port}", "1", name="a", timeout=60)
        AppDriver(remote.execute).set_location(48.2, 16.37, altitude=0)
        [(path, body)] = server.asked
        assert (path, body["location"]) == ("location", {"latitude": 48.2, "longitude": 16.37, "altitude": 0})
        with pytest.raises(KeyError):
            remote.execute("noSuchCommand")
        remote.close()
