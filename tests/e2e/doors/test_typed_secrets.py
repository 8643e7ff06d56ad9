"""What was typed into a password field is masked in that session alone, as whole words, and only where pages write."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.e2e.doors.test_secrets import RecordedServer, recording
from tests.e2e.harness import Home, kill, runs
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

WORD, PIN, LONG = "button", "4711", "qX7-unguessable-3319"
SHOP = (
    "<!doctype html><title>Every button</title><form><label>Password <input id=pw name=pw type=password></label>"
    "<button id=go>Press the button</button></form><p>No button, two buttons, 4711 times</p>"
    "<p id=sent></p><script>sent.textContent = location.search ? `sent ${location.search}` : 'nothing sent'</script>"
)


@pytest.fixture(scope="module")
def opened(new_home: Callable[[], Home], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedServer]:
    """A server for this file, and the address of a page whose texts hold the words that are typed."""
    log = tmp_path_factory.mktemp("log") / "log"
    with Site() as site, recording(new_home(), site.page("/shop", SHOP), log) as recorded:
        yield recorded


@pytest.fixture
def shop(opened: RecordedServer) -> Iterator[RecordedServer]:
    """That server, without any session."""
    yield opened
    opened.server.ok("close_all_sessions")


def type_password(shop: RecordedServer, session: str, secret: str) -> None:
    """Open the page in a new session and type into its password field."""
    assert not shop.call("start_browser", sessionId=session, navigationUrl=shop.url).failed
    assert not shop.call("set_value", sessionId=session, selector="#pw", value=secret).failed


def test_a_typed_word_is_masked_in_names_and_texts_and_not_in_roles_or_our_words(shop: RecordedServer) -> None:
    """With "button" typed as a password, names and texts of the page are masked; roles, words and ids stay."""
    type_password(shop, "button", WORD)
    outline = shop.call("get_visible_elements").data["outline"]
    assert '- button "Press the •••"' in outline
    assert "- text: No •••, two buttons, 4711 times" in outline
    [listed] = [one for one in shop.call("get_visible_elements", format="json").data["elements"] if one["ref"] == "e2"]
    assert (listed["role"], listed["name"]) == ("button", "Press the •••")
    assert listed["selector"].startswith('role=button[name="Press the •••"')
    assert "No •••, two buttons, 4711 times" in shop.call("get_text").data["text"]
    assert ">Press the •••</" in shop.call("get_page_source").data["source"]
    said = shop.call("click_element", selector="role=button[name='no button']", timeout=50)
    assert "No element matches 'role=•••[name='no •••']'" in said.text
    assert '- button "Press the •••"' in said.text
    assert said.data["error"]["sessionId"] == WORD
    assert shop.call("execute_script", script="return {button: ['a button', 'buttons']}").data["value"] == {
        "•••": ["a •••", "buttons"]
    }


def test_what_is_typed_in_a_session_is_masked_in_no_other(shop: RecordedServer) -> None:
    """A word typed as a password in one session stands unmasked in another session's results, and in its errors."""
    type_password(shop, "ann", WORD)
    type_password(shop, "bob", "sesame")
    assert "No •••," in shop.call("get_text", sessionId="ann").text
    assert "No button," in shop.call("get_text", sessionId="bob").text
    assert "'Every button' at" in shop.call("navigate", sessionId="bob", url=shop.url).text
    thrown = {"script": "throw new Error('one button')"}
    assert "one button" in shop.call("execute_script", sessionId="bob", **thrown).text
    assert "one •••" in shop.call("execute_script", sessionId="ann", **thrown).text
    differ = shop.call("compare_sessions", sessionIds=["ann", "bob"], of="text", ignore=["#pw"])
    assert not shop.call("fork_session", sessionId="ann", **{"as": "cat"}).failed
    assert "No •••," in shop.call("get_text", sessionId="cat").text, "a fork may show what its source shows"
    assert differ.data["same"], "they are compared before they are masked"


@pytest.mark.required
def test_a_typed_secret_is_masked_in_each_form_of_call(shop: RecordedServer) -> None:
    """In sequences, parallel sequences, scripts of actions, warnings, events, dialogs and logs a secret is masked."""
    type_password(shop, "ann", LONG)
    dialog = {"action": "execute_script", "script": "setTimeout(() => alert(`You typed ${pw.value}`)); return pw.value"}
    steps = [
        dialog,
        {
            "action": "execute_script",
            "script": "document.title = pw.value; throw new Error(pw.value)",
            "optional": True,
        },
        {"action": "click_element", "selector": f"text={LONG}", "timeout": 50, "optional": True},
        {"action": "get_visible_elements"},
        {"action": "execute_script", "script": "sent.textContent = `typed ${pw.value}`; console.log(pw.value)"},
    ]
    assert shop.call("execute_sequence", actions=steps, verbose=True).data["completed"] >= 3
    shop.call("execute_parallel", sequences=[{"sessionId": "ann", "actions": steps}], verbose=True)
    shop.call("run_script", script="const {text} = await page.getText(); console.log(text); return [text]")
    shop.call("run_script", script=f"throw new Error('{LONG}')")
    shop.call("get_console")
    shop.call("list_sessions")
    assert "typed •••" in shop.call("get_text").text
    assert shop.places_of(LONG) == []


def test_a_pin_is_masked_in_urls_and_bodies_and_not_in_texts(shop: RecordedServer) -> None:
    """Four digits typed as a password are masked in addresses and recorded bodies; a page's text keeps them."""
    type_password(shop, "ann", PIN)
    shop.call("har", action="start")
    sent = shop.call("set_value", selector="#pw", value=PIN, submit=True)
    assert sent.data["stateChange"]["url"]["to"].endswith("?pw=•••")
    until(lambda: (shop.home.record("ann").url or "").endswith("?pw=•••"), "the address in the record")
    body = {"script": "await fetch(location.pathname, {method: 'POST', body: JSON.stringify({pin: '4711'})})"}
    assert not shop.call("execute_script", **body).failed
    assert "?pw=•••" in shop.call("get_network").text
    recorded = Path(shop.call("har", action="stop").data["path"]).read_text("utf-8")
    assert '{\\"pin\\":\\"•••\\"}' in recorded
    assert f"pw={PIN}" not in recorded
    assert "4711 times" in shop.call("get_text").text
    urls = [one["request"]["url"] for one in json.loads(recorded)["log"]["entries"]]
    assert f"{shop.url}?pw=•••" in urls


def test_another_server_masks_what_the_first_one_typed(home: Home, site: Site, tmp_path: Path) -> None:
    """A server beside the one that typed masks the secret, and so does one that comes after; no file has it."""
    home.settings["park_ttl"] = "100"
    url, logs = site.page("/shop", SHOP), (tmp_path / str(number) for number in range(3))
    read = {"sessionId": "ann", "script": "return `typed ${document.querySelector('#pw').value}`"}
    with recording(home, url, next(logs)) as first, recording(home, url, next(logs)) as second:
        type_password(first, "ann", LONG)
        assert second.call("execute_script", **read).data["value"] == "typed •••"
        kill(first.server.process)
        until(lambda: not runs(first.server.process), "the server's end")
        assert "typed •••" in second.call("execute_script", **read).text
    with recording(home, url, next(logs)) as third:
        assert "typed •••" in third.call("execute_script", **read).text
        assert [one.places_of(LONG) for one in (first, second, third)] == [[], [], []]
        assert home.record("ann").typed
        third.call("close_session", sessionId="ann")
    key = home.folder / "typed_secrets.key"
    assert (stat.S_IMODE(key.stat().st_mode), len(key.read_bytes())) == (0o600, 32)


def test_python_gets_values_as_the_page_has_them_and_masked_errors(home: Home, site: Site) -> None:
    """A script in Python, which typed the secret itself, reads it unchanged; errors, which end in logs, are masked."""
    url = site.page("/shop", SHOP)
    with Orchestrator(Settings.load({"home": home.folder, "namespace": "python", **home.settings})) as orchestrator:
        ann = orchestrator.start_browser(navigation_url=url)
        ann.set_value("#pw", LONG)
        assert ann.execute_script("return document.querySelector('#pw').value").value == LONG
        with pytest.raises(ValueError, match="The script threw: •••"):
            ann.execute_script("throw new Error(document.querySelector('#pw').value)")
