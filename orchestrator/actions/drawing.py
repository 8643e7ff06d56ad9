"""Works on pictures: cuts them out, makes them smaller, draws the refs of elements onto them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from orchestrator.actions.frames import Box

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

Form = Literal["png", "jpeg"]
LONGEST_SIDE = 2000
"""Pixels: larger pictures are scaled down by the models that look at them anyway."""
_COLOURS = ("#c2185b", "#1565c0", "#2e7d32", "#6a1b9a", "#bf360c", "#00695c")
"""Dark enough for white letters; neighbours differ."""
_LETTERS = 12
"""Height of the letters of a mark, in pixels of a screen with one a CSS pixel."""
_PADDING = 2
_LEAST = 2
"""Pixels of a side below which nothing is marked."""


@dataclass(frozen=True)
class Mark:
    """An element by its ref, and where it stands in the viewport of the page."""

    ref: str
    box: Box


@dataclass(frozen=True)
class Shot:
    """A picture as the browser took it, and the part of the page, in the viewport's CSS pixels, that it shows."""

    png: bytes
    area: Box
    marks: tuple[Mark, ...] = ()
    fineness: float = 1.0
    """How many units of the area are as long as one CSS pixel: on Android they are the screen's own pixels."""

    def moved(self, x: float, y: float) -> Shot:
        """The same picture of a page that was scrolled since."""
        marks = tuple(Mark(mark.ref, mark.box.moved(x, y)) for mark in self.marks)
        return replace(self, area=self.area.moved(x, y), marks=marks)

    def crop(self, part: Box) -> Shot:
        """Only a part of it; whole pixels, so that nothing of the part is missing."""
        image = opened(self.png)
        scale = image.width / self.area.size[0]
        wanted = part.moved(-self.area.left, -self.area.top)
        left, top = max(0, floor(wanted.left * scale)), max(0, floor(wanted.top * scale))
        right, bottom = min(image.width, ceil(wanted.right * scale)), min(image.height, ceil(wanted.bottom * scale))
        cut = image.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
        corner = Box(left / scale, top / scale, (left + cut.width) / scale, (top + cut.height) / scale)
        return replace(self, png=encoded(cut, "png"), area=corner.moved(self.area.left, self.area.top))


def opened(raw: bytes) -> Image:
    """A picture to work on."""
    from PIL import Image  # noqa: PLC0415 — loads with the first screenshot, not with the server

    return Image.open(io.BytesIO(raw)).convert("RGB")


def fitted(image: Image) -> Image:
    """The picture, no larger than one may be that is looked at."""
    if max(image.size) <= LONGEST_SIDE:
        return image
    small = image.copy()
    small.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return small


def encoded(image: Image, form: Form) -> bytes:
    """The picture as the bytes of a file."""
    out = io.BytesIO()
    image.save(out, format=form.upper(), **({"quality": 85} if form == "jpeg" else {}))
    return out.getvalue()


def marked(image: Image, shot: Shot) -> Image:
    """A copy with a box and a label for each element in the area that the picture shows."""
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415 — see opened

    copy, area = image.copy(), shot.area
    draw = ImageDraw.Draw(copy)
    scale = image.width / area.size[0]
    thick = max(1.0, scale * shot.fineness)
    font = ImageFont.load_default(round(_LETTERS * thick))
    shown = []
    for index, mark in enumerate(shot.marks):
        part = mark.box.within(area).moved(-area.left, -area.top)
        box = Box(part.left * scale, part.top * scale, part.right * scale, part.bottom * scale)
        if min(box.size) >= _LEAST:
            colour = _COLOURS[index % len(_COLOURS)]
            _frame(draw, box, colour, round(2 * thick), image.size)
            shown.append((mark.ref, box, colour))
    taken: list[Box] = []
    # Labels last: no box is drawn across one.
    for ref, box, colour in shown:
        left, top, right, bottom = draw.textbbox((0, 0), ref, font=font)
        size = (ceil(right - left) + 2 * _PADDING + 2, ceil(bottom - top) + 2 * _PADDING + 2)
        place = _place(box, size, taken, image.size)
        taken.append(place)
        sides = (place.left, place.top, place.right - 1, place.bottom - 1)
        draw.rectangle(sides, fill=colour, outline="white")
        draw.text((place.left + _PADDING + 1 - left, place.top + _PADDING + 1 - top), ref, fill="white", font=font)
    return copy


def _frame(draw: ImageDraw, box: Box, colour: str, width: int, size: tuple[int, int]) -> None:
    """A coloured line around it, then a white one: one of them differs from any ground, and neither covers a letter."""
    left, top = max(width, floor(box.left)), max(width, floor(box.top))
    right, bottom = min(size[0] - width, ceil(box.right)) - 1, min(size[1] - width, ceil(box.bottom)) - 1
    for outset, line, shade in ((width, width, colour), (width + 1, 1, "white")):
        sides = (left - outset, top - outset, right + outset, bottom + outset)
        if sides[2] >= sides[0] and sides[3] >= sides[1]:
            draw.rectangle(sides, outline=shade, width=line)


def _place(box: Box, size: tuple[int, int], taken: Sequence[Box], room: tuple[int, int]) -> Box:
    """Where a label stands: above its box, below, beside or in it; the first place that no other label has."""
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
    within = [Box(x, y, x + width, y + height) for x, y in ((round(x), round(y)) for x, y in places)]
    whole = Box(0, 0, *room)
    for place in within:
        if place.within(whole) == place and all(min(place.within(other).size) <= 0 for other in taken):
            return place
    x, y = max(0, min(round(box.left), room[0] - width)), max(0, min(round(box.top), room[1] - height))
    return Box(x, y, x + width, y + height)


def unused(stem: Path, suffix: str) -> Path:
    """A path that no file has yet: the stem with the next free number."""
    number = 1
    while (path := stem.with_name(f"{stem.name}-{number}{suffix}")).exists():
        number += 1
    return path
