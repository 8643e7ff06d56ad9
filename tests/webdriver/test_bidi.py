"""The BiDi socket of a session, at a real chromedriver behind a relay that can be cut."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.socket import Command
from tests.e2e.harness import until
from tests.remote_end import PASSWORD, USER, remote_end
from tests.webdriver.conftest import Far

LOG = "log.entryAdded"


@pytest.fixture
def bidi(far: Far) -> Iterator[Bidi]:
    """A socket of the test's own."""
    bidi = Bidi(far.url, name="shop", timeout=20)
    yield bidi
    bidi.close()


class Heard(list[str]):
    """A listener that keeps the texts of what it was told."""

    def __call__(self, event: Mapping[str, Any]) -> None:
        self.append(event["text"])


def test_commands_are_answered_and_refused(bidi: Bidi) -> None:
    """By the browser's own code and words, naming no stack trace of it."""
    assert bidi.call("session.status")["message"] != ""
    with pytest.raises(RemoteFailure, match=r"The browser answered 'no such frame': .*nowhere") as raised:
        bidi.call("browsingContext.navigate", context="nowhere", url="about:blank")
    assert raised.value.details["error"] == "no such frame"
    assert "    at " not in str(raised.value)


def test_commands_that_are_sent_at_once_are_answered_in_their_order(bidi: Bidi) -> None:
    """The error of one that was refused stands in the place of its result."""
    nowhere = {"context": "nowhere", "url": "about:blank"}
    asked: list[Command] = [
        ("session.status", {}),
        ("browsingContext.navigate", nowhere),
        ("browsingContext.getTree", {"maxDepth": 0}),
    ]
    status, refused, tree = bidi.call_all(asked)
    assert status["message"] != ""
    assert isinstance(refused, RemoteFailure)
    assert refused.details["error"] == "no such frame"
    assert len(tree["contexts"]) == 1


def test_events_of_a_burst_come_in_their_order(far: Far, bidi: Bidi) -> None:
    """All 3,000, in one thread; commands are answered meanwhile."""
    heard, threads = Heard(), set[int]()
    bidi.listen(LOG, heard)
    bidi.listen(LOG, lambda _: threads.add(threading.get_ident()))
    heard.clear()  # what the browser remembers is told to every new socket
    talking = threading.Thread(target=far.js, args=("for (let i = 0; i < 3000; i++) console.log(`n${i}`)",))
    talking.start()
    bidi.call("browsingContext.getTree")
    until(lambda: len(heard) >= 3000, "the last one")
    talking.join()
    assert heard == [f"n{i}" for i in range(3000)]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_each_socket_is_told_what_the_browser_remembers(far: Far, bidi: Bidi) -> None:
    """A second one takes nothing away from the first."""
    first, second, other = Heard(), Heard(), Bidi(far.url, name="shop", timeout=20)
    bidi.listen(LOG, first)
    far.js("console.log('one')")
    bidi.call("browsingContext.getTree")
    other.listen(LOG, second)
    far.js("console.log('two')")
    for one in (bidi, other):
        one.call("browsingContext.getTree")
        one.close()
    assert first[-2:] == second[-2:] == ["one", "two"]


def test_after_a_break_it_listens_again(far: Far, bidi: Bidi) -> None:
    """With the next command, to all that it listened to; whoever waits to know it is told before."""
    heard, opened = Heard(), list[bool]()
    bidi.on_open = lambda: opened.append(bidi.open)
    bidi.listen(LOG, heard)
    far.end.hang_up()
    until(lambda: not bidi.open, "the break")
    far.js("console.log('meanwhile')")
    bidi.call("session.status")
    far.js("console.log('later')")
    bidi.call("browsingContext.getTree")
    assert heard[-2:] == ["meanwhile", "later"]
    assert opened == [False, False]


def test_who_waits_when_it_breaks_is_told_at_once(far: Far, bidi: Bidi) -> None:
    """With the session's name and the address, long before the command's own time is up."""
    [context] = bidi.call("browsingContext.getTree")["contexts"]

    def cut() -> None:
        until(lambda: far.js("return window.waited"), "the command to be under way")
        far.end.hang_up()

    far.js("delete window.waited")
    cutting = threading.Thread(target=cut)
    cutting.start()
    begun = time.monotonic()
    with pytest.raises(NoAnswer, match=rf"'shop' is lost: its connection to {far.url} broke"):
        bidi.call(
            "script.evaluate", target={"context": context["context"]}, awaitPromise=True,
            expression="window.waited = true; new Promise(resolve => setTimeout(resolve, 60000))",
        )  # fmt: skip
    assert time.monotonic() - begun < 20
    cutting.join()


def test_a_command_that_takes_too_long_is_given_up(bidi: Bidi) -> None:
    """The socket is fine, and its late answer disturbs nobody."""
    [context] = bidi.call("browsingContext.getTree")["contexts"]
    wait = {"expression": "new Promise(resolve => setTimeout(resolve, 300))", "awaitPromise": True}
    with pytest.raises(NoAnswer, match=r"script.evaluate was not answered within 0\.05 s"):
        bidi.call("script.evaluate", limit=0.05, target={"context": context["context"]}, **wait)
    assert bidi.call("browsingContext.getTree")["contexts"][0]["context"] == context["context"]


def test_who_listens_once_more_is_told_once(far: Far) -> None:
    """Where nobody answered the first time, since the driver was busy."""
    heard, bidi = Heard(), Bidi(far.url, name="shop", timeout=1)
    busy = threading.Thread(target=far.js, args=("return new Promise(resolve => setTimeout(resolve, 2500))",))
    busy.start()

    def waits() -> bool:
        try:
            bidi.call("browsingContext.getTree", limit=0.1)
        except NoAnswer:
            return True
        return False

    until(waits, "a driver that is busy")
    with pytest.raises(NoAnswer):
        bidi.listen(LOG, heard)
    busy.join()
    bidi.call("browsingContext.getTree", limit=20)
    bidi.listen(LOG, heard)
    far.js("console.log('once')")
    bidi.call("browsingContext.getTree", limit=20)
    bidi.close()
    assert heard.count("once") == 1


def test_a_listener_that_fails_hinders_nobody(far: Far, bidi: Bidi) -> None:
    """Neither the others nor what comes after."""
    heard = Heard()

    def fail(_: Mapping[str, Any]) -> None:
        raise KeyError("of the listener's own")

    bidi.listen_all({LOG: heard})
    bidi.listen_all({LOG: fail})
    far.js("console.log('a'); console.log('b')")
    bidi.call("browsingContext.getTree")
    assert heard[-2:] == ["a", "b"]


def test_an_event_that_is_not_known_is_refused_and_forgotten(far: Far, bidi: Bidi) -> None:
    """None of those that were asked for with it is listened to, before a break and after."""
    heard = Heard()
    with pytest.raises(RemoteFailure, match="invalid argument"):
        bidi.listen_all({LOG: heard, "log.noSuchEvent": heard})
    bidi.listen(LOG, kept := Heard())
    far.end.hang_up()
    until(lambda: not bidi.open, "the break")
    bidi.call("session.status")
    far.js("console.log('on')")
    bidi.call("browsingContext.getTree")
    assert heard == []
    assert kept[-1] == "on"


def test_a_closed_one_stays_closed(far: Far) -> None:
    """Nothing opens it again, and the session lives on."""
    bidi = Bidi(far.url, name="shop", timeout=20)
    bidi.call("session.status")
    bidi.close()
    with pytest.raises(NoAnswer, match="not driven from here any more"):
        bidi.call("session.status")
    assert far.js("return 1") == 1


def test_one_that_is_closed_while_it_opens_is_closed(far: Far) -> None:
    """Whoever ends the session finds no socket yet; none is left open either."""
    bidi = Bidi(far.url, name="shop", timeout=20)
    bidi.on_open = bidi.close
    with pytest.raises(NoAnswer):
        bidi.call("session.status")
    assert not bidi.open


def with_password(url: str) -> str:
    """The address with user and password."""
    return url.replace("://", f"://{USER}:{PASSWORD.replace('/', '%2F').replace('+', '%2B')}@")


def test_a_password_goes_to_its_host_alone() -> None:
    """What is said of a socket never holds it; a guarded one is opened with it."""
    with remote_end(guarded=True) as end:
        far = Far(end)
        guarded = Bidi(with_password(far.url), name="shop", timeout=20)
        assert guarded.call("session.status")
        guarded.close()
        for url in (far.url, with_password(far.url).replace(f"{USER}:", "nobody:")):
            with pytest.raises(NoAnswer, match=r"nobody answers at ws://127\.0\.0\.1") as raised:
                Bidi(url, name="shop", timeout=20).call("session.status")
            assert PASSWORD not in f"{raised.value}{raised.value.details}"
            assert "nobody:" not in str(raised.value)


def test_a_driver_that_is_killed_is_missed_at_once() -> None:
    """Its socket breaks, and no new one is to be had."""
    with remote_end() as end:
        bidi = Bidi(Far(end).url, name="shop", timeout=20)
        bidi.call("session.status")
        end.kill()
        begun = time.monotonic()
        with pytest.raises(NoAnswer):
            bidi.call("session.status")
        with pytest.raises(NoAnswer):
            bidi.call("session.status")
        assert time.monotonic() - begun < 10
        bidi.close()
