"""Types codes into boxes of one character each, between which a page moves the focus."""

from __future__ import annotations

import re

from orchestrator.automation.input import press
from orchestrator.automation.scene import Scene
from orchestrator.snapshot.focus_answers import CodeBoxAnswer, CodeHeldAnswer
from orchestrator.snapshot.methods import CODE_BOX, CODE_HELD

_MOVES = 1000
"""Milliseconds in which a page moves the focus to the next box: some do so by a timer, or in the next frame."""
_LEADS = 300
"""Milliseconds that it has for that before we move the focus."""
_HOLDS = 500
"""Milliseconds in which the boxes show what was typed."""
_GROUPING = re.compile(r"[\s-]")
"""Spaces and hyphens, which people write between the parts of a code."""


def type_code(scene: Scene, text: str, *, secret: bool = False) -> list[str]:
    """Type a text that begins in the box in focus, and goes on where the page moves the focus; return warnings.

    Each character goes into a box of the same code, or nowhere.
    """
    typed, box = 0, CodeBoxAnswer(ok=True, room=0)
    for char in text:
        scene.check()
        box = scene.query_page(CODE_BOX, slice=_MOVES, begins=not typed, secret=secret)
        if not box["ok"]:
            break
        press(scene, [[char]])
        typed += 1
    held = scene.query_page(CODE_HELD, value=text[:typed], slice=_HOLDS)
    if held.get("gone"):
        return [_not_arrived(len(text) - typed, len(text), held)] if typed < len(text) else []
    missing = len(text) - held["arrived"]
    return [_not_arrived(missing, len(text), held, box.get("elsewhere"))] if missing else []


def fill_code(scene: Scene, value: str, *, secret: bool = False) -> tuple[CodeHeldAnswer, list[str]]:
    """Fill the boxes of a code from the one that was acted on last, whether the page moves the focus on or not."""
    box = scene.query_page(CODE_BOX, slice=_LEADS, begins=True, acted=True, secret=secret, leads=True, at=0)
    parts = _GROUPING.sub("", value)
    text = parts if len(parts) <= box["room"] < len(value) else value
    for place, char in enumerate(text):
        scene.check()
        if place:
            box = scene.query_page(CODE_BOX, slice=_LEADS, leads=True, at=place)
        if not box["ok"]:
            break
        press(scene, [[char]])
    held = _mend(scene, text)
    if held["same"] or held.get("gone"):
        return held, []
    return held, [_not_arrived(len(text) - held["arrived"], len(text), held)]


def _mend(scene: Scene, text: str) -> CodeHeldAnswer:
    """Type again what a page that moved the focus late did not let arrive; each box once more at most."""
    held = scene.query_page(CODE_HELD, value=text, slice=_HOLDS)
    for _ in text:
        if (wrong := held.get("wrong")) is None:
            break
        if not scene.query_page(CODE_BOX, slice=0, leads=True, at=wrong)["ok"]:
            break
        press(scene, [[text[wrong]]])
        before, held = wrong, scene.query_page(CODE_HELD, value=text, slice=_HOLDS)
        if held.get("wrong") == before:
            break
    return held


def _not_arrived(missing: int, total: int, held: CodeHeldAnswer, elsewhere: str | None = None) -> str:
    """Say how many characters are not there, and why; not which, since codes may be secret."""
    lost = f"{missing} of {total} characters did not arrive"
    if held.get("gone"):
        return f"{lost}: the page has taken the boxes away, or navigated."
    if focused := elsewhere or held.get("line"):
        return f"{lost}: the focus {'moved to' if elsewhere else 'is in'} {focused}."
    return f"{lost}."
