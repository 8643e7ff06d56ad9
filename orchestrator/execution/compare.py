"""Compares sessions: captures them, and reports the differences from the first one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

import anyio
from pydantic import Field, model_validator

from orchestrator.automation import images
from orchestrator.automation.browser.element_errors import element_error, expect_found
from orchestrator.automation.browser.frames import ViewportRect
from orchestrator.automation.outline_reader import Outline
from orchestrator.automation.output_files import next_free_path, write_output
from orchestrator.automation.page_text import text_of_page
from orchestrator.automation.scene import Scene
from orchestrator.automation.screenshotter import camera_of
from orchestrator.errors import OrchestratorError
from orchestrator.execution.runner import Runner
from orchestrator.models.results import Outcome
from orchestrator.models.session import Caller, SessionRecord, SessionType, Wire
from orchestrator.snapshot.answers import ElementFacts
from orchestrator.snapshot.methods import BOXES, is_refused
from orchestrator.system.deadline import Deadline

if TYPE_CHECKING:
    from PIL.Image import Image

Clean = Callable[[str], str]
Content = Literal["text", "elements", "screenshot"]
"""The contents that can be compared."""
_LINES = 40
"""Missing and added lines each that a result lists at most."""
_EVERYTHING = 1_000_000
_STRUCTURE = frozenset({
    "article", "banner", "complementary", "contentinfo", "form", "generic", "group", "heading", "list", "listitem",
    "main", "navigation", "region", "row", "rowgroup", "search", "table", "toolbar",
})  # fmt: skip
"""Roles of structure, which differs from platform to platform; Android has no headings."""

_SAME_COLOUR = 16
"""Of 255: a smaller difference in each channel is invisible, as that of antialiasing is."""
_PALE = 0.25
"""Opacity of the picture below the differences."""
_DIFFERENT = (214, 0, 60)
_TRANSIENT = frozenset({"focused"})
"""States of the caret, and not of the page."""


class Difference(Wire):
    """The difference of one session from the first one.

    Attributes:
        missing: Lines of the first session that it lacks.
        added: Lines that only it has.
        ratio: The share of pixels that differ, from 0 to 1.
        path: A picture of the differences.
    """

    session_id: str
    missing: list[str] = Field(default_factory=list)
    added: list[str] = Field(default_factory=list)
    more: int | None = Field(default=None, description="How many further lines differ.")
    ratio: float | None = None
    path: str | None = None

    def lines(self, base: str) -> list[str]:
        """The share of the picture that differs, or that lines do."""
        if self.ratio is not None:
            where = f", shown in {self.path}" if self.path else ""
            return [f"{self.session_id}: {self.ratio:.2%} of the pixels differ from {base}{where}."]
        more = f"; {self.more} more lines than are shown" if self.more else ""
        return [f"{self.session_id} differs from {base}{more}."]

    def page_lines(self, base: str) -> list[str]:
        """The lines that differ."""
        told = [f"- only in {base}: {line}" for line in self.missing]
        return [*told, *(f"- only in {self.session_id}: {line}" for line in self.added)]


def difference(
    name: str, base: Sequence[str], other: Sequence[str], *, clean: tuple[Clean, Clean]
) -> Difference | None:
    """Compare the lines of the session `name` with those of the base; None if they are equal.

    `clean` masks the secrets of the base and of the session in the lines of each.
    """
    missing: list[str] = []
    added: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, base, other).get_opcodes():
        if kind != "equal":
            missing += base[a:b]
            added += other[c:d]
    if not missing and not added:
        return None
    more = max(0, len(missing) - _LINES) + max(0, len(added) - _LINES)
    shown_missing, shown_added = [*map(clean[0], missing[:_LINES])], [*map(clean[1], added[:_LINES])]
    return Difference(session_id=name, missing=shown_missing, added=shown_added, more=more or None)


def list_portable_elements(elements: Iterable[Mapping[str, Any]]) -> list[str]:
    """List elements by role and name, without those that only group others: comparable across platforms."""
    return [_role_and_name(element) for element in elements if element["role"] not in _STRUCTURE]


def _role_and_name(element: Mapping[str, Any]) -> str:
    return f'{element["role"]} "{element["name"]}"' if element["name"] else str(element["role"])


@dataclass(frozen=True)
class ElementListing:
    """The elements of a session by role and name: all meaningful ones, and those comparable across platforms.

    `clean` masks the session's secrets in a line.
    """

    kind: SessionType
    every: tuple[str, ...]
    portable: tuple[str, ...]
    clean: Clean

    @classmethod
    def read_scene(cls, scene: Scene) -> Self:
        """List everything that a session shows now."""
        elements = elements_of(scene)
        every = [_role_and_name(one) for one in elements if one["name"] or one["role"] not in _STRUCTURE]
        return cls(scene.record.type, tuple(every), tuple(list_portable_elements(elements)), scene.redactor.line)


def comparable(listings: Mapping[str, ElementListing]) -> dict[str, tuple[str, ...]]:
    """The lines by which these sessions are compared: all of them if the sessions are of one kind."""
    mixed = len({one.kind for one in listings.values()}) > 1
    return {name: one.portable if mixed else one.every for name, one in listings.items()}


def elements_of(scene: Scene, *, ignore: Sequence[dict[str, Any]] = ()) -> list[ElementFacts]:
    """List every element that the session shows, but for those that `ignore` locates."""
    every = {"scope": "page", "offset": 0, "limit": _EVERYTHING, "json": True, "ignore": list(ignore)}
    return Outline.read(scene, every, None).elements_found or []


class CompareSessions(Wire):
    """The parameters of a comparison; the other sessions are compared with the first one."""

    session_ids: Annotated[list[str], Field(min_length=2, max_length=20)]
    of: Content
    ignore: list[str] = Field(default_factory=list, max_length=50, description="Selectors of what may differ.")

    @model_validator(mode="after")
    def _distinct(self) -> CompareSessions:
        if len(set(self.session_ids)) < len(self.session_ids):
            raise ValueError("sessionIds names a session twice")
        return self


class SessionCapture(Outcome):
    """The capture of one session: lines, or a picture and the parts of it to ignore.

    Attributes:
        found: All lines.
        named: The lines that are comparable across platforms.
        png: The picture.
        scale: Image pixels for each CSS pixel.
        ignored: The ignored rectangles, in CSS pixels.
        clean: Masks the session's secrets in a line, which is compared unmasked.
    """

    internal: ClassVar[bool] = True
    kind: SessionType
    found: list[str] = Field(default_factory=list)
    named: list[str] = Field(default_factory=list)
    png: bytes = Field(default=b"", repr=False)
    scale: float = 1.0
    ignored: list[Any] = Field(default_factory=list)
    clean: Clean = Field(exclude=True, repr=False)


class Comparison(Outcome):
    """The result of a comparison: `same`, and the differences from the first session."""

    same: bool
    base: str = Field(description="The session that the others were compared with.")
    differences: list[Difference] = Field(default_factory=list)
    pictures: list[bytes] = Field(default_factory=list, exclude=True, repr=False)

    def lines(self) -> list[str]:
        """A single line if all are the same, else one for each difference."""
        if self.same:
            return [f"All sessions show the same as {self.base}."]
        return [*chain.from_iterable(one.lines(self.base) for one in self.differences)]

    def page_lines(self) -> list[str]:
        """The lines that differ."""
        return [*chain.from_iterable(one.page_lines(self.base) for one in self.differences)]


@dataclass(frozen=True)
class CaptureTask:
    """Captures what a session shows, but for the ignored parts, for a comparison (`execution.runner.SessionTask`)."""

    of: Content
    ignore: Sequence[str] = ()
    verb: str = "compare_sessions"
    reads: bool = True

    def log_arguments(self) -> dict[str, Any]:
        """The arguments, as a log may keep them."""
        return {"of": self.of}

    def check_supports(self, record: SessionRecord) -> None:
        """Accept every session."""

    def perform(self, scene: Scene) -> SessionCapture:
        """Capture the text, the elements or a screenshot."""
        kind, ignore = scene.record.type, [_parse_ignored(scene, selector) for selector in self.ignore]
        if self.of == "text":
            text = text_of_page(scene, ignore=ignore)
            found = [line for line in map(str.strip, text.splitlines()) if line]
            return SessionCapture(kind=kind, found=found, clean=scene.redactor.text)
        if self.of == "elements":
            elements = elements_of(scene, ignore=ignore)
            found, named = [*map(_describe, elements)], list_portable_elements(elements)
            return SessionCapture(kind=kind, found=found, named=named, clean=scene.redactor.line)
        boxes = expect_found(scene.query_page(BOXES, locators=ignore))["boxes"] if ignore else []
        screenshot = camera_of(scene, marks=False).capture_viewport()
        scale = images.opened(screenshot.png).width / screenshot.area.size[0]
        return SessionCapture(kind=kind, png=screenshot.png, scale=scale, ignored=boxes, clean=scene.redactor.line)


def _parse_ignored(scene: Scene, given: str) -> dict[str, Any]:
    """Parse a selector that need not match anything.

    Raises:
        InvalidArgument: The page cannot read it.
    """
    selector, deadline = scene.finder.parse_selector(given), Deadline(0)
    answer = scene.query_page(BOXES, locators=[selector.data()])
    if is_refused(answer):
        raise element_error(selector, answer, scene.record, deadline)
    return selector.data()


async def capture_all(
    runner: Runner, caller: Caller, session_ids: Sequence[str], task: CaptureTask
) -> dict[str, SessionCapture]:
    """Capture all sessions at the same time.

    Raises:
        OrchestratorError: The error of the first session that could not be captured.
    """
    captures: dict[str, SessionCapture] = {}
    failed: dict[str, OrchestratorError] = {}

    async def capture(session_id: str) -> None:
        try:
            captures[session_id] = await runner.run(caller, session_id, task)
        except OrchestratorError as error:
            failed[session_id] = error.in_session(session_id)

    async with anyio.create_task_group() as group:
        for session_id in session_ids:
            group.start_soon(capture, session_id)
    for session_id in session_ids:
        if session_id in failed:
            raise failed[session_id]
    return {session_id: captures[session_id] for session_id in session_ids}


def compare_captures(captures: dict[str, SessionCapture], request: CompareSessions, folder: Path) -> Comparison:
    """Compare captures with the first one, in the order of their sessions; pictures are saved in `folder`."""
    base, *others = captures
    mixed = request.of == "elements" and len({one.kind for one in captures.values()}) > 1
    lines = {name: one.named if mixed else one.found for name, one in captures.items()}
    found: list[Difference] = []
    pictures: list[bytes] = []
    for name in others:
        if request.of == "screenshot":
            differs, picture = _compare_pixels(name, captures[base], captures[name], folder / f"{base}-{name}")
            pictures += [picture] if picture else []
        else:
            clean = captures[base].clean, captures[name].clean
            differs = difference(name, lines[base], lines[name], clean=clean)
        if differs:
            found.append(differs)
    events = [f"{name}: {event}" for name, one in captures.items() for event in one.events]
    return Comparison(same=not found, base=base, differences=found, pictures=pictures, events=events)


def _describe(element: Mapping[str, Any]) -> str:
    """Describe an element without its ref: role, name, value, states."""
    name = f' "{element["name"]}"' if element["name"] else ""
    states = "".join(f" [{state}]" for state in element.get("states") or () if state not in _TRANSIENT)
    value = f' = "{element["value"]}"' if element.get("value") else ""
    return f"{element['role']}{name}{states}{value}"


def _compare_pixels(
    name: str, base: SessionCapture, other: SessionCapture, stem: Path
) -> tuple[Difference | None, bytes | None]:
    """Compare two pictures; the picture of the differences is saved beside `stem`, and returned for models."""
    found = find_pixels(base, other)
    if found is None:
        return None, None
    path = next_free_path(stem, ".png")
    write_output(path, images.encoded(found.picture, "png"))
    scaled = images.encoded(images.scale_down(found.picture), "png")
    return Difference(session_id=name, ratio=found.ratio, path=str(path)), scaled


class DifferentPixels(NamedTuple):
    """The pixels in which two pictures differ: their share, from 0 to 1, and the second picture, pale, with them."""

    ratio: float
    picture: Image


def find_pixels(base: SessionCapture, other: SessionCapture) -> DifferentPixels | None:
    """Find the pixels in which two pictures visibly differ, but for the ignored parts of both; None if in none."""
    from PIL import Image, ImageChops  # noqa: PLC0415 — loads with the first comparison, not with the server

    first, second = blank(base, other), blank(other, base)
    size = max(first.width, second.width), max(first.height, second.height)
    # An area that only one of them has differs, whatever its colour.
    differs = Image.new("L", size, 255)
    common = min(first.width, second.width), min(first.height, second.height)
    channels = ImageChops.difference(first.crop((0, 0, *common)), second.crop((0, 0, *common))).split()
    strongest = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    differs.paste(strongest.point([0] * _SAME_COLOUR + [255] * (256 - _SAME_COLOUR)), (0, 0))
    count = differs.histogram()[255]
    if not count:
        return None
    picture = Image.blend(Image.new("RGB", second.size, "white"), second.convert("L").convert("RGB"), _PALE)
    shown = Image.new("RGB", size, "white")
    shown.paste(picture, (0, 0))
    shown.paste(_DIFFERENT, (0, 0, *size), differs)
    return DifferentPixels(max(round(count / (size[0] * size[1]), 6), 0.000001), shown)


def blank(capture: SessionCapture, *others: SessionCapture) -> Image:
    """Return the picture with grey over its ignored parts and those of the others."""
    from PIL import ImageDraw  # noqa: PLC0415 — see find_pixels

    image = images.opened(capture.png)
    draw = ImageDraw.Draw(image)
    for one in (capture, *others):
        for sides in one.ignored:
            box, scale = ViewportRect.from_sides(sides), one.scale
            draw.rectangle((box.left * scale, box.top * scale, box.right * scale, box.bottom * scale), fill="grey")
    return image
