"""Screenshots of pages, elements and apps."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import ceil, floor

from orchestrator.automation.browser.finder import count_matches
from orchestrator.automation.browser.frames import FrameStep, ViewportRect
from orchestrator.automation.images import RefMark, Shot
from orchestrator.automation.scene import Scene
from orchestrator.errors import NotActionable, PlaceGone, RemoteFailure, Unsupported, quoted
from orchestrator.snapshot.answers import FrameAddress, ReadyAnswer, ShotAnswer, ViewAnswer
from orchestrator.snapshot.methods import MARKED, SHOT, VIEW
from orchestrator.snapshot.web.page import Interrupted
from orchestrator.webdriver.commands import FULL_PAGE

_MOST_PIXELS = 16_384
"""Pixels of a side: a limit of graphics hardware."""
_MOST_AREA = 50_000_000
"""Pixels in all: browser and server hold several copies of them."""
_PIXEL = {"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1}
_BARS = """
const {width, height} = visualViewport;
return [innerWidth, innerHeight, width < innerWidth || height < innerHeight];
"""
_SCROLL = "scrollTo({left: arguments[0], top: arguments[1], behavior: 'instant'})"
_PAGE_SIZE = "const {scrollWidth, scrollHeight} = document.documentElement; return [scrollWidth, scrollHeight]"
_SEEN = 0.99
"""Share of each side from which a visible part counts as the whole element; up to 1 CSS pixel may be missing, too."""

_NARROW = 400
"""Width of a phone in CSS pixels, at most; a driver that reports a larger one counts the screen's pixels."""


class Camera:
    """Takes the screenshots of a call, with marks if requested.

    Attributes:
        warnings: Parts that are missing in the screenshot.
        matches: The number of elements that the selector found, if more than one.
    """

    def __init__(self, scene: Scene, *, marks: bool) -> None:
        self._scene = scene
        self._bidi = scene.firefox_bidi
        self._wanted = marks
        self.warnings: list[str] = []
        self.matches: int | None = None

    def capture_viewport(self) -> Shot:
        """Capture the viewport (Take Screenshot)."""
        raw = base64.b64decode(self._scene.remote.execute("screenshot"))
        width, height = self._scene.web_page.run("return [innerWidth, innerHeight]") or (0, 0)
        return self._marked(Shot(raw, ViewportRect(0, 0, max(width, 1), max(height, 1))))

    def capture_element(self, given: str) -> Shot:
        """Capture an element, scrolled into view, including visible parts outside the viewport.

        Raises:
            ElementNotFound, NotActionable, StaleRef: No part of an element is visible.
        """
        with self._seen(given) as (part, view, found):
            if part.intersect(ViewportRect(0, 0, *view["view"])) == part:
                self._compare(given, ViewportRect.from_sides(found["box"]), part)
                return self.capture_viewport().crop(part)
            before = view["scroll"]
        with self._spread() as is_spread, self._seen(given) as (part, view, found):
            self._compare(given, ViewportRect.from_sides(found["box"]), part)
            shot = self._marked(self._drawn(part, view) if is_spread or self._bidi else self._taken(found, part))
        return self._back(shot, view["scroll"], before)

    def capture_page(self) -> Shot:
        """Capture the whole page.

        Raises:
            Unsupported: This browser cannot capture whole pages.
        """
        self._scene.require_ability("full_page")
        before = self._scene.query_page(VIEW)["scroll"]
        with self._spread() as is_spread:
            view = self._scene.query_page(VIEW)
            left, top = view["scroll"]
            if is_spread or self._bidi:
                area = ViewportRect(0, 0, *self._content_size(is_spread=is_spread)).moved(-left, -top)
                shot = self._marked(self._drawn(area, view))
            else:
                shot = self._marked(self._by_firefox(left, top))
        return self._back(shot, view["scroll"], before)

    def _content_size(self, *, is_spread: bool) -> tuple[float, float]:
        if is_spread:
            content = self._scene.remote.cdp("Page.getLayoutMetrics")["cssContentSize"]
            return max(content["width"], 1), max(content["height"], 1)
        width, height = self._scene.web_page.run(_PAGE_SIZE)
        return max(width, 1), max(height, 1)

    @contextmanager
    def _seen(self, given: str) -> Iterator[tuple[ViewportRect, ViewAnswer | ShotAnswer, ShotAnswer]]:
        """Scroll an element into view; its visible part in the page, the page's view, and its document's answer."""
        scene = self._scene
        with scene.finder.querying_element(given, SHOT, scene.seconds(None)) as found:
            self.matches = count_matches(found)
            outside = bool(scene.finder.frames.current_path)
            [part] = scene.finder.frames.map_to_top_document([ViewportRect.from_sides(found["part"])])
            if min(part.size) <= 0:
                raise NotActionable(f"Nothing of {quoted(given)} can be seen.", hint="Scroll the elements around it.")
            yield part, (scene.page.call(VIEW) if outside else found), found

    @contextmanager
    def _spread(self) -> Iterator[bool]:
        """Lay the page out for captures beyond the viewport, without scroll bars; False in browsers but Chromium."""
        remote = self._scene.remote
        width, height, has_bars = self._scene.web_page.run(_BARS)
        try:
            # Any such capture removes the bars, so that measures taken from now on fit the real one.
            remote.cdp("Page.captureScreenshot", clip=_PIXEL, captureBeyondViewport=True)
        except RemoteFailure:
            yield False
            return
        frames = self._scene.page.call(MARKED)["frames"]
        try:
            if frames:
                self._grow(frames, width)
            yield True
        finally:
            if frames or has_bars:
                self._scene.emulator.restore_page_area(width, height)

    def _grow(self, frames: Sequence[FrameAddress], width: int) -> None:
        """Make the viewport as high as the page: Chromium draws frames of other origins only inside the viewport."""
        remote, view = self._scene.remote, self._scene.query_page(VIEW)
        content = remote.cdp("Page.getLayoutMetrics")["cssContentSize"]
        self._scene.emulator.stretch(width, min(ceil(content["height"]), floor(_MOST_PIXELS / view["ratio"])))
        for frame in frames:
            with suppress(Interrupted, PlaceGone), self._scene.finder.frames.in_frame(FrameStep.from_facts(frame)):
                self._scene.page.call(VIEW)

    def _back(self, shot: Shot, during: Sequence[float], before: Sequence[float]) -> Shot:
        """Restore the scroll position, which a higher viewport changes, and shift the shot's area accordingly."""
        if list(during) != list(before):
            self._scene.web_page.run(_SCROLL, *before)
        return shot.moved(during[0] - before[0], during[1] - before[1])

    def _marked(self, shot: Shot) -> Shot:
        return replace(shot, marks=tuple(self._marks())) if self._wanted else shot

    def _marks(self) -> list[RefMark]:
        """Marks of the interactive elements of the page and its frames, in the viewport."""
        scene, found = self._scene, self._scene.page.call(MARKED)
        inner: list[RefMark] = []
        for frame in found["frames"]:
            with suppress(Interrupted, PlaceGone), scene.finder.frames.in_frame(FrameStep.from_facts(frame)):
                inner += self._marks()
        boxes = scene.finder.frames.map_to_top_document([ViewportRect.from_sides(one["box"]) for one in found["marks"]])
        return [*(RefMark(one["ref"], box) for one, box in zip(found["marks"], boxes, strict=True)), *inner]

    def _drawn(self, area: ViewportRect, view: ViewAnswer | ShotAnswer) -> Shot:
        """Capture a part of the page, also outside the viewport, by CDP or BiDi."""
        ratio = view["ratio"]
        width, height = area.size
        across = min(width, _MOST_PIXELS / ratio)
        down = min(height, _MOST_PIXELS / ratio, floor(_MOST_AREA / ratio**2 / across))
        if (across, down) != (width, height):
            self.warnings.append(
                f"Only {across:g} x {down:g} CSS pixels of {width:g} x {height:g} are shown: "
                f"a screenshot has at most {_MOST_PIXELS:,} pixels a side and {_MOST_AREA:,} in all."
            )
            area = ViewportRect(area.left, area.top, area.left + across, area.top + down)
        left, top = view["scroll"]
        clip = {"x": area.left + left, "y": area.top + top, "width": area.size[0], "height": area.size[1]}
        return Shot(base64.b64decode(self._capture(clip)), area)

    def _capture(self, clip: dict[str, float]) -> str:
        """Return a picture of a part of the document."""
        remote = self._scene.remote
        if self._bidi is None:
            clip = {**clip, "scale": 1}
            return str(remote.cdp("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])
        box = {"type": "box", **clip}
        tab = remote.execute("w3cGetCurrentWindowHandle")
        shot = self._bidi.call("browsingContext.captureScreenshot", context=tab, origin="document", clip=box)
        return str(shot["data"])

    def _by_firefox(self, left: float, top: float) -> Shot:
        remote = self._scene.remote
        try:
            raw = base64.b64decode(remote.execute(FULL_PAGE))
        except RemoteFailure as error:
            browser = self._scene.record.capabilities.get("browserName", "This browser")
            raise Unsupported(
                f"{browser} cannot capture a whole page ({error.message.rstrip('.')}).",
                hint="Scroll and take a screenshot of each part, or use Chrome, Edge or Firefox.",
            ) from error
        width, height = self._scene.web_page.run(_PAGE_SIZE)
        return Shot(raw, ViewportRect(0, 0, width, height).moved(-left, -top))

    def _taken(self, found: ReadyAnswer, part: ViewportRect) -> Shot:
        """Capture the element by Take Element Screenshot."""
        scene = self._scene
        with scene.finder.in_frame(found["path"]):
            element = scene.web_page.handle()
            raw = scene.remote.execute("elementScreenshot", id=next(iter(element.values())))
        return Shot(base64.b64decode(raw), part)

    def _compare(self, given: str, box: ViewportRect, part: ViewportRect) -> None:
        (width, height), (seen_across, seen_down) = box.size, part.size
        if min(seen_across - width, seen_down - height) < -1 and min(seen_across / width, seen_down / height) < _SEEN:
            self.warnings.append(
                f"Only {seen_across:.0f} x {seen_down:.0f} of the {width:.0f} x {height:.0f} CSS pixels "
                f"of {quoted(given)} can be seen: its surroundings cut it off."
            )


class AppCamera(Camera):
    """Takes screenshots of an app's screen: pixels are the device's, areas are in the driver's units."""

    def capture_viewport(self) -> Shot:
        """Capture the device's screen with bars and keyboard (Take Screenshot)."""
        raw = base64.b64decode(self._scene.remote.execute("screenshot"))
        width, height = self._scene.query_page(VIEW)["view"]
        fineness = max(1.0, min(width, height) / _NARROW)
        return self._marked(Shot(raw, ViewportRect(0, 0, max(width, 1), max(height, 1)), fineness=fineness))

    def capture_element(self, given: str) -> Shot:
        """Capture an element's part on the screen.

        Raises:
            ElementNotFound, NotActionable, StaleRef: No part of an element is on the screen.
        """
        scene = self._scene
        with scene.finder.querying_element(given, SHOT, scene.seconds(None)) as found:
            self.matches = count_matches(found)
            part = ViewportRect.from_sides(found["part"])
        if min(part.size) <= 0:
            raise NotActionable(f"Nothing of {quoted(given)} can be seen.", hint="Scroll to it.")
        self._compare(given, ViewportRect.from_sides(found["box"]), part)
        return self.capture_viewport().crop(part)

    def capture_page(self) -> Shot:
        """Refuse it.

        Raises:
            Unsupported: An app's content beyond the screen cannot be captured.
        """
        raise Unsupported("An app can be captured only as far as its screen.", hint="Scroll, and capture each part.")


def camera_of(scene: Scene, *, marks: bool) -> Camera:
    """The camera for the session's current page or app screen."""
    return (AppCamera if scene.native else Camera)(scene, marks=marks)
