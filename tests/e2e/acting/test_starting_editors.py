"""Editors that take keys before they are set up, and would then replace what was typed."""

from __future__ import annotations

import threading

import pytest

from tests.e2e.stage import Stage
from tests.needed import needed
from tests.servers.site import Reply, Visit
from tests.servers.widgets import missing, serve_widgets
from tests.waiting import until

pytestmark = pytest.mark.full


@pytest.mark.parametrize(
    "fill",
    [
        {"action": "set_value", "selector": "iframe >> body", "value": "Lovely tea"},
        {"action": "press_keys", "selector": "iframe >> body", "text": "Lovely tea"},
    ],
    ids=lambda step: step["action"],
)
def test_what_is_typed_into_an_editor_that_is_still_starting_is_not_lost(stage: Stage, fill: dict[str, str]) -> None:
    """TinyMCE's frame is editable before its style sheet has come and its content is there: the edit waits for that."""
    needed(missing())
    serve_widgets(stage.site)
    late = threading.Event()

    def content_css(visit: Visit) -> Reply:
        del visit
        late.wait(1.0)
        return Reply("body { color: black }", content_type="text/css")

    stage.site.page("/content.css", content_css)
    stage.ok("navigate", url=stage.site.url("/tinymce?slow"))
    done = stage.ok("execute_sequence", actions=[fill])
    late.set()
    assert done["completed"] == 1
    until(lambda: stage.js("state()"), "the editor's content", patience=15)
    assert stage.js("state()") == "Lovely tea"
