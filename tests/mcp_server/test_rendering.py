"""Results as clients get them: equal facts in text and data, errors with a next step, bounded length."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from mcp.types import CallToolResult, ImageContent, TextContent

from orchestrator.errors import (
    ElementNotFound,
    ExpectationFailed,
    NoSession,
    OrchestratorError,
    RemoteFailure,
    SessionExists,
    SessionLost,
    SessionNotFound,
)
from orchestrator.execution.sequence import FailedStep, SequenceResult
from orchestrator.mcp_server.rendering import Renderer
from orchestrator.mcp_server.truncation import size, truncate_data, truncate_text
from orchestrator.models.results import Acted, PageText, Screenshot, SessionLabel, StateChange
from orchestrator.models.session import SessionType
from orchestrator.system.secrets import Redactor

LIMIT = 20_000
LABEL = SessionLabel(session_id="alice", session_type=SessionType.BROWSER)


@pytest.fixture
def renderer() -> Renderer:
    """A renderer that knows no secrets."""
    return Renderer(Redactor(), LIMIT)


def text(result: CallToolResult) -> str:
    """Return the only text of a result; the name of its fence is left out."""
    [part] = [part for part in result.content if isinstance(part, TextContent)]
    return re.sub(r"(?<=page)-[a-z0-9]{5}", "", part.text)


@pytest.mark.parametrize(
    ("error", "expected", "facts"),
    [
        (
            SessionLost("x", "its process chromedriver (12) ended"),
            (
                "session_lost: Session 'x' is lost: its process chromedriver (12) ended. "
                "Close it with close_session, then start a new one; its name is free again after that."
            ),
            {},
        ),
        (
            NoSession(["alice", "bob"]),
            (
                "no_session: No session: none active. Open sessions: alice, bob. "
                "Pass sessionId or call set_current_session."
            ),
            {"open": ["alice", "bob"]},
        ),
        (
            SessionNotFound("alcie", ["alice"]),
            "session_not_found: No session: alcie. Open sessions: alice. Did you mean 'alice'?",
            {"open": ["alice"]},
        ),
        (
            SessionExists("test"),
            (
                "session_exists: Session 'test' already exists (active). "
                "Use it by its sessionId, close it with close_session, or choose another name."
            ),
            {},
        ),
        (
            ElementNotFound("No element matches '#a'.", hint="Look again.", candidates=['button "A" [e1]', 'link "B"']),
            (
                "element_not_found: No element matches '#a'. Look again.\n"
                '<page>\nCandidates:\n- button "A" [e1]\n- link "B"\n</page>'
            ),
            {"candidates": ['button "A" [e1]', 'link "B"']},
        ),
        (
            ExpectationFailed("'#n' has another text.", expected="1", actual={"text": "2"}, near_by=["status [e3]"]),
            (
                "expectation_failed: '#n' has another text.\nExpected: 1\nNear by:\n- status [e3]\n"
                '<page>\nActual: {"text": "2"}\n</page>'
            ),
            {"expected": "1", "actual": {"text": "2"}, "nearBy": ["status [e3]"]},
        ),
        (
            RemoteFailure("It said no.", error="unknown error"),
            "remote_error: It said no.\nError: unknown error",
            {"error": "unknown error"},
        ),
    ],
)
def test_an_error_gives_the_same_facts_in_text_and_data(
    renderer: Renderer, error: OrchestratorError, expected: str, facts: dict[str, Any]
) -> None:
    """Code, message, hint and every fact are in the text, and again in the data."""
    result = renderer.error(error)
    named = {"sessionId": error.session_id} if error.session_id else {}
    assert result.is_error
    assert text(result) == expected
    assert result.structured_content == {
        "error": {
            "code": error.code,
            "message": error.message,
            **named,
            "hint": error.hint,
            "retryable": error.retryable,
            **facts,
        }
    }


def test_an_error_result_reports_session_events(renderer: Renderer) -> None:
    """Events of the session are reported even if the call failed."""
    error = ElementNotFound("Nothing.", events=["A dialog was dismissed: 'Sure?'."])
    result = renderer.error(error)
    assert text(result) == "element_not_found: Nothing.\nEvent: A dialog was dismissed: 'Sure?'."
    assert result.structured_content["events"] == ["A dialog was dismissed: 'Sure?'."]
    assert "events" not in result.structured_content["error"]


def test_a_result_gives_the_same_facts_in_text_and_data(renderer: Renderer) -> None:
    """Text and data of a result have the same facts, without empty ones."""
    result = renderer.outcome(Acted(url="http://a/", title="A", matches=2, warnings=["W."], session=LABEL))
    assert not result.is_error
    assert text(result) == (
        "Done. 'A' at http://a/\nWarning: W.\n"
        "The selector found 2 elements; the first actionable one was used.\nSession: alice (browser)."
    )
    assert result.structured_content == {
        "url": "http://a/",
        "title": "A",
        "matches": 2,
        "warnings": ["W."],
        "session": {"sessionId": "alice", "sessionType": "browser"},
    }


def test_a_sequence_that_stopped_early_is_an_error_with_its_data(renderer: Renderer) -> None:
    """X1: both the text and the data contain the number of completed steps and the reason for the stop."""
    cause = ElementNotFound("No element matches '#a'.", hint="Look again.", candidates=["link [e1]"])
    failed = {"code": cause.code, "message": cause.message, "hint": cause.hint}
    outcome = SequenceResult(
        completed=1,
        failed=FailedStep(index=1, action="click_element", error=failed),
        stopped_by=cause,
        state_change=StateChange(appeared=["status [e2]"]),
        stable=True,
        stability_wait_ms=150,
        session=LABEL,
    )
    result = renderer.outcome(outcome)
    assert result.is_error
    assert text(result) == (
        "element_not_found: No element matches '#a'. Look again.\n"
        "Completed 1 steps.\nStep 1 (click_element) failed: element_not_found: No element matches '#a'.\n"
        "Settled after 150 ms.\nSession: alice (browser).\n"
        "<page>\nCandidates:\n- link [e1]\n</page>\n<page>\nAppeared:\n- status [e2]\n</page>"
    )
    assert result.structured_content == outcome.data() | {
        "error": {**failed, "retryable": True, "candidates": ["link [e1]"]}
    }


def test_a_screenshot_is_an_image_part_without_structured_data(renderer: Renderer) -> None:
    """An image is never base64 in text and has no data beside it, since some hosts would drop it."""
    shot = Screenshot(path="/p.png", size=(2, 1), file_size=(2, 1), scale=1.0, media_type="image/png", image=b"\x89PNG")
    result = renderer.outcome(shot)
    assert result.structured_content is None
    [image] = [part for part in result.content if isinstance(part, ImageContent)]
    assert base64.b64decode(image.data) == b"\x89PNG"
    assert image.mime_type == "image/png"
    assert text(result).startswith("Screenshot saved: /p.png (2 x 1 px).")


def test_secrets_are_redacted_from_results() -> None:
    """A password shown by a page, or quoted by an error, reaches no client."""
    redactor = Redactor()
    redactor.add("hunter2-hunter2")
    renderer = Renderer(redactor, LIMIT)
    results = [
        renderer.outcome(PageText(text="it is hunter2-hunter2")),
        renderer.error(ElementNotFound("No 'hunter2-hunter2'.", candidates=["hunter2-hunter2"])),
    ]
    for result in results:
        assert "hunter2" not in result.model_dump_json()
        assert "•••" in text(result)


@pytest.mark.parametrize("limit", [1, 10, 100, 500, 2000, 20_000])
@pytest.mark.parametrize(
    "make",
    [
        lambda: PageText(text="word " * 20_000, session=LABEL),
        lambda: PageText(text='"\n' * 9_000),
        lambda: Acted(outline="\n".join(f"- link [e{n}]" for n in range(9_000)), warnings=["W" * 30_000]),
        lambda: SequenceResult(completed=1, state_change=StateChange(appeared=["line of it"] * 9_000)),
    ],
)
def test_no_result_is_longer_than_allowed(make: Callable[[], Any], limit: int) -> None:
    """Text and data of a result each stay within the limit, whichever part of them is long."""
    result = Renderer(Redactor(), limit).outcome(make(), ["selector"])
    assert len(text(result)) <= limit
    assert size(result.structured_content) <= max(limit, 2)


def test_a_cut_result_says_so_in_text_and_data() -> None:
    """The omitted length and the way to get the rest are in the text and in `next`."""
    note = "Cut: it has 6067 characters and max_output is 1000. To see the rest, narrow it with selector."
    result = Renderer(Redactor(), 1000).outcome(PageText(text="abcd\n" * 1000, session=LABEL), ["selector"])
    assert text(result).startswith(f"Session: alice (browser).\n{note}\n<page>\nabcd\n")
    assert text(result).endswith("abcd\n…\n</page>")
    assert result.structured_content["next"] == note
    assert result.structured_content["text"].endswith("abcd\n…")
    assert result.structured_content["session"] == {"sessionId": "alice", "sessionType": "browser"}


def test_a_result_that_its_action_has_cut_keeps_its_own_advice() -> None:
    """An action that cut its own result gives more precise advice."""
    outcome = PageText(text="a" * 2000, next="Go on with offset=5.")
    result = Renderer(Redactor(), 1000).outcome(outcome)
    assert result.structured_content["next"].startswith("Go on with offset=5. Cut: ")
    assert text(result).startswith("Go on with offset=5.\nCut: ")


def test_a_long_error_keeps_its_code_and_hint() -> None:
    """The hint has priority over the fifth candidate."""
    error = ElementNotFound("Nothing.", hint="Look again.", candidates=[f'button "{n}" [e{n}]' for n in range(500)])
    result = Renderer(Redactor(), 1000).error(error)
    assert text(result).startswith("element_not_found: Nothing. Look again.\nCut: ")
    assert '\n<page>\nCandidates:\n- button "0" [e0]\n' in text(result)
    told = result.structured_content["error"]
    assert (told["code"], told["hint"]) == ("element_not_found", "Look again.")
    assert told["candidates"][0] == 'button "0" [e0]'


def test_each_renderer_has_a_fence_of_its_own() -> None:
    """The name that a page has seen in one connection is of no use in another."""
    results = [Renderer(Redactor(), LIMIT).outcome(PageText(text="a")) for _ in range(2)]
    first, second = [part.text for result in results for part in result.content if isinstance(part, TextContent)]
    assert first != second


def test_texts_are_cut_between_lines() -> None:
    """Half a line could be half a ref."""
    assert truncate_text("- link [e1]\n- link [e22]", 22) == "- link [e1]\n…"
    assert truncate_text("short", 5) == "short"
    assert truncate_text("too long", 5) == "too…"


def test_data_is_cut_where_it_is_longest() -> None:
    """Lists lose items from the end, names and numbers stay."""
    data = {"total": 100, "lines": ["x" * 20] * 100, "url": "http://a/"}
    cut = truncate_data(data, 300)
    assert size(cut) <= 300
    assert (cut["total"], cut["url"]) == (100, "http://a/")
    assert cut["lines"] == ["x" * 20] * len(cut["lines"])
    assert len(cut["lines"]) >= 9
    assert json.loads(json.dumps(data)) == data


def test_lone_surrogates_are_replaced_in_results(renderer: Renderer) -> None:
    """A lone surrogate from the remote end is replaced, since an answer with one cannot be sent."""
    acted = renderer.outcome(Acted(url="http://x/", title="a\ud83d", events=["Tab \udc00 was closed."]))
    failed = renderer.error(RemoteFailure("It said 'x\ud83d'.", hint="Try again.", error="x", candidates=["\ud83d"]))
    for result in (acted, failed):
        assert "\ufffd" in text(result)
        assert json.loads(result.model_dump_json())
    assert acted.structured_content is not None
    assert acted.structured_content["title"] == "a\ufffd"
