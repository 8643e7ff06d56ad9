"""The BiDi socket of a session, at a real chromedriver behind a relay that can be cut."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.websocket import Command
from tests.servers.webdriver import PASSWORD, USER, remote_end
from tests.waiting import until
from tests.webdriver.conftest import Far

pytestmark = [pytest.mark.full, pytest.mark.browser]

LOG = "log.entryAdded"


@pytest.fixture
def bidi(far: Far) -> Iterator[Bidi]:
    """A socket of the test's own."""
    bidi = Bidi(far.url, name="shop", timeout=20)
    yield bidi
    bidi.close()


class Heard(list[str]):
    """A listener that keeps the texts of its events."""

    def __call__(self, event: Mapping[str, Any]) -> None:
        self.append(event["text"])


def test_a_refused_bidi_command_has_the_browsers_own_error_code_and_message(bidi: Bidi) -> None:
    """Commands are answered, or refused with the browser's code and message and no stack trace."""
    assert bidi.call("session.status")["message"] != ""
    with pytest.raises(RemoteFailure, match=r"The browser answered 'no such frame': .*nowhere") as raised:
        bidi.call("browsingContext.navigate", context="nowhere", url="about:blank")
    assert raised.value.details["error"] == "no such frame"
    assert "    at " not in str(raised.value)


def test_bidi_commands_sent_at_once_are_answered_in_order(bidi: Bidi) -> None:
    """The error of a refused command is in the place of its result."""
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


def test_a_burst_of_bidi_events_arrives_in_order(far: Far, bidi: Bidi) -> None:
    """Listeners get all 3,000 events in order and in one thread, while commands are answered."""
    heard, threads = Heard(), set[int]()
    bidi.listen_all({LOG: heard})
    bidi.listen_all({LOG: lambda _: threads.add(threading.get_ident())})
    heard.clear()  # a new socket gets the entries that the browser keeps
    talking = threading.Thread(target=far.js, args=("for (let i = 0; i < 3000; i++) console.log(`n${i}`)",))
    talking.start()
    bidi.call("browsingContext.getTree")
    until(lambda: len(heard) >= 3000, "the last one")
    talking.join()
    assert heard == [f"n{i}" for i in range(3000)]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_each_bidi_socket_receives_the_log_entries_that_the_browser_keeps(far: Far, bidi: Bidi) -> None:
    """A second socket receives earlier entries without taking anything from the first."""
    first, second, other = Heard(), Heard(), Bidi(far.url, name="shop", timeout=20)
    bidi.listen_all({LOG: first})
    far.js("console.log('one')")
    bidi.call("browsingContext.getTree")
    other.listen_all({LOG: second})
    far.js("console.log('two')")
    for one in (bidi, other):
        one.call("browsingContext.getTree")
        one.close()
    assert first[-2:] == second[-2:] == ["one", "two"]


def test_a_bidi_socket_subscribes_again_after_a_broken_connection(far: Far, bidi: Bidi) -> None:
    """The next command reconnects the socket and renews all subscriptions, after `on_open` was called."""
    heard, opened = Heard(), list[bool]()
    bidi.on_open = lambda: opened.append(bidi.is_open)
    bidi.listen_all({LOG: heard})
    far.end.hang_up()
    until(lambda: not bidi.is_open, "the break")
    far.js("console.log('meanwhile')")
    bidi.call("session.status")
    far.js("console.log('later')")
    bidi.call("browsingContext.getTree")
    assert heard[-2:] == ["meanwhile", "later"]
    assert opened == [False, False]


def break_amid_a_command(far: Far, bidi: Bidi) -> float:
    """Break the connection while a command waits, which then fails; return the seconds that the command took.

    The error has the session's name and URL.
    """
    [context] = bidi.call("browsingContext.getTree")["contexts"]

    def cut() -> None:
        until(lambda: far.js("return window.waited"), "the command to be under way")
        far.end.hang_up()

    far.js("delete window.waited")
    cutting = threading.Thread(target=cut)
    cutting.start()
    begun = time.monotonic()
    with pytest.raises(NoAnswer, match=rf"'shop' is lost: its connection to {far.url.partition('/session')[0]} broke"):
        bidi.call(
            "script.evaluate", target={"context": context["context"]}, awaitPromise=True,
            expression="window.waited = true; new Promise(resolve => setTimeout(resolve, 600000))", limit=600,
        )  # fmt: skip
    took = time.monotonic() - begun
    cutting.join()
    return took


def test_a_waiting_bidi_command_fails_when_the_connection_breaks(far: Far, bidi: Bidi) -> None:
    """A command that waits has an error with the session's name and URL once its connection is gone."""
    break_amid_a_command(far, bidi)


@pytest.mark.clock
def test_a_waiting_bidi_command_fails_at_once_when_the_connection_breaks(far: Far, bidi: Bidi) -> None:
    """The error comes long before the command's own timeout."""
    assert break_amid_a_command(far, bidi) < 20


def test_a_bidi_command_that_takes_too_long_is_given_up(far: Far, bidi: Bidi) -> None:
    """The socket stays usable after a timeout, and the late answer is dropped."""
    [context] = bidi.call("browsingContext.getTree")["contexts"]
    wait: dict[str, Any] = {"expression": "new Promise(resolve => { window.answer = resolve })", "awaitPromise": True}
    with pytest.raises(NoAnswer, match=r"script.evaluate was not answered within 0\.05 s"):
        bidi.call("script.evaluate", limit=0.05, target={"context": context["context"]}, **wait)
    until(lambda: far.js("return window.answer?.() === undefined && 'answer' in window"), "the late answer")
    assert bidi.call("browsingContext.getTree")["contexts"][0]["context"] == context["context"]


@pytest.mark.full
def test_a_bidi_listener_that_subscribes_again_receives_each_event_once(
    far: Far, bidi: Bidi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subscription that timed out at a busy driver and is repeated delivers each event once."""
    heard = Heard()
    bidi.call("session.status")
    busy = threading.Thread(target=far.js, args=("return new Promise(resolve => setTimeout(resolve, 6000))",))
    busy.start()

    def waits() -> bool:
        try:
            bidi.call("browsingContext.getTree", limit=0.1)
        except NoAnswer:
            return True
        return False

    until(waits, "a driver that is busy")
    with monkeypatch.context() as patch:
        patch.setattr(bidi._socket, "_timeout", 0.5)
        with pytest.raises(NoAnswer):
            bidi.listen_all({LOG: heard})
    busy.join()
    bidi.call("browsingContext.getTree")
    bidi.listen_all({LOG: heard})
    far.js("console.log('once')")
    bidi.call("browsingContext.getTree")
    assert heard.count("once") == 1


def test_a_failing_bidi_listener_affects_neither_others_nor_later_events(far: Far, bidi: Bidi) -> None:
    """A listener that raises keeps no other listener from receiving this event or the next."""
    heard = Heard()

    def fail(_: Mapping[str, Any]) -> None:
        raise KeyError("of the listener's own")

    bidi.listen_all({LOG: heard})
    bidi.listen_all({LOG: fail})
    far.js("console.log('a'); console.log('b')")
    bidi.call("browsingContext.getTree")
    assert heard[-2:] == ["a", "b"]


def test_a_subscription_with_an_unknown_bidi_event_is_refused_and_forgotten(far: Far, bidi: Bidi) -> None:
    """Events asked for together with an unknown one are not subscribed to, even after a reconnect."""
    heard = Heard()
    with pytest.raises(RemoteFailure, match="invalid argument"):
        bidi.listen_all({LOG: heard, "log.noSuchEvent": heard})
    kept = Heard()
    bidi.listen_all({LOG: kept})
    far.end.hang_up()
    until(lambda: not bidi.is_open, "the break")
    bidi.call("session.status")
    far.js("console.log('on')")
    bidi.call("browsingContext.getTree")
    assert heard == []
    assert kept[-1] == "on"


def test_an_event_that_was_refused_with_other_listeners_reaches_those_who_asked_for_it_as_well(
    far: Far, bidi: Bidi
) -> None:
    """Listeners of an event have it, whether or not others asked for it together with an unknown one."""
    lost, kept = Heard(), Heard()
    assert not bidi.hears([LOG])
    bidi.listen_all(optional=[{LOG: lost, "log.noSuchEvent": lost}, {LOG: kept}])
    assert (bidi.hears([LOG]), bidi.hears([LOG, "log.noSuchEvent"])) == (True, False)
    far.js("console.log('on')")
    bidi.call("browsingContext.getTree")
    assert (lost, kept[-1:]) == ([], ["on"])


def test_a_closed_bidi_socket_stays_closed(far: Far) -> None:
    """A command does not open a closed socket again, and the session lives on."""
    bidi = Bidi(far.url, name="shop", timeout=20)
    bidi.call("session.status")
    bidi.close()
    with pytest.raises(NoAnswer, match="its connection was closed in this process"):
        bidi.call("session.status")
    assert far.js("return 1") == 1


def test_a_bidi_socket_closed_while_it_opens_is_not_left_open(far: Far) -> None:
    """A session that ends while its socket is being opened leaves no open socket."""
    bidi = Bidi(far.url, name="shop", timeout=20)
    bidi.on_open = bidi.close
    with pytest.raises(NoAnswer):
        bidi.call("session.status")
    assert not bidi.is_open


def with_password(url: str) -> str:
    """Return the address with user and password."""
    return url.replace("://", f"://{USER}:{PASSWORD.replace('/', '%2F').replace('+', '%2B')}@")


def test_a_password_in_a_bidi_url_opens_the_socket_and_is_in_no_error() -> None:
    """A guarded socket is opened with user and password, and no error message holds them."""
    with remote_end(guarded=True) as end:
        far = Far(end)
        guarded = Bidi(with_password(far.url), name="shop", timeout=20)
        assert guarded.call("session.status")
        guarded.close()
        for url in (far.url, with_password(far.url).replace(f"{USER}:", "nobody:")):
            with pytest.raises(NoAnswer, match=r"nothing answers at ws://127\.0\.0\.1") as raised:
                Bidi(url, name="shop", timeout=20).call("session.status")
            assert PASSWORD not in f"{raised.value}{raised.value.details}"
            assert "nobody:" not in str(raised.value)


def kill_before_commands() -> float:
    """Kill the driver and send it two commands, both of which fail; return the seconds that they took."""
    with remote_end() as end:
        bidi = Bidi(Far(end).url, name="shop", timeout=20)
        bidi.call("session.status")
        end.kill()
        begun = time.monotonic()
        with pytest.raises(NoAnswer):
            bidi.call("session.status")
        with pytest.raises(NoAnswer):
            bidi.call("session.status")
        took = time.monotonic() - begun
        bidi.close()
    return took


def test_bidi_commands_fail_when_the_driver_is_killed() -> None:
    """A killed driver's socket breaks, and no new one can be opened."""
    kill_before_commands()


@pytest.mark.clock
def test_bidi_commands_fail_at_once_when_the_driver_is_killed() -> None:
    """Commands to a killed driver fail long before their own timeouts."""
    assert kill_before_commands() < 10
