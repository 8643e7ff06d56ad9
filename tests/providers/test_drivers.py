"""Browsers and drivers are found at their usual places on each system, and missing ones are reported."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import StartFailed
from orchestrator.system import machine
from orchestrator_providers.local import drivers
from orchestrator_providers.local.drivers import DriverFinder

if TYPE_CHECKING:
    from .conftest import Begin

posix = pytest.mark.skipif(sys.platform == "win32", reason="programs are files with a mode")


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """Add a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o700)
    return path


def linux(*folders: Path, **environ: str) -> DriverFinder:
    """A Linux with only these folders on PATH."""
    return DriverFinder({"PATH": ":".join(map(str, folders)), **environ}, "linux", ())


def test_chrome_and_its_driver_are_found_on_this_machine(begin: Begin) -> None:
    """Every machine that runs these tests has a browser and a driver."""
    found = DriverFinder.this().find("chrome", begin())
    assert found.browser is not None
    assert found.browser.is_file()
    assert found.driver.is_file()


@posix
def test_chrome_is_preferred_and_chromium_is_its_substitute(tmp_path: Path) -> None:
    """Chrome wins in any order of folders, Chromium stands in for it, and Chrome never for Chromium."""
    chromium = program(tmp_path / "one" / "chromium")
    machine = linux(tmp_path / "one", tmp_path / "two")
    assert machine.browser("chrome") == chromium
    chrome = program(tmp_path / "two" / "google-chrome")
    assert machine.browser("chrome") == chrome
    assert machine.browser("chromium") == chromium


@posix
def test_usual_folders_are_searched_after_path(tmp_path: Path) -> None:
    """Some hosts start a server with a minimal PATH, or none."""
    usual = program(tmp_path / "usual" / "chromium")
    machine = DriverFinder({}, "linux", (str(tmp_path / "usual"),))
    assert machine.browser("chrome") == usual
    first = program(tmp_path / "path" / "chromium")
    assert DriverFinder({"PATH": str(tmp_path / "path")}, "linux", machine.usual).browser("chrome") == first


@posix
def test_the_working_folder_is_never_searched_for_browsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloned repository must not choose the program to run, even with `.` on PATH."""
    program(tmp_path / "chromium")
    monkeypatch.chdir(tmp_path)
    assert DriverFinder({"PATH": ".::bin"}, "linux", ()).browser("chrome") is None


@posix
def test_a_folder_or_a_file_that_is_not_executable_is_no_browser(tmp_path: Path) -> None:
    """A folder of a browser's name, and a file without the right to execute, are passed over."""
    (tmp_path / "one" / "chromium").mkdir(parents=True)
    program(tmp_path / "two" / "chromium").chmod(0o600)
    right = program(tmp_path / "three" / "chromium")
    assert linux(*(tmp_path / name for name in ("one", "two", "three"))).browser("chrome") == right


@posix
def test_a_driver_beside_the_browser_comes_first(tmp_path: Path) -> None:
    """A chromedriver in the browser's own folder is most likely of its version."""
    other = program(tmp_path / "path" / "chromedriver")
    browser = program(tmp_path / "opt" / "chromium")
    machine = linux(tmp_path / "path")
    assert machine.driver(browser) == other
    beside = program(tmp_path / "opt" / "chromedriver")
    assert machine.driver(browser) == beside


@posix
def test_browsers_outside_path_are_found_on_macos_and_windows(tmp_path: Path) -> None:
    """Browsers are off PATH on macOS and Windows."""
    mac = program(tmp_path / "Applications" / "Google Chrome.app" / "Contents" / "MacOS" / "Google Chrome")
    assert DriverFinder({"HOME": str(tmp_path)}, "darwin", ()).browser("chrome") == mac
    windows = program(tmp_path / "Google" / "Chrome" / "Application" / "chrome.exe")
    assert DriverFinder({"LOCALAPPDATA": str(tmp_path)}, "win32", ()).browser("chrome") == windows
    driver = program(tmp_path / "bin" / "chromedriver.exe")
    assert DriverFinder({"PATH": str(tmp_path / "bin")}, "win32", ()).driver(None) == driver


@pytest.mark.parametrize("setting", ["chrome_binary", "chromedriver"])
def test_a_binary_setting_that_names_no_file_is_reported(begin: Begin, tmp_path: Path, setting: str) -> None:
    """A setting that names no file is not silently replaced by an installed program."""
    start = begin({setting: tmp_path / "nothing"})
    with pytest.raises(StartFailed) as caught:
        DriverFinder.this().find("chrome", start)
    assert str(caught.value) == (
        f"Setting {setting} names {tmp_path / 'nothing'}, which does not exist. Correct {setting} "
        f"(ORCHESTRATOR_{setting.upper()}), or remove it to use an installed one."
    )


@posix
def test_binary_settings_come_before_installed_browsers(begin: Begin, tmp_path: Path) -> None:
    """Browser and driver of the settings have priority over installed ones."""
    browser, driver = program(tmp_path / "my-chrome"), program(tmp_path / "my-driver")
    found = DriverFinder.this().find("chrome", begin({"chrome_binary": browser, "chromedriver": driver}))
    assert found == drivers.BrowserAndDriver(browser, driver)


def test_a_missing_chromium_is_reported_with_install_advice(begin: Begin) -> None:
    """Selenium Manager fetches no Chromium, so it is not asked; the advice depends on the system."""
    start = begin()
    for system, word in {
        "linux": "apt-get",
        "darwin": "brew",
        "win32": "winget",
        "freebsd": "install Chrome or Chromium",
    }.items():
        with pytest.raises(StartFailed, match=r"Chromium was not found\.") as caught:
            DriverFinder({}, system, ()).find("chromium", start)
        assert word in caught.value.hint
        assert "chrome_binary and chromedriver" in caught.value.hint
        assert re.match(r"Run: \S*orchestrator install browser\. Or install ", caught.value.hint)
    assert start.processes == []


@posix
def test_selenium_manager_is_asked_when_no_browser_is_found(begin: Begin) -> None:
    """Selenium Manager, kept off the network, finds the machine's browser."""
    start = begin()
    found = DriverFinder({"SE_OFFLINE": "true"}, sys.platform, ()).find("chrome", start)
    assert found.browser is not None
    assert found.browser.is_file()
    assert found.driver.is_file()
    assert [process.name for process in start.processes] == ["selenium-manager"]


@posix
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('echo \'{"logs": [], "result": {"code": 65, "message": "no network", "driver_path": ""}}\'', ": no network."),
        ('echo \'{"result": {"code": 0, "message": "", "driver_path": "/gone"}}\'', "did not fetch it."),
        ("echo 'cannot execute binary file' >&2; exit 126", ": cannot execute binary file."),
    ],
)
def test_a_selenium_manager_failure_is_reported_with_install_advice(
    begin: Begin, tmp_path: Path, answer: str, reason: str
) -> None:
    """The error has Selenium Manager's reason, and the program to install."""
    manager = program(tmp_path / "manager", f"#!/bin/sh\n{answer}\n")
    with pytest.raises(StartFailed) as caught:
        linux(SE_MANAGER_PATH=str(manager)).find("chrome", begin())
    assert caught.value.message.startswith("Chrome or Chromium was not found, and Selenium Manager did not fetch it")
    assert caught.value.message.endswith(reason)
    assert "apt-get install chromium chromium-driver" in caught.value.hint


@posix
def test_a_snap_browser_is_recognised_by_folder_or_wrapper_script(tmp_path: Path) -> None:
    """A snap is recognised by its folder, and behind Ubuntu's script."""
    assert machine.is_snap(Path("/snap/bin/chromium"))
    assert machine.is_snap(program(tmp_path / "chromium-browser", '#!/bin/sh\nexec /snap/bin/chromium "$@"\n'))
    assert not machine.is_snap(program(tmp_path / "chromium", "#!/bin/sh\nexec /usr/lib/chromium/chromium\n"))
    assert not machine.is_snap(tmp_path / "nothing")
