"""Read a session's page or screen: elements, text, HTML, faults of accessibility."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, Selector, SelectorAliases
from orchestrator.actions.tool_results import AuditedElement, AuditResult, Violation
from orchestrator.automation.browser.finder import count_matches
from orchestrator.automation.outline_reader import Outline
from orchestrator.automation.page_audit import AXE, PageAudit, require_axe
from orchestrator.automation.page_text import cut_text, visible_text
from orchestrator.automation.scene import Scene
from orchestrator.errors import NavigationWaits
from orchestrator.models.results import Elements, Outcome, PageSource, PageText
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet
from orchestrator.snapshot.audit_answers import ViolationFacts
from orchestrator.snapshot.methods import SOURCE_TEXT

_SKIPPED = "{0} was not checked: the page is so large that it takes long. Give a selector, or rules: ['{0}']."


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
        try:
            found = Outline.read(scene, asked, self.root)
        except NavigationWaits as waits:
            return Elements(
                url=scene.record.url or "", title=scene.record.title or "", outline="", total=0, shown=0,
                warnings=[str(waits)],
            )  # fmt: skip
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


class AuditPage(SelectorAliases, Action[AuditResult]):
    """Check accessibility (WCAG) with axe-core: violations with the elements' refs."""

    verb: ClassVar[str] = "audit_page"
    title: ClassVar[str] = "Check accessibility"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "axe-core reads web pages only: use get_visible_elements, or switch_context to a web view."
    long_result: ClassVar[bool] = True
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = (AXE,)
    result: ClassVar[type[Outcome]] = AuditResult

    selector: Selector | None = None
    tags: list[str] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list)
    limit: int = Field(default=5, ge=1, le=1000)

    @model_validator(mode="after")
    def _one_of_both(self) -> AuditPage:
        if self.tags and self.rules:
            raise ValueError("give either tags or rules")
        return self

    def perform(self, scene: Scene) -> AuditResult:
        """Run axe-core in each document of the page, by one script call for each."""
        require_axe()
        audit = PageAudit(scene.finder, scene.web_page, tags=self.tags, rules=self.rules, most=self.limit)
        found = audit.run(self.selector, scene.seconds(None))
        scene.record_url_and_title(found.place)
        violations, rest = _fit_violations(found.violations, scene.settings.body_room)
        return AuditResult(
            axe=found.version,
            violations=violations,
            passed=len(found.passed),
            incomplete=len(found.incomplete),
            documents=found.documents,
            unchecked=found.unchecked or None,
            warnings=[_SKIPPED.format(rule) for rule in sorted(found.skipped)],
            matches=count_matches(found.place),
            next=rest,
        )


def _fit_violations(found: list[ViolationFacts], room: int) -> tuple[list[Violation], str | None]:
    """The violations that fit into `room` characters of JSON, rules before elements, and how to get the rest."""
    rules = [Violation.model_validate({**one, "elements": []}) for one in found]
    left = room
    shown = 0
    for rule in rules:
        left -= len(rule.model_dump_json(by_alias=True))
        if left < 0 and shown:
            break
        shown += 1
    for rule, facts in zip(rules[:shown], found, strict=False):
        for each in facts["elements"]:
            element = AuditedElement.model_validate(each)
            left -= len(element.model_dump_json(by_alias=True))
            if left < 0:
                break
            rule.elements.append(element)
    hidden = len(rules) - shown
    if hidden or any(one.total > len(one.elements) for one in rules[:shown]):
        more = f"{hidden} more rules. " if hidden else ""
        return rules[:shown], f"{more}For the rest give rules or a selector, or raise limit."
    return rules, None


ACTIONS: list[type[Action[Any]]] = [GetVisibleElements, GetText, GetPageSource, AuditPage]
