"""What the Appium provider starts on this machine and asks for; programs are real small executables."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator import machine
from orchestrator.errors import StartFailed
from orchestrator.models import SessionType
from orchestrator.provider import SessionOptions
from orchestrator_providers.appium import AppiumProvider
from orchestrator_providers.appium_options import AppiumOptions, UiAutomator2Options, XcuitestOptions
from tests.ports import free_port
from tests.providers.conftest import Begin, RealStart

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are shell scripts")

Put = Callable[[str, str], Path]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Put a program on a machine that has no other."""
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
    """Why it does not start."""
    with pytest.raises(StartFailed) as error:
        AppiumProvider().endpoint(start)
    return str(error.value)


def test_without_appium_it_says_what_to_install(put: Put, app: Callable[..., RealStart]) -> None:
    """Appium, the platform's driver, and Node for an Appium that is a script."""
    said = refusal(app(type=SessionType.IOS))
    assert re.match(
        r"No Appium server answers at http://localhost:\d+, and Appium was not found on this machine\.", said
    )
    assert "Node 20.19 or newer: npm install -g appium, then: appium driver install xcuitest;" in said
    assert "Setting appium names /no/appium, which is not there." in refusal(app({"appium": "/no/appium"}))
    script = put("appium.js", "")
    assert "Appium needs Node, which was not found on this machine." in refusal(app({"appium": str(script)}))


def test_an_appium_that_ends_is_told_with_its_last_words(put: Put, app: Callable[..., RealStart]) -> None:
    """As for any driver; and adb's server was started before, as nobody's of ours."""
    notes = put("adb", 'echo "$* ${ORCHESTRATOR_FOLDER:-free}" >"$0.called"').with_name("adb.called")
    put("appium", "echo 'Fatal: no such schema'; exit 1")
    start = app()
    assert "Appium ended at once: Fatal: no such schema. Run it by hand" in refusal(start)
    assert notes.read_text("utf-8") == "start-server free\n"


def test_a_port_that_is_taken_is_tried_again(put: Put, app: Callable[..., RealStart]) -> None:
    """Appium cannot be asked to choose one: another program may be faster."""
    put("appium", 'echo "$6" >>"$0.ports"; echo EADDRINUSE; exit 1')
    start = app()
    assert "EADDRINUSE" in refusal(start)
    ports = (start.folder().parents[2] / "bin" / "appium.ports").read_text("utf-8").split()
    assert len(ports) == 3


def test_the_options_are_capabilities_of_the_drivers() -> None:
    """Each has the name that the driver's documentation has, and none is of both drivers and different."""
    assert XcuitestOptions.model_fields["use_prebuilt_wda"].alias == "usePrebuiltWDA"
    options = AppiumOptions.model_validate(
        {"usePrebuiltWDA": True, "language": "de", "idleTimeout": "1h", "strict": True}
    )
    assert options.capabilities(SessionType.IOS) == {"appium:usePrebuiltWDA": True, "appium:language": "de"}
    own = {*XcuitestOptions.model_fields} & {*UiAutomator2Options.model_fields}
    assert own == {*SessionOptions.model_fields}
