"""Tests of few phones that many processes share."""

from __future__ import annotations

import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.pytest_plugin.conftest import Project
from tests.servers.appium import POCKET

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def phones(project: Project, device_server: DeviceServer) -> Project:
    """A project whose Android tests use two phones."""
    project.environment["ORCHESTRATOR_APPIUM_URL"] = device_server.url
    project.write(
        "pytest.ini",
        "[pytest]\naddopts = -p no:cacheprovider\norchestrator_android =\n"
        f'    app_path={POCKET}\n    options={{"udids": ["phone-a", "phone-b"]}}\n',
    )
    return project


def test_four_processes_share_two_phones_also_after_one_has_died(phones: Project) -> None:
    """Each test waits for a phone that is free; the phone of a process that was killed is given on."""
    phones.write(
        "test_phones.py",
        """
import os, pathlib, signal, pytest

@pytest.mark.parametrize("number", range(4))
def test_phone(android, number):
    pathlib.Path(f"used-{number}").write_text(android.facts.capabilities["udid"])
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
""",
    )
    done = phones.run("-n", "4")
    assert done.counts() == {"failed": 1, "passed": 3}, done.text
    assert "crashed while running 'test_phones.py::test_phone[0]'" in done.text
    assert {file.read_text() for file in phones.folder.glob("used-*")} == {"phone-a", "phone-b"}


def test_a_start_that_waits_too_long_for_a_phone_says_who_has_it(phones: Project) -> None:
    """The error names the session that has the phone, the log the place in the queue."""
    phones.write(
        "test_phones.py",
        """
def test_second(start_session):
    for name in ("ann", "ben"):
        start_session(name, platform="android", options={"udids": ["phone-a"]})
""",
    )
    done = phones.run("--log-level", "INFO", "--orchestrator-device-timeout", "1s")
    assert done.counts() == {"failed": 1}, done.text
    assert "Device 'phone-a' has a session already: 'main-" in done.text
    assert "No device became free within 1 s; 0 earlier starts wait, too." in done.text
    assert "ben: waiting for device phone-a, as number 1 of the queue" in done.text
