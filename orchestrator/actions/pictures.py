"""Pictures of what a session shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions import drawing
from orchestrator.actions.app_camera import camera_of
from orchestrator.actions.base import ALL_TYPES, Action, Aimed
from orchestrator.actions.drawing import Shot
from orchestrator.actions.results import Outcome, Screenshot
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.models import SessionType
from orchestrator.settings import ToolSet

_SUFFIXES = {"png": (".png",), "jpeg": (".jpg", ".jpeg")}


class TakeScreenshot(Aimed, Action[Screenshot]):
    """Take a picture of what is shown, of an element or the whole page; saved as a file, too.

    To act on the page use get_visible_elements.
    """

    verb: ClassVar[str] = "take_screenshot"
    title: ClassVar[str] = "Take a screenshot"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Screenshot
    structured: ClassVar[bool] = False

    selector: str | None = None
    full_page: bool = False
    marks: bool = Field(default=False, description="Draw the refs on it.")
    format: Literal["png", "jpeg"] = "png"
    path: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> TakeScreenshot:
        if self.selector is not None and self.full_page:
            raise ValueError("give either selector or fullPage")
        return self

    def perform(self, scene: Scene) -> Screenshot:
        """The file has every pixel, the image at most 2,000 a side."""
        path, camera = self._target(scene), camera_of(scene, marks=self.marks)
        if self.selector is not None:
            shot = camera.element(self.selector)
        else:
            shot = camera.page() if self.full_page else camera.viewport()
        full, small = drawing.opened(shot.png), drawing.fitted(drawing.opened(shot.png))
        size, file_size = small.size, full.size
        if shot.marks:
            full, small = (drawing.marked(one, shot) for one in (full, small))
        file = shot.png if self.format == "png" and not shot.marks else drawing.encoded(full, self.format)
        _save(path, file)
        return Screenshot(
            path=str(path),
            size=size,
            file_size=file_size,
            scale=round(size[0] / shot.area.size[0], 4),
            origin=self._origin(shot),
            unit="point of the screen" if scene.native else "CSS pixel",
            media_type=f"image/{self.format}",
            image=file if size == file_size else drawing.encoded(small, self.format),
            warnings=camera.warnings,
            matches=camera.matches,
        )

    def _origin(self, shot: Shot) -> tuple[int, int] | None:
        whole = self.selector is None and not self.full_page
        return None if whole else (round(shot.area.left), round(shot.area.top))

    def _target(self, scene: Scene) -> Path:
        suffixes = _SUFFIXES[self.format]
        if self.path is None:
            folder = scene.settings.home / "screenshots" / scene.record.namespace
            return drawing.unused(folder / scene.record.id, suffixes[0])
        try:
            path = Path(self.path).expanduser().absolute()
        except RuntimeError as error:
            raise InvalidArgument(f"{self.path!r} cannot be a file: {error}.", hint="Give another path.") from None
        if path.suffix.lower() not in suffixes:
            raise InvalidArgument(
                f"{self.path!r} does not end in {' or '.join(suffixes)}.", hint="Give path and format that agree."
            )
        return path


def _save(path: Path, image: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image)
    except (OSError, ValueError) as error:  # ValueError: a null character
        why = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"{path} cannot be written: {why}.", hint="Give another path.") from None


ACTIONS: list[type[Action[Any]]] = [TakeScreenshot]
