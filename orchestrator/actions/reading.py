"""Seeing what a session shows: its elements, its text, its picture."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from orchestrator.actions.base import Action, Aimed
from orchestrator.actions.outline import Outline
from orchestrator.actions.results import Elements, Outcome, PageText, Screenshot
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.selector import parse

_LONGEST_SIDE = 2000
"""Pixels: larger pictures are scaled down by the models that look at them anyway."""
_SUFFIXES = {"png": (".png",), "jpeg": (".jpg", ".jpeg")}
_ROOM = 0.9
"""The share of `max_output` that the outline or text itself may take; the rest is for what stands around it."""


class GetVisibleElements(Aimed, Action[Elements]):
    """List what the page shows, with refs to click and fill in: buttons, links, fields, headings, text.

    Call it first.
    """

    verb: ClassVar[str] = "get_visible_elements"
    title: ClassVar[str] = "See the page"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Elements

    scope: Literal["viewport", "page"] = "viewport"
    root: str | None = Field(default=None, description="Selector: only what is inside it.")
    query: str | None = Field(default=None, description="Only what holds this text.")
    roles: list[str] = Field(default_factory=list)
    limit: int = Field(default=200, ge=1)
    offset: int = Field(default=0, ge=0)
    format: Literal["outline", "json"] = "outline"

    def perform(self, scene: Scene) -> Elements:
        """One script call a frame of another origin, one for everything else."""
        root = {"root": parse(self.root).data()} if self.root else {}
        asked = {
            **root,
            "scope": self.scope,
            "query": self.query,
            "roles": [role.lower() for role in self.roles],
            "limit": self.limit,
            "offset": self.offset,
            "json": self.format == "json",
        }
        found = Outline.read(scene, asked, self.root)
        scene.remember(found.place)
        return found.elements(round(scene.settings.max_output * _ROOM))


class GetText(Aimed, Action[PageText]):
    """Read the visible text of the page, or of one element."""

    verb: ClassVar[str] = "get_text"
    title: ClassVar[str] = "Read text"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PageText

    selector: str | None = None

    def perform(self, scene: Scene) -> PageText:
        """One script call."""
        if self.selector is None:
            found = scene.ask("text")
        else:
            found = scene.find.locate(self.selector, "text", scene.seconds(None))
        scene.remember(found)
        text, room = str(found["text"]), round(scene.settings.max_output * _ROOM)
        matches = int(found.get("matches") or 1)
        return PageText(
            text_=text[:room],
            matches=matches if matches > 1 else None,
            next=f"Cut: {len(text) - room} more characters. Give a selector for a smaller part."
            if len(text) > room
            else None,
        )


class TakeScreenshot(Action[Screenshot]):
    """Take a picture of what the browser shows; it is saved as a file, too.

    Use get_visible_elements to act on the page.
    """

    verb: ClassVar[str] = "take_screenshot"
    title: ClassVar[str] = "Take a screenshot"
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Screenshot
    structured: ClassVar[bool] = False

    format: Literal["png", "jpeg"] = "png"
    path: str | None = Field(default=None, description="Where to save it; in the data folder unless given.")

    def perform(self, scene: Scene) -> Screenshot:
        """Take Screenshot, made smaller where its longest side is over 2,000 pixels."""
        path = self._target(scene)
        raw = base64.b64decode(scene.remote.execute("screenshot"))
        across = scene.remote.script("return innerWidth") or 0
        image, size = _fitted(raw, self.format)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image)
        except OSError as error:
            raise InvalidArgument(f"{path} cannot be written: {error.strerror}.", hint="Give another path.") from None
        return Screenshot(
            path=str(path),
            width=size[0],
            height=size[1],
            scale=round(size[0] / across, 4) if across else 1.0,
            media_type=f"image/{self.format}",
            image=image,
        )

    def _target(self, scene: Scene) -> Path:
        suffixes = _SUFFIXES[self.format]
        if self.path is None:
            folder = scene.settings.home / "screenshots" / scene.record.namespace
            return _unused(folder, scene.record.id, suffixes[0])
        path = Path(self.path).expanduser().absolute()
        if path.suffix.lower() not in suffixes:
            raise InvalidArgument(
                f"{self.path!r} does not end in {' or '.join(suffixes)}.", hint="Give path and format that agree."
            )
        return path


def _unused(folder: Path, name: str, suffix: str) -> Path:
    number = 1
    while (path := folder / f"{name}-{number}{suffix}").exists():
        number += 1
    return path


def _fitted(raw: bytes, form: Literal["png", "jpeg"]) -> tuple[bytes, tuple[int, int]]:
    """The picture in the format asked for, no larger than it may be, and its size."""
    from PIL import Image  # noqa: PLC0415 — loads with the first screenshot, not with the server

    with Image.open(io.BytesIO(raw)) as image:
        if max(image.size) <= _LONGEST_SIDE and form == "png":
            return raw, image.size
        fitted = image.convert("RGB")
        fitted.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
        out = io.BytesIO()
        fitted.save(out, format=form.upper(), **({"quality": 85} if form == "jpeg" else {}))
        return out.getvalue(), fitted.size


ACTIONS: list[type[Action[Any]]] = [GetVisibleElements, GetText, TakeScreenshot]
