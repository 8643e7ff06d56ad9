"""cookies: reading, setting and deleting the site's cookies, as the browser and the site see them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full


@pytest.fixture
def shown(stage: Stage) -> Iterator[Stage]:
    """A page of a site without cookies."""
    stage.show("<p>page")
    yield stage
    stage.ok("cookies", action="clear")


def kept(stage: Stage) -> dict[str, Any]:
    """Return all cookies by name."""
    return {cookie["name"]: cookie for cookie in stage.ok("cookies", action="get")["cookies"]}


@pytest.mark.core
def test_a_cookie_is_set_and_read_back(shown: Stage) -> None:  # O2
    """Cookies are read by name or all; text and data say the same, and the page has them."""
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


def test_a_cookie_has_the_path_expiry_and_flags_it_was_set_with(shown: Stage) -> None:
    """A cookie has the requested path, expiry, HttpOnly and SameSite, and is sent accordingly."""
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
def test_any_allowed_cookie_value_is_stored_unchanged(shown: Stage, value: str) -> None:
    """Cookie values are read back as they were given, with quotes, commas, emoji and up to 4000 characters."""
    shown.ok("cookies", action="set", name="v", value=value)
    assert kept(shown)["v"]["value"] == value


@pytest.mark.parametrize("name", ["plain", "with.dots-and_more", "a/b", "50%", "what?", "grün", "a b"])
def test_a_cookie_is_deleted_by_its_name(shown: Stage, name: str) -> None:
    """A cookie with any valid name is deleted, and the others stay."""
    shown.ok("cookies", action="set", name=name, value="1")
    shown.ok("cookies", action="set", name="other", value="2")
    answer = shown.ok("cookies", action="delete", name=name)
    assert [cookie["name"] for cookie in answer["cookies"]] == [name]
    assert set(kept(shown)) == {"other"}
    assert "The site has no cookie" in shown.ok("cookies", action="delete", name=name)["warnings"][0]


@pytest.mark.core
def test_clear_removes_all_cookies_of_the_site(shown: Stage) -> None:
    """Cookies that scripts cannot see are removed, too."""
    shown.ok("cookies", action="set", name="a", value="1")
    shown.ok("cookies", action="set", name="h", value="2", httpOnly=True)
    assert len(shown.ok("cookies", action="clear")["cookies"]) == 2
    assert kept(shown) == {}


def test_cookies_set_by_the_site_are_listed(stage: Stage) -> None:
    """A cookie that a response of the site set is listed."""
    stage.ok("navigate", url=stage.site.page("/login", "<p>in", cookies={"sid": "abc"}))
    assert kept(stage)["sid"]["value"] == "abc"
    stage.ok("cookies", action="clear")


def test_a_sequence_step_sets_a_cookie(shown: Stage) -> None:
    """A step's `do` is the tool's `action`."""
    steps = [{"action": "cookies", "do": "set", "name": "a", "value": "1"}, {"action": "navigate", "history": "reload"}]
    assert shown.ok("execute_sequence", actions=steps)["completed"] == 2
    assert shown.js("document.cookie") == "a=1"


def test_a_cookie_for_another_site_is_refused_with_a_hint(shown: Stage) -> None:
    """A cookie for another domain, or at about:blank, is refused; the hint names the page to open first."""
    text = refused(shown.call("cookies", action="set", name="a", value="1", domain="example.com"), "invalid_argument")
    assert "'example.com'" in text
    assert "Navigate to a page of its site first" in text
    shown.ok("navigate", url="about:blank")
    text = refused(shown.call("cookies", action="set", name="a", value="1"), "invalid_argument")
    assert "about:blank" in text
    assert shown.ok("cookies", action="get")["cookies"] == []
    shown.show("<p>back")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "action"),
        ({"action": "add", "name": "a", "value": "1"}, "'action' must be"),
        ({"action": "set"}, "Set needs name and value"),
        ({"action": "set", "name": "a"}, "Set needs name and value"),
        ({"action": "set", "value": "a"}, "Set needs name and value"),
        ({"action": "set", "name": "a=b", "value": "1"}, "name must not contain ="),
        ({"action": "set", "name": "a;b", "value": "1"}, "name must not contain ="),
        ({"action": "set", "name": "", "value": ""}, "name must not contain"),
        ({"action": "set", "name": "a", "value": "1; secure"}, "value must not contain semicolons"),
        ({"action": "set", "name": "a", "value": "1\n2"}, "value must not contain semicolons"),
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
def test_invalid_cookie_arguments_are_refused_before_anything_changes(
    shown: Stage, arguments: dict[str, Any], expected: str
) -> None:
    """Invalid arguments are `invalid_argument`, and the cookies stay as they are."""
    shown.ok("cookies", action="set", name="stays", value="1")
    assert expected in refused(shown.call("cookies", **arguments), "invalid_argument")
    assert set(kept(shown)) == {"stays"}
