"""Refs of an app's elements in other processes: parked and restored, used in turn, attached under another namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from orchestrator import sync
from orchestrator.demo.device_server import DeviceServer
from orchestrator.errors import StaleRef
from orchestrator.settings import Settings
from tests.e2e.apps.phone import PLATFORMS
from tests.e2e.harness import NAMESPACE, Home
from tests.servers.appium import POCKET

pytestmark = pytest.mark.full

NOTE, CONTROLS = "pocket://screen/note", "pocket://screen/controls"


def refs(outline: str | None) -> dict[str, str]:
    """Return the refs of the lines of an outline, each line without states and value."""
    return {line.strip(): ref for line, ref in re.findall(r"- (.+?) \[(e\d+)\]", outline or "")}


def seen(phone: sync.Session) -> dict[str, str]:
    """Return the refs of the lines of the screen."""
    return refs(phone.get_visible_elements(scope="page").outline)


def number(ref: str) -> int:
    """Return the number of a ref."""
    return int(ref.removeprefix("e"))


@pytest.fixture
def phones(lasting: Home, device_server: DeviceServer) -> Home:
    """A home whose parked sessions live on, with simulated phones."""
    lasting.settings |= {"appium_url": device_server.url}
    return lasting


@contextmanager
def python(home: Home, namespace: str = NAMESPACE) -> Iterator[sync.Orchestrator]:
    """Open an orchestrator on a home, in this process."""
    with sync.Orchestrator(Settings(home=home.folder, namespace=namespace)) as orchestrator:
        yield orchestrator


@pytest.mark.parametrize("platform", [*PLATFORMS])
def test_refs_of_an_app_mean_the_same_in_every_process(phones: Home, platform: str) -> None:  # B8
    """A field's ref fills it after parking, in another process in turn, and in a session attached to the same phone."""
    wire, device = PLATFORMS[platform]
    with phones.serve() as server:
        server.ok("start_app_session", sessionId="phone", platform=wire, deviceName=device, appPath=str(POCKET))
        server.ok("manage_device", action="open_url", value=NOTE)
        before = refs(server.ok("get_visible_elements", scope="page")["outline"])
        (field,) = (ref for line, ref in before.items() if line.startswith('textbox "Title"'))
        server.ok("set_value", selector=field, value="half fil")
    with python(phones) as first, python(phones) as second, python(phones, "other") as stranger:
        one, other = first.session("phone"), second.session("phone")
        one.set_value(field, "filled")
        assert seen(one) == before
        facts = one.facts
        attached = stranger.attach_session(facts.remote_url, facts.remote_session_id, "phone", platform=platform)
        attached.expect(field, value="filled")
        assert seen(attached) == before
        attached.close()
        other.manage_device("open_url", value=CONTROLS)
        later = seen(other)
        assert min(map(number, later.values())) > max(map(number, before.values()))
        assert seen(one) == later
        with pytest.raises(StaleRef):
            one.set_value(field, "elsewhere")
        one.close()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_an_app_is_parked_and_restored_as_it_was(phones: Home, platform: str) -> None:  # B3 B4 B5 B6 B7 B15
    """Its client goes; another server's first call finds the same app with what was typed, by the ref from before."""
    wire, device = PLATFORMS[platform]
    with phones.serve() as server:
        server.ok("start_app_session", sessionId="phone", platform=wire, deviceName=device, appPath=str(POCKET))
        server.ok("manage_device", action="open_url", value=NOTE)
        shown = refs(server.ok("get_visible_elements", scope="page")["outline"])
        [field] = [ref for line, ref in shown.items() if line.startswith('textbox "Title"')]
        server.ok("set_value", selector=field, value="half fil")
        before = phones.record("phone")
    assert phones.record("phone").state == "parked"
    with phones.serve() as server:
        assert server.ok("expect", selector=field, value="half fil", sessionId="phone")["restored"] is True
        assert phones.record("phone").remote_session_id == before.remote_session_id
        assert server.ok("close_session", sessionId="phone")["closed"] == ["phone"]
