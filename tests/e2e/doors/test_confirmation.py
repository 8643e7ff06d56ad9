"""Tools that the setting `confirm` holds back until the person at the client agrees, in both protocol eras."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult

from orchestrator.settings import Settings
from tests.e2e.conftest import ERAS
from tests.e2e.harness import NAMESPACE, Home
from tests.e2e.stage import refused
from tests.servers.mcp import Served, served

pytestmark = pytest.mark.full

PAGE = "data:text/html,<title>Shop</title><p>x"
SCRIPT = "document.title = 'Bought'"
COUNT = "return window.runs = (window.runs ?? 0) + 1"
HELD = "execute_script,close_session,tabs"
"""What the servers with a person hold back."""

AGREED: dict[str, Any] = {"input_responses": {"confirm": ElicitResult(action="accept", content={})}}
"""The answer of a person who agrees, as a client that drives the rounds itself sends it."""

each_era = pytest.mark.parametrize("era", ERAS)


class Person:
    """Someone at the client: the questions so far, and the answer to all of them."""

    def __init__(self, answer: str | Mapping[str, object]) -> None:
        self.answer = answer
        self.questions: list[str] = []

    def __call__(self, question: str) -> str | Mapping[str, object]:
        self.questions.append(question)
        return self.answer


@contextmanager
def serving(home: Home, era: str, person: Person | None, confirm: str, **settings: str) -> Iterator[Served]:
    """Start a server that holds tools back, for a client with or without a person."""
    where = {"home": str(home.folder), "namespace": NAMESPACE, "confirm": confirm, **settings}
    with served(era, (), sys.stderr, "mcp", person, **where) as server:
        yield server


@pytest.fixture(scope="module")
def shops(new_home: Callable[[], Home]) -> Iterator[Callable[[str], tuple[Served, Person]]]:
    """Return a function that finds the server of an era, with a browser and a person; started at its first use."""
    started: dict[str, tuple[Served, Person]] = {}
    with ExitStack() as stack:

        def find(era: str) -> tuple[Served, Person]:
            if era not in started:
                person = Person("accept")
                server = stack.enter_context(serving(new_home(), era, person, HELD))
                server.ok("start_browser", sessionId="a")
                started[era] = server, person
            return started[era]

        yield find


@pytest.fixture
def era() -> str:
    """The era of tests that do not depend on it."""
    return "auto"


@pytest.fixture
def shop(shops: Callable[[str], tuple[Served, Person]], era: str) -> tuple[Served, Person]:
    """The server of an era with its browser at the page, and the person, who agrees and was asked nothing so far."""
    server, person = shops(era)
    server.ok("navigate", url=PAGE)
    person.answer = "accept"
    person.questions.clear()
    return server, person


@each_era
def test_a_held_tool_runs_once_after_the_person_agreed_and_not_at_all_otherwise(shop: tuple[Served, Person]) -> None:
    """The question names the tool and its arguments on one line; declining and cancelling are `denied`."""
    server, person = shop
    for answer in ("decline", "cancel"):
        person.answer = answer
        text = refused(server.call("execute_script", script=SCRIPT), "denied")
        assert "execute_script needs a person's consent, and the person at the client did not agree" in text
        assert "the setting confirm (--confirm of orchestrator serve)" in text
    assert server.ok("get_text")["text"] == "x"
    assert server.ok("expect", title="Shop")
    person.answer = "accept"
    assert server.ok("execute_script", script=COUNT)["value"] == 1
    assert person.questions[0].splitlines() == [
        "May execute_script do this?",
        'execute_script {"script": "document.title = \'Bought\'"}',
    ]
    assert len(person.questions) == 3


@each_era
def test_a_client_without_a_way_to_ask_gets_the_reason(home: Home, era: str) -> None:
    """Nothing is run, and other tools work."""
    with serving(home, era, None, "destructive") as server:
        server.ok("navigate", url=PAGE)
        text = refused(server.call("execute_script", script=SCRIPT), "denied")
        assert "the client has no way to ask for it (elicitation)" in text
        assert server.ok("expect", title="Shop")


@each_era
def test_a_sequence_asks_for_all_of_it_before_its_first_step(shop: tuple[Served, Person]) -> None:
    """One question lists the held steps with their places; declined, not even the free steps have run."""
    server, person = shop
    steps = [
        {"action": "navigate", "url": "data:text/html,<title>Elsewhere</title>"},
        {"action": "execute_script", "script": SCRIPT},
        {"action": "close_session"},
    ]
    person.answer = "decline"
    refused(server.call("execute_sequence", actions=steps), "denied")
    part = {"sessionId": "a", "actions": steps[:2], "close": True}
    refused(server.call("execute_parallel", sequences=[part]), "denied")
    assert server.ok("expect", title="Shop")
    one, other = (question.splitlines() for question in person.questions)
    assert [line.partition(" {")[0] for line in one] == [
        "May execute_sequence do this?", "step 1: execute_script", "step 2: close_session"
    ]  # fmt: skip
    assert [line.partition(" {")[0] for line in other] == [
        "May execute_parallel do this?", "sequence 0, step 1: execute_script",
        "sequence 0, close_session at its end",
    ]  # fmt: skip
    person.answer = "accept"
    server.ok("execute_sequence", actions=steps)
    assert server.ok("list_sessions")["sessions"] == []
    assert len(person.questions) == 3
    server.ok("start_browser", sessionId="a")


def test_a_script_cannot_call_what_is_held_back(shop: tuple[Served, Person]) -> None:
    """A script runs without asking, so what needs consent is denied in it, even after consent to a sequence."""
    server, person = shop
    text = refused(server.call("run_script", script="await page.executeScript({script: 'return 1'})"), "denied")
    assert "execute_script needs a person's consent, which a script cannot ask for" in text
    assert person.questions == []


def test_an_answer_counts_for_one_call_with_the_same_arguments(shop: tuple[Served, Person]) -> None:
    """The state is sealed with name and arguments: another call, and the same one again, are refused."""
    server, _ = shop
    first = send(server, SCRIPT)
    assert isinstance(first, InputRequiredResult)
    for state in (first.request_state, "v1.forged"):
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            send(server, "document.title = 'Other'", request_state=state, **AGREED)
    assert server.ok("expect", title="Shop")
    ran = send(server, SCRIPT, request_state=first.request_state, **AGREED)
    assert isinstance(ran, CallToolResult)
    assert not ran.is_error
    again = send(server, SCRIPT, request_state=first.request_state, **AGREED)
    assert isinstance(again, CallToolResult)
    assert "this answer was used before, or came too late" in str(again.content)


@each_era
def test_consent_to_a_call_is_not_consent_to_the_next(shop: tuple[Served, Person]) -> None:
    """The same call again, and one with other arguments, are asked for anew, and can be declined."""
    server, person = shop
    assert server.ok("execute_script", script=COUNT)["value"] == 1
    person.answer = "decline"
    refused(server.call("execute_script", script=COUNT), "denied")
    refused(server.call("execute_script", script=f"{COUNT} "), "denied")
    person.answer = "accept"
    assert server.ok("execute_script", script=COUNT)["value"] == 2
    assert len(person.questions) == 4


@each_era
def test_consent_for_a_session_lasts_as_long_as_it_and_is_for_no_other(shop: tuple[Served, Person]) -> None:  # B10 B24
    """The tool is not asked for again in that session, as a call or a step; other tools and sessions are."""
    server, person = shop
    person.answer = {"wholeSession": True}
    server.ok("execute_script", script=COUNT)
    person.answer = "decline"
    assert server.ok("execute_script", script=COUNT, sessionId="a")["value"] == 2
    step = {"action": "execute_script", "script": COUNT}
    assert server.ok("execute_sequence", actions=[step], verbose=True)["steps"][0]["result"]["value"] == 3
    assert len(person.questions) == 1
    refused(server.call("tabs", action="list"), "denied")
    refused(server.call("execute_sequence", actions=[step, {"action": "tabs", "do": "list"}]), "denied")
    refused(server.call("execute_parallel", sequences=[{"sessionId": "a", "actions": [step]}]), "denied")
    server.ok("start_browser", sessionId="a:other")
    refused(server.call("execute_script", script=COUNT, sessionId="a:other"), "denied")
    person.answer = {"wholeSession": True}
    server.ok("close_session", sessionId="a:other")
    server.ok("close_session", sessionId="a")
    server.ok("start_browser", sessionId="a")
    person.answer = "decline"
    refused(server.call("execute_script", script=COUNT), "denied")


def test_consent_for_a_session_outlives_its_server(home: Home) -> None:  # B10 B24
    """A session that was parked and restored by another server keeps what a person has allowed for it."""
    person = Person({"wholeSession": True})
    kept = {"park_ttl": "60"}
    with serving(home, "auto", person, HELD, **kept) as server:
        server.ok("navigate", url=PAGE)
        server.ok("execute_script", script=SCRIPT)
    person.answer = "decline"
    with serving(home, "auto", person, HELD, **kept) as server:
        assert server.ok("execute_script", script="return document.title", sessionId="browser-1")["value"] == "Bought"
        person.answer = "accept"
        server.ok("close_session", sessionId="browser-1")
    assert len(person.questions) == 2


def test_an_answer_without_its_question_runs_nothing(shop: tuple[Served, Person], home: Home) -> None:
    """Without a state, with one that was declined or left open, of another tool or of another server: never."""
    server, _ = shop
    assert isinstance(send(server, SCRIPT, **AGREED), InputRequiredResult)
    for answer in ({}, {"input_responses": {"confirm": ElicitResult(action="decline")}}):
        asked = send(server, SCRIPT)
        assert isinstance(asked, InputRequiredResult)
        for given in (answer, AGREED):
            result = send(server, SCRIPT, request_state=asked.request_state, **given)
            assert isinstance(result, CallToolResult)
            assert result.is_error
    asked = send(server, SCRIPT)
    assert isinstance(asked, InputRequiredResult)
    with pytest.raises(MCPError, match="Invalid or expired requestState"):
        server.send_round("tabs", {"action": "new"}, request_state=asked.request_state, **AGREED)
    elsewhere = serving(home, "auto", Person("accept"), HELD)
    with elsewhere as other, pytest.raises(MCPError, match="Invalid or expired requestState"):
        send(other, SCRIPT, request_state=asked.request_state, **AGREED)
    assert server.ok("expect", title="Shop")


def test_of_two_answers_at_once_one_counts(shop: tuple[Served, Person]) -> None:
    """A client that sends its answer twice side by side runs the call once."""
    server, _ = shop
    asked = send(server, COUNT)
    assert isinstance(asked, InputRequiredResult)
    with ThreadPoolExecutor(5) as pool:
        sent = [pool.submit(send, server, COUNT, request_state=asked.request_state, **AGREED) for _ in range(5)]
        results = [one.result(60) for one in sent]
    assert sorted(isinstance(one, CallToolResult) and bool(one.is_error) for one in results) == [False, *[True] * 4]
    again = send(server, COUNT)
    assert isinstance(again, InputRequiredResult)
    final = send(server, COUNT, request_state=again.request_state, **AGREED)
    assert isinstance(final, CallToolResult)
    assert (final.structured_content or {})["value"] == 2


def send(server: Served, script: str, **more: object) -> CallToolResult | InputRequiredResult:
    """Send one round of a call, as a client that drives the rounds itself."""
    return server.send_round("execute_script", {"script": script}, **more)


def test_the_working_folder_can_hold_back_more_tools_but_free_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cloned repository must not lift what the person who runs the server holds back."""
    home, folder = tmp_path / "home", tmp_path / "folder"
    for place, line in ((home, 'confirm = "destructive"'), (folder, 'confirm = ["tabs"]')):
        place.mkdir()
        (place / "orchestrator.toml").write_text(f"{line}\n", "utf-8")
    monkeypatch.chdir(folder)
    assert Settings.load({"home": home}).confirm == "tabs,destructive"
