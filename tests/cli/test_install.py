"""`orchestrator install browser`: what it finds, gets, and says when it cannot."""

from __future__ import annotations

import functools
import http.server
import io
import json
import platform
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from orchestrator.cli.browser_installation import BrowserInstallation
from orchestrator.errors import OrchestratorError
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine
from tests.servers.webdriver import listening

VERSION = "150.0.7000.12"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs are scripts, and the archives are Linux's")


def program(path: Path, text: str) -> Path:
    """Add a program that prints a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text}'\n", "utf-8")
    path.chmod(0o700)
    return path


class Bench:
    """A machine with nothing but the folder `bin` on PATH and a home of its own; what was said is in `said`."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.bin = folder / "bin"
        self.home = folder / "home"
        self.said: list[str] = []
        self.environ = {"PATH": str(self.bin), "HOME": str(self.home), **environ}

    def installation(self) -> BrowserInstallation:
        """The installation on this machine."""
        return BrowserInstallation(self.machine(), Settings(home=self.home), self.said.append)

    def machine(self) -> LocalMachine:
        """The machine."""
        return LocalMachine(self.environ, "linux", ())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty machine."""
    return Bench(tmp_path, SE_MANAGER_PATH=str(tmp_path / "bin" / "selenium-manager"))


def archive(name: str, text: str) -> bytes:
    """An archive of Chrome for Testing: a folder with a program that prints a text."""
    file = zipfile.ZipInfo(f"{name}-linux64/{name}")
    file.external_attr = 0o755 << 16
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as folder:
        folder.writestr(file, f"#!/bin/sh\necho '{text}'\n")
    return packed.getvalue()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and logs nothing."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def downloads(tmp_path: Path) -> Iterator[str]:
    """The address of a download server with one version of Chrome for Testing."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        offered: dict[str, list[dict[str, str]]] = {}
        for name, text in {"chrome": f"Chrome {VERSION}", "chromedriver": f"ChromeDriver {VERSION} (abc)"}.items():
            (folder / f"{name}.zip").write_bytes(archive(name, text))
            offered[name] = [{"platform": "linux64", "url": f"{address}{name}.zip"}]
        release = {"version": VERSION, "revision": "1", "downloads": offered}
        channels = {name: {"channel": name, **release} for name in ("Stable", "Beta", "Dev", "Canary")}
        listed = {"timestamp": "2026-11-01T00:00:00Z", "channels": channels, "versions": [release]}
        for file in ("last-known-good-versions-with-downloads.json", "known-good-versions-with-downloads.json"):
            (folder / file).write_text(json.dumps(listed), "utf-8")
        with listening(server):
            yield address


def test_a_browser_and_driver_that_are_there_are_named(bench: Bench) -> None:
    """Nothing is installed where both are there; versions and paths are told."""
    browser = program(bench.bin / "chromium", f"Chromium {VERSION}")
    driver = program(bench.bin / "chromedriver", f"ChromeDriver {VERSION} (abc)")
    assert bench.installation().find_ready() == f"{VERSION} ({browser}), chromedriver {VERSION} ({driver})"


def test_programs_that_do_not_fit_are_an_error_with_how_to_mend_it(bench: Bench) -> None:
    """Browser and driver of different versions are not papered over by one more browser."""
    program(bench.bin / "chromium", f"Chromium {VERSION}")
    program(bench.bin / "chromedriver", "ChromeDriver 140.0.1.2")
    with pytest.raises(OrchestratorError, match="the versions differ") as caught:
        bench.installation().find_ready()
    assert caught.value.hint.startswith("To mend it: ")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="Chrome for Testing has no archive for this processor")
def test_selenium_manager_downloads_both_and_later_starts_find_them(tmp_path: Path, downloads: str) -> None:
    """The real Selenium Manager fetches both from a server; they are then found without it."""
    bench = Bench(
        tmp_path, SE_BROWSER_MIRROR_URL=downloads, SE_DRIVER_MIRROR_URL=downloads, SE_FORCE_BROWSER_DOWNLOAD="true"
    )
    installation = bench.installation()
    assert installation.find_ready() is None
    told = installation.install()
    cache = bench.home / ".cache" / "selenium"
    browser, driver = cache / "chrome/linux64" / VERSION / "chrome", cache / "chromedriver/linux64" / VERSION
    assert told == f"{VERSION} ({browser}), chromedriver {VERSION} ({driver / 'chromedriver'})"
    assert bench.said == [
        f"Chrome for Testing and its chromedriver: Selenium Manager downloads what is missing to {cache}."
    ]
    assert bench.installation().find_ready() == told


def test_the_newest_download_is_used_with_the_driver_of_its_version(bench: Bench) -> None:
    """Of two downloads the newer one counts, and a driver of another version on PATH does not."""
    cache = bench.home / ".cache" / "selenium"
    program(bench.bin / "chromedriver", "ChromeDriver 99.0.1.2")
    for version in ("99.0.4844.51", VERSION):
        program(cache / "chrome/linux64" / version / "chrome", f"Chrome {version}")
        program(cache / "chromedriver/linux64" / version / "chromedriver", f"ChromeDriver {version}")
    machine = bench.machine()
    browser = machine.browser("chrome")
    assert browser == cache / "chrome/linux64" / VERSION / "chrome"
    assert machine.driver(browser) == cache / "chromedriver/linux64" / VERSION / "chromedriver"


def test_a_download_that_fails_says_why_and_what_to_do_by_hand(bench: Bench) -> None:
    """The reason is Selenium Manager's, the hint this system's command and the settings."""
    answer = {"logs": [], "result": {"code": 65, "message": "no network", "driver_path": "", "browser_path": ""}}
    program(bench.bin / "selenium-manager", json.dumps(answer))
    with pytest.raises(OrchestratorError) as caught:
        bench.installation().install()
    assert caught.value.message == "No browser with its driver could be installed: no network."
    assert "apt-get install chromium chromium-driver; or set chrome_binary and chromedriver" in caught.value.hint


def test_a_browser_that_lacks_libraries_is_reported_with_what_it_printed(bench: Bench) -> None:
    """A download alone is no success: browser and driver have to run."""
    browser = program(bench.bin / "downloaded-chrome", "")
    browser.write_text("#!/bin/sh\necho 'libnss3.so: cannot open shared object file' >&2; exit 127\n", "utf-8")
    driver = program(bench.bin / "downloaded-driver", f"ChromeDriver {VERSION}")
    paths = {"browser_path": str(browser), "driver_path": str(driver)}
    program(bench.bin / "selenium-manager", json.dumps({"result": {"code": 0, "message": "", **paths}}))
    with pytest.raises(OrchestratorError) as caught:
        bench.installation().install()
    assert f"{browser} is there, but it ended with 127: libnss3.so: cannot open" in caught.value.message


def test_a_system_without_selenium_manager_is_told_what_to_do_by_hand(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Selenium ships no program for some processors."""
    del bench.environ["SE_MANAGER_PATH"]
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(OrchestratorError, match="Selenium Manager has no program for this system"):
        bench.installation().install()


@pytest.mark.skipif(psutil.Process().uids().effective != 0, reason="apt-get installs for root alone")
@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="the packages are Debian's")
def test_apt_get_installs_debians_packages_for_root(bench: Bench) -> None:
    """As root on Debian the packages are asked of apt-get, and what they brought is named."""
    asked = bench.bin / "asked"
    program(bench.bin / "apt-get", "").write_text(
        f'#!/bin/sh\necho "$@" >>{asked}\ncd {bench.bin}\n'
        f"for name in chromium chromedriver; do\n  printf '#!/bin/sh\\necho {VERSION}\\n' >$name\n"
        "  /bin/chmod 700 $name\ndone\n",
        "utf-8",
    )
    told = bench.installation().install()
    assert told == f"{VERSION} ({bench.bin / 'chromium'}), chromedriver {VERSION} ({bench.bin / 'chromedriver'})"
    assert bench.said == ["apt-get installs chromium, chromium-driver, fonts-liberation."]
    assert asked.read_text("utf-8").splitlines()[1].endswith("install chromium chromium-driver fonts-liberation")
