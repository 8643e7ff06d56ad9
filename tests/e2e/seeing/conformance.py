"""Public conformance suites, run through the tools: the names and roles that an outline gives to their elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.site import Reply, Site

FOLDER = Path(__file__).parents[2] / "data" / "conformance"

Call = Callable[..., dict[str, Any]]
"""Calls a tool that must succeed; returns its data."""

_NAMED = """
return [...document.querySelectorAll('[data-expectedlabel]')]
  .map(element => ({element, title: element.dataset.testname, expected: element.dataset.expectedlabel}))
"""
_ROLES = """<!doctype html><title>Roles</title><body>
<script>const module = {}</script><script src=implicit-role.js></script>
<script>
for (const {html} of module.exports) {
  const frame = document.createElement('iframe');
  frame.srcdoc = `<style>#target {min-width: 9px; min-height: 9px}</style>${html}`;
  document.body.append(frame);
}
</script>"""
_TARGETS = """
const frames = document.querySelectorAll('iframe');
return module.exports.map(({html, role}, i) => (
  {element: frames[i].contentDocument.querySelector('#target'), title: html, expected: role}
))
"""


@dataclass(frozen=True)
class Case:
    """An element of a suite: what the suite expects of it, and what the outline says."""

    title: str
    expected: str
    actual: str

    @property
    def is_right(self) -> bool:
        """True if both are the same but for white space, of which an outline shows one space."""
        return self.actual.split() == self.expected.split()


def lack() -> str | None:
    """Return what is missing for the suites, if anything."""
    return None if FOLDER.is_dir() else f"the conformance suites are not here: {FOLDER}"


def name_cases(call: Call, site: Site) -> list[Case]:
    """Return the cases of WPT's pages on accessible names."""
    return [case for path in sorted(FOLDER.glob("accname/**/*.html")) for case in _named_on(path, call, site)]


def _named_on(path: Path, call: Call, site: Site) -> Iterator[Case]:
    place = path.relative_to(FOLDER).as_posix()
    call("navigate", url=site.page(f"/{place}", path.read_text("utf-8")))
    lines = _lines(call)
    for case in call("execute_script", script=_NAMED)["value"]:
        line = lines.get(case["element"]["ref"], {})
        yield Case(f"{path.stem}: {case['title']}", case["expected"], line.get("name", ""))


def role_cases(call: Call, site: Site) -> list[Case]:
    """Return the cases of axe-core on the roles that HTML gives; each is a document of its own, in a frame."""
    site.page(
        "/roles/implicit-role.js", Reply((FOLDER / "implicit-role.js").read_text("utf-8"), 200, "text/javascript")
    )
    call("navigate", url=site.page("/roles/all", _ROLES))
    lines = _lines(call)
    cases = []
    for place, case in enumerate(call("execute_script", script=_TARGETS)["value"], 1):
        expected = _shown(case["expected"])
        cases.append(Case(case["title"], expected, _role(case["element"]["ref"], expected, place, lines, call)))
    return cases


def _shown(role: str | None) -> str:
    """The role as an outline has it: an element that is only its content has none."""
    return "" if role in {None, "presentation", "generic"} else str(role)


def _role(ref: str, expected: str, place: int, lines: dict[str, dict[str, Any]], call: Call) -> str:
    """The role of an element in its line; if it has no box, and so no line, the one by which a selector finds it."""
    if ref in lines or not expected:
        return _shown(lines.get(ref, {}).get("role"))
    selector = f"iframe:nth-of-type({place}) >> role={expected}"
    found = call("execute_script", script="return args[0] && args[0].id", args=[{"selector": selector}])["value"]
    return expected if found == "target" else ""


def _lines(call: Call) -> dict[str, dict[str, Any]]:
    """The elements of the page's outline by their refs, page by page of the listing."""
    found: dict[str, dict[str, Any]] = {}
    while True:
        part = call("get_visible_elements", scope="page", format="json", limit=10_000, offset=len(found))
        found |= {element["ref"]: element for element in part["elements"]}
        if len(found) >= part["total"] or not part["elements"]:
            return found
