"""cookies: what the page's site keeps, as the browser and the site see it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, refused


@pytest.fixture
def shown(stage: Stage) -> Iterator[Stage]:
    """A page of a site without cookies."""
    stage.show("<p>page")
    yield stage
    stage.ok("cookies", action="clear")


def kept(stage: Stage) -> dict[str, Any]:
    """All cookies by name."""
    return {cookie["name"]: cookie for cookie in stage.ok("cookies", action="get")["cookies"]}


@pytest.mark.core
def test_a_cookie_is_set_and_got(shown: Stage) -> None:
    """By name or all; text and data say the same, and the page has it."""
    shown.ok("cookies", action="set", name="a", value="1")
    shown.ok("cookies", action="set", name="b", value="2")
    assert shown.js("document.cookie") == "a=1; b=2"
    assert set(kept(shown)) == {"a", "b"}
    answer = shown.call("cookies", action="get", name="a")
    [cookie] = answer.data["cookies"]
    assert (cookie["name"], cookie["value"], cookie["domain"], cookie["path"]) == ("a", "1", "127.0.0.1", "/")
    assert '"name": "a", "value": "1"' in answer.text
    missing = shown.ok("cookies", action="get", name="c")
    assert missing["cookies"] == []
    assert "The site has no cookie 'c'." in missing["warnings"][0]


def test_a_cookie_has_what_was_asked_for(shown: Stage) -> None:
    """Path, time, who may read it and when it is sent."""
    expiry = int(time.time()) + 3600
    wish = {"path": "/deep", "httpOnly": True, "sameSite": "Strict", "expiry": expiry}
    answer = shown.ok("cookies", action="set", name="a", value="1")
    assert answer["cookies"][0]["httpOnly"] is False
    shown.ok("navigate", url=shown.site.page("/deep/er", "<p>deep"))
    [cookie] = shown.ok("cookies", action="set", name="full", value="x", **wish)["cookies"]
    assert {name: cookie[name] for name in wish} == wish
    assert "full" not in shown.js("document.cookie")
    shown.ok("navigate", history="reload")
    assert shown.site.visits("/deep/er")[-1].cookies["full"] == "x"


@pytest.mark.parametrize(
    "value",
    ["", 'with "quotes" and, commas', "a=b=c", "%7B%22a%22%3A1%7D", "grün 🐟", "{json:[1,2]}", "\\back", "x" * 4000],
)
def test_any_value_that_cookies_allow(shown: Stage, value: str) -> None:
    """As it was given."""
    shown.ok("cookies", action="set", name="v", value=value)
    assert kept(shown)["v"]["value"] == value


@pytest.mark.parametrize("name", ["plain", "with.dots-and_more", "a/b", "50%", "what?", "grün", "a b"])
def test_a_cookie_is_deleted_by_its_name(shown: Stage, name: str) -> None:
    """Whatever the name is; the others stay."""
    shown.ok("cookies", action="set", name=name, value="1")
    shown.ok("cookies", action="set", name="other", value="2")
    answer = shown.ok("cookies", action="delete", name=name)
    assert [cookie["name"] for cookie in answer["cookies"]] == [name]
    assert set(kept(shown)) == {"other"}
    assert "The site has no cookie" in shown.ok("cookies", action="delete", name=name)["warnings"][0]


@pytest.mark.core
def test_clear_removes_all(shown: Stage) -> None:
    """Those that scripts cannot see, too."""
    shown.ok("cookies", action="set", name="a", value="1")
    shown.ok("cookies", action="set", name="h", value="2", httpOnly=True)
    assert len(shown.ok("cookies", action="clear")["cookies"]) == 2
    assert kept(shown) == {}


def test_cookies_of_the_site_itself(stage: Stage) -> None:
    """What its answers set is there."""
    stage.ok("navigate", url=stage.site.page("/login", "<p>in", cookies={"sid": "abc"}))
    assert kept(stage)["sid"]["value"] == "abc"
    stage.ok("cookies", action="clear")


def test_a_step_sets_a_cookie(shown: Stage) -> None:
    """`do` is what the tool calls action."""
    steps = [{"action": "cookies", "do": "set", "name": "a", "value": "1"}, {"action": "navigate", "history": "reload"}]
    assert shown.ok("execute_sequence", actions=steps)["completed"] == 2
    assert shown.js("document.cookie") == "a=1"


def test_another_site_is_refused(shown: Stage) -> None:
    """With the way there."""
    text = refused(shown.call("cookies", action="set", name="a", value="1", domain="example.com"), "invalid_argument")
    assert "'example.com'" in text
    assert "Navigate to a page of its site first" in text
    shown.ok("navigate", url="about:blank")
    text = refused(shown.call("cookies", action="set", name="a", value="1"), "invalid_argument")
    assert "about:blank" in text
    assert shown.ok("cookies", action="get")["cookies"] == []
    shown.show("<p>back")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "action"),
        ({"action": "add", "name": "a", "value": "1"}, "'action' must be"),
        ({"action": "set"}, "Set needs name and value"),
        ({"action": "set", "name": "a"}, "Set needs name and value"),
        ({"action": "set", "value": "a"}, "Set needs name and value"),
        ({"action": "set", "name": "a=b", "value": "1"}, "name must be text without ="),
        ({"action": "set", "name": "a;b", "value": "1"}, "name must be text without ="),
        ({"action": "set", "name": "", "value": ""}, "name must be text"),
        ({"action": "set", "name": "a", "value": "1; secure"}, "value must be text without semicolons"),
        ({"action": "set", "name": "a", "value": "1\n2"}, "value must be text without semicolons"),
        ({"action": "set", "name": "a", "value": "x" * 4096}, "longer than 4096 bytes"),
        ({"action": "set", "name": "a", "value": "1", "path": "deep"}, "path must begin with /"),
        ({"action": "set", "name": "a", "value": "1", "sameSite": "None"}, "sameSite None needs secure"),
        ({"action": "set", "name": "a", "value": "1", "sameSite": "lax"}, "'sameSite' must be"),
        ({"action": "set", "name": "a", "value": "1", "expiry": 1}, "expiry is in the past"),
        ({"action": "get", "value": "1"}, "Get takes no value"),
        ({"action": "get", "httpOnly": True}, "Get takes no httpOnly"),
        ({"action": "delete"}, "Delete needs name"),
        ({"action": "clear", "name": "a"}, "Clear takes no name"),
        ({"action": "get", "names": "a"}, "names"),
    ],
)
def test_what_cookies_cannot_do_is_told(shown: Stage, arguments: dict[str, Any], said: str) -> None:
    """`invalid_argument`, before anything happens."""
    shown.ok("cookies", action="set", name="stays", value="1")
    assert said in refused(shown.call("cookies", **arguments), "invalid_argument")
    assert set(kept(shown)) == {"stays"}
