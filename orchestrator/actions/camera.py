"""Takes the pictures: of the viewport, of an element wherever it stands, of the whole page."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import ceil, floor
from typing import Any

from orchestrator.actions.drawing import Mark, Shot
from orchestrator.actions.finding import several
from orchestrator.actions.frames import Box, Hop
from orchestrator.actions.scene import Scene
from orchestrator.errors import NotActionable, PlaceGone, RemoteFailure, Unsupported, quoted
from orchestrator.snapshot.page import Interrupted
from orchestrator.webdriver.remote import FULL_PAGE

_MOST_PIXELS = 16_384
"""Of a side: graphics hardware draws no more."""
_MOST_AREA = 50_000_000
"""Pixels in all: browser and server hold each of them several times."""
_PIXEL = {"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1}
_BARS = """
const {width, height} = visualViewport;
return [innerWidth, innerHeight, width < innerWidth || height < innerHeight];
"""
_SEEN = 0.99
"""A part of an element that misses less than this share of a side, or so many CSS pixels, counts as all of it."""


class Camera:
    """One call's pictures of its session."""

    def __init__(self, scene: Scene, *, marks: bool) -> None:
        self._scene = scene
        self._wanted = marks
        self.warnings: list[str] = []
        self.matches: int | None = None

    def viewport(self) -> Shot:
        """What the browser shows (Take Screenshot)."""
        raw = base64.b64decode(self._scene.remote.execute("screenshot"))
        width, height = self._scene.remote.script("return [innerWidth, innerHeight]") or (0, 0)
        return self._marked(Shot(raw, Box(0, 0, max(width, 1), max(height, 1))))

    def element(self, given: str) -> Shot:
        """An element, scrolled into view; what of it is larger than the viewport, too, where the page shows it.

        Raises:
            ElementNotFound, NotActionable, StaleRef: There is nothing to take a picture of.
        """
        with self._seen(given) as (part, view, found):
            if part.within(Box(0, 0, *view["view"])) == part:
                self._compare(given, Box.of(found["box"]), part)
                return self.viewport().crop(part)
            before = view["scroll"]
        with self._spread() as chromium, self._seen(given) as (part, view, found):
            self._compare(given, Box.of(found["box"]), part)
            shot = self._marked(self._drawn(part, view) if chromium else self._taken(found, part))
        return self._back(shot, view["scroll"], before)

    def page(self) -> Shot:
        """The whole page.

        Raises:
            Unsupported: This browser has no way to do it.
        """
        self._scene.need("full_page")
        before = self._scene.ask("shot")["scroll"]
        with self._spread() as chromium:
            view = self._scene.ask("shot")
            left, top = view["scroll"]
            if chromium:
                content = self._scene.remote.cdp("Page.getLayoutMetrics")["cssContentSize"]
                area = Box(0, 0, max(content["width"], 1), max(content["height"], 1)).moved(-left, -top)
                shot = self._marked(self._drawn(area, view))
            else:
                shot = self._marked(self._by_firefox(left, top))
        return self._back(shot, view["scroll"], before)

    @contextmanager
    def _seen(self, given: str) -> Iterator[tuple[Box, Mapping[str, Any], Mapping[str, Any]]]:
        """An element in view: what of it can be seen in the page, the page's view, and what its own document says."""
        scene = self._scene
        with scene.find.located(given, "shot", scene.seconds(None)) as found:
            self.matches = several(found)
            outside = bool(scene.find.frames.hops)
            [part] = scene.find.frames.outwards([Box.of(found["part"])])
            if min(part.size) <= 0:
                raise NotActionable(f"Nothing of {quoted(given)} can be seen.", hint="Scroll what is around it.")
            yield part, (scene.page.call("shot") if outside else found), found

    @contextmanager
    def _spread(self) -> Iterator[bool]:
        """Lay the page out as Chromium draws it outside the viewport: without scroll bars; False for other browsers."""
        remote = self._scene.remote
        width, height, has_bars = remote.script(_BARS)
        try:
            # Any such picture takes the bars away, so that what is measured now is what the real one shows.
            remote.cdp("Page.captureScreenshot", clip=_PIXEL, captureBeyondViewport=True)
        except RemoteFailure:
            yield False
            return
        frames = self._scene.page.call("marked")["frames"]
        try:
            if frames:
                self._grow(frames, width)
            yield True
        finally:
            if frames or has_bars:
                self._scene.emulator.lay_out_anew(width, height)

    def _grow(self, frames: Sequence[Mapping[str, Any]], width: int) -> None:
        """Make the viewport as high as the page: frames of other origins are drawn nowhere else."""
        remote, view = self._scene.remote, self._scene.ask("shot")
        content = remote.cdp("Page.getLayoutMetrics")["cssContentSize"]
        self._scene.emulator.stretch(width, min(ceil(content["height"]), floor(_MOST_PIXELS / view["ratio"])))
        for frame in frames:
            with suppress(Interrupted, PlaceGone), self._scene.find.frames.below(Hop.of(frame)):
                self._scene.page.call("shot")

    def _back(self, shot: Shot, during: Sequence[float], before: Sequence[float]) -> Shot:
        """The picture as it stands where the page is scrolled to; a higher viewport has scrolled it."""
        if list(during) != list(before):
            self._scene.remote.script("scrollTo({left: arguments[0], top: arguments[1], behavior: 'instant'})", before)
        return shot.moved(during[0] - before[0], during[1] - before[1])

    def _marked(self, shot: Shot) -> Shot:
        return replace(shot, marks=tuple(self._marks())) if self._wanted else shot

    def _marks(self) -> list[Mark]:
        """The elements that can be acted on, in the page and in its frames, where they stand in the viewport."""
        scene, found = self._scene, self._scene.page.call("marked")
        inner: list[Mark] = []
        for frame in found["frames"]:
            with suppress(Interrupted, PlaceGone), scene.find.frames.below(Hop.of(frame)):
                inner += self._marks()
        boxes = scene.find.frames.outwards([Box.of(one["box"]) for one in found["marks"]])
        return [*(Mark(one["ref"], box) for one, box in zip(found["marks"], boxes, strict=True)), *inner]

    def _drawn(self, area: Box, view: Mapping[str, Any]) -> Shot:
        """A part of the page, in and outside the viewport, as Chromium draws it."""
        ratio = float(view["ratio"])
        width, height = area.size
        across = min(width, _MOST_PIXELS / ratio)
        down = min(height, _MOST_PIXELS / ratio, floor(_MOST_AREA / ratio**2 / across))
        if (across, down) != (width, height):
            self.warnings.append(
                f"Only {across:g} x {down:g} CSS pixels of {width:g} x {height:g} are shown: "
                f"no picture has more than {_MOST_PIXELS:,} pixels a side and {_MOST_AREA:,} in all."
            )
            area = Box(area.left, area.top, area.left + across, area.top + down)
        left, top = view["scroll"]
        clip = {"x": area.left + left, "y": area.top + top, "width": area.size[0], "height": area.size[1], "scale": 1}
        taken = self._scene.remote.cdp("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        return Shot(base64.b64decode(taken["data"]), area)

    def _by_firefox(self, left: float, top: float) -> Shot:
        remote = self._scene.remote
        try:
            raw = base64.b64decode(remote.execute(FULL_PAGE))
        except RemoteFailure as error:
            browser = self._scene.record.capabilities.get("browserName", "This browser")
            raise Unsupported(
                f"{browser} has no picture of a whole page ({error.message.rstrip('.')}).",
                hint="Scroll, and take a screenshot of each part; or use Chrome, Edge or Firefox.",
            ) from error
        width, height = remote.script(
            "const {scrollWidth, scrollHeight} = document.documentElement; return [scrollWidth, scrollHeight]"
        )
        return Shot(raw, Box(0, 0, width, height).moved(-left, -top))

    def _taken(self, found: Mapping[str, Any], part: Box) -> Shot:
        """The element as the driver takes it (Take Element Screenshot)."""
        scene = self._scene
        with scene.find.frame(found["path"]):
            element = scene.web.handle()
            raw = scene.remote.execute("elementScreenshot", id=next(iter(element.values())))
        return Shot(base64.b64decode(raw), part)

    def _compare(self, given: str, box: Box, part: Box) -> None:
        (width, height), (seen_across, seen_down) = box.size, part.size
        if min(seen_across - width, seen_down - height) < -1 and min(seen_across / width, seen_down / height) < _SEEN:
            self.warnings.append(
                f"Only {seen_across:.0f} x {seen_down:.0f} CSS pixels of {quoted(given)} can be seen; "
                f"it has {width:.0f} x {height:.0f}, and what is around it cuts it off."
            )
