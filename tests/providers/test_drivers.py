"""Browsers and drivers are found wherever this system keeps them, and what is missing is said."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import machine
from orchestrator.errors import StartFailed
from orchestrator_providers import drivers
from orchestrator_providers.drivers import Machine

if TYPE_CHECKING:
    from .conftest import Begin

posix = pytest.mark.skipif(sys.platform == "win32", reason="programs are files with a mode")


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """Put a program there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o700)
    return path


def linux(*folders: Path, **environ: str) -> Machine:
    """A Linux with only these folders on PATH."""
    return Machine({"PATH": ":".join(map(str, folders)), **environ}, "linux", ())


def test_this_machine_has_both(begin: Begin) -> None:
    """As every machine that runs these tests."""
    found = Machine.this().find("chrome", begin())
    assert found.browser is not None
    assert found.browser.is_file()
    assert found.driver.is_file()


@posix
def test_chrome_comes_before_chromium_which_serves_for_it(tmp_path: Path) -> None:
    """Whatever the order of the folders; who asks for Chromium gets no Chrome."""
    chromium = program(tmp_path / "one" / "chromium")
    machine = linux(tmp_path / "one", tmp_path / "two")
    assert machine.browser("chrome") == chromium
    chrome = program(tmp_path / "two" / "google-chrome")
    assert machine.browser("chrome") == chrome
    assert machine.browser("chromium") == chromium


@posix
def test_usual_folders_are_searched_after_path(tmp_path: Path) -> None:
    """Some hosts start a server with next to no PATH, or none."""
    usual = program(tmp_path / "usual" / "chromium")
    machine = Machine({}, "linux", (str(tmp_path / "usual"),))
    assert machine.browser("chrome") == usual
    first = program(tmp_path / "path" / "chromium")
    assert Machine({"PATH": str(tmp_path / "path")}, "linux", machine.usual).browser("chrome") == first


@posix
def test_working_folder_is_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloned repository must not choose what is run, even with `.` on PATH."""
    program(tmp_path / "chromium")
    monkeypatch.chdir(tmp_path)
    assert Machine({"PATH": ".::bin"}, "linux", ()).browser("chrome") is None


@posix
def test_what_cannot_be_run_is_passed_over(tmp_path: Path) -> None:
    """A folder of that name, and a file without the right to execute."""
    (tmp_path / "one" / "chromium").mkdir(parents=True)
    program(tmp_path / "two" / "chromium").chmod(0o600)
    right = program(tmp_path / "three" / "chromium")
    assert linux(*(tmp_path / name for name in ("one", "two", "three"))).browser("chrome") == right


@posix
def test_driver_beside_the_browser_comes_first(tmp_path: Path) -> None:
    """It is most likely of its version."""
    other = program(tmp_path / "path" / "chromedriver")
    browser = program(tmp_path / "opt" / "chromium")
    machine = linux(tmp_path / "path")
    assert machine.driver(browser) == other
    beside = program(tmp_path / "opt" / "chromedriver")
    assert machine.driver(browser) == beside


@posix
def test_installed_applications_are_found(tmp_path: Path) -> None:
    """Browsers are off PATH on macOS and Windows."""
    mac = program(tmp_path / "Applications" / "Google Chrome.app" / "Contents" / "MacOS" / "Google Chrome")
    assert Machine({"HOME": str(tmp_path)}, "darwin", ()).browser("chrome") == mac
    windows = program(tmp_path / "Google" / "Chrome" / "Application" / "chrome.exe")
    assert Machine({"LOCALAPPDATA": str(tmp_path)}, "win32", ()).browser("chrome") == windows
    driver = program(tmp_path / "bin" / "chromedriver.exe")
    assert Machine({"PATH": str(tmp_path / "bin")}, "win32", ()).driver(None) == driver


@pytest.mark.parametrize("setting", ["chrome_binary", "chromedriver"])
def test_setting_that_leads_nowhere_is_named(begin: Begin, tmp_path: Path, setting: str) -> None:
    """It is not silently replaced by what is installed."""
    start = begin({setting: tmp_path / "nothing"})
    with pytest.raises(StartFailed) as caught:
        Machine.this().find("chrome", start)
    assert str(caught.value) == (
        f"Setting {setting} names {tmp_path / 'nothing'}, which is not there. Correct {setting} "
        f"(ORCHESTRATOR_{setting.upper()}), or remove it to let it be found."
    )


@posix
def test_settings_come_first(begin: Begin, tmp_path: Path) -> None:
    """Before anything that is installed."""
    browser, driver = program(tmp_path / "my-chrome"), program(tmp_path / "my-driver")
    found = Machine.this().find("chrome", begin({"chrome_binary": browser, "chromedriver": driver}))
    assert found == drivers.Found(browser, driver)


def test_chromium_that_is_missing(begin: Begin) -> None:
    """Selenium Manager fetches no Chromium, so it is not asked; how to install it depends on the system."""
    start = begin()
    for system, word in {"linux": "apt-get", "darwin": "brew", "win32": "winget", "freebsd": "Install"}.items():
        with pytest.raises(StartFailed, match=r"Chromium was not found\.") as caught:
            Machine({}, system, ()).find("chromium", start)
        assert word in caught.value.hint
        assert "chrome_binary and chromedriver" in caught.value.hint
    assert start.processes == []


@posix
def test_selenium_manager_is_the_last_resort(begin: Begin) -> None:
    """The real one, kept off the network: it finds what this machine has."""
    start = begin()
    found = Machine({"SE_OFFLINE": "true"}, sys.platform, ()).find("chrome", start)
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
def test_selenium_manager_that_cannot_help(begin: Begin, tmp_path: Path, answer: str, reason: str) -> None:
    """Offline, or broken: its reason, and what to install."""
    manager = program(tmp_path / "manager", f"#!/bin/sh\n{answer}\n")
    with pytest.raises(StartFailed) as caught:
        linux(SE_MANAGER_PATH=str(manager)).find("chrome", begin())
    assert caught.value.message.startswith("Chrome or Chromium was not found, and Selenium Manager did not fetch it")
    assert caught.value.message.endswith(reason)
    assert "apt-get install chromium chromium-driver" in caught.value.hint


@posix
def test_snap_is_seen(tmp_path: Path) -> None:
    """By its folder, and behind Ubuntu's script."""
    assert machine.is_snap(Path("/snap/bin/chromium"))
    assert machine.is_snap(program(tmp_path / "chromium-browser", '#!/bin/sh\nexec /snap/bin/chromium "$@"\n'))
    assert not machine.is_snap(program(tmp_path / "chromium", "#!/bin/sh\nexec /usr/lib/chromium/chromium\n"))
    assert not machine.is_snap(tmp_path / "nothing")


@pytest.mark.skipif(sys.platform != "linux", reason="Chromium's sandbox works for root everywhere else")
def test_sandbox_is_given_up_only_for_a_reason() -> None:
    """Root and containers."""
    import os  # noqa: PLC0415 - only Linux has geteuid here

    contained = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    expected = "running as root" if os.geteuid() == 0 else "inside a container" if contained else None
    assert machine.unsandboxed({}) == expected
