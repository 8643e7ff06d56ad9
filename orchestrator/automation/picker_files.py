"""Gives files to a picker of the File System Access API (`showOpenFilePicker`).

The files are dropped on the page, unheard by it, as a person drops files from outside: the browser makes handles of its
own, and the page's next picker is answered with these. They can be read; no command grants a page to write to them.

Source: https://wicg.github.io/file-system-access/ (`DataTransferItem.getAsFileSystemHandle`);
https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-dispatchDragEvent.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.automation.input import aimed_at, move, point_and_press
from orchestrator.automation.scene import Scene
from orchestrator.errors import NotActionable
from orchestrator.models.results import Acted
from orchestrator.system.deadline import Deadline, poll_until

_SERVED = """
const asked = {};
window.dispatchEvent(new CustomEvent('webdriver-orchestrator:pickers', { detail: asked }));
const { served } = asked;
if (!served) return '!';
"""
_EXPECT = f"{_SERVED} served.expect(); return true;"
_KEEP = f"{_SERVED} return served.keep();"
_IS_TAKEN = f"{_SERVED} return Promise.race([served.taken, new Promise((done) => setTimeout(done, 100, false))]);"
_FORGET = f"{_SERVED} served.forget(); return true;"
_PRESS = ({"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})
_PAUSE = 0.01
_COPY = 1
"""The drag operation `copy`."""


def give_to_picker(scene: Scene, selector: str, timeout_ms: int | None, files: Sequence[str]) -> Acted:
    """Click an element, and give the files to the picker that it opens.

    Raises:
        NotActionable: The click opened no picker that takes these files.
    """
    page, deadline = scene.web_page, Deadline(scene.seconds(timeout_ms))
    with aimed_at(scene, selector, timeout_ms, "press") as aimed:
        page.run_in_page(_EXPECT)
        _drop(scene, aimed.point, files)
        page.run_in_page(_KEEP)
        point_and_press(scene, [move(*aimed.point), *_PRESS], aimed=aimed)
    if not poll_until(lambda: page.run_in_page(_IS_TAKEN) is True, deadline, every=_PAUSE):
        page.run_in_page(_FORGET)
        many = "these files" if len(files) > 1 else "a file"
        raise NotActionable(
            f"{aimed.hit.facts['line']} is not a file input and leads to none, or to several; clicked, it opened no "
            f"picker that takes {many}.",
            hint="Give the selector of a file input, or of what opens showOpenFilePicker; several files need one that "
            "takes several.",
        )
    return Acted(matches=aimed.hit.matches)


def _drop(scene: Scene, point: tuple[int, int], files: Sequence[str]) -> None:
    x, y = point
    data = {"items": [], "files": [*files], "dragOperationsMask": _COPY}
    for kind in ("dragEnter", "dragOver", "drop"):
        scene.remote.cdp("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)
