"""Mouse, touch and keyboard input, by W3C Perform Actions or by DevTools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from orchestrator.automation.browser.devtools_input import PointerEvents
from orchestrator.automation.browser.finder import FoundElement
from orchestrator.automation.browser.frames import FramePath, ViewportRect
from orchestrator.automation.keys import KEYS, key_actions
from orchestrator.automation.scene import Scene
from orchestrator.errors import (
    BuiltinsReplaced,
    DialogOpen,
    InvalidArgument,
    NavigationWaits,
    NoAnswer,
    PlaceGone,
    RemoteFailure,
)
from orchestrator.models import browser_support
from orchestrator.models.results import Acted
from orchestrator.models.session import SessionType
from orchestrator.snapshot.methods import ARRIVED, INSERTED, PREFILLED, PRESSED
from orchestrator.snapshot.web.page import Interrupted
from orchestrator.webdriver.websocket import Command

_KEYS_AT_ONCE = 100
"""Key presses per Perform Actions command, so that none comes near the command timeout."""

_LINES_INSERTED, _MOST_INSERTED, _MOST_TYPED = 500, 1_000_000, 5_000
"""Lines and characters inserted at once, and characters typed by keys: more would hold up the page for too long.

A browser needs more time for each line than for the one before.
"""
_PREFILLED = 100_000
"""Characters beyond which a text area is filled by script but for the last one."""

_BEGUN, _LEAVES = 2.0, 0.2
"""Seconds in which the browser tells of a navigation that has begun, and of one by a form that no script sends."""

PRESS: tuple[dict[str, Any], ...] = ({"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})
"""Press and release of the main button, or of a finger."""

Aim = Literal["press", "hold", "hover"]
"""The way the pointer acts at a point: press and release, press for a drag, or move there."""
Direction = Literal["up", "down", "left", "right"]
Point = tuple[int, int]
Steps = list[dict[str, Any]]
_TOUCH_MS = 50
"""Duration of a tap: some drivers ignore shorter ones."""
_BETWEEN_MS = 80
"""Pause between the taps of a double tap."""
_LIFT_MS = 600
"""Duration of the long press that begins a drag."""
_REST_MS = 100
"""Pause before a finger is lifted, so that nothing is flung."""
_MARGIN = 0.05
"""Share of the screen at each edge where strokes are gestures of the system."""
_SIGNS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def is_chromium(scene: Scene) -> bool:
    """True for Chromium browsers on desktops; those on devices are driven differently."""
    return scene.browser in browser_support.CHROMIUM


def shortcut(scene: Scene) -> str:
    """The modifier key of shortcuts and of multiple selection."""
    on_mac = str(scene.record.capabilities.get("platformName", "")).lower().startswith("mac")
    return KEYS["Meta" if on_mac else "Control"]


def press(scene: Scene, pressed: Sequence[list[str]]) -> None:
    """Press chords of WebDriver key values, one after the other."""
    for start in range(0, len(pressed), _KEYS_AT_ONCE):
        scene.check()
        scene.remote.execute("actions", actions=key_actions(list(pressed[start : start + _KEYS_AT_ONCE])))


def press_named(scene: Scene, names: Iterable[str]) -> None:
    """Press keys, given by name or character."""
    press(scene, [[KEYS.get(name, name)] for name in names])


def type_text(scene: Scene, text: str, *, keystrokes: bool = False) -> None:
    """Replace the selection by the text, in one input event where possible; an empty text deletes the selection."""
    if not text:
        press(scene, [[KEYS["Delete"]]])
        return
    if not keystrokes and _is_prefilled(text):
        taken = scene.query_page(PREFILLED, value=text[:-1])["taken"]
        text = text[-1] if taken else text
    _check_length(text, _MOST_TYPED if keystrokes else _MOST_INSERTED)
    if not keystrokes and is_chromium(scene):
        insertion = {"text": text}
        if not send_input(scene, [("Input.insertText", insertion)]):
            scene.remote.cdp("Input.insertText", **insertion)
    elif (
        keystrokes
        or scene.record.type is not SessionType.BROWSER
        or not scene.query_page(INSERTED, value=text)["taken"]
    ):
        press(scene, [[KEYS["Enter"] if char == "\n" else char] for char in text])


def send_input(scene: Scene, events: Sequence[Command], *, asks_arrival: bool = False) -> bool:
    """Send input to the current tab at once, over the DevTools of a Chromium of this machine; False if it was not.

    The driver sends one event after the other, and after a move it waits for the page's next frame.

    Args:
        scene: The session's scene.
        events: Commands of CDP's Input domain.
        asks_arrival: Ask the page then where the pointer arrived; deferred where it gives no answer.

    Raises:
        PressMissed: The pointer arrived at another element.
        OrchestratorError: As `Remote.execute`.
    """
    tab = scene.tabs.handles.recorded_handle()
    if not tab or not scene.tabs.devtools_address:
        return False
    scene.remote.make_ready()
    try:
        browser = scene.browser_connection.connect()
    except NoAnswer:
        return False  # the driver tells what is wrong
    before = scene.navigations.begun
    try:
        query = scene.web_page.call_command(ARRIVED) if asks_arrival else None
        result = browser.send_input(
            tab, events, query, limit=scene.remote.timeout, meanwhile=lambda: _check_input(scene)
        )
    except NavigationWaits:
        result = None  # the query waits with the navigation, and is asked again
    except RemoteFailure:
        return False
    except NoAnswer as lost:
        if not browser.connected:
            return False
        raise scene.remote.unanswered(lost) from lost
    if asks_arrival:
        _note_arrival(scene, result, before)
    return True


def _check_input(scene: Scene) -> None:
    scene.check()
    if pending := scene.navigations.pending:
        raise pending.error()


def _note_arrival(scene: Scene, result: object, before: int) -> None:
    """Take the answer to `ARRIVED`; a page that leaves is asked again, once the browser has told of the navigation.

    `before` is the number of navigations before the press.
    """
    arrived = scene.web_page.take_answer(ARRIVED, result)
    leaves = arrived is not None and arrived.get("leaves", False)
    if leaves and arrived:
        scene.web_page.expect_new_document()
        scene.navigations.expect(before, _BEGUN if arrived.get("begun") else _LEAVES)
    if leaves or arrived is None:
        scene.web_page.queue_call(PRESSED, {})


def inserts_with_focus(scene: Scene, text: str, *, keystrokes: bool) -> bool:
    """Return True for a text that the page's engine inserts: it can do so in the call that focuses the field."""
    is_by_engine = scene.record.type is SessionType.BROWSER and not is_chromium(scene)
    return is_by_engine and bool(text) and not keystrokes and not _is_prefilled(text)


def _is_prefilled(text: str) -> bool:
    return len(text) > _PREFILLED or text.count("\n") >= _LINES_INSERTED


def _check_length(text: str, most: int) -> None:
    """Refuse a text that the page could not take in the time of a call.

    Raises:
        InvalidArgument: It has too many characters or lines.
    """
    lines = text.count("\n") + 1
    if len(text) > most or lines > _LINES_INSERTED:
        raise InvalidArgument(
            f"The text is too long to be typed at once: {len(text):,} characters in {lines:,} lines. "
            f"At most {most:,} characters in {_LINES_INSERTED:,} lines are typed here.",
            hint="Give its beginning, and the other parts by press_keys with text; or upload it as a file.",
        )


def type_at_caret(scene: Scene, text: str) -> None:
    """Insert the text where the caret is, with trusted events; a line break is Enter."""
    _check_length(text, _PREFILLED if is_chromium(scene) else _MOST_TYPED)
    for number, line in enumerate(re.split(r"\r\n?|\n", text)):
        if number:
            press(scene, [[KEYS["Enter"]]])
        if line:
            type_text(scene, line, keystrokes=not is_chromium(scene))


def move(x: int, y: int, duration: int = 0) -> dict[str, Any]:
    """A pointer move to a point of the viewport."""
    return {"type": "pointerMove", "x": x, "y": y, "duration": duration}


def perform_pointer_actions(
    scene: Scene, steps: Sequence[dict[str, Any]], *, kind: str = "mouse", held: Sequence[str] = ()
) -> None:
    """Perform a pointer's steps in one Perform Actions command, with keys held down."""
    if scene.browser == "firefox":
        steps = _beginning_with_a_move(scene, steps)
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
    try:
        scene.remote.execute("actions", actions=sources)
    except RemoteFailure as error:  # the driver's own script fails before the pointer's first move
        if not is_chromium(scene) or not _is_pages_doing(scene, error, steps):
            raise
        if held:
            scene.remote.execute("clearActionState")
        PointerEvents(lambda event: scene.remote.cdp(event[0], **event[1]), kind, held).perform(steps)


@dataclass
class Aimed:
    """Target of the pointer, inside `aimed_at`.

    Attributes:
        hit: The element.
        point: The point in the document in which the pointer acts.
        frame: The element's frame.
        is_asked: True once the page was asked where the pointer arrived.
    """

    hit: FoundElement
    point: tuple[int, int]
    frame: FramePath
    is_asked: bool = False


def point_and_press(
    scene: Scene, steps: Sequence[dict[str, Any]], *, held: Sequence[str] = (), aimed: Aimed | None = None
) -> None:
    """Perform moves and presses of the mouse, without pauses, at points inside the viewport of the top document."""
    events: list[Command] = []
    PointerEvents(events.append, "mouse", ()).perform(steps)
    asks = aimed is not None and not aimed.frame
    if held or not is_chromium(scene) or not send_input(scene, events, asks_arrival=asks):
        perform_pointer_actions(scene, steps, held=held)
    elif aimed:
        aimed.is_asked = asks


def _beginning_with_a_move(scene: Scene, steps: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return the steps so that their first move is one: the page gets no event of a move to where the pointer is."""
    moves = [(step["x"], step["y"]) for step in steps if step["type"] == "pointerMove"]
    before, scene.pointer = scene.pointer, moves[-1] if moves else scene.pointer
    if not moves or moves[0] != before:
        return steps
    x, y = before
    return [move(x - 1 if x else 1, y), *steps]


def _is_pages_doing(scene: Scene, error: RemoteFailure, steps: Iterable[dict[str, Any]]) -> bool:
    """Return True if Perform Actions failed for what the page replaced; it can lie about its size, too."""
    if error.details.get("error") != "move target out of bounds":
        return isinstance(error, BuiltinsReplaced)
    size = scene.remote.cdp("Page.getLayoutMetrics").get("cssLayoutViewport", {})
    moves = [step for step in steps if step["type"] == "pointerMove"]
    return all(0 <= one["x"] < size["clientWidth"] and 0 <= one["y"] < size["clientHeight"] for one in moves)


@contextmanager
def refusing_out_of_bounds(x: int, y: int) -> Iterator[None]:
    """Guard a block that moves to a point given by the caller.

    Raises:
        InvalidArgument: The point is outside the viewport.
    """
    try:
        yield
    except RemoteFailure as error:
        if error.details.get("error") != "move target out of bounds":
            raise
        raise InvalidArgument(
            f"x {x}, y {y} is outside the viewport.",
            hint="Give CSS pixels (on an app's screen the driver's units) from the viewport's top left corner.",
        ) from error


def pointer_point(scene: Scene, point: Sequence[int], aim: str | None = None) -> tuple[int, int]:
    """Convert a point of the current frame to the document in which the pointer acts; with `aim` see `aimed_at`."""
    x, y = point
    with scene.finder.frames.pointer_point(x, y, aim) as converted:
        return converted


def click(scene: Scene, point: tuple[int, int], *, held: Sequence[str] = (), aim: Aim | None = None) -> None:
    """Click at a point of the current frame; with `aim`, that of an element, see `aimed_at`."""
    with scene.finder.frames.pointer_point(*point, aim) as (x, y):
        point_and_press(scene, [move(x, y), *PRESS], held=held)


@contextmanager
def aimed_at(scene: Scene, given: str, timeout_ms: int | None, aim: Aim, *, scrolls: bool = True) -> Iterator[Aimed]:
    """Find an element; inside the block, where the document is current in which the pointer acts, it goes to the point.

    A page scrolls to it unless `scrolls` is false: then it must be in the viewport.

    A page is asked with its next query where the pointer arrived: that raises `PressMissed`.
    """
    if scene.native:
        with scene.element(given, "point", timeout_ms) as hit:
            yield Aimed(hit, hit.point, ())
        return
    with scene.element(given, "point", timeout_ms, aim=aim, rest=scene.scope.rest, stay=not scrolls) as hit:
        path = scene.finder.frames.current_path
        with scene.finder.frames.pointer_point(*hit.point, aim) as point:
            aimed = Aimed(hit, point, path)
            yield aimed
        if not aimed.is_asked:
            check_arrival(scene, path)


def check_arrival(scene: Scene, path: FramePath) -> None:
    """Ask where the pointer arrived: the element's frame and those around it now, the top document with its next query.

    Raises:
        PressMissed: At another element; by the next query, too.
    """
    for depth in range(len(path), 0, -1):
        with suppress(Interrupted, PlaceGone, DialogOpen):  # what the pointer did there took the frame away
            scene.finder.frames.switch(path[:depth])
            scene.web_page.call(PRESSED)
    scene.finder.frames.switch_back()
    scene.web_page.queue_call(PRESSED, {})


def click_in_web_view(scene: Scene, selector: str, timeout_ms: int | None, *, scrolls: bool = True) -> Acted:
    """Click by Element Click, since XCUITest sends pointer actions to the screen instead of the page.

    Events that XCUITest fires itself are not trusted.
    """
    found = scene.element(selector, "point", timeout_ms, handle=True, stay=not scrolls)
    with found as hit, scene.finder.in_frame(hit.facts["path"]):
        scene.remote.execute("clickElement", id=next(iter(scene.web_page.handle().values())))
    return Acted(matches=hit.matches)


def touch(scene: Scene, *fingers: Steps) -> None:
    """Perform the steps of all fingers at the same time, in one command."""
    sources = [
        {"type": "pointer", "id": f"finger{n}", "parameters": {"pointerType": "touch"}, "actions": steps}
        for n, steps in enumerate(fingers, 1)
    ]
    scene.remote.execute("actions", actions=sources)


def tapped(point: Point, *, count: int = 1, hold_ms: int | None = None) -> Steps:
    """Tap `count` times; with `hold_ms` each tap is a long press."""
    down, up = PRESS
    tap = [down, _pause(hold_ms or _TOUCH_MS), up]
    return [move(*point), *tap, *([_pause(_BETWEEN_MS), *tap] * (count - 1))]


def stroke(start: Point, end: Point, duration: int, *, rest: bool = False) -> Steps:
    """Touch, move for `duration` ms, and lift; with `rest` the finger pauses first, so that nothing is flung."""
    down, up = PRESS
    return [move(*start), down, move(*end, duration), *([_pause(_REST_MS)] if rest else []), up]


def dragged(start: Point, end: Point, duration: int) -> Steps:
    """Pick up by a long press, carry to the other point, and lift."""
    down, up = PRESS
    return [move(*start), down, _pause(_LIFT_MS), move(*end, duration), _pause(_REST_MS), up]


def stroke_points_by_share(area: ViewportRect, direction: Direction, share: float) -> tuple[Point, Point]:
    """Start and end of a centred stroke over a share of the area's length."""
    length = area.size[0 if direction in {"left", "right"} else 1] * min(share, 1 - 2 * _MARGIN)
    return stroke_points_by_length(area, direction, length)


def stroke_points_by_length(area: ViewportRect, direction: Direction, length: float) -> tuple[Point, Point]:
    """Start and end of a centred stroke of this length."""
    right, down = _SIGNS[direction]
    x, y = (area.left + area.right) / 2, (area.top + area.bottom) / 2
    start = (round(x - right * length / 2), round(y - down * length / 2))
    return start, (round(start[0] + right * length), round(start[1] + down * length))


def pinched(area: ViewportRect, scale: float, duration: int) -> tuple[Steps, Steps]:
    """Strokes of two fingers about the area's middle: apart for a scale above 1, together below 1."""
    x, y = round((area.left + area.right) / 2), round((area.top + area.bottom) / 2)
    far = min(area.size) * (0.5 - _MARGIN)
    near = max(far * min(scale, 1 / scale), 1)
    first, last = (near, far) if scale > 1 else (far, near)
    left, right = (
        stroke((round(x + sign * first), y), (round(x + sign * last), y), duration, rest=True) for sign in (-1, 1)
    )
    return left, right


def screen_area(scene: Scene) -> ViewportRect:
    """The device's screen in the driver's units (Get Window Rect)."""
    rect = scene.remote.execute("getWindowRect")
    return ViewportRect(0, 0, max(rect["width"], 1), max(rect["height"], 1))


def _pause(duration: int) -> dict[str, Any]:
    return {"type": "pause", "duration": duration}
