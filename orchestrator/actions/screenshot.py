"""Screenshots of the viewport, an element or the whole page (`take_screenshot`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, Selector, SelectorAliases
from orchestrator.automation import images
from orchestrator.automation.images import Shot
from orchestrator.automation.scene import Scene
from orchestrator.automation.screenshotter import camera_of
from orchestrator.errors import InvalidArgument
from orchestrator.models.results import Outcome, Screenshot
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet

_SUFFIXES = {"png": (".png",), "jpeg": (".jpg", ".jpeg")}


class TakeScreenshot(SelectorAliases, Action[Screenshot]):
    """Picture the viewport, an element or the whole page."""

    verb: ClassVar[str] = "take_screenshot"
    title: ClassVar[str] = "Take a screenshot"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Screenshot
    structured: ClassVar[bool] = False

    selector: Selector | None = None
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
        """Save the file in full size; the image in the result has at most 2,000 pixels a side."""
        path, camera = self._target(scene), camera_of(scene, marks=self.marks)
        if self.selector is not None:
            shot = camera.capture_element(self.selector)
        else:
            shot = camera.capture_page() if self.full_page else camera.capture_viewport()
        full, small = images.opened(shot.png), images.scale_down(images.opened(shot.png))
        size, file_size = small.size, full.size
        if shot.marks:
            full, small = (images.draw_marks(image, shot) for image in (full, small))
        file = shot.png if self.format == "png" and not shot.marks else images.encoded(full, self.format)
        _save(path, file)
        return Screenshot(
            path=str(path),
            size=size,
            file_size=file_size,
            scale=round(size[0] / shot.area.size[0], 4),
            origin=self._origin(shot),
            unit="point of the screen" if scene.native else "CSS pixel",
            media_type=f"image/{self.format}",
            image=file if size == file_size else images.encoded(small, self.format),
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
            return images.next_free_path(folder / scene.record.id, suffixes[0])
        try:
            path = Path(self.path).expanduser().absolute()
        except RuntimeError as error:
            raise InvalidArgument(f"{self.path!r} cannot be a file: {error}.", hint="Give another path.") from None
        if path.suffix.lower() not in suffixes:
            raise InvalidArgument(
                f"{self.path!r} does not end in {' or '.join(suffixes)}.", hint="Give a path that fits the format."
            )
        return path


def _save(path: Path, image: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image)
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"{path} cannot be written: {reason}.", hint="Give another path.") from None


ACTIONS: list[type[Action[Any]]] = [TakeScreenshot]
