"""Floods of events: they end at the browser, are told of, and events come again afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.system.secrets import Redactor
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.events import subscriptions
from orchestrator.webdriver.events.allowance import Allowance
from orchestrator.webdriver.events.console import Console
from orchestrator.webdriver.events.subscriptions import EventSubscriptions
from tests.waiting import until
from tests.webdriver.conftest import Far


@pytest.fixture(params=[{}, {"user_context": "default"}], ids=["the browser", "a user context"])
def heard(request: pytest.FixtureRequest, far: Far, monkeypatch: pytest.MonkeyPatch) -> Iterator[EventSubscriptions]:
    """The events of a session whose pages may cause 200 at once, and then 100 a second."""
    monkeypatch.setattr(subscriptions, "_BURST", 200)
    monkeypatch.setattr(subscriptions, "_RATE", 100)
    bidi = Bidi(far.url, name="shop", timeout=20, **request.param)
    heard = EventSubscriptions(bidi, SessionRedactor(Redactor(), Path("unused")))
    heard.start_listening()
    heard.wait_until_listening()
    yield heard
    heard.close()


def texts(heard: EventSubscriptions) -> list[str]:
    """Return the texts of the console."""
    return [entry.text for entry in heard.console.find(0, "debug").entries]


@pytest.mark.full
@pytest.mark.browser
def test_a_flood_of_events_ends_at_the_browser_and_is_told_of(far: Far, heard: EventSubscriptions) -> None:
    """Messages beyond the allowance do not come; requests do; later messages come again."""

    def hears() -> bool:
        heard.wait_until_listening()  # as each call does
        far.js("console.log('again')")
        return heard.catch_up(20) and "again" in texts(heard)

    far.js("for (let i = 0; i < 3000; i++) console.log(`flood ${i}`); fetch('data:text/plain,hello')")
    assert heard.catch_up(20)
    assert len([text for text in texts(heard) if text.startswith("flood")]) < 1000  # the buffer has room for 1,000
    until(lambda: heard.requests.find(0, "data:text/plain,hello", None).entries, "the request")
    [*_, told] = heard.console_topic.gaps_after(0)
    assert told.startswith("Console messages ")
    assert told.endswith(" were left out: the page caused more than 200, and then 100 events a second.")

    until(hears, "what comes after the pause")
    # A driver that is still behind with the flood may pass on so much of it that another pause is needed.
    until(lambda: hears() and not heard.console_topic.gaps_after(time.time() + 60), "the end of the last pause")
    told = heard.console_topic.gaps_after(0)[0]
    assert told.startswith("Console messages from ")


@pytest.mark.full
@pytest.mark.browser
def test_a_flood_stays_ended_when_the_socket_breaks(far: Far, heard: EventSubscriptions) -> None:
    """A new socket does not subscribe to what a page causes too much of."""
    bidi = heard.bidi
    assert bidi is not None
    bidi.mute(heard.console_topic.events)
    far.end.hang_up()
    until(lambda: not bidi.is_open, "the break")
    bidi.connect()
    far.js(f"console.log('unheard {id(heard)}')")
    bidi.call("browsingContext.getTree")
    assert f"unheard {id(heard)}" not in texts(heard)


def test_an_allowance_is_a_burst_and_then_a_rate() -> None:
    """Ten at once, then two a second; once exceeded, half of it has to be there again."""
    now = [0.0]
    allowance = Allowance(10, 2, lambda: now[0])
    assert [allowance.take() for _ in range(12)] == [True] * 10 + [False] * 2
    now[0] = 2.0
    assert not allowance.take()
    now[0] = 4.0
    assert [allowance.take() for _ in range(8)] == [True] * 7 + [False]
    for second in range(10, 1000):
        now[0] = second
        assert allowance.take()
        assert allowance.take()


def add_megabytes(folder: Path) -> tuple[Console, float]:
    """Add a message of 20 million words to a console that masks a secret; return also the processor time it took."""
    redactor = SessionRedactor(Redactor(), folder)
    redactor.add("tell-nobody")
    console = Console(redactor)
    text = "tell-nobody " + "x " * 20_000_000
    args = [{"type": "string", "value": text}, {"type": "array", "value": [{"type": "string", "value": text}]}]
    began = time.process_time()
    console.handle_entry_added({"type": "console", "level": "info", "timestamp": 1, "text": text, "args": args})
    return console, time.process_time() - began


def test_a_message_of_megabytes_is_masked_and_cut(tmp_path: Path) -> None:
    """A message of 20 million words is cut after its beginning, in which a typed secret is masked."""
    console, _ = add_megabytes(tmp_path)
    [entry] = console.find(0, "debug").entries
    assert entry.text.startswith("••• x x")
    assert len(entry.text) < 5000


@pytest.mark.clock
def test_a_message_of_megabytes_is_not_searched_for_secrets_behind_its_cut(tmp_path: Path) -> None:
    """A message of 20 million words takes little more processor time than its beginning."""
    _, took = add_megabytes(tmp_path)
    assert took < 2
