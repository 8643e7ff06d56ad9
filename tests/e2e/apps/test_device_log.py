"""get_console in apps: the log of the device, and in a web view its console."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import LOG_IN, Phone
from tests.e2e.stage import refused

pytestmark = pytest.mark.full


def test_get_console_reads_an_apps_device_log_with_passwords_masked(phone: Phone) -> None:
    """Entries of logcat or syslog have a level and masked passwords, and can be read again."""
    phone.restart()
    start = phone.ok("get_console")["until"]
    wrong = [{**LOG_IN[0], "value": "nobody"}, *LOG_IN[1:]]
    phone.ok("execute_sequence", actions=wrong)
    answer = phone.call("get_console", since=start)
    said, thrown = answer.data["entries"]
    assert said["source"] == thrown["source"] == ("syslog" if phone.is_ios else "logcat")
    assert "signing in as nobody with •••" in said["text"]
    assert "Pocket" in said["text"]
    assert "no such account" in thrown["text"]
    assert (said["level"], thrown["level"]) == ("info", "error")
    assert "correct horse" not in answer.raw.model_dump_json()
    assert [one["text"] for one in phone.ok("get_console", since=start, level="warn")["entries"]] == [thrown["text"]]
    phone.restart()


def test_get_console_reads_the_console_of_a_web_view(phone: Phone) -> None:
    """Console entries of a web view are listed beside the device's log."""
    phone.open("Web view")
    phone.ok("switch_context", context="WEBVIEW")
    start = phone.ok("get_console")["until"]
    phone.ok("set_value", selector="#what", value="Tea")
    phone.ok("click_element", selector="#order-button")
    found = phone.ok("get_console", since=start)["entries"]
    assert ("console", "warn", "ordered Tea") in [(one["source"], one["level"], one["text"]) for one in found]
    phone.ok("switch_context", context="NATIVE_APP")


def test_get_network_is_refused_in_apps(phone: Phone) -> None:
    """The error reports that get_network does not work in apps."""
    assert "get_network does not work in" in refused(phone.call("get_network"), "unsupported")
