"""What the doctor says of a machine: programs are real small executables in folders of the test's own."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from orchestrator import machine as system
from orchestrator.doctor import browsers, surroundings
from orchestrator.doctor.examine import examine
from orchestrator.doctor.report import Finding, Report
from orchestrator.machine import Machine
from orchestrator.settings import Settings
from orchestrator_providers import drivers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are shell scripts")

ALL = frozenset({"chrome", "chromium"})


class Bench:
    """A machine that has only what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.home = folder / "home"
        self.environ = {"PATH": str(self.bin)}

    def program(self, name: str, says: str = "", *, script: str = "") -> Path:
        """Put a program there that says this and ends."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script or f'echo {says!r}'}\n", "utf-8")
        path.chmod(0o700)
        return path

    def settings(self) -> Settings:
        """Settings of this machine."""
        return Settings(home=self.home)

    def machine(self) -> Machine:
        """The machine as it is looked at."""
        return Machine(self.environ, "linux", ())

    def browser(self, title: str) -> Finding:
        """What is said of a browser."""
        section = browsers.section(self.machine(), self.settings(), ALL)
        return next(one for one in section.findings if one.name == title)

    def app(self, name: str) -> Finding:
        """What is said of a program for apps."""
        return next(one for one in surroundings.apps(self.machine(), self.settings()).findings if one.name == name)

    def report(self) -> Report:
        """All of it."""
        return examine(self.machine(), self.settings())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty machine."""
    return Bench(tmp_path)


def test_a_browser_and_its_driver_that_fit(bench: Bench) -> None:
    """Both versions and places are told, and a session can start."""
    chromium = bench.program("chromium", "Chromium 150.0.7000.12 built on Debian")
    driver = bench.program("chromedriver", "ChromeDriver 150.0.7000.99 (abc)")
    found = bench.browser("Chrome or Chromium")
    assert found.state == "ok"
    assert found.said == f"150.0.7000.12 ({chromium}), chromedriver 150.0.7000.99 ({driver})"
    assert bench.report().startable


def test_nothing_is_there(bench: Bench) -> None:
    """Each thing that is missing is said with the command that gets it, and no session can start."""
    report = bench.report()
    assert not report.startable
    assert report.lines()[-1] == "No browser session can start."
    missing = {one.name: one.mend for section in report.sections for one in section.findings if one.state == "missing"}
    assert missing["Chrome or Chromium"].endswith("apt-get install chromium chromium-driver")
    assert set(missing) >= {"Firefox", "Edge", "WebKitGTK", "Node", "Appium", "Java"}
    assert all(missing.values())


def test_the_command_is_that_of_the_package_manager_here(bench: Bench) -> None:
    """On Fedora nobody has apt-get."""
    bench.program("dnf")
    assert bench.browser("Chrome or Chromium").mend.endswith("dnf install chromium chromedriver")


def test_a_driver_of_another_version_is_wrong(bench: Bench) -> None:
    """It would be refused at the start; the major version decides."""
    bench.program("google-chrome", "Google Chrome 151.0.1.2")
    bench.program("chromedriver", "ChromeDriver 150.0.7000.99")
    found = bench.browser("Chrome or Chromium")
    assert found.state == "wrong"
    assert "the versions differ, so it will not start" in found.said
    assert "chromedriver@151" in found.mend
    assert not bench.report().startable


def test_a_browser_without_its_driver(bench: Bench) -> None:
    """The driver is named, and how to get the one of this version."""
    bench.program("chromium", "Chromium 150.0.7000.12")
    found = bench.browser("Chrome or Chromium")
    assert (found.state, found.said.endswith("and no chromedriver")) == ("missing", True)
    assert "chromedriver@150" in found.mend


def test_firefox_is_found_where_it_is_not_offered(bench: Bench) -> None:
    """That the local provider does not start a browser is said; it does start Firefox, which alone is enough."""
    bench.program("firefox", "Mozilla Firefox 140.0.1")
    bench.program("geckodriver", "geckodriver 0.36.0 (abc)")
    found = bench.browser("Firefox")
    assert found.state == "ok"
    assert found.said.endswith("; the local provider does not start it")
    assert bench.report().startable


def test_webkitgtk_needs_a_screen(bench: Bench) -> None:
    """Without one its driver alone starts nothing; a display is as good as Xvfb."""
    bench.program("WebKitWebDriver")
    found = bench.browser("WebKitGTK")
    assert (found.state, found.said.endswith("and no Xvfb: it has no mode without a window")) == ("missing", True)
    assert found.mend.endswith("apt-get install webkit2gtk-driver xvfb")
    assert not bench.report().startable
    bench.environ["DISPLAY"] = ":0"
    assert bench.browser("WebKitGTK").state == "ok"
    assert bench.report().startable


def test_a_chromium_from_snap_cannot_see_a_hidden_home(bench: Bench) -> None:
    """It starts only where home has no hidden folder in its path."""
    bench.program("chromium", script='[ -x /snap/bin/chromium ]; echo "Chromium 150.0.1.1 snap"')
    bench.program("chromedriver", "ChromeDriver 150.0.1.1")
    assert bench.browser("Chrome or Chromium").state == "ok"
    bench.home = bench.home / ".local" / "share"
    found = bench.browser("Chrome or Chromium")
    assert found.state == "wrong"
    assert "comes from snap and cannot see hidden folders" in found.said
    assert "ORCHESTRATOR_HOME" in found.mend


def test_a_program_that_does_not_answer_is_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it longer than the limit."""
    monkeypatch.setattr("orchestrator.doctor.report._PATIENCE", 0.3)
    bench.program("chromium", script="exec /bin/sleep 30")
    began = time.monotonic()
    found = bench.browser("Chrome or Chromium")
    assert time.monotonic() - began < 10
    assert found.state == "wrong"
    assert "it did not answer within 0.3 s" in found.said


def test_a_program_that_fails_is_told(bench: Bench) -> None:
    """With its own words."""
    bench.program("node", script="echo 'bad libc' >&2; exit 3")
    assert bench.app("Node").said.endswith("it ended with 3: bad libc")


def test_a_program_that_a_setting_names_is_not_reinstalled(bench: Bench) -> None:
    """It is the setting that is wrong; the browser of the system may be in order."""
    bench.program("chromedriver", "ChromeDriver 150.0.1.1")
    settings = Settings(home=bench.home, chrome_binary=bench.bin / "nowhere")
    found = browsers.section(bench.machine(), settings, ALL).findings[0]
    mend = "correct the setting chrome_binary, or remove it to let it be found"
    assert (found.state, found.mend) == ("wrong", mend)
    assert "it cannot be run (No such file or directory)" in found.said


def test_appium_and_its_drivers(bench: Bench) -> None:
    """Node has the right age, and each driver that is missing is said with its command."""
    bench.program("node", "v22.1.0")
    bench.program("java", script="echo 'openjdk version \"21.0.2\" 2024-01-16' >&2")
    listed = '{"uiautomator2": {"version": "4.2.0", "installed": true}}'
    bench.program("appium", script=f"""[ "$1" = driver ] && echo '{listed}' || echo 3.1.0""")
    assert bench.app("Node").state == "ok"
    assert bench.app("Appium").said.startswith("3.1.0 (")
    assert bench.app("Java").said.startswith("21.0.2 (")
    assert bench.app("Appium driver uiautomator2") == Finding("Appium driver uiautomator2", "ok", "4.2.0")
    assert bench.app("Appium driver xcuitest").mend == "appium driver install xcuitest"


def test_an_appium_of_ones_own(bench: Bench) -> None:
    """The setting may name the package's script, and a driver serves by its automationName, whatever it is called."""
    listed = '{"sim-xcuitest": {"version": "0.1.0", "automationName": "XCUITest"}}'
    bench.program("node", script=f"""[ "$2" = driver ] && echo '{listed}' || echo v22.1.0""")
    settings = Settings(home=bench.home, appium=bench.bin / "index.js", appium_url="http://u:p@127.0.0.1:1")
    found = {one.name: one for one in surroundings.apps(bench.machine(), settings).findings}
    assert found["Appium"].said == f"22.1.0 ({bench.bin / 'index.js'})"
    assert found["Appium driver xcuitest"].said == "0.1.0 (sim-xcuitest)"
    assert found["Appium server"].said == "none answers at http://127.0.0.1:1; one is started for each session"


def test_an_old_node_is_wrong(bench: Bench) -> None:
    """Appium would say so later, and in more words."""
    bench.program("node", "v18.20.1")
    assert "Appium needs 20.19 or newer" in bench.app("Node").said


def test_credentials_are_told_by_name_alone(bench: Bench) -> None:
    """Set, half set, not set; a value is in no line and in no data."""
    bench.environ |= {
        "BROWSERSTACK_USERNAME": "ann",
        "BROWSERSTACK_ACCESS_KEY": "hunter2-hunter2",
        "SAUCE_USERNAME": "ann-sauce",
    }
    found = {one.name: one for one in surroundings.credentials(bench.environ).findings}
    assert found["BrowserStack"].said == "BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY are set"
    assert (found["Sauce Labs"].state, found["Sauce Labs"].mend) == ("wrong", "export SAUCE_ACCESS_KEY=…")
    assert found["TestingBot"].said.endswith("are not set")
    report = bench.report()
    assert "hunter2" not in f"{report.lines()} {report.data()}"
    assert "ann-sauce" not in f"{report.lines()} {report.data()}"


def test_a_data_folder_that_others_can_read_is_wrong(bench: Bench) -> None:
    """Its mode is told, and what mends it; sessions start all the same."""
    bench.home.mkdir(mode=0o700)
    assert _folder(bench).said == f"{bench.home} (mode 0700)"
    bench.home.chmod(0o755)
    found = _folder(bench)
    assert (found.state, found.mend, found.starts) == ("wrong", f"chmod 700 {bench.home}", True)


def test_a_data_folder_that_cannot_be_written_stops_everything(bench: Bench) -> None:
    """Whatever browsers there are."""
    bench.program("chromium", "Chromium 150.0.7000.12")
    bench.program("chromedriver", "ChromeDriver 150.0.7000.99")
    settings = bench.settings()
    bench.home.write_text("a file", "utf-8")
    assert _folder(bench).state == "wrong"
    assert not examine(bench.machine(), settings).startable


def test_looking_leaves_nothing(bench: Bench) -> None:
    """A folder that is not there yet is not made by looking."""
    assert _folder(bench).said.endswith("made at the first start")
    bench.report()
    assert not bench.home.exists()


def test_the_doctor_finds_what_a_start_finds(bench: Bench) -> None:
    """On this machine: browser and driver are those that the local provider would take."""
    here, provider = Machine.this(), drivers.Machine.this()
    browser = provider.browser("chrome")
    assert browser is not None
    assert set(browsers.programs(here, bench.settings())) >= {browser, provider.driver(browser)}
    assert system.unsandboxed(here.environ) or examine(here, bench.settings()).startable


def _folder(bench: Bench) -> Finding:
    return next(one for one in surroundings.place(bench.home).findings if one.name == "Data folder")
