"""Two wishes become one, and the user's stands."""

from __future__ import annotations

from copy import deepcopy

import pytest

from orchestrator.errors import InvalidArgument
from orchestrator.webdriver.capabilities import check, merge

OURS = {
    "browserName": "chrome",
    "timeouts": {"script": 28_000, "pageLoad": 28_000},
    "goog:chromeOptions": {
        "args": ["--headless=new", "--window-size=1280,720", "--no-first-run"],
        "excludeSwitches": ["a", "b"],
        "prefs": {"one": 1},
    },
}


def test_the_users_word_stands() -> None:
    """At every depth, and what the user did not mention stays."""
    merged = merge(OURS, {"timeouts": {"script": 1}, "goog:chromeOptions": {"prefs": {"two": 2}}})

    assert merged["timeouts"] == {"script": 1, "pageLoad": 28_000}
    assert merged["goog:chromeOptions"]["prefs"] == {"one": 1, "two": 2}
    assert merged["browserName"] == "chrome"


def test_vendor_options_are_merged_not_replaced() -> None:
    """As comparable servers do not: a user's `bstack:options` lost half of itself."""
    ours = {"bstack:options": {"os": "Windows", "sessionName": "ours"}}
    theirs = {"bstack:options": {"sessionName": "theirs", "local": True}}
    assert merge(ours, theirs) == {"bstack:options": {"os": "Windows", "sessionName": "theirs", "local": True}}


@pytest.mark.parametrize("flag", ["--window-size=800,600", "window-size=800,600"])
def test_flags_are_united(flag: str) -> None:
    """Ours first; a user's flag replaces ours of that name, with and without its dashes."""
    merged = merge(OURS, {"goog:chromeOptions": {"args": [flag, "--lang=de"]}})
    assert merged["goog:chromeOptions"]["args"] == ["--headless=new", "--no-first-run", flag, "--lang=de"]


def test_a_users_repeated_arguments_all_stay() -> None:
    """What the user wrote twice was meant twice, and a tuple is a list."""
    merged = merge({"x": {"args": ["-a"]}}, {"x": {"args": ("-profile", "/p", "-profile", "/q")}})
    assert merged["x"]["args"] == ["-a", "-profile", "/p", "-profile", "/q"]


def test_other_lists_are_replaced() -> None:
    """A list that is a value as a whole is not a sum of wishes."""
    merged = merge(OURS, {"goog:chromeOptions": {"excludeSwitches": ["c"]}})
    assert merged["goog:chromeOptions"]["excludeSwitches"] == ["c"]


def test_merging_changes_nothing_given() -> None:
    """Pure: neither side is touched, now or by a change of the result."""
    ours, theirs = deepcopy(OURS), {"goog:chromeOptions": {"prefs": {"list": [1]}}}
    merged = merge(ours, theirs)
    merged["goog:chromeOptions"]["prefs"]["list"].append(2)
    merged["goog:chromeOptions"]["args"].append("x")
    merged["timeouts"]["script"] = 0

    assert ours == OURS
    assert theirs == {"goog:chromeOptions": {"prefs": {"list": [1]}}}


def test_a_kind_that_changes_is_the_users() -> None:
    """A mapping where we have text, and text where we have a mapping."""
    assert merge({"a": "x", "b": {"c": 1}}, {"a": {"d": 2}, "b": None}) == {"a": {"d": 2}, "b": None}


def test_standard_and_prefixed_names_pass() -> None:
    """The remote end judges the rest."""
    check({"browserName": "chrome", "webSocketUrl": True, "appium:udid": "x", "acme:anything": 1})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("deviceName", "Write 'appium:deviceName'."),
        ("chromeOptions", "Write 'goog:chromeOptions'."),
        ("browsername", "Did you mean 'browserName'?"),
        ("devicename", "Did you mean 'appium:deviceName'?"),
        ("alwaysMatch", "Pass the capabilities themselves, without this level around them."),
        ("zzz", "Write it as 'vendor:name', for example 'appium:deviceName' or 'goog:chromeOptions'."),
    ],
)
def test_other_names_are_refused_with_what_to_write(name: str, hint: str) -> None:
    """A remote end answers such a name with a sentence that nobody understands."""
    with pytest.raises(InvalidArgument) as caught:
        check({"browserName": "chrome", name: "secret value"})

    assert str(caught.value) == f"Capability {name!r} is not a W3C capability and has no vendor's prefix. {hint}"


def test_a_long_name_is_cut() -> None:
    """An error is no place for a page of text."""
    with pytest.raises(InvalidArgument) as caught:
        check({"x" * 300: 1})
    assert len(caught.value.message) < 150
