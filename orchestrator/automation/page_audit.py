"""Checks a page and its frames for accessibility with axe-core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Final

from orchestrator.automation.browser.finder import Finder
from orchestrator.automation.browser.frames import FrameStep
from orchestrator.errors import InvalidArgument, RemoteFailure, Unsupported, quoted
from orchestrator.models.near_names import nearest
from orchestrator.snapshot.audit_answers import AuditedAnswer, AuditWayAnswer, UnknownRuleAnswer, ViolationFacts
from orchestrator.snapshot.methods import AUDIT, is_cross_origin, is_refused, is_unknown_rule
from orchestrator.snapshot.web.page import Interrupted, PageEngine

AXE: Final = "selenium_axe_python"
"""The package that carries axe-core; only its script is used."""
_IMPACTS = ("critical", "serious", "moderate", "minor")

_RUN_AXE = """
const module = { exports: {} };
const before = Object.getOwnPropertyDescriptor(window, 'axe');
(function (module, exports, define, setTimeout, clearTimeout) {
AXE
})(module, module.exports, undefined, engine.timers[0], engine.timers[1]);
if (before) Object.defineProperty(window, 'axe', before);
else delete window.axe;
module.exports.frameMessenger({ open() {}, post() { return false; } });
return engine.audit(module.exports, arguments[0], arguments[1]);
"""
"""Loads axe-core as a module, and not as the page's `axe`; it hears and sends no messages between frames."""


@cache
def _script() -> str:
    return _RUN_AXE.replace("AXE", files(AXE).joinpath("axe-core", "axe.min.js").read_text("utf-8"), 1)


def require_axe() -> None:
    """Refuse an audit if axe-core is missing.

    Raises:
        Unsupported: It is not installed; the hint is how to install it.
    """
    if not find_spec(AXE):
        raise Unsupported(
            "audit_page needs axe-core, which is not installed.",
            hint="Install the extra audit: pip install selenium-axe-python, then start the server again.",
        )


@dataclass
class Findings:
    """Faults that axe-core found in the documents of a page.

    Attributes:
        place: The page, and the number of elements that the selector found.
        version: The version of axe-core.
        documents: The number of documents that were checked.
        passed: Rules that nothing in any of them breaks.
        incomplete: Rules that a human has to judge in at least one of them.
        skipped: Rules that take too long in a document as large as one of them.
        unchecked: The lines of frames that could not be checked.
    """

    place: AuditWayAnswer
    version: str = ""
    documents: int = 0
    passed: set[str] = field(default_factory=set)
    incomplete: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    unchecked: list[str] = field(default_factory=list)
    _violations: dict[str, ViolationFacts] = field(default_factory=dict)

    @property
    def violations(self) -> list[ViolationFacts]:
        """The broken rules, the most severe first."""
        return sorted(self._violations.values(), key=lambda one: (_IMPACTS.index(one["impact"]), -one["total"]))

    def add(self, answer: AuditedAnswer, most: int) -> None:
        """Add what was found in a further document, up to `most` elements for each rule."""
        self.version = answer["version"]
        self.documents += 1
        self.skipped.update(answer["skipped"])
        self.incomplete.update(answer["incomplete"])
        for found in answer["violations"]:
            known = self._violations.setdefault(found["rule"], {**found, "total": 0, "elements": []})
            known["total"] += found["total"]
            known["elements"] = [*known["elements"], *found["elements"]][:most]
            known["impact"] = min(known["impact"], found["impact"], key=_IMPACTS.index)
        self.passed = (self.passed | {*answer["passed"]}) - self._violations.keys()


class PageAudit:
    """An audit of a page, or of a part of it: each document is checked by itself, the frames' after the one around.

    Args:
        finder: Finds the part, and goes into frames.
        page: The engine of the page.
        tags: Tags of the rules to check; none for axe-core's default.
        rules: The rules to check instead.
        most: Elements to return for each rule.
    """

    def __init__(
        self, finder: Finder, page: PageEngine, *, tags: Sequence[str], rules: Sequence[str], most: int
    ) -> None:
        self._finder = finder
        self._page = page
        self._most = most
        self._asked: dict[str, Any] = {"tags": [*tags], "rules": [*rules], "most": most}

    def run(self, selector: str | None, seconds: float) -> Findings:
        """Check what the selector finds; without one, the page or the frame that the session has switched to.

        Raises:
            ElementNotFound, StaleRef, InvalidArgument: The selector finds nothing, or there is no such rule.
            RemoteFailure: The page was left meanwhile.
        """
        with self._finder.querying_element(selector, AUDIT, seconds) as place:
            findings = Findings(place)
            try:
                if place["path"]:
                    with self._finder.in_frame(place["path"]):
                        self._check(findings)
                else:
                    self._check(findings)
            except Interrupted:
                raise RemoteFailure("The page was left while it was checked.", hint="Try again.") from None
            self._check_frames(findings, place)
        return findings

    def _check(self, findings: Findings) -> None:
        """Check the document of the current frame."""
        answer = self._page.audit(_script(), self._asked)
        if is_unknown_rule(answer):
            raise _unknown(answer, is_tag=bool(self._asked["tags"]))
        findings.add(answer, self._most)

    def _check_frames(self, findings: Findings, way: AuditWayAnswer) -> None:
        """Check the documents of frames, those below frames of other origins, too."""
        for frame in way["frames"]:
            try:
                with self._finder.frames.in_frame(FrameStep.from_facts(frame)):
                    self._check(findings)
                    below = self._page.call(AUDIT) if frame["closed"] else None
                    if below is not None and not is_refused(below) and not is_cross_origin(below):
                        self._check_frames(findings, below)
            except (Interrupted, RemoteFailure):
                findings.unchecked.append(frame["line"])


def _unknown(answer: UnknownRuleAnswer, *, is_tag: bool) -> InvalidArgument:
    kind = "tag" if is_tag else "rule"
    examples = (
        "Tags are such as wcag2a, wcag2aa, wcag21aa, best-practice." if is_tag else "Rules are such as image-alt."
    )
    hint = f"{nearest(answer['unknown'], answer['known'])} {examples}"
    return InvalidArgument(f"axe-core has no {kind} {quoted(answer['unknown'])}.", hint=hint)
