"""The names of keys and what the protocol calls them (W3C WebDriver, keyboard actions)."""

from __future__ import annotations

from typing import Any

from orchestrator.errors import InvalidArgument, nearest


def _code_points() -> dict[str, str]:
    named = {
        "Cancel": 0xE001, "Help": 0xE002, "Backspace": 0xE003, "Tab": 0xE004, "Clear": 0xE005, "Enter": 0xE007,
        "Shift": 0xE008, "Control": 0xE009, "Alt": 0xE00A, "Pause": 0xE00B, "Escape": 0xE00C, "Space": 0x20,
        "PageUp": 0xE00E, "PageDown": 0xE00F, "End": 0xE010, "Home": 0xE011, "ArrowLeft": 0xE012,
        "ArrowUp": 0xE013, "ArrowRight": 0xE014, "ArrowDown": 0xE015, "Insert": 0xE016, "Delete": 0xE017,
        "Meta": 0xE03D,
    }  # fmt: skip
    return {name: chr(point) for name, point in named.items()} | {f"F{n}": chr(0xE030 + n) for n in range(1, 13)}


KEYS = _code_points()
"""Key names as `KeyboardEvent.key` spells them, with the code points of the protocol."""

_ALSO = {
    "esc": "Escape", "return": "Enter", "ctrl": "Control", "cmd": "Meta", "command": "Meta", "option": "Alt",
    "del": "Delete", "ins": "Insert", "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft",
    "right": "ArrowRight", "pgup": "PageUp", "pgdn": "PageDown", "spacebar": "Space",
}  # fmt: skip
DEVICE_KEYS = frozenset({"APP_SWITCH", "BACK", "HOME", "MENU", "POWER", "SEARCH", "VOLUME_DOWN", "VOLUME_UP"})
"""Buttons of phones; in an app `Home` is one of them, in any case of letters."""
_BY_LOWER = {name.lower(): name for name in KEYS} | _ALSO


def key_value(name: str) -> str:
    """The protocol's value of a key: a name of `KEYS` in any case, or one character.

    Raises:
        InvalidArgument: It is neither.
    """
    return name if len(name) == 1 else KEYS[_known(name)]


def chords(text: str) -> list[list[str]]:
    """Read `Control+A` or `Tab Tab Enter`: chords in their order, each the values of keys that are held together.

    Raises:
        InvalidArgument: A name is not a key, or there is none.
    """
    return [[key_value(name) for name in chord] for chord in named_chords(text)]


def named_chords(text: str, *, device: bool = False) -> list[list[str]]:
    """The same as names: those of `KEYS`, single characters, and with `device` those of `DEVICE_KEYS`.

    Raises:
        InvalidArgument: A name is not a key, or there is none.
    """
    if text == " ":
        return [[" "]]
    found = [[_name(name, device=device) for name in _names(chord)] for chord in text.split()]
    if not found:
        raise InvalidArgument("No key was given.", hint="Write for example Enter, Control+A, or Tab Tab Enter.")
    return found


def _name(name: str, *, device: bool) -> str:
    if len(name) == 1:
        return name
    return name.upper() if device and name.upper() in DEVICE_KEYS else _known(name)


def _known(name: str) -> str:
    known = _BY_LOWER.get(name.lower())
    if known is None:
        raise InvalidArgument(f"{name!r} is not a key.", hint=nearest(name, [*KEYS, *sorted(DEVICE_KEYS)]))
    return known


def _names(chord: str) -> list[str]:
    """The names of a chord; a last `+` is the plus key."""
    if chord == "+":
        return ["+"]
    names = chord.removesuffix("++").split("+")
    return [*names, "+"] if chord.endswith("++") else names


def key_actions(pressed: list[list[str]]) -> list[dict[str, Any]]:
    """The key source that presses these chords one after the other, for Perform Actions."""
    ticks: list[dict[str, Any]] = []
    for chord in pressed:
        # A held modifier makes a letter a shortcut: browsers compare the unshifted letter.
        values = [value.lower() if len(chord) > 1 and value.isascii() else value for value in chord]
        ticks += [{"type": "keyDown", "value": value} for value in values]
        ticks += [{"type": "keyUp", "value": value} for value in reversed(values)]
    return [{"type": "key", "id": "keys", "actions": ticks}]
