"""Read a session's page or screen: elements, text, HTML."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from orchestrator.actions.base import ALL_TYPES, Action, Selector, SelectorAliases
from orchestrator.automation.browser.finder import count_matches
from orchestrator.automation.outline_reader import Outline
from orchestrator.automation.page_text import cut_text, visible_text
from orchestrator.automation.scene import Scene
from orchestrator.models.results import Elements, Outcome, PageSource, PageText
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet
from orchestrator.snapshot.methods import SOURCE_TEXT


class GetVisibleElements(SelectorAliases, Action[Elements]):
    """See the page or screen (snapshot, accessibility tree): its elements and text, with refs to act on.

    Call it first.
    """

    verb: ClassVar[str] = "get_visible_elements"
    title: ClassVar[str] = "See the page"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    always_loaded: ClassVar[bool] = True
    long_result: ClassVar[bool] = True
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Elements

    scope: Literal["viewport", "page"] = "viewport"
    root: Selector | None = None
    query: str | None = Field(default=None, description="Text to find.")
    roles: list[str] = Field(default_factory=list)
    limit: int = Field(default=200, ge=1)
    offset: int = Field(default=0, ge=0)
    format: Literal["outline", "json"] = "outline"

    def perform(self, scene: Scene) -> Elements:
        """Read the outline in one script call, plus one per frame of another origin."""
        asked = {
            "scope": self.scope,
            "query": self.query,
            "roles": [role.lower() for role in self.roles],
            "limit": self.limit,
            "offset": self.offset,
            "json": self.format == "json",
        }
        found = Outline.read(scene, asked, self.root)
        scene.record_url_and_title(found.place)
        return found.elements(scene.settings.body_room)


class GetText(SelectorAliases, Action[PageText]):
    """Read the visible text of the page, or of one element."""

    verb: ClassVar[str] = "get_text"
    title: ClassVar[str] = "Read text"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    by_default: ClassVar[bool] = True
    long_result: ClassVar[bool] = True
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PageText

    selector: Selector | None = None

    def perform(self, scene: Scene) -> PageText:
        """Read the text in one script call, plus one per frame of another origin."""
        text, found = visible_text(scene, self.selector)
        scene.record_url_and_title(found)
        shown, rest = cut_text(text, scene, more=found["more"])
        return PageText(text=shown, matches=count_matches(found), next=rest)


class GetPageSource(SelectorAliases, Action[PageSource]):
    """Read the HTML of the page, or of one element."""

    verb: ClassVar[str] = "get_page_source"
    title: ClassVar[str] = "Read HTML"
    long_result: ClassVar[bool] = True
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PageSource

    selector: Selector | None = None

    def perform(self, scene: Scene) -> PageSource:
        """Read the HTML in one script call, without the content of shadow roots and frames."""
        found = scene.finder.query_element(self.selector, SOURCE_TEXT, scene.seconds(None))
        scene.record_url_and_title(found)
        shown, rest = cut_text(found["source"], scene, more=found["more"])
        return PageSource(source=shown, matches=count_matches(found), next=rest)


ACTIONS: list[type[Action[Any]]] = [GetVisibleElements, GetText, GetPageSource]
