"""Widgets of unmodified component libraries, seen, read and acted on through the tools alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.acting.widgets import COLUMNS, FILE, KNOWN_WRONG, WIDGETS, Column, Nth, Widget
from tests.e2e.stage import Stage
from tests.full_cases import every_other_full
from tests.needed import needed
from tests.servers.widgets import missing, serve_widgets
from tests.waiting import until

pytestmark = pytest.mark.full

READ_WITHIN = 30_000
"""Milliseconds in which a widget shows what was done: a guard against hanging, which proves nothing."""
KNOWN_WITHIN = 2_000
"""The same for a widget of which it is known that it cannot be read."""


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> str:
    """The browser of the stage, as the table names it."""
    on: str = request.config.getoption("--on")
    if on == "grid":
        pytest.skip("it has the same browser as this machine")
    return "local" if on in {"chrome", "edge"} else on


@pytest.fixture(scope="module")
def pages(stage: Stage) -> Stage:
    """The stage with the pages of the libraries; skipped if they are missing, failed where CI=true."""
    needed(missing())
    serve_widgets(stage.site)
    return stage


@pytest.mark.core
@pytest.mark.parametrize("widget", every_other_full(WIDGETS), ids=lambda widget: widget.title)
def test_a_widget_is_shown_read_and_acted_on(widget: Widget, pages: Stage, browser: str, tmp_path: Path) -> None:
    """The outline has its lines, the steps lead to the application's own state, and `expect` reads that."""
    (tmp_path / FILE).write_text("Notes")
    known = {column for column in COLUMNS if (widget.title, column, browser) in KNOWN_WRONG}
    wrong = problems(widget, pages, tmp_path / FILE, KNOWN_WITHIN if "read" in known else READ_WITHIN)
    new = [f"{column}: {problem}" for column, problem in wrong.items() if column not in known]
    assert not new, "\n".join([widget.title, *new])
    assert not known - wrong.keys(), f"{widget.title} works now: take {known - wrong.keys()} out of KNOWN_WRONG"


def problems(widget: Widget, stage: Stage, file: Path, read_within: int) -> dict[Column, str]:
    """Show the widget and do its steps; return what went wrong, by column; it is read for so many ms at most."""
    library, _, name = widget.page.partition("?")
    stage.ok("navigate", url=f"{stage.site.url(f'/{library}')}?{name}")
    found: dict[Column, str] = {}
    if lacking := lacking_lines(widget, stage):
        found["outline"] = lacking
    failures = [text for step in widget.steps if (text := failure(step, stage, file))]
    try:
        until(lambda: stage.js("state()") == widget.state, "the state")
    except AssertionError:
        failures.append(f"the application has {stage.js('state()')!r}, not {widget.state!r}")
    if failures:
        found["act"] = "\n".join(failures)
    if widget.read and (answer := stage.call("expect", timeout=read_within, **widget.read)).failed:
        found["read"] = answer.text
    return found


def lacking_lines(widget: Widget, stage: Stage) -> str:
    """Return the lines that the outline lacks, and the outline, if there are any."""
    lines = iter(outline := [line.strip().removeprefix("- ") for line in stage.outline()])
    lacking = [wanted for wanted in widget.lines if not any(line.startswith(wanted) for line in lines)]
    return "\n".join([f"{lacking} is not in", *outline]) if lacking else ""


def failure(step: tuple[str, Mapping[str, Any]], stage: Stage, file: Path) -> str:
    """Do a step; return its error, empty if there is none."""
    tool, arguments = step
    given = dict(arguments)
    if isinstance(wanted := given.get("selector"), Nth):
        lines = [line for line in stage.outline() if line.strip().removeprefix("- ").startswith(wanted.beginning)]
        if len(lines) < wanted.number:
            return f"the outline has no {wanted}"
        given["selector"] = lines[wanted.number - 1].partition("[")[2].partition("]")[0]
    if "paths" in given:
        given["paths"] = [str(file)]
    answer = stage.call(tool, **given)
    return answer.text if answer.failed else ""
