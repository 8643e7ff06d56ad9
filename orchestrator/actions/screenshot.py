"""Pictures of the viewport, an element or the page, and the page on paper (`print_page`)."""

from __future__ import annotations

import base64
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, Selector, SelectorAliases
from orchestrator.actions.tool_results import PrintedPage
from orchestrator.automation import images
from orchestrator.automation.images import Shot
from orchestrator.automation.output_files import choose_output_path, write_output
from orchestrator.automation.scene import Scene
from orchestrator.automation.screenshotter import camera_of
from orchestrator.models.paths import Overwrite, WritePath
from orchestrator.models.results import Outcome, Screenshot
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet

_SUFFIXES = {"png": (".png",), "jpeg": (".jpg", ".jpeg")}
_LETTER = (21.59, 27.94)
"""The default paper of the specification, in cm."""
_SMALLEST = 0.036
"""The smallest side of a page in cm: one point."""

PageRange = Annotated[str, Field(pattern=r"^(?:[1-9]\d{0,5}(?:-(?:[1-9]\d{0,5})?)?|-[1-9]\d{0,5})$")]
"""A page or a range of pages, such as 5, 1-3, 2- or -4."""


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
    path: WritePath | None = None
    overwrite: Overwrite = False

    @model_validator(mode="after")
    def _one_of_both(self) -> TakeScreenshot:
        if self.selector is not None and self.full_page:
            raise ValueError("give either selector or fullPage")
        return self

    def perform(self, scene: Scene) -> Screenshot:
        """Save the file in full size; the image in the result has at most 2,000 pixels a side."""
        path = choose_output_path(scene, self.path, "screenshots", _SUFFIXES[self.format])
        camera = camera_of(scene, marks=self.marks)
        if self.selector is not None:
            shot = camera.capture_element(self.selector)
        else:
            shot = camera.capture_page() if self.full_page else camera.capture_viewport()
        full, small = images.opened(shot.png), images.scale_down(images.opened(shot.png))
        size, file_size = small.size, full.size
        if shot.marks:
            full, small = (images.draw_marks(image, shot) for image in (full, small))
        file = shot.png if self.format == "png" and not shot.marks else images.encoded(full, self.format)
        write_output(path, file)
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


class PrintPage(Action[PrintedPage]):
    """Save the page as PDF, as it would be printed (Print Page)."""

    verb: ClassVar[str] = "print_page"
    title: ClassVar[str] = "Print the page"
    instead: ClassVar[str] = "An app has no pages to print: use take_screenshot."
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PrintedPage

    path: WritePath | None = None
    overwrite: Overwrite = False
    orientation: Literal["portrait", "landscape"] = "portrait"
    scale: float = Field(default=1, ge=0.1, le=2)
    background: bool = False
    width: float = Field(default=_LETTER[0], ge=_SMALLEST, le=1000)
    height: float = Field(default=_LETTER[1], ge=_SMALLEST, le=1000)
    margin: float = Field(default=1, ge=0, le=500)
    shrink_to_fit: bool = True
    page_ranges: list[PageRange] = Field(default_factory=list)

    @model_validator(mode="after")
    def _fits(self) -> PrintPage:
        if 2 * self.margin >= min(self.width, self.height):
            raise ValueError("margin leaves no room on the paper; all lengths are in cm")
        return self

    def perform(self, scene: Scene) -> PrintedPage:
        """Print the page of the current tab with one command, and save the file."""
        scene.require_ability("print")
        path = choose_output_path(scene, self.path, "prints", (".pdf",))
        printed = scene.remote.execute(
            "printPage",
            orientation=self.orientation,
            scale=self.scale,
            background=self.background,
            page={"width": self.width, "height": self.height},
            margin=dict.fromkeys(("top", "bottom", "left", "right"), self.margin),
            shrinkToFit=self.shrink_to_fit,
            pageRanges=self.page_ranges,
        )
        content = base64.b64decode(printed)
        write_output(path, content)
        return PrintedPage(path=str(path), size=len(content))


ACTIONS: list[type[Action[Any]]] = [TakeScreenshot, PrintPage]
