"""Takes the pictures of an app's screen."""

from __future__ import annotations

import base64

from orchestrator.actions.camera import Camera
from orchestrator.actions.drawing import Shot
from orchestrator.actions.finding import several
from orchestrator.actions.frames import Box
from orchestrator.actions.scene import Scene
from orchestrator.errors import NotActionable, Unsupported, quoted

_NARROW = 400
"""Units across a phone where they are as long as CSS pixels; where there are many more, they are the screen's own."""


class AppCamera(Camera):
    """One call's pictures of an app's screen: pixels are the device's, areas are in the driver's coordinates."""

    def viewport(self) -> Shot:
        """What the device shows, bars and keyboard included (Take Screenshot)."""
        raw = base64.b64decode(self._scene.remote.execute("screenshot"))
        width, height = self._scene.ask("shot")["view"]
        fineness = max(1.0, min(width, height) / _NARROW)
        return self._marked(Shot(raw, Box(0, 0, max(width, 1), max(height, 1)), fineness=fineness))

    def element(self, given: str) -> Shot:
        """An element, as far as it is on the screen.

        Raises:
            ElementNotFound, NotActionable, StaleRef: There is nothing to take a picture of.
        """
        scene = self._scene
        with scene.find.located(given, "shot", scene.seconds(None)) as found:
            self.matches = several(found)
            part = Box.of(found["part"])
        if min(part.size) <= 0:
            raise NotActionable(f"Nothing of {quoted(given)} can be seen.", hint="Scroll to it.")
        self._compare(given, Box.of(found["box"]), part)
        return self.viewport().crop(part)

    def page(self) -> Shot:
        """There is none.

        Raises:
            Unsupported: An app tells only what is on its screen.
        """
        raise Unsupported("An app has no picture of more than its screen.", hint="Scroll, and take one of each part.")


def camera_of(scene: Scene, *, marks: bool) -> Camera:
    """The camera for what the session shows now."""
    return (AppCamera if scene.native else Camera)(scene, marks=marks)
