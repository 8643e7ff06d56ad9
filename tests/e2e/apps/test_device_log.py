"""get_console in apps: the log of the device, and in a web view its console."""

from __future__ import annotations

from tests.e2e.apps.phone import LOG_IN, Phone
from tests.e2e.stage import refused


def test_what_an_app_writes_is_read(phone: Phone) -> None:
    """From logcat or syslog, with its level; passwords are masked, and what was read stays to be read."""
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


def test_a_web_view_has_a_console_too(phone: Phone) -> None:
    """Beside the device's log."""
    phone.open("Web view")
    phone.ok("switch_context", context="WEBVIEW")
    start = phone.ok("get_console")["until"]
    phone.ok("set_value", selector="#what", value="Tea")
    phone.ok("click_element", selector="#order-button")
    found = phone.ok("get_console", since=start)["entries"]
    assert ("console", "warn", "ordered Tea") in [(one["source"], one["level"], one["text"]) for one in found]
    phone.ok("switch_context", context="NATIVE_APP")


def test_requests_of_apps_are_not_heard(phone: Phone) -> None:
    """The refusal says so."""
    assert "get_network does not work in" in refused(phone.call("get_network"), "unsupported")
