"""Pointer input by the DevTools protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from orchestrator.automation.keys import KEYS
from orchestrator.webdriver.websocket import Command

_MODIFIERS = {KEYS["Alt"]: 1, KEYS["Control"]: 2, KEYS["Meta"]: 4, KEYS["Shift"]: 8}
"""The bits of held keys (CDP, Input.dispatchMouseEvent)."""
_BUTTONS = ("left", "middle", "right")
_BITS = {"left": 1, "right": 2, "middle": 4}


class PointerEvents:
    """Performs the steps of a W3C pointer as DevTools events (CDP, Input domain).

    Args:
        send: Sends a command, or keeps it.
        kind: `mouse` or `touch`.
        held: The keys that are held down meanwhile, as WebDriver key values.
    """

    def __init__(self, send: Callable[[Command], object], kind: str, held: Iterable[str]) -> None:
        self._send_command = send
        self._is_touch = kind == "touch"
        self._modifiers = sum(_MODIFIERS.get(key, 0) for key in held)
        self._at: tuple[int, int] = (0, 0)
        self._pressed: str | None = None
        self._presses = 0

    def perform(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Perform the steps one after the other."""
        acts = {"pointerMove": self._move, "pointerDown": self._press, "pointerUp": self._release, "pause": self._pause}
        for step in steps:
            acts[step["type"]](step)

    def _pause(self, step: Mapping[str, Any]) -> None:
        time.sleep(step.get("duration", 0) / 1000)

    def _move(self, step: Mapping[str, Any]) -> None:
        self._pause(step)
        at = (step["x"], step["y"])
        self._presses = self._presses if at == self._at else 0
        self._at = at
        if not self._is_touch:
            self._send("mouseMoved")
        elif self._pressed:
            self._touch("touchMove")

    def _press(self, step: Mapping[str, Any]) -> None:
        self._pressed = _BUTTONS[step.get("button", 0)]
        self._presses += 1
        if self._is_touch:
            self._touch("touchStart")
        else:
            self._send("mousePressed")

    def _release(self, _: Mapping[str, Any]) -> None:
        if self._is_touch:
            self._touch("touchEnd")
        else:
            self._send("mouseReleased", buttons=0)
        self._pressed = None

    def _send(self, kind: str, **changed: Any) -> None:
        x, y = self._at
        facts = {"x": x, "y": y, "button": self._pressed or "none", "buttons": _BITS.get(self._pressed or "", 0)}
        clicks = 0 if kind == "mouseMoved" else self._presses
        event = {"type": kind, **facts, "modifiers": self._modifiers, "clickCount": clicks, **changed}
        self._send_command(("Input.dispatchMouseEvent", event))

    def _touch(self, kind: str) -> None:
        x, y = self._at
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        event = {"type": kind, "touchPoints": points, "modifiers": self._modifiers}
        self._send_command(("Input.dispatchTouchEvent", event))
