"""The doctor's report on a machine: programs are small real executables in folders of the test's own."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from orchestrator.cli.doctor import browsers, environment
from orchestrator.cli.doctor.examine import examine
from orchestrator.cli.doctor.report import Finding, Report
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine
from orchestrator_providers.local import drivers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are shell scripts")

ALL = frozenset({"chrome", "chromium"})


class Bench:
    """A machine with only the programs that a test adds."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.home = folder / "home"
        self.environ = {"PATH": str(self.bin)}

    def program(self, name: str, says: str = "", *, script: str = "") -> Path:
        """Add a program that prints this text and ends."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script or f'echo {says!r}'}\n", "utf-8")
        path.chmod(0o700)
        return path

    def settings(self) -> Settings:
        """Settings of this machine."""
        return Settings(home=self.home)

    def machine(self) -> LocalMachine:
        """The examined machine."""
        return LocalMachine(self.environ, "linux", ())

    def browser(self, title: str) -> Finding:
        """Return the report on a browser."""
        section = browsers.browsers_section(self.machine(), self.settings(), ALL)
        return next(one for one in section.findings if one.name == title)

    def app(self, name: str) -> Finding:
        """Return the report on a program for apps."""
        return next(
            one for one in environment.apps_section(self.machine(), self.settings()).findings if one.name == name
        )

    def report(self) -> Report:
        """Return the whole report."""
        return examine(self.machine(), self.settings())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty machine."""
    return Bench(tmp_path)


def test_a_matching_browser_and_driver_are_ok_with_versions_and_paths(bench: Bench) -> None:
    """Versions and paths of browser and driver are reported, and a session can start."""
    chromium = bench.program("chromium", "Chromium 150.0.7000.12 built on Debian")
    driver = bench.program("chromedriver", "ChromeDriver 150.0.7000.99 (abc)")
    found = bench.browser("Chrome or Chromium")
    assert found.state == "ok"
    assert found.said == f"150.0.7000.12 ({chromium}), chromedriver 150.0.7000.99 ({driver})"
    assert bench.report().startable


def test_an_empty_machine_is_reported_with_an_install_command_for_each_program(bench: Bench) -> None:
    """Each missing program is reported with the command that installs it, and no session can start."""
    report = bench.report()
    assert not report.startable
    assert report.lines()[-1] == "No browser session can start."
    missing = {one.name: one.mend for section in report.sections for one in section.findings if one.state == "missing"}
    assert "orchestrator install browser, or " in missing["Chrome or Chromium"]
    assert missing["Chrome or Chromium"].endswith("apt-get install chromium chromium-driver")
    assert set(missing) >= {"Firefox", "Edge", "WebKitGTK", "Node", "Appium", "Java"}
    assert all(missing.values())


def test_the_install_command_uses_the_machines_package_manager(bench: Bench) -> None:
    """A machine with dnf is advised to install by dnf, not by apt-get."""
    bench.program("dnf")
    assert bench.browser("Chrome or Chromium").mend.endswith("dnf install chromium chromedriver")


def test_a_driver_of_another_major_version_is_wrong(bench: Bench) -> None:
    """A driver whose major version differs from its browser's is wrong, and no session can start."""
    bench.program("google-chrome", "Google Chrome 151.0.1.2")
    bench.program("chromedriver", "ChromeDriver 150.0.7000.99")
    found = bench.browser("Chrome or Chromium")
    assert found.state == "wrong"
    assert "the versions differ, so it will not start" in found.said
    assert "chromedriver@151" in found.mend
    assert not bench.report().startable


def test_a_browser_without_its_driver_is_missing_with_the_fitting_version_to_install(bench: Bench) -> None:
    """The missing driver is named, with the command that installs the version of the browser."""
    bench.program("chromium", "Chromium 150.0.7000.12")
    found = bench.browser("Chrome or Chromium")
    assert (found.state, found.said.endswith("and no chromedriver")) == ("missing", True)
    assert "chromedriver@150" in found.mend


def test_firefox_is_reported_ok_even_if_the_local_provider_does_not_start_it(bench: Bench) -> None:
    """Firefox that the provider does not offer is found with a note; offered, it alone is enough to start."""
    bench.program("firefox", "Mozilla Firefox 140.0.1")
    bench.program("geckodriver", "geckodriver 0.36.0 (abc)")
    found = bench.browser("Firefox")
    assert found.state == "ok"
    assert found.said.endswith("; the local provider does not start it")
    assert bench.report().startable


def test_webkitgtk_needs_xvfb_or_a_display(bench: Bench) -> None:
    """WebKitGTK's driver alone starts nothing; a display serves as well as Xvfb."""
    bench.program("WebKitWebDriver")
    found = bench.browser("WebKitGTK")
    assert (found.state, found.said.endswith("and no Xvfb: it has no mode without a window")) == ("missing", True)
    assert found.mend.endswith("apt-get install webkit2gtk-driver xvfb")
    assert not bench.report().startable
    bench.environ["DISPLAY"] = ":0"
    assert bench.browser("WebKitGTK").state == "ok"
    assert bench.report().startable


def test_a_snap_chromium_is_wrong_when_the_home_path_has_a_hidden_folder(bench: Bench) -> None:
    """A Chromium from snap starts only where the data folder's path has no hidden folder."""
    bench.program("chromium", script='[ -x /snap/bin/chromium ]; echo "Chromium 150.0.1.1 snap"')
    bench.program("chromedriver", "ChromeDriver 150.0.1.1")
    assert bench.browser("Chrome or Chromium").state == "ok"
    bench.home = bench.home / ".local" / "share"
    found = bench.browser("Chrome or Chromium")
    assert found.state == "wrong"
    assert "comes from snap and cannot see hidden folders" in found.said
    assert "ORCHESTRATOR_HOME" in found.mend


@pytest.fixture
def hanging(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose browser never answers, and a doctor that waits for it only briefly."""
    monkeypatch.setattr("orchestrator.cli.doctor.report._PATIENCE", 0.3)
    bench.program("chromium", script="exec /bin/sleep 600")
    return bench


def test_a_program_that_does_not_answer_is_reported_after_the_time_limit(hanging: Bench) -> None:
    """A program that hangs is waited for up to the limit, and reported as wrong."""
    found = hanging.browser("Chrome or Chromium")
    assert found.state == "wrong"
    assert "it did not answer within 0.3 s" in found.said


@pytest.mark.clock
def test_a_program_that_does_not_answer_is_not_waited_for_much_beyond_the_time_limit(hanging: Bench) -> None:
    """A program that hangs is given up soon after the limit of 0.3 s."""
    began = time.monotonic()
    hanging.browser("Chrome or Chromium")
    assert time.monotonic() - began < 10


def test_a_program_that_fails_is_reported_with_its_exit_code_and_stderr(bench: Bench) -> None:
    """The exit code and the error output of a failing program are in the report."""
    bench.program("node", script="echo 'bad libc' >&2; exit 3")
    assert bench.app("Node").said.endswith("it ended with 3: bad libc")


def test_a_wrong_binary_setting_is_to_be_corrected_and_not_reinstalled(bench: Bench) -> None:
    """A setting that names no program is to be corrected; the system's browser may be in order."""
    bench.program("chromedriver", "ChromeDriver 150.0.1.1")
    settings = Settings(home=bench.home, chrome_binary=bench.bin / "nowhere")
    found = browsers.browsers_section(bench.machine(), settings, ALL).findings[0]
    mend = "correct the setting chrome_binary, or remove it to let it be found"
    assert (found.state, found.mend) == ("wrong", mend)
    assert "it cannot be run (No such file or directory)" in found.said


def test_appium_is_reported_with_its_installed_and_missing_drivers(bench: Bench) -> None:
    """Node, Appium and Java are found, and each missing Appium driver is reported with its install command."""
    bench.program("node", "v22.1.0")
    bench.program("java", script="echo 'openjdk version \"21.0.2\" 2024-01-16' >&2")
    listed = '{"uiautomator2": {"version": "4.2.0", "installed": true}}'
    bench.program("appium", script=f"""[ "$1" = driver ] && echo '{listed}' || echo 3.1.0""")
    assert bench.app("Node").state == "ok"
    assert bench.app("Appium").said.startswith("3.1.0 (")
    assert bench.app("Java").said.startswith("21.0.2 (")
    assert bench.app("Appium driver uiautomator2") == Finding("Appium driver uiautomator2", "ok", "4.2.0")
    assert bench.app("Appium driver xcuitest").mend == "appium driver install xcuitest"


def test_an_appium_script_and_renamed_appium_drivers_are_recognised(bench: Bench) -> None:
    """The setting may name the package's script, and a driver counts by its automationName, not by its name."""
    listed = '{"sim-xcuitest": {"version": "0.1.0", "automationName": "XCUITest"}}'
    bench.program("node", script=f"""[ "$2" = driver ] && echo '{listed}' || echo v22.1.0""")
    settings = Settings(home=bench.home, appium=bench.bin / "index.js", appium_url="http://u:p@127.0.0.1:1")
    found = {one.name: one for one in environment.apps_section(bench.machine(), settings).findings}
    assert found["Appium"].said == f"22.1.0 ({bench.bin / 'index.js'})"
    assert found["Appium driver xcuitest"].said == "0.1.0 (sim-xcuitest)"
    assert found["Appium server"].said == "none answers at http://127.0.0.1:1; one is started for each session"


def test_a_node_too_old_for_appium_is_reported(bench: Bench) -> None:
    """The report of an old Node gives the version that Appium needs."""
    bench.program("node", "v18.20.1")
    assert "Appium needs 20.19 or newer" in bench.app("Node").said


def test_credentials_are_reported_by_name_and_never_by_value(bench: Bench) -> None:
    """Credentials are reported as set, half set or not set; no value is in any line or data."""
    bench.environ |= {
        "BROWSERSTACK_USERNAME": "ann",
        "BROWSERSTACK_ACCESS_KEY": "hunter2-hunter2",
        "SAUCE_USERNAME": "ann-sauce",
    }
    found = {one.name: one for one in environment.credentials_section(bench.environ).findings}
    assert found["BrowserStack"].said == "BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY are set"
    assert (found["Sauce Labs"].state, found["Sauce Labs"].mend) == ("wrong", "export SAUCE_ACCESS_KEY=…")
    assert found["TestingBot"].said.endswith("are not set")
    report = bench.report()
    assert "hunter2" not in f"{report.lines()} {report.data()}"
    assert "ann-sauce" not in f"{report.lines()} {report.data()}"


def test_a_data_folder_that_others_can_read_is_wrong(bench: Bench) -> None:
    """The data folder's mode is reported with the command that corrects it; sessions start all the same."""
    bench.home.mkdir(mode=0o700)
    assert _folder(bench).said == f"{bench.home} (mode 0700)"
    bench.home.chmod(0o755)
    found = _folder(bench)
    assert (found.state, found.mend, found.starts) == ("wrong", f"chmod 700 {bench.home}", True)


def test_no_session_can_start_when_the_data_folder_cannot_be_written(bench: Bench) -> None:
    """A data folder that cannot be written is wrong and prevents every start."""
    bench.program("chromium", "Chromium 150.0.7000.12")
    bench.program("chromedriver", "ChromeDriver 150.0.7000.99")
    settings = bench.settings()
    bench.home.write_text("a file", "utf-8")
    assert _folder(bench).state == "wrong"
    assert not examine(bench.machine(), settings).startable


def test_the_doctor_does_not_create_the_data_folder(bench: Bench) -> None:
    """The doctor does not create a missing data folder."""
    assert _folder(bench).said.endswith("created at the first start")
    bench.report()
    assert not bench.home.exists()


def test_the_doctor_finds_the_browser_and_driver_that_a_start_would_use(bench: Bench) -> None:
    """The doctor reports the browser and driver that the local provider would use on this machine."""
    here, provider = LocalMachine.this(), drivers.DriverFinder.this()
    browser = provider.browser("chrome")
    assert browser is not None
    assert set(browsers.programs(here, bench.settings())) >= {browser, provider.driver(browser)}
    assert examine(here, bench.settings()).startable


def _folder(bench: Bench) -> Finding:
    return next(one for one in environment.installation_section(bench.home).findings if one.name == "Data folder")
