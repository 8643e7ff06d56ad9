"""Dialogs that the remote end reports before it runs a command."""

from __future__ import annotations

from orchestrator.automation.scene import Scene
from tests.servers.scripted_webdriver import ScriptedWebDriver, W3CError


def test_a_beforeunload_dialog_that_chromedriver_left_open_is_accepted(scene: Scene, end: ScriptedWebDriver) -> None:
    """A command that chromedriver refuses for an open beforeunload dialog is sent again once that is accepted."""
    refused = W3CError("invalid argument", "invalid argument: Unexpected dialog type beforeunload")
    end.script("GET /title", refused, "There")
    end.script("POST /alert/accept", None)
    assert scene.remote.execute("getTitle") == "There"
    assert end.asked == ["GET /title", "POST /alert/accept", "GET /title"]
