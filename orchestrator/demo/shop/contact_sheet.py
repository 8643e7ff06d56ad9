"""Combine the last screenshots of several sessions into one image."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_HEIGHT, _GAP, _CAPTION = 900, 28, 44
_PAPER, _INK = (232, 229, 220), (35, 48, 43)


def write_contact_sheet(screens: Mapping[str, Path], path: Path) -> Path:
    """Write the images side by side with their names, scaled to the same height, as a PNG to `path`."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 — needed here only

    shots: dict[str, Image.Image] = {}
    for name, screen in screens.items():
        with Image.open(screen) as whole:
            shots[name] = whole.convert("RGB").resize((round(whole.width * _HEIGHT / whole.height), _HEIGHT))
    width = _GAP + sum(shot.width + _GAP for shot in shots.values())
    sheet = Image.new("RGB", (width, _HEIGHT + _CAPTION + _GAP), _PAPER)
    draw = ImageDraw.Draw(sheet)
    left = _GAP
    for name, shot in shots.items():
        draw.text((left, 10), name, fill=_INK, font=ImageFont.load_default(size=22))
        sheet.paste(shot, (left, _CAPTION))
        left += shot.width + _GAP
    sheet.save(path)
    return path
