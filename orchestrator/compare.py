"""What is the same and what differs between sessions: their text, their elements, or what they look like."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import Field, model_validator

from orchestrator.actions import drawing
from orchestrator.actions.app_camera import camera_of
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.frames import Box
from orchestrator.actions.reading import text_of_page
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.actions.unmet import unmet
from orchestrator.differences import Difference, difference, elements_of, named
from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.models import SessionType, Wire

if TYPE_CHECKING:
    from PIL.Image import Image

_SAME_COLOUR = 16
"""Of 255: pixels that differ by less in each channel are the same to the eye, and antialiasing differs by less."""
_PALE = 0.25
"""How much of the picture shows below the differences."""
_DIFFERENT = (214, 0, 60)
_PASSING = frozenset({"focused"})
"""States that say where a caret is, and not what a page shows."""


class CompareSessions(Wire):
    """What to compare, in which sessions; the first one is what the others are compared with."""

    session_ids: Annotated[list[str], Field(min_length=2, max_length=20)]
    of: Literal["text", "elements", "screenshot"]
    ignore: list[str] = Field(default_factory=list, max_length=50, description="Selectors of what may differ.")

    @model_validator(mode="after")
    def _distinct(self) -> CompareSessions:
        if len(set(self.session_ids)) < len(self.session_ids):
            raise ValueError("sessionIds names a session twice")
        return self


class Seen(Outcome):
    """What one session shows: lines, or a picture with the parts of it that do not count.

    `named` are lines that mean the same on every platform, where those are less than `found`.
    """

    kind: SessionType
    found: list[str] = Field(default_factory=list)
    named: list[str] = Field(default_factory=list)
    png: bytes = Field(default=b"", repr=False)
    scale: float = 1.0
    ignored: list[Any] = Field(default_factory=list)


class Comparison(Outcome):
    """Whether all sessions show the same as the first one, and how each that does not differs."""

    same: bool
    base: str = Field(description="The session that the others were compared with.")
    differences: list[Difference] = Field(default_factory=list)
    pictures: list[bytes] = Field(default_factory=list, exclude=True, repr=False)

    def lines(self) -> list[str]:
        """Same or not, then each difference."""
        if self.same:
            return [f"All sessions show the same as {self.base}."]
        return [*chain.from_iterable(one.lines(self.base) for one in self.differences)]


def look(scene: Scene, asked: CompareSessions) -> Seen:
    """What one session shows of what is to be compared."""
    kind, ignore = scene.record.type, [_readable(scene, selector) for selector in asked.ignore]
    if asked.of == "text":
        text = text_of_page(scene, ignore=ignore)
        return Seen(kind=kind, found=[line for line in map(str.strip, text.splitlines()) if line])
    if asked.of == "elements":
        elements = elements_of(scene, ignore=ignore)
        return Seen(kind=kind, found=[*map(_spelled, elements)], named=named(elements))
    boxes = scene.ask("boxes", locators=ignore)["boxes"] if ignore else []
    shot = camera_of(scene, marks=False).viewport()
    scale = drawing.opened(shot.png).width / shot.area.size[0]
    return Seen(kind=kind, png=shot.png, scale=scale, ignored=boxes)


def _readable(scene: Scene, given: str) -> dict[str, Any]:
    """A selector that the page can read, whether or not anything matches it."""
    selector, deadline = scene.find.read(given), Deadline(0)
    answer = scene.ask("boxes", locators=[selector.data()])
    if not answer.get("ok", True):
        raise unmet(selector, answer, scene.record, deadline)
    return selector.data()


async def side_by_side(session_ids: Sequence[str], one: Callable[[str], Awaitable[Seen]]) -> dict[str, Seen]:
    """What each session shows, all looked at at the same time.

    Raises:
        OrchestratorError: That of the first session which could not be looked at.
    """
    seen: dict[str, Seen] = {}
    failed: dict[str, OrchestratorError] = {}

    async def note(session_id: str) -> None:
        try:
            seen[session_id] = await one(session_id)
        except OrchestratorError as error:
            failed[session_id] = error.in_session(session_id)

    async with anyio.create_task_group() as group:
        for session_id in session_ids:
            group.start_soon(note, session_id)
    for session_id in session_ids:
        if session_id in failed:
            raise failed[session_id]
    return {session_id: seen[session_id] for session_id in session_ids}


def compared(seen: dict[str, Seen], asked: CompareSessions, folder: Path) -> Comparison:
    """What differs, in the order in which the sessions were named; pictures are saved in `folder`."""
    base, *others = seen
    mixed = asked.of == "elements" and len({one.kind for one in seen.values()}) > 1
    lines = {name: one.named if mixed else one.found for name, one in seen.items()}
    found: list[Difference] = []
    pictures: list[bytes] = []
    for name in others:
        if asked.of == "screenshot":
            differs, picture = _pixels(name, seen[base], seen[name], folder / f"{base}-{name}")
            pictures += [picture] if picture else []
        else:
            differs = difference(name, lines[base], lines[name])
        if differs:
            found.append(differs)
    events = [f"{name}: {event}" for name, one in seen.items() for event in one.events]
    return Comparison(same=not found, base=base, differences=found, pictures=pictures, events=events)


def _spelled(element: dict[str, Any]) -> str:
    """An element without its ref: role, name, value, states."""
    name = f' "{element["name"]}"' if element["name"] else ""
    states = "".join(f" [{state}]" for state in element.get("states") or () if state not in _PASSING)
    value = f' = "{element["value"]}"' if element.get("value") else ""
    return f"{element['role']}{name}{states}{value}"


def _pixels(name: str, base: Seen, other: Seen, stem: Path) -> tuple[Difference | None, bytes | None]:
    from PIL import Image, ImageChops  # noqa: PLC0415 — loads with the first comparison, not with the server

    first, second = _blanked(base, other), _blanked(other, base)
    size = max(first.width, second.width), max(first.height, second.height)
    # What one has and the other has not differs, whatever colour it is.
    differs = Image.new("L", size, 255)
    common = min(first.width, second.width), min(first.height, second.height)
    channels = ImageChops.difference(first.crop((0, 0, *common)), second.crop((0, 0, *common))).split()
    strongest = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    differs.paste(strongest.point([0] * _SAME_COLOUR + [255] * (256 - _SAME_COLOUR)), (0, 0))
    count = differs.histogram()[255]
    if not count:
        return None, None
    picture = Image.blend(Image.new("RGB", second.size, "white"), second.convert("L").convert("RGB"), _PALE)
    shown = Image.new("RGB", size, "white")
    shown.paste(picture, (0, 0))
    shown.paste(_DIFFERENT, (0, 0, *size), differs)
    image = drawing.encoded(shown, "png")
    path = drawing.unused(stem, ".png")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image)
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be written: {error.strerror}.", hint="Make room in home.") from None
    ratio = max(round(count / (size[0] * size[1]), 6), 0.000001)
    return Difference(session_id=name, ratio=ratio, path=str(path)), drawing.encoded(drawing.fitted(shown), "png")


def _blanked(seen: Seen, other: Seen) -> Image:
    """The picture with a grey plate on what does not count in either of the two."""
    from PIL import ImageDraw  # noqa: PLC0415 — see _pixels

    image = drawing.opened(seen.png)
    draw = ImageDraw.Draw(image)
    for one in (seen, other):
        for sides in one.ignored:
            box, scale = Box.of(sides), one.scale
            draw.rectangle((box.left * scale, box.top * scale, box.right * scale, box.bottom * scale), fill="grey")
    return image
