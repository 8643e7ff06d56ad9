"""Crop and scale screenshots, and draw the refs of elements on them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import TYPE_CHECKING, Literal

from orchestrator.automation.browser.frames import ViewportRect

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

Form = Literal["png", "jpeg"]
LONGEST_SIDE = 2000
"""Pixels of an image's longest side in results: models scale larger ones down anyway."""
_COLOURS = ("#c2185b", "#1565c0", "#2e7d32", "#6a1b9a", "#bf360c", "#00695c")
"""Colours of marks: dark enough for white letters, and distinct from their neighbours."""
_LETTERS = 12
"""Font size of a mark, in CSS pixels."""
_PADDING = 2
_LEAST = 2
"""Pixels of the shortest side of an element that is marked."""


@dataclass(frozen=True)
class RefMark:
    """An element's ref, and its box in the page's viewport."""

    ref: str
    box: ViewportRect


@dataclass(frozen=True)
class Shot:
    """A screenshot, and the area that it shows, in the viewport's CSS pixels."""

    png: bytes
    area: ViewportRect
    marks: tuple[RefMark, ...] = ()
    fineness: float = 1.0
    """Units of the area per CSS pixel: on Android, units are the screen's pixels."""

    def moved(self, x: float, y: float) -> Shot:
        """The same screenshot, with its area after the page was scrolled."""
        marks = tuple(RefMark(mark.ref, mark.box.moved(x, y)) for mark in self.marks)
        return replace(self, area=self.area.moved(x, y), marks=marks)

    def crop(self, part: ViewportRect) -> Shot:
        """The screenshot cropped to a part of its area, rounded outwards to whole pixels."""
        image = opened(self.png)
        scale = image.width / self.area.size[0]
        wanted = part.moved(-self.area.left, -self.area.top)
        left, top = max(0, floor(wanted.left * scale)), max(0, floor(wanted.top * scale))
        right, bottom = min(image.width, ceil(wanted.right * scale)), min(image.height, ceil(wanted.bottom * scale))
        cut = image.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
        corner = ViewportRect(left / scale, top / scale, (left + cut.width) / scale, (top + cut.height) / scale)
        return replace(self, png=encoded(cut, "png"), area=corner.moved(self.area.left, self.area.top))


def opened(raw: bytes) -> Image:
    """Decode an image."""
    from PIL import Image  # noqa: PLC0415 — loads with the first screenshot, not with the server

    return Image.open(io.BytesIO(raw)).convert("RGB")


def scale_down(image: Image) -> Image:
    """The image, at most `LONGEST_SIDE` pixels a side."""
    if max(image.size) <= LONGEST_SIDE:
        return image
    small = image.copy()
    small.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return small


def encoded(image: Image, form: Form) -> bytes:
    """Encode an image as the bytes of a file."""
    out = io.BytesIO()
    image.save(out, format=form.upper(), **({"quality": 85} if form == "jpeg" else {}))
    return out.getvalue()


def draw_marks(image: Image, shot: Shot) -> Image:
    """A copy with a box and a label for each marked element in the shot's area."""
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415 — see opened

    copy, area = image.copy(), shot.area
    draw = ImageDraw.Draw(copy)
    scale = image.width / area.size[0]
    thick = max(1.0, scale * shot.fineness)
    font = ImageFont.load_default(round(_LETTERS * thick))
    shown = []
    for index, mark in enumerate(shot.marks):
        part = mark.box.intersect(area).moved(-area.left, -area.top)
        box = ViewportRect(part.left * scale, part.top * scale, part.right * scale, part.bottom * scale)
        if min(box.size) >= _LEAST:
            colour = _COLOURS[index % len(_COLOURS)]
            _frame(draw, box, colour, round(2 * thick), image.size)
            shown.append((mark.ref, box, colour))
    taken: list[ViewportRect] = []
    # Labels last, so that boxes do not cover them.
    for ref, box, colour in shown:
        left, top, right, bottom = draw.textbbox((0, 0), ref, font=font)
        size = (ceil(right - left) + 2 * _PADDING + 2, ceil(bottom - top) + 2 * _PADDING + 2)
        place = _place(box, size, taken, image.size)
        taken.append(place)
        sides = (place.left, place.top, place.right - 1, place.bottom - 1)
        draw.rectangle(sides, fill=colour, outline="white")
        draw.text((place.left + _PADDING + 1 - left, place.top + _PADDING + 1 - top), ref, fill="white", font=font)
    return copy


def _frame(draw: ImageDraw, box: ViewportRect, colour: str, width: int, size: tuple[int, int]) -> None:
    """Draw a coloured and a white line around the box: one of them contrasts with any background."""
    left, top = max(width, floor(box.left)), max(width, floor(box.top))
    right, bottom = min(size[0] - width, ceil(box.right)) - 1, min(size[1] - width, ceil(box.bottom)) - 1
    for outset, line, shade in ((width, width, colour), (width + 1, 1, "white")):
        sides = (left - outset, top - outset, right + outset, bottom + outset)
        if sides[2] >= sides[0] and sides[3] >= sides[1]:
            draw.rectangle(sides, outline=shade, width=line)


def _place(
    box: ViewportRect, size: tuple[int, int], taken: Sequence[ViewportRect], room: tuple[int, int]
) -> ViewportRect:
    """Choose a label's place above, below, beside or inside its box: the first that overlaps no other label."""
    width, height = size
    places = [
        (box.left - 2, box.top - height - 1),
        (box.left - 2, box.bottom + 1),
        (box.right + 2, box.top),
        (box.left - width - 2, box.top),
        (box.right - width + 2, box.top - height - 1),
        (box.left, box.top),
        (box.right - width, box.top),
        (box.left, box.bottom - height),
        (box.right - width, box.bottom - height),
    ]
    within = [ViewportRect(x, y, x + width, y + height) for x, y in ((round(x), round(y)) for x, y in places)]
    whole = ViewportRect(0, 0, *room)
    for place in within:
        if place.intersect(whole) == place and all(min(place.intersect(other).size) <= 0 for other in taken):
            return place
    x, y = max(0, min(round(box.left), room[0] - width)), max(0, min(round(box.top), room[1] - height))
    return ViewportRect(x, y, x + width, y + height)
