"""Reading what a session shows: its elements, its text, its HTML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Literal

from pydantic import Field

from orchestrator.actions.base import ALL_TYPES, Action, Aimed
from orchestrator.actions.finding import several
from orchestrator.actions.frames import Hop
from orchestrator.actions.outline import Outline
from orchestrator.actions.results import Elements, Outcome, PageSource, PageText
from orchestrator.actions.scene import Scene
from orchestrator.errors import PlaceGone
from orchestrator.models import SessionType
from orchestrator.settings import ToolSet
from orchestrator.snapshot.page import Interrupted

_ROOM = 0.9
"""The share of `max_output` that the outline or text itself may take; the rest is for what stands around it."""


class GetVisibleElements(Aimed, Action[Elements]):
    """List what the page shows, with refs to click and fill in: buttons, links, fields, headings, text.

    Call it first.
    """

    verb: ClassVar[str] = "get_visible_elements"
    title: ClassVar[str] = "See the page"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Elements

    scope: Literal["viewport", "page"] = "viewport"
    root: str | None = Field(default=None, description="Selector.")
    query: str | None = Field(default=None, description="Text to find.")
    roles: list[str] = Field(default_factory=list)
    limit: int = Field(default=200, ge=1)
    offset: int = Field(default=0, ge=0)
    format: Literal["outline", "json"] = "outline"

    def perform(self, scene: Scene) -> Elements:
        """One script call a frame of another origin, one for everything else."""
        asked = {
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
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PageText

    selector: str | None = None

    def perform(self, scene: Scene) -> PageText:
        """One script call, and one for each frame of another origin."""
        text, found = _text(scene, self.selector)
        scene.remember(found)
        shown, rest = _cut(text, scene)
        return PageText(text=shown, matches=several(found), next=rest)


class GetPageSource(Aimed, Action[PageSource]):
    """Read the HTML of the page, or of one element."""

    verb: ClassVar[str] = "get_page_source"
    title: ClassVar[str] = "Read HTML"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PageSource

    selector: str | None = None

    def perform(self, scene: Scene) -> PageSource:
        """One script call. What stands in shadow roots and frames is not part of a document's HTML."""
        found = scene.find.locate(self.selector, "source", scene.seconds(None))
        scene.remember(found)
        shown, rest = _cut(str(found["source"]), scene)
        return PageSource(source=shown, matches=several(found), next=rest)


def text_of_page(scene: Scene, ignore: list[dict[str, Any]]) -> str:
    """The visible text of the page, or of the frame that was switched to, without what `ignore` locates."""
    return _text(scene, None, ignore=ignore)[0]


def _text(scene: Scene, selector: str | None, **asked: Any) -> tuple[str, Mapping[str, Any]]:
    if selector is None and not scene.find.inside:
        found = scene.ask("text", **asked)
        return _with_frames(scene, found), found
    with scene.find.located(selector, "text", scene.seconds(None), **asked) as found:
        return _with_frames(scene, found), found


def _with_frames(scene: Scene, found: Mapping[str, Any]) -> str:
    """A text with those of the frames of other origins where they stand."""
    text = str(found["text"])
    # From the last frame to the first, so that the places of the earlier ones stay right.
    for frame in reversed(found.get("frames") or ()):
        with suppress(Interrupted, PlaceGone), scene.find.frames.below(Hop.of(frame)):
            inner = _with_frames(scene, scene.page.call("text"))
            parts = (text[: frame["at"]].rstrip(), inner, text[frame["at"] :].lstrip())
            text = "\n".join(part for part in parts if part)
    return text


def _cut(text: str, scene: Scene) -> tuple[str, str | None]:
    """As much of a text as fits into a result, as JSON too, and how to get the rest."""
    text = scene.redactor.text(text)  # at first: half a secret would not be known as one
    room = shown = round(scene.settings.max_output * _ROOM)
    while (size := len(json.dumps(text[:shown], ensure_ascii=False))) > room and shown > 1:
        shown = max(1, shown * room // size - 1)
    rest = len(text) - shown
    return text[:shown], f"Cut: {rest} more characters. Give a selector for a smaller part." if rest > 0 else None


ACTIONS: list[type[Action[Any]]] = [GetVisibleElements, GetText, GetPageSource]
