"""Local programs and requests of the Appium provider; programs are small real executables."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from appium.options.android import UiAutomator2Options as AndroidOptions
from appium.options.ios import XCUITestOptions as IosOptions

from orchestrator.errors import StartFailed
from orchestrator.models.session import SessionType
from orchestrator.provider import SessionOptions
from orchestrator.system import machine
from orchestrator_providers.appium.options import AppiumOptions, UiAutomator2Options, XcuitestOptions
from orchestrator_providers.appium.provider import AppiumProvider
from orchestrator_providers.capabilities import _AS_REQUESTED, app_capabilities
from tests.providers.conftest import Begin, RealStart
from tests.servers.ports import free_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are shell scripts")

Put = Callable[[str, str], Path]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Put a program on a machine without others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(machine, "_USUAL", {})
    for name in ("APPIUM_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT"):
        monkeypatch.delenv(name, raising=False)

    def put(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o700)
        return path

    return put


@pytest.fixture
def app(begin: Begin) -> Callable[..., RealStart]:
    """Begin a start of an app where no Appium server answers."""

    def app(settings: dict[str, Any] | None = None, **request: Any) -> RealStart:
        nobody = {"appium_url": f"http://localhost:{free_port()}", **(settings or {})}
        start = begin(nobody, **{"type": SessionType.ANDROID, **request})
        start.options = AppiumOptions.model_validate(start.request.options)
        return start

    return app


def refusal(start: RealStart) -> str:
    """Return the start's error."""
    with pytest.raises(StartFailed) as error:
        AppiumProvider().endpoint(start)
    return str(error.value)


def test_a_missing_appium_is_reported_with_what_to_install(put: Put, app: Callable[..., RealStart]) -> None:
    """The error names Appium, the platform's driver, and Node for an Appium that is a script."""
    said = refusal(app(type=SessionType.IOS))
    assert re.match(
        r"No Appium server answers at http://localhost:\d+, and Appium was not found on this machine\.", said
    )
    assert "Node 20.19 or newer: npm install -g appium, then: appium driver install xcuitest;" in said
    assert "Setting appium names /no/appium, which does not exist." in refusal(app({"appium": "/no/appium"}))
    script = put("appium.js", "")
    assert "Appium needs Node, which was not found on this machine." in refusal(app({"appium": str(script)}))


def test_an_appium_that_exits_at_once_is_reported_with_its_output(put: Put, app: Callable[..., RealStart]) -> None:
    """The error quotes Appium's output; adb's server was started before, outside of the session."""
    notes = put("adb", 'echo "$* ${ORCHESTRATOR_FOLDER:-free}" >"$0.called"').with_name("adb.called")
    put("appium", "echo 'Fatal: no such schema'; exit 1")
    start = app()
    assert "Appium ended at once: Fatal: no such schema. Run it by hand" in refusal(start)
    assert notes.read_text("utf-8") == "start-server free\n"


def test_starting_appium_is_retried_when_its_port_is_taken(put: Put, app: Callable[..., RealStart]) -> None:
    """Appium is started up to three times if another program takes its port."""
    put("appium", 'echo "$6" >>"$0.ports"; echo EADDRINUSE; exit 1')
    start = app()
    assert "EADDRINUSE" in refusal(start)
    ports = (start.folder().parents[2] / "bin" / "appium.ports").read_text("utf-8").split()
    assert len(ports) == 3


def test_appium_options_are_named_like_the_drivers_capabilities() -> None:
    """Options have the names of the drivers' documentation, and no own option is defined for both drivers."""
    assert XcuitestOptions.model_fields["use_prebuilt_wda"].alias == "usePrebuiltWDA"
    options = AppiumOptions.model_validate(
        {"usePrebuiltWDA": True, "language": "de", "idleTimeout": "1h", "strict": True}
    )
    assert options.capabilities(SessionType.IOS) == {"usePrebuiltWDA": True, "language": "de"}
    own = {*XcuitestOptions.model_fields} & {*UiAutomator2Options.model_fields}
    assert own == {*SessionOptions.model_fields}


def test_requested_fields_are_options_of_appiums_client() -> None:
    """A field that is passed to the client's options by its name is one of them: any other would be lost there."""
    known = {name for driver in (IosOptions, AndroidOptions) for name in dir(driver)}
    assert {*_AS_REQUESTED} - known == set()


def test_app_capabilities_are_those_that_appium_documents(app: Callable[..., RealStart]) -> None:
    """Names, prefixes and the driver are right for both platforms, and nothing unrequested is sent."""
    android = app_capabilities(app(app_package="org.example", no_reset=True, new_command_timeout=0))
    assert android == {
        "platformName": "Android",
        "appium:automationName": "UiAutomator2",
        "appium:autoGrantPermissions": True,
        "appium:newCommandTimeout": 0,
        "appium:appPackage": "org.example",
        "appium:noReset": True,
    }
    ios = app_capabilities(app(type=SessionType.IOS, browser_name="safari", udid="1"), {"wdaLocalPort": 8100})
    assert ios.pop("appium:newCommandTimeout") > 60
    assert ios == {
        "platformName": "iOS",
        "browserName": "Safari",
        "appium:automationName": "XCUITest",
        "appium:settings": {"respectSystemAlerts": True},
        "appium:udid": "1",
        "appium:wdaLocalPort": 8100,
    }
    assert app_capabilities(app(automation_name="Espresso"))["appium:automationName"] == "Espresso"
