"""What fingers do on a touch screen, as W3C actions with pointers of type touch (Perform Actions)."""

from __future__ import annotations

from typing import Any, Literal

from orchestrator.actions.frames import Box
from orchestrator.actions.hands import PRESS, move
from orchestrator.actions.scene import Scene

Direction = Literal["up", "down", "left", "right"]
Point = tuple[int, int]
Steps = list[dict[str, Any]]
_TOUCH_MS = 50
"""How long a finger stays for a tap: shorter ones are taken for nothing by some drivers."""
_BETWEEN_MS = 80
"""Between the taps of a double tap."""
_LIFT_MS = 600
"""How long a finger stays until what it touches is lifted to be dragged."""
_REST_MS = 100
"""How long it stays before it lets go, so that nothing flies on."""
_MARGIN = 0.05
"""The share of a screen at each edge where a stroke would be the system's own."""
_SIGNS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def touch(scene: Scene, *fingers: Steps) -> None:
    """Let fingers do their steps at the same time, in one command."""
    sources = [
        {"type": "pointer", "id": f"finger{n}", "parameters": {"pointerType": "touch"}, "actions": steps}
        for n, steps in enumerate(fingers, 1)
    ]
    scene.remote.execute("actions", actions=sources)


def tapped(point: Point, *, count: int = 1, hold_ms: int | None = None) -> Steps:
    """Tap so many times; with `hold_ms` each is a long press."""
    down, up = PRESS
    one = [down, _pause(hold_ms or _TOUCH_MS), up]
    return [move(*point), *one, *([_pause(_BETWEEN_MS), *one] * (count - 1))]


def stroke(start: Point, end: Point, duration: int, *, rest: bool = False) -> Steps:
    """Touch, go there in so many milliseconds, and let go; with `rest` what was moved stays where the finger ends."""
    down, up = PRESS
    return [move(*start), down, move(*end, duration), *([_pause(_REST_MS)] if rest else []), up]


def dragged(start: Point, end: Point, duration: int) -> Steps:
    """Lift what is there by a long press, carry it to the other point and let go."""
    down, up = PRESS
    return [move(*start), down, _pause(_LIFT_MS), move(*end, duration), _pause(_REST_MS), up]


def across(area: Box, direction: Direction, share: float) -> tuple[Point, Point]:
    """From where to where a finger goes in an area: that share of its length, about its middle."""
    length = area.size[0 if direction in {"left", "right"} else 1] * min(share, 1 - 2 * _MARGIN)
    return about(area, direction, length)


def about(area: Box, direction: Direction, length: float) -> tuple[Point, Point]:
    """From where to where a finger goes for a way of that length about the middle of an area."""
    right, down = _SIGNS[direction]
    x, y = (area.left + area.right) / 2, (area.top + area.bottom) / 2
    start = (round(x - right * length / 2), round(y - down * length / 2))
    return start, (round(start[0] + right * length), round(start[1] + down * length))


def pinched(area: Box, scale: float, duration: int) -> tuple[Steps, Steps]:
    """Two fingers about the middle of an area: apart for a scale above 1, together for one below."""
    x, y = round((area.left + area.right) / 2), round((area.top + area.bottom) / 2)
    far = min(area.size) * (0.5 - _MARGIN)
    near = max(far * min(scale, 1 / scale), 1)
    first, last = (near, far) if scale > 1 else (far, near)
    left, right = (
        stroke((round(x + sign * first), y), (round(x + sign * last), y), duration, rest=True) for sign in (-1, 1)
    )
    return left, right


def screen_area(scene: Scene) -> Box:
    """The device's screen in the driver's coordinates (Get Window Rect)."""
    rect = scene.remote.execute("getWindowRect")
    return Box(0, 0, max(rect["width"], 1), max(rect["height"], 1))


def _pause(duration: int) -> dict[str, Any]:
    return {"type": "pause", "duration": duration}
