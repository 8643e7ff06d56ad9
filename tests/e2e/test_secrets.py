"""A typed password is in no result, log, record or error: searched for, wherever anything is said or kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from tests.e2e.harness import Home, until
from tests.served import Answer, Served, served
from tests.site import Site

SECRETS = {"plain": "qX7-unguessable-3319", "odd": 'zK9 "ünguessable" & \\ 3319/+%'}
LOGIN = (
    "<!doctype html><title>Login</title><form><label>User <input name=user></label>"
    "<label>Password <input name=pw id=pw type=password></label><button id=in>Log in</button></form>"
    "<p id=echo></p><button id=show type=button>Show</button><button id=say>Say</button><script>"
    "show.onclick = () => { pw.type = 'text'; echo.textContent = pw.value; document.title = pw.value };"
    "say.onclick = event => { event.preventDefault(); alert(`You typed ${pw.value}`) };"
    "if (location.search) echo.textContent = `sent ${new URLSearchParams(location.search).get('pw')}`</script>"
)


class Ear:
    """A server whose every word is kept: its log in a file, its answers here."""

    def __init__(self, server: Served, url: str, home: Home, log: Path) -> None:
        self._server = server
        self.url = url
        self.home = home
        self.log = log
        self.said: list[str] = []

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and keep what it answers, whole."""
        answer = self._server.call(tool, **arguments)
        self.said.append(answer.raw.model_dump_json())
        self.said += [part.text for part in answer.raw.content if part.type == "text"]
        return answer

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """All that was said and all that was written, but for the browser's own profile."""
        for number, text in enumerate(self.said):
            yield f"answer {number}", text.encode()
        yield "log", self.log.read_bytes()
        for path in self.home.folder.rglob("*"):
            if path.is_file() and "profile" not in path.parts and path.suffix != ".png":
                yield str(path), path.read_bytes()


@pytest.fixture
def ear(home: Home, site: Site, tmp_path: Path) -> Iterator[Ear]:
    """A server that logs as much as it can, with the login page open."""
    log = tmp_path / "log"
    url = site.page("/login", LOGIN)
    settings = {"home": str(home.folder), "namespace": "secrets"}
    with log.open("w") as file, served("auto", ["--log-level", "debug"], file, **settings) as server:
        yield Ear(server, url, home, log)


def spellings(secret: str) -> set[bytes]:
    """The secret as texts, JSON and addresses would write it."""
    texts = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    texts |= {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    return {spelled for text in texts for spelled in (text.encode(), text.encode("utf-16-le"))}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_typed_password_is_nowhere(ear: Ear, secret: str) -> None:
    """However it is typed, echoed, sent and mistyped: no answer, log line, record, journal or driver log holds it."""
    ear.call("start_browser", sessionId="ann", navigationUrl=ear.url)
    pw = {"selector": "label=Password", "value": secret}
    ear.call("set_value", **pw)
    ear.call("set_value", **pw, keystrokes=True, observe="outline")
    for tool in ("get_visible_elements", "get_text"):
        ear.call(tool)
    ear.call("get_visible_elements", format="json")
    assert not ear.call("expect", selector="#pw", value=secret).failed
    assert ear.call("expect", selector="#pw", value="other", timeout=50).failed
    ear.call("expect", selector="#pw", attribute={"name": "value", "value": "x"}, timeout=50)
    ear.call("execute_script", script="return [pw.value, {[pw.value]: 1}]")
    ear.call("execute_script", script="throw new Error(pw.value)")
    ear.call("execute_script", script="console.log(pw.value); location.hash = pw.value; return location.href")
    ear.call("click_element", selector="#say")
    ear.call("click_element", selector="#show", observe="outline")
    ear.call("wait_for", text="nothing like it", timeout=50)
    ear.call("expect", selector="#echo", text="other", timeout=50)
    ear.call("set_value", selector="#none", value=secret, timeout=50)
    ear.call("set_value", selector="#in", value=secret, timeout=50)
    ear.call("set_value", selector="#pw", valu=secret)
    ear.call("set_value", selector="#pw", value=[secret])
    ear.call("navigate", url=ear.url)
    steps = [
        {"action": "set_value", **pw},
        {"action": "get_visible_elements"},
        {"action": "execute_script", "script": "return pw.value"},
        {"action": "set_value", **pw, "submit": True},
        {"action": "wait_for", "text": "sent"},
        {"action": "get_text"},
        {"action": "click_element", "selector": "#none", "timeout": 50},
    ]
    assert ear.call("execute_sequence", actions=steps, verbose=True).data["completed"] == 6
    ear.call("execute_parallel", sequences=[{"sessionId": "ann", "actions": steps}], verbose=True)
    ear.call("execute_sequence", actions=[{"action": "set_value", "selector": "#pw", "valu": secret}])
    ear.call("list_sessions")
    ear.call("take_screenshot")
    until(lambda: "login" in (ear.home.record("ann").url or ""), "the address in the record")
    found = [place for place, content in ear.everything() if any(one in content for one in spellings(secret))]
    assert found == []
    ear.call("close_session", sessionId="ann")
    found = [place for place, content in ear.everything() if any(one in content for one in spellings(secret))]
    assert found == []


def test_what_is_typed_elsewhere_is_said(ear: Ear) -> None:
    """Only passwords are masked."""
    ear.call("start_browser", sessionId="ann", navigationUrl=ear.url)
    ear.call("set_value", selector="label=User", value="ann-the-user")
    ear.call("execute_script", script="location.hash = 'ann-the-user'")
    assert "ann-the-user" in ear.call("get_visible_elements").text
    places = [place for place, content in ear.everything() if b"ann-the-user" in content]
    assert any(place.startswith("answer") for place in places)
    assert any("sessions.db" in place for place in places), "the search does not see the records"
