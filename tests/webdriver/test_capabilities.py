"""Merging of capabilities, in which the user's have priority."""

from __future__ import annotations

from copy import deepcopy

import pytest

from orchestrator.errors import InvalidArgument
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities

OURS = {
    "browserName": "chrome",
    "timeouts": {"script": 28_000, "pageLoad": 28_000},
    "goog:chromeOptions": {
        "args": ["--headless=new", "--window-size=1280,720", "--no-first-run"],
        "excludeSwitches": ["a", "b"],
        "windowTypes": ["a", "b"],
        "prefs": {"one": 1},
    },
}


def test_user_capabilities_win_over_ours_at_every_depth() -> None:
    """The user's capabilities win at every depth, and ours stay where the user set none."""
    merged = merge_capabilities(OURS, {"timeouts": {"script": 1}, "goog:chromeOptions": {"prefs": {"two": 2}}})

    assert merged["timeouts"] == {"script": 1, "pageLoad": 28_000}
    assert merged["goog:chromeOptions"]["prefs"] == {"one": 1, "two": 2}
    assert merged["browserName"] == "chrome"


def test_vendor_options_are_merged_not_replaced() -> None:
    """A user's `bstack:options` are merged into ours instead of replacing them."""
    ours = {"bstack:options": {"os": "Windows", "sessionName": "ours"}}
    theirs = {"bstack:options": {"sessionName": "theirs", "local": True}}
    assert merge_capabilities(ours, theirs) == {
        "bstack:options": {"os": "Windows", "sessionName": "theirs", "local": True}
    }


@pytest.mark.parametrize("flag", ["--window-size=800,600", "window-size=800,600"])
def test_browser_flags_are_merged_and_the_users_replace_ours_of_the_same_name(flag: str) -> None:
    """Our flags come first; a user's flag replaces ours of that name, with and without its dashes."""
    merged = merge_capabilities(OURS, {"goog:chromeOptions": {"args": [flag, "--lang=de"]}})
    assert merged["goog:chromeOptions"]["args"] == ["--headless=new", "--no-first-run", flag, "--lang=de"]


def test_a_users_repeated_arguments_all_stay() -> None:
    """Repeated arguments of the user are intended, and a tuple counts as a list."""
    merged = merge_capabilities({"x": {"args": ["-a"]}}, {"x": {"args": ("-profile", "/p", "-profile", "/q")}})
    assert merged["x"]["args"] == ["-a", "-profile", "/p", "-profile", "/q"]


def test_switches_to_leave_out_are_those_of_both() -> None:
    """The user's list lets nothing in that we leave out."""
    merged = merge_capabilities(OURS, {"goog:chromeOptions": {"excludeSwitches": ["b", "c"]}})
    assert merged["goog:chromeOptions"]["excludeSwitches"] == ["a", "b", "c"]


def test_other_capability_lists_are_replaced() -> None:
    """A list that is a single value is not merged."""
    merged = merge_capabilities(OURS, {"goog:chromeOptions": {"windowTypes": ["c"]}})
    assert merged["goog:chromeOptions"]["windowTypes"] == ["c"]


def test_merging_capabilities_changes_neither_side() -> None:
    """Neither side is changed by the merge, nor by a change of the result."""
    ours, theirs = deepcopy(OURS), {"goog:chromeOptions": {"prefs": {"list": [1]}}}
    merged = merge_capabilities(ours, theirs)
    merged["goog:chromeOptions"]["prefs"]["list"].append(2)
    merged["goog:chromeOptions"]["args"].append("x")
    merged["timeouts"]["script"] = 0

    assert ours == OURS
    assert theirs == {"goog:chromeOptions": {"prefs": {"list": [1]}}}


def test_a_user_capability_of_another_type_replaces_ours() -> None:
    """The user's value wins if it is a mapping and ours is text, and the other way round."""
    assert merge_capabilities({"a": "x", "b": {"c": 1}}, {"a": {"d": 2}, "b": None}) == {"a": {"d": 2}, "b": None}


def test_standard_and_vendor_prefixed_capability_names_pass() -> None:
    """Capability names that are standard or prefixed are left for the remote end to judge."""
    check_capabilities({"browserName": "chrome", "webSocketUrl": True, "appium:udid": "x", "acme:anything": 1})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("deviceName", "Write 'appium:deviceName'."),
        ("chromeOptions", "Write 'goog:chromeOptions'."),
        ("browsername", "Did you mean 'browserName'?"),
        ("devicename", "Did you mean 'appium:deviceName'?"),
        ("alwaysMatch", "Pass the capabilities themselves, without this level."),
        ("zzz", "Write it as 'vendor:name', for example 'appium:deviceName' or 'goog:chromeOptions'."),
    ],
)
def test_unprefixed_capability_names_are_refused_with_what_to_write(name: str, hint: str) -> None:
    """Remote ends refuse such a name with an incomprehensible message."""
    with pytest.raises(InvalidArgument) as caught:
        check_capabilities({"browserName": "chrome", name: "secret value"})

    assert str(caught.value) == f"Capability {name!r} is not a W3C capability and has no vendor prefix. {hint}"


def test_a_long_capability_name_is_cut_in_the_error() -> None:
    """A long capability name would hide the rest of the error."""
    with pytest.raises(InvalidArgument) as caught:
        check_capabilities({"x" * 300: 1})
    assert len(caught.value.message) < 150
