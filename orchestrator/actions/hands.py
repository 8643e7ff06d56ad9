"""What acting is made of: clicks, key presses and text, as commands to the remote end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from orchestrator import abilities
from orchestrator.actions.keys import KEYS, key_actions
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure
from orchestrator.models import SessionType

_KEYS_AT_ONCE = 100
"""Key presses in one Perform Actions command, so that none of them comes near the command deadline."""

PRESS: tuple[dict[str, Any], ...] = ({"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})
"""One press of the main button, or of a finger."""


def is_chromium(scene: Scene) -> bool:
    """Whether the session's browser is one of Chromium's kin; one on a device is driven otherwise."""
    return scene.browser in abilities.CHROMIUM


def shortcut(scene: Scene) -> str:
    """The key that shortcuts and selections of several are made with."""
    on_mac = str(scene.record.capabilities.get("platformName", "")).lower().startswith("mac")
    return KEYS["Meta" if on_mac else "Control"]


def press(scene: Scene, pressed: Sequence[list[str]]) -> None:
    """Press chords of protocol values one after the other."""
    for start in range(0, len(pressed), _KEYS_AT_ONCE):
        scene.check()
        scene.remote.execute("actions", actions=key_actions(list(pressed[start : start + _KEYS_AT_ONCE])))


def press_named(scene: Scene, names: Iterable[str]) -> None:
    """Press keys by name or character."""
    press(scene, [[KEYS.get(name, name)] for name in names])


def type_text(scene: Scene, text: str, *, keystrokes: bool = False) -> None:
    """Write over what is selected, as one input event where the browser can; nothing deletes it."""
    if not text:
        press(scene, [[KEYS["Delete"]]])
    elif not keystrokes and is_chromium(scene):
        scene.remote.cdp("Input.insertText", text=text)
    elif keystrokes or scene.record.type is not SessionType.BROWSER or not scene.ask("inserted", value=text)["taken"]:
        press(scene, [[KEYS["Enter"] if char == "\n" else char] for char in text])


def move(x: int, y: int, duration: int = 0) -> dict[str, Any]:
    """A pointer's move to a point of the viewport."""
    return {"type": "pointerMove", "x": x, "y": y, "duration": duration}


def pointer(scene: Scene, steps: Sequence[dict[str, Any]], *, kind: str = "mouse", held: Sequence[str] = ()) -> None:
    """Perform a pointer's steps in one command, with keys held down meanwhile (W3C Perform Actions)."""
    source: dict[str, Any] = {
        "type": "pointer",
        "id": kind,
        "parameters": {"pointerType": kind},
        "actions": list(steps),
    }
    sources = [source]
    if held:
        pauses = [{"type": "pause"}] * len(held)
        downs = [{"type": "keyDown", "value": value} for value in held]
        ups = [{"type": "keyUp", "value": value} for value in reversed(held)]
        source["actions"] = [*pauses, *steps, *pauses]
        keys = {"type": "key", "id": "keys", "actions": [*downs, *[{"type": "pause"}] * len(steps), *ups]}
        sources = [keys, source]
    scene.remote.execute("actions", actions=sources)


@contextmanager
def given_point(x: int, y: int) -> Iterator[None]:
    """For the block that goes to a point which the caller gave.

    Raises:
        InvalidArgument: It is outside the viewport.
    """
    try:
        yield
    except RemoteFailure as error:
        if error.details.get("error") != "move target out of bounds":
            raise
        raise InvalidArgument(
            f"x {x}, y {y} is outside the viewport.",
            hint="Give CSS pixels (on an app's screen the driver's own) from the top left corner of what is visible.",
        ) from error


def at_top(scene: Scene, point: Sequence[int]) -> tuple[int, int]:
    """A point of the current frame as one of the top document's viewport."""
    x, y = point
    with scene.find.pointer(x, y) as found:
        return found


def click(scene: Scene, point: tuple[int, int], *, held: Sequence[str] = ()) -> None:
    """Click at a point of the current frame."""
    with scene.find.pointer(*point) as (x, y):
        pointer(scene, [move(x, y), *PRESS], held=held)


def click_in_web_view(scene: Scene, selector: str, timeout_ms: int | None) -> Acted:
    """Element Click, once it can be clicked: XCUITest takes pointer actions for the screen's, not for the page's.

    Where it makes the events itself, they are not trusted ones.
    """
    found = scene.element(selector, "point", timeout_ms, handle=True)
    with found as hit, scene.find.frame(list(hit.facts.get("path") or ())):
        scene.remote.execute("clickElement", id=next(iter(scene.web.handle().values())))
    return Acted(matches=hit.matches)
