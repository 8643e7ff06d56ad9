"""Spellings of keys, and their WebDriver key values."""

from __future__ import annotations

import pytest

from orchestrator.automation.keys import KEYS, key_actions, named_chords
from orchestrator.errors import InvalidArgument


@pytest.mark.parametrize(
    ("written", "pressed"),
    [
        ("Enter", [["Enter"]]),
        ("enter", [["Enter"]]),
        ("Tab Tab Enter", [["Tab"], ["Tab"], ["Enter"]]),
        ("Control+A", [["Control", "A"]]),
        ("ctrl+shift+z", [["Control", "Shift", "z"]]),
        ("Cmd+c", [["Meta", "c"]]),
        ("esc", [["Escape"]]),
        ("Down", [["ArrowDown"]]),
        ("F5", [["F5"]]),
        ("Space", [["Space"]]),
        (" ", [[" "]]),
        ("a b", [["a"], ["b"]]),
        ("+", [["+"]]),
        ("Control++", [["Control", "+"]]),
        ("Control+ArrowLeft Delete", [["Control", "ArrowLeft"], ["Delete"]]),
        ("ü", [["ü"]]),
    ],
)
def test_key_names_are_read_in_any_case_with_abbreviations_and_combinations(
    written: str, pressed: list[list[str]]
) -> None:
    """Names in any case, the usual abbreviations, combinations with +, several with spaces between them."""
    assert named_chords(written) == pressed


def test_key_names_map_to_the_webdriver_key_values() -> None:
    """W3C WebDriver, table of normalised key values: the left-hand keys."""
    assert [KEYS[name] for name in ("Enter", "Shift", "ArrowUp", "F12", "Meta")] == [
        "\ue007",
        "\ue008",
        "\ue013",
        "\ue03c",
        "\ue03d",
    ]


def test_a_word_in_place_of_a_key_is_pointed_to_text() -> None:
    """Who wants to type learns how."""
    with pytest.raises(InvalidArgument) as refused:
        named_chords("Biscuits")
    assert refused.value.hint.startswith("To type it, give it as text instead of keys. ")


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ("Entre", "'Entre' is not a key.", "Did you mean 'Enter'?"),
        ("Control+Foo", "'Foo' is not a key.", None),
        ("Hello", "'Hello' is not a key.", None),
        ("Control+", "'' is not a key.", None),
        ("  ", "No key was given.", "Write for example Enter, Control+A, or Tab Tab Enter."),
    ],
)
def test_an_unknown_key_is_refused_with_a_hint(written: str, message: str, hint: str | None) -> None:
    """The error quotes the unknown name and offers the nearest key or all of them."""
    with pytest.raises(InvalidArgument) as refused:
        named_chords(written)
    assert refused.value.message == message
    assert refused.value.hint
    assert hint is None or refused.value.hint == hint


def test_keys_of_a_combination_are_released_in_reverse_order() -> None:
    """Control goes down first and up last; a letter in a combination is pressed without Shift."""
    [source] = key_actions([[KEYS["Control"], KEYS["Shift"], "A"]])
    moves = [(move["type"], move["value"]) for move in source["actions"]]
    held = [KEYS["Control"], KEYS["Shift"], "a"]
    assert moves == [("keyDown", key) for key in held] + [("keyUp", key) for key in reversed(held)]


def test_a_single_letter_key_keeps_its_case() -> None:
    """`A` types an A."""
    [source] = key_actions([["A"]])
    assert [move["value"] for move in source["actions"]] == ["A", "A"]
