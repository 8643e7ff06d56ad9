"""Set the form controls of a page, by kind, and read back their values."""

from __future__ import annotations

from orchestrator.automation.browser.finder import FoundElement
from orchestrator.automation.fields.codes import fill_code
from orchestrator.automation.fields.comboboxes import choose_by_name
from orchestrator.automation.input import (
    PRESS,
    click,
    is_chromium,
    move,
    perform_pointer_actions,
    pointer_point,
    press,
    press_named,
    shortcut,
    type_text,
)
from orchestrator.automation.keys import KEYS
from orchestrator.automation.scene import Scene
from orchestrator.errors import NotActionable, quoted
from orchestrator.models.session import SessionType
from orchestrator.snapshot.answers import HeldAnswer
from orchestrator.snapshot.methods import ASSIGN, EDITED, EDITING, OPTIONS_HELD, PASTED, SLIDER, TOGGLES, TYPED, VERIFY

_EDITOR_WAKES = 1000
"""Milliseconds in which a clicked editor focuses its field, and shows the text that was typed."""
_MOST_ROUNDS, _MOST_KEYS = 5, 200
"""Rounds of key presses on a slider, and key presses per round."""
_BY_SCRIPT = "No key reached that value: it was set by script, so its events are not trusted ones."

Filled = tuple[HeldAnswer, list[str]] | None
"""The value that the engine read back, and warnings; None if it is read later, see `_read_back`."""

_OPTION = "return arguments[0].options[arguments[1]]"

_MOST_MISSES = 8
"""Rounds of clicks that may miss: on a busy machine, a list may still show its position before it scrolled."""


def fill_web_control(scene: Scene, hit: FoundElement, value: str, *, keystrokes: bool) -> Filled:
    """Set the element that `ready(need="fill")` found to `value`."""
    if hit.kind == "combobox":
        return choose_by_name(scene, hit, value, keystrokes=keystrokes)
    if setter := _SETTERS.get(hit.kind):
        return setter(scene, hit, value)
    if scene.record.type is not SessionType.BROWSER and not keystrokes:
        send_keys(scene, hit, value, clear=True)
    elif value and hit.kind == "password" and not keystrokes and is_chromium(scene):
        _type_into(scene, hit, value)
    elif not hit.facts.get("inserted") and (value or not hit.facts["empty"]):
        type_text(scene, value, keystrokes=keystrokes)
    return _read_back(scene, hit, value=value)


def _type_into(scene: Scene, hit: FoundElement, value: str) -> None:
    """Type into the field itself, also if a frame of another site takes the focus meanwhile.

    Raises:
        NotActionable: The field does not keep the focus.
    """
    if not scene.query_page(TYPED, value=value, replace=True, acted=True)["taken"]:
        raise NotActionable(
            f"{quoted(hit.given)} cannot be filled: the field does not keep the focus.",
            hint="Look with get_visible_elements, and try again.",
        )


def _read_back(scene: Scene, hit: FoundElement, **wanted: str) -> Filled:
    """Read the value; in a sequence, together with the next query of the same document, to save a request."""
    warn = scene.scope.warn
    if warn and scene.finder.at_top:

        def report(held: HeldAnswer) -> None:
            scene.record_url_and_title(held)
            for warning in _warnings(hit, held):
                warn(warning)

        scene.defer_query(VERIFY, report, **wanted)
        return None
    held = scene.query_page(VERIFY, **wanted)
    return held, _warnings(hit, held)


def _warnings(hit: FoundElement, held: HeldAnswer) -> list[str]:
    if held["same"]:
        return []
    if hit.kind == "password" and not held.get("gone"):
        return ["The page changed the value: the field now holds something else."]
    return [describe_mismatch(held)]


def send_keys(scene: Scene, hit: FoundElement, value: str, *, clear: bool) -> None:
    """Send the value by Element Send Keys, after Element Clear if `clear` is set.

    In an app's web view, other ways of typing may not reach the page.
    """
    with scene.finder.in_frame(hit.facts["path"]):
        handle = next(iter(scene.web_page.handle().values()))
        if clear and not hit.facts["empty"]:
            scene.remote.execute("clearElement", id=handle)
        if value:
            scene.remote.execute("sendKeysToElement", id=handle, text=value, value=list(value))


def _select(scene: Scene, hit: FoundElement, _: str) -> Filled:
    held = choose(scene, hit)
    return held, [] if held["same"] else [describe_mismatch(held)]


def _fill_boxes(scene: Scene, hit: FoundElement, value: str) -> Filled:
    return fill_code(scene, value, secret=hit.facts.get("secret", False))


def _check(scene: Scene, hit: FoundElement, _: str) -> Filled:
    """Click it, unless its state is the wanted one; an indeterminate checkbox may need two clicks."""
    if not hit.facts.get("already"):
        click(scene, hit.point)
        if hit.facts.get("mixed"):
            held = scene.query_page(VERIFY)
            if held["same"] or held.get("gone"):
                return held, _warnings(hit, held)
            click(scene, hit.point)
    return _read_back(scene, hit)


def _write_in(scene: Scene, hit: FoundElement, value: str) -> Filled:
    """Select all by its shortcut, too, since some editors hold more than they show; then type."""
    press(scene, [[shortcut(scene), "a"]])
    type_text(scene, value)
    return _read_back(scene, hit, value=value)


def _edit(scene: Scene, hit: FoundElement, value: str) -> Filled:
    """Click the editor, then type into the field that has the focus."""
    click(scene, hit.point)
    found = scene.query_page(EDITING, slice=_EDITOR_WAKES)
    if not found["ok"]:
        raise NotActionable(
            f"{quoted(hit.given)} cannot be filled: clicking it focused no field.",
            hint="Give the selector of the field itself.",
        )
    if found["secret"]:
        scene.mask_typed(value)
    press(scene, [[shortcut(scene), "a"]])
    if "\n" not in value or not scene.query_page(PASTED, value=value)["taken"]:
        type_text(scene, value)
    held = scene.query_page(EDITED, value=value, slice=_EDITOR_WAKES)
    if held["same"]:
        return held, []
    return held, ["The editor does not show the text that was typed."] if found["secret"] else [describe_mismatch(held)]


def _by_keys(scene: Scene, hit: FoundElement, value: str) -> Filled:
    """Set dates, times, colors and ranges by keys, else by script, as drivers do for colors.

    Element Send Keys is meant for that, but chromedriver only types the text, and geckodriver sets dates without any
    key. On desktops we compute the keys, since the order of a date's fields depends on the browser's language.
    """
    if hit.facts.get("already"):
        return _compared(scene, value, [])
    keys, types = hit.facts.get("keys"), is_chromium(scene) or scene.browser == "firefox"
    if keys or not types:
        if keys and (types or hit.kind == "range"):
            press_named(scene, keys)
        else:
            send_keys(scene, hit, value, clear=False)
        held = scene.query_page(VERIFY, value=hit.facts.get("held", value))
        if held["same"] or held.get("gone"):
            return _compared(scene, value, [])
    scene.query_page(ASSIGN, value=value)
    return _compared(scene, value, [_BY_SCRIPT])


def _compared(scene: Scene, value: str, warnings: list[str]) -> Filled:
    held = scene.query_page(VERIFY, value=value)
    return held, warnings if held["same"] else [*warnings, describe_mismatch(held)]


def _slide(scene: Scene, hit: FoundElement, value: str) -> Filled:
    """Press an arrow key once to learn its step, then as often as needed; some rounds of that at most."""
    facts = hit.facts
    more, less = ("ArrowUp", "ArrowDown") if facts.get("vertical") else ("ArrowRight", "ArrowLeft")
    current, aim, step, count = facts.get("now"), facts.get("aim"), 0.0, 1
    for _round in range(_MOST_ROUNDS):
        if current is None or aim is None or current == aim:
            break
        if step:
            count = min(round(abs(aim - current) / abs(step)), _MOST_KEYS)
        key = more if (aim > current) == (step >= 0) else less
        if not count:
            break
        press(scene, [[KEYS[key]]] * count)
        reached = scene.query_page(SLIDER)["now"]
        if reached is None or reached == current:
            break
        step = (reached - current) / count * (1 if key == more else -1)
        current = reached
    return _compared(scene, value, [])


_SETTERS = {
    "select": _select,
    "code": _fill_boxes,
    "checkbox": _check,
    "radio": _check,
    "contenteditable": _write_in,
    "editor": _edit,
    "date": _by_keys,
    "color": _by_keys,
    "range": _by_keys,
    "slider": _slide,
}


def choose(scene: Scene, hit: FoundElement) -> HeldAnswer:
    """Choose an option of a dropdown by keys, since its list gets no pointer events; of a list box, by a click.

    Where neither works, Element Click chooses it, with events that are not trusted.
    """
    steps = hit.facts.get("optionSteps")
    if not steps:
        click(scene, hit.point)
        return scene.query_page(OPTIONS_HELD)
    if is_chromium(scene):
        press(scene, _keys_to_option(*steps))
        held = scene.query_page(OPTIONS_HELD)
        if held["same"] or held.get("gone"):
            return held
    with scene.finder.in_frame(hit.facts["path"]):
        option = scene.remote.script(_OPTION, [scene.web_page.handle(), hit.facts.get("optionIndex")])
        scene.remote.execute("clickElement", id=next(iter(option.values())))
    return scene.query_page(OPTIONS_HELD)


def _keys_to_option(down: int, up: int) -> list[list[str]]:
    """Chords that open the list, go to its nearer end, step to the option and take it."""
    walk = [KEYS["Home"], *[KEYS["ArrowDown"]] * down] if down <= up else [KEYS["End"], *[KEYS["ArrowUp"]] * up]
    return [[KEYS["Alt"], KEYS["ArrowDown"]], *([key] for key in walk), [KEYS["Enter"]]]


def toggle(scene: Scene) -> HeldAnswer:
    """Click the options whose state is wrong, all that are in view at a time, as long as that helps."""
    left, missed = None, 0
    while True:
        scene.check()
        found = scene.query_page(TOGGLES)
        if left is not None and found["left"] >= left:
            missed += 1
        if not found["points"] or missed > _MOST_MISSES:
            return scene.query_page(OPTIONS_HELD)
        left = found["left"] if left is None else min(left, found["left"])
        steps = [step for point in found["points"] for step in (move(*pointer_point(scene, point)), *PRESS)]
        with scene.finder.frames.pointer_point(0, 0):
            perform_pointer_actions(scene, steps, held=[shortcut(scene)])


def describe_mismatch(held: HeldAnswer) -> str:
    """The warning for a field that holds another value than the one set."""
    if held.get("gone"):
        return "The field is gone: the page replaced it or navigated when it was set."
    focused = held.get("elsewhere")
    moved = f" The focus moved to {focused}." if focused else ""
    return f"The page changed the value: the field now holds {held['value']!r}.{moved}"
