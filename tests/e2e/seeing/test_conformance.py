"""Names and roles as the standards compute them, by public suites of cases."""

from __future__ import annotations

import pytest

from tests.e2e.seeing.conformance import Case, lack, name_cases, role_cases
from tests.e2e.stage import Stage
from tests.needed import needed

pytestmark = pytest.mark.full

NO_BOX = "Chromium renders it without a size: nobody sees it, so it has no line"
PHRASE = "a tooltip on a phrase makes no line of its own, which would tear the text apart"

KNOWN_WRONG = {
    "comp_label: label valid on img element": NO_BOX,
    "comp_label: label valid on math element": NO_BOX,
    "comp_tooltip: link with text with tooltip label and no contents": NO_BOX,
    "comp_tooltip: abbr with tooltip label": PHRASE,
    "comp_tooltip: kbd with tooltip label": PHRASE,
    "comp_name_from_content: heading with link referencing image using aria-labelledby, that in turn references text "
    "element via aria-labelledby": "the page refers to an id that it does not have",
    "comp_name_from_content: heading with link referencing image using aria-labelledby, that in turn references itself "
    "and another element via aria-labelledby": "an image that was read already is not read again for its references",
}
"""Cases that are not as the suites expect them, each with the reason."""

BOXED_IN_FIREFOX = "comp_label: label valid on math element"
"""An element without content that has a box in Firefox."""


@pytest.fixture(scope="module")
def suites() -> None:
    """Skip what needs the suites if they are missing; fail instead where CI=true."""
    needed(lack())


def check(suite: str, cases: list[Case], total: int, browser: str) -> None:
    """Print the figure of a suite; fail for each case that is wrong and not known to be, or known and right."""
    known = KNOWN_WRONG.keys() - ({BOXED_IN_FIREFOX} if browser == "firefox" else set())
    wrong = {case.title: case for case in cases if not case.is_right}
    print(f"{suite}: {len(cases) - len(wrong)} of {len(cases)} right")
    new = [f"{case.title}: {case.expected!r} expected, not {case.actual!r}" for case in wrong.values()]
    new = [line for line, title in zip(new, wrong, strict=True) if title not in known]
    mended = [case.title for case in cases if case.title in known and case.is_right]
    assert len(cases) == total
    assert not new, "\n".join([f"{suite}, wrong:", *new])
    assert not mended, "\n".join(["Right now, so take it out of KNOWN_WRONG:", *mended])


@pytest.mark.usefixtures("suites")
def test_names_are_those_of_the_web_platform_tests(stage: Stage) -> None:
    """Accessible names of 378 elements, as accname 1.2 and HTML-AAM compute them."""
    check("accessible names (WPT)", name_cases(stage.ok, stage.site), 378, stage.browser)


@pytest.mark.usefixtures("suites")
def test_roles_are_those_that_html_gives(stage: Stage) -> None:
    """Roles of 88 elements of HTML, by the cases of axe-core."""
    check("implicit roles (axe-core)", role_cases(stage.ok, stage.site), 88, stage.browser)
