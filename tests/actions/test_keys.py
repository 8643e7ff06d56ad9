"""How keys are written, and what the protocol makes of them."""

from __future__ import annotations

import pytest

from orchestrator.actions.keys import KEYS, chords, key_actions, key_value
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
        (" ", [["Space"]]),
        ("a b", [["a"], ["b"]]),
        ("+", [["+"]]),
        ("Control++", [["Control", "+"]]),
        ("Control+ArrowLeft Delete", [["Control", "ArrowLeft"], ["Delete"]]),
        ("ü", [["ü"]]),
    ],
)
def test_keys_are_written_as_people_write_them(written: str, pressed: list[list[str]]) -> None:
    """Names in any case, the usual abbreviations, combinations with +, several with spaces between them."""
    assert chords(written) == [[KEYS.get(name, name) for name in chord] for chord in pressed]


def test_names_are_those_of_the_protocol() -> None:
    """W3C WebDriver, table of normalised key values: the left-hand keys."""
    assert [key_value(name) for name in ("Enter", "Shift", "ArrowUp", "F12", "Meta")] == [
        "\ue007",
        "\ue008",
        "\ue013",
        "\ue03c",
        "\ue03d",
    ]


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
def test_what_is_no_key_is_refused(written: str, message: str, hint: str | None) -> None:
    """The name is quoted, and the nearest key or all of them are offered."""
    with pytest.raises(InvalidArgument) as refused:
        chords(written)
    assert refused.value.message == message
    assert refused.value.hint
    assert hint is None or refused.value.hint == hint


def test_a_combination_is_held_and_let_go_in_reverse() -> None:
    """Control goes down first and up last; a letter in it is the key's, so without Shift."""
    [source] = key_actions(chords("Control+Shift+A"))
    moves = [(move["type"], move["value"]) for move in source["actions"]]
    held = [KEYS["Control"], KEYS["Shift"], "a"]
    assert moves == [("keyDown", key) for key in held] + [("keyUp", key) for key in reversed(held)]


def test_a_single_letter_keeps_its_case() -> None:
    """`A` types an A."""
    [source] = key_actions([["A"]])
    assert [move["value"] for move in source["actions"]] == ["A", "A"]
