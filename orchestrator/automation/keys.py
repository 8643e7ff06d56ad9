"""Names of keys, and their values in W3C WebDriver."""

from __future__ import annotations

from typing import Any

from orchestrator.errors import InvalidArgument
from orchestrator.models.near_names import nearest


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
"""WebDriver key values by name; names are those of `KeyboardEvent.key`."""

_ALIASES = {
    "esc": "Escape", "return": "Enter", "ctrl": "Control", "cmd": "Meta", "command": "Meta", "option": "Alt",
    "del": "Delete", "ins": "Insert", "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft",
    "right": "ArrowRight", "pgup": "PageUp", "pgdn": "PageDown", "spacebar": "Space",
}  # fmt: skip
DEVICE_KEYS = frozenset({"APP_SWITCH", "BACK", "HOME", "MENU", "POWER", "SEARCH", "VOLUME_DOWN", "VOLUME_UP"})
"""Keys of devices; in apps, `Home` in any case is the device's."""
_BY_LOWER = {name.lower(): name for name in KEYS} | _ALIASES


def named_chords(text: str, *, device: bool = False) -> list[list[str]]:
    """Parse `Control+A` or `Tab Tab Enter`: chords in order, each a list of the keys held together.

    Keys are names of `KEYS` in any case, single characters, and with `device` names of `DEVICE_KEYS`.

    Raises:
        InvalidArgument: A name is not a key, or there is none.
    """
    if text == " ":
        return [[" "]]
    chords = [[_normalize(name, device=device) for name in _split(chord)] for chord in text.split()]
    if not chords:
        raise InvalidArgument("No key was given.", hint="Write for example Enter, Control+A, or Tab Tab Enter.")
    return chords


def _normalize(name: str, *, device: bool) -> str:
    if len(name) == 1:
        return name
    if device and name.upper() in DEVICE_KEYS:
        return name.upper()
    if name.lower() not in _BY_LOWER:
        hint = nearest(name, [*KEYS, *sorted(DEVICE_KEYS)])
        if name.isalpha() and not hint.startswith("Did you mean"):
            hint = f"To type it, give it as text instead of keys. {hint}"
        raise InvalidArgument(f"{name!r} is not a key.", hint=hint)
    return _BY_LOWER[name.lower()]


def _split(chord: str) -> list[str]:
    """The names in a chord; a trailing `+` is the plus key."""
    if chord == "+":
        return ["+"]
    names = chord.removesuffix("++").split("+")
    return [*names, "+"] if chord.endswith("++") else names


def key_actions(pressed: list[list[str]]) -> list[dict[str, Any]]:
    """The key source of Perform Actions that presses these chords of key values, one after the other."""
    ticks: list[dict[str, Any]] = []
    for chord in pressed:
        # A letter with a modifier is a shortcut, for which browsers compare the unshifted letter.
        values = [value.lower() if len(chord) > 1 and value.isascii() else value for value in chord]
        ticks += [{"type": "keyDown", "value": value} for value in values]
        ticks += [{"type": "keyUp", "value": value} for value in reversed(values)]
    return [{"type": "key", "id": "keys", "actions": ticks}]
