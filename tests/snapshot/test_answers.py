"""Answers of the page engine are checked against their method's type before they are used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.snapshot.methods import (
    MARK,
    READY,
    SCROLL_INFO,
    SETTLE,
    SLIDER,
    SNAPSHOT,
    STATE,
    TEXT,
    PageMethod,
    is_cross_origin,
    is_refused,
)
from orchestrator.snapshot.web.page import EngineFault, Interrupted, PageEngine
from orchestrator.snapshot.web.world import PageWorld
from tests.servers.page_answers import PLACE, elsewhere, marked, ready, state, turned_down
from tests.snapshot.web.chromium import Numbers

SCROLLER = {"x": 1, "y": 2, "before": [0, 0.5], "atEnd": False, "page": [800, 600]}


class AnsweringWorld(PageWorld):
    """A world that gives these answers, the last one for ever."""

    def __init__(self, *answers: object) -> None:
        self.answers = [*answers]

    def run(self, body: str, args: list[Any]) -> Any:  # noqa: ARG002 the answers come in order
        """Return the next answer."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def engine(answer: object) -> PageEngine:
    """A page engine whose page answers every script with this."""
    return PageEngine(AnsweringWorld(answer), Numbers())


@pytest.mark.parametrize(
    ("method", "answer", "wrong"),
    [
        (STATE, {"url": "https://a.example/"}, "title: Field required"),
        (STATE, state(title=7), "title: Input should be a valid string"),
        (READY, ready(x=1.5), "x: Input should be a valid integer"),
        (READY, ready(x=None), "x: Input should be a valid integer"),
        (READY, ready(path=[[0]]), "path.0"),
        (
            TEXT,
            {**PLACE, "text": "", "more": False, "matches": -1, "frames": []},
            "matches: Input should be greater than or equal to 0",
        ),
        (SCROLL_INFO, {**SCROLLER, "page": [800]}, "page: List should have at least 2 items"),
        (SLIDER, {"now": float("inf")}, "now: Input should be a finite number"),
        (SETTLE, {"settled": False, "quietFor": 0}, "reason: Field required"),
    ],
)
def test_an_answer_that_does_not_fit_is_an_error_that_names_the_method(
    method: PageMethod[Any], answer: dict[str, Any], wrong: str
) -> None:
    """The message names the method and the key, and quotes nothing of the page."""
    with pytest.raises(EngineFault) as failed:
        engine(json.dumps(answer)).call(method)
    assert f"its answer to {method.name!r} does not fit (" in failed.value.message
    assert wrong in failed.value.message


@pytest.mark.parametrize("answer", ["", "no JSON", "[1]", '"text"', '{"nextRef": 1'])
def test_a_text_that_is_no_json_object_is_an_error(answer: str) -> None:
    """A page that replaces the engine can answer anything."""
    with pytest.raises(EngineFault, match="its answer is not a JSON object"):
        engine(answer).call(STATE)


@pytest.mark.parametrize("head", [{"nextRef": "9"}, {"needRefs": 1.5}, {"stopped": 1}, {"asked": [1]}, {"error": None}])
def test_the_head_of_an_answer_is_checked_too(head: dict[str, Any]) -> None:
    """Its numbers become the refs of later elements, its texts become events."""
    with pytest.raises(EngineFault, match="its answer to 'head' does not fit"):
        engine(json.dumps({**state(), **head})).call(STATE)


def test_no_answer_at_all_is_an_interruption() -> None:
    """The caller decides whether to ask again."""
    with pytest.raises(Interrupted):
        engine(None).call(STATE)


def test_an_outline_comes_as_lines_below_the_json() -> None:
    """Keys unknown to this version are dropped."""
    facts = {**PLACE, "total": 2, "shown": 2, "outside": 0, "frames": [], "later": True}
    answer = engine(f"{json.dumps(facts)}\n- a\n  - b").call(SNAPSHOT)
    assert not is_refused(answer)
    assert not is_cross_origin(answer)
    assert answer["lines"] == ["- a", "  - b"]
    assert "later" not in answer


def test_a_locator_without_a_usable_element_is_answered_by_a_refusal_or_the_frame_to_go_on_in() -> None:
    """Both have types of their own, so that no reader takes them for the expected answer."""
    refusal = engine(json.dumps(turned_down("stale", "e7 is no longer on the page"))).call(READY)
    assert is_refused(refusal)
    assert (refusal["reason"], refusal["matches"]) == ("stale", 0)
    step = engine(json.dumps(elsewhere(0, "e3", {"by": "css", "value": "button"}))).call(READY)
    assert is_cross_origin(step)
    assert step["crossOrigin"]["path"] == [0]


def test_queued_calls_stay_in_the_queue_until_all_of_them_are_answered() -> None:
    """A page that answers only the last call leaves the others to the next one."""
    answers = [json.dumps(state()), json.dumps({**state(), "first": [marked()]})]
    page = PageEngine(AnsweringWorld(*answers), Numbers())
    lines: list[int] = []
    page.queue_call(MARK, {"name": "step"}, lambda answer: lines.append(answer["lines"]))
    with pytest.raises(EngineFault, match="it answered 0 of 1 queued calls"):
        page.call(STATE)
    assert page.queued_calls
    page.call(STATE)
    assert (lines, page.queued_calls) == ([12], [])
