"""Choose options by name in comboboxes and list boxes that a page made of its own elements."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.automation.browser.finder import FoundElement
from orchestrator.automation.input import check_arrival, click, press, press_named, shortcut, type_text
from orchestrator.automation.scene import Scene
from orchestrator.errors import NotActionable, PressMissed, quoted
from orchestrator.snapshot.answers import HeldAnswer, OfferedAnswer
from orchestrator.snapshot.methods import COMBOBOX_HELD, OFFERED, SURPLUS

_IS_OPEN, _OPENS = 20, 600
"""Milliseconds after which a list is taken for closed, before it is opened and after."""
_RESTS = 500
"""Milliseconds in which an open list gets no further options, once nothing is loading."""
_SHOWS = 1000
"""Milliseconds in which a combobox shows what was chosen."""
_MOST = 5.0
"""Seconds that a list may go on loading."""

_MOST_SURPLUS = 100
"""Options that are given up at most."""
_MOST_MISSES = 4
"""Clicks that may miss an option, in a list that moves as the pointer comes."""

_OPENING_KEYS = ("ArrowDown",)
"""The key that opens a list that neither typing nor a click opened (ARIA, combobox)."""


def choose_by_name(scene: Scene, hit: FoundElement, value: str, *, keystrokes: bool) -> tuple[HeldAnswer, list[str]]:
    """Choose the option of this name; a field that takes typing gets it as text first, which filters the list.

    Raises:
        NotActionable: It takes no typing, and the list has no such option.
    """
    editable = hit.facts.get("editable", False)
    if editable:
        type_text(scene, value, keystrokes=keystrokes)
        if not value:
            return scene.query_page(COMBOBOX_HELD, slice=0), []
    offered = _open(scene, hit, value, typed=editable)
    if editable and ">" in value and not offered["found"]:
        offered = _narrow(scene, value)
    if not offered["found"]:
        if editable and "failure" not in offered and "several" not in offered:
            return scene.query_page(COMBOBOX_HELD, slice=0), [_not_chosen(value, offered)]
        raise _no_option(hit, value, offered)
    return _take(scene, offered, value)


def choose_all_by_name(scene: Scene, hit: FoundElement, values: Sequence[str]) -> tuple[HeldAnswer, list[str]]:
    """Choose exactly the options of these names, in the whole list before it is filtered by typing.

    A list of several choices gives up the others that it shows as chosen.

    Raises:
        NotActionable: The list has no such option.
    """
    held = scene.query_page(COMBOBOX_HELD, slice=0)
    warnings: list[str] = []
    if not values:
        _open(scene, hit, "", typed=False)
    for value in values:
        scene.check()
        offered = _open(scene, hit, value, typed=False)
        if not offered["found"] and not {"failure", "several"} & offered.keys() and hit.facts.get("editable"):
            offered = _narrow(scene, value)
        if not offered["found"]:
            raise _no_option(hit, value, offered)
        held, warnings = _take(scene, offered, value)
        if warnings:
            return held, warnings
    for _ in range(_MOST_SURPLUS):
        scene.check()
        point = scene.query_page(SURPLUS, values=list(values))["point"]
        if point is None:
            break
        _click_aimed(scene, (point[0], point[1]))
        held = scene.query_page(COMBOBOX_HELD, slice=0)
    return held, warnings


def _open(scene: Scene, hit: FoundElement, value: str, *, typed: bool) -> OfferedAnswer:
    """Open the list, unless it is open or opens by itself, and look for the option in it."""
    offered = _look(scene, value, opens=_OPENS if typed else _IS_OPEN)
    if not offered["open"] and not typed:
        click(scene, hit.point)
        offered = _look(scene, value)
    if not offered["open"] and typed:
        # Some lists open only with the key events of typing.
        press(scene, [[shortcut(scene), "a"]])
        type_text(scene, value, keystrokes=True)
        offered = _look(scene, value)
    if not offered["open"]:
        press_named(scene, _OPENING_KEYS)
        offered = _look(scene, value)
    return offered


def _narrow(scene: Scene, value: str) -> OfferedAnswer:
    """Filter the list by a name alone, where it was given with its group, and look for the option in it."""
    press(scene, [[shortcut(scene), "a"]])
    type_text(scene, value.rpartition(">")[2].strip() or value)
    return _look(scene, value)


def _look(scene: Scene, value: str, opens: int = _OPENS) -> OfferedAnswer:
    milliseconds = round(min(_MOST, scene.seconds(None)) * 1000)
    return scene.query_page(OFFERED, value=value, slice=milliseconds, opens=opens, rests=_RESTS)


def _take(scene: Scene, offered: OfferedAnswer, value: str) -> tuple[HeldAnswer, list[str]]:
    """Choose the option, unless a list of several choices has it already, and return what the combobox shows.

    Raises:
        PressMissed: The list moved away as often as the pointer came.
        NotActionable: The combobox shows another option.
    """
    held = _click_until_met(scene, offered, value)
    if held["same"] or held.get("gone"):
        return held, []
    if held.get("other"):
        raise NotActionable(
            f"The option {quoted(value)} was clicked, and the combobox shows another one: {quoted(held['value'])}.",
            hint="Look with get_visible_elements at what it shows now, then set it again.",
        )
    return held, [f"The option {quoted(value)} was clicked, and the combobox shows {held['value']!r}."]


def _click_until_met(scene: Scene, offered: OfferedAnswer, value: str) -> HeldAnswer:
    for _ in range(_MOST_MISSES):
        try:
            return _click_option(scene, offered)
        except PressMissed:
            scene.check()
            offered = _look(scene, value)
            if not offered["found"]:
                raise
    return _click_option(scene, offered)


def _click_option(scene: Scene, offered: OfferedAnswer) -> HeldAnswer:
    if not offered.get("chosen"):
        _click_aimed(scene, (offered["x"], offered["y"]))
    return scene.query_page(COMBOBOX_HELD, slice=_SHOWS)


def _click_aimed(scene: Scene, point: tuple[int, int]) -> None:
    """Click what `offered` or `surplus` aimed at; the next query of the page says if the click met something else."""
    path = scene.finder.frames.current_path
    click(scene, point, aim="press")
    check_arrival(scene, path)
    if path:
        scene.run_deferred_queries()
        scene.finder.frames.switch(path)


def _offer(offered: OfferedAnswer) -> str:
    if not offered["open"]:
        return "no list of options opened"
    return f"the open list has {', '.join(offered['options']) or 'no options'}"


def _not_chosen(value: str, offered: OfferedAnswer) -> str:
    way = " Click one of them." if offered["options"] else ""
    return f"{quoted(value)} was typed and not chosen: no option has that name; {_offer(offered)}.{way}"


def _no_option(hit: FoundElement, value: str, offered: OfferedAnswer) -> NotActionable:
    if several := offered.get("several"):
        return NotActionable(
            f"{quoted(hit.given)} cannot be set: {several}.",
            hint="Give the group, too, as in Group > Option, or the value.",
        )
    if failure := offered.get("failure"):
        return NotActionable(
            f"{quoted(hit.given)} cannot be set: {failure}.", hint="Choose another one, or enable it first."
        )
    return NotActionable(
        f"{quoted(hit.given)} cannot be set: no option is named {quoted(value)}; {_offer(offered)}.",
        hint="Give the name of one of its options, or click one."
        if offered["options"]
        else "Click it and look with get_visible_elements at what opens.",
    )
