"""navigate: going to a page, back, forward and over again, and what happens when there is no page."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.e2e.stage import Stage, refused
from tests.site import Reply


@pytest.mark.core
def test_a_page_is_opened_and_named(stage: Stage) -> None:
    """The answer says where the browser is now, in text and data."""
    url = stage.page("<h1>Hello</h1>", title="Greeting")
    answer = stage.call("navigate", url=url)
    assert answer.data["url"] == url
    assert answer.data["title"] == "Greeting"
    assert url in answer.text
    assert "Greeting" in answer.text


@pytest.mark.core
def test_history_goes_back_forward_and_over_again(stage: Stage) -> None:
    """Each step ends on its page, loaded; a reload asks the server again."""
    first, second = stage.show("one", title="First"), stage.show("two", title="Second")
    assert stage.ok("navigate", history="back")["url"] == first
    assert stage.ok("navigate", history="forward")["title"] == "Second"
    path = second.removeprefix(stage.site.url(""))
    visits = len(stage.site.visits(path))
    stage.js("window.marked = true")
    assert stage.ok("navigate", history="reload")["url"] == second
    assert len(stage.site.visits(path)) == visits + 1
    assert stage.js("window.marked") is None


def test_the_end_of_history_is_told(stage: Stage) -> None:
    """Forward with no page ahead changes nothing, says so, and is no error."""
    url = stage.show("last")
    answer = stage.call("navigate", history="forward")
    assert not answer.failed
    assert answer.data["url"] == url
    [warning] = answer.data["warnings"]
    assert warning == "There is no page to go forward to; nothing happened."
    assert warning in answer.text


def test_history_inside_one_document(stage: Stage) -> None:
    """A step between fragments or pushed states is a step, too."""
    url = stage.show("<script>history.pushState({}, '', '?second')</script>app")
    assert stage.ok("navigate", history="back")["url"] == url
    assert stage.ok("navigate", history="forward")["url"] == f"{url}?second"


def test_load_waits_for_all_of_the_page(stage: Stage) -> None:
    """By default the call answers when images and frames are there."""
    gate = stage.site.gate("/slow-1.png")
    url = stage.page("<img src=/slow-1.png><script>onload = () => { document.title = 'loaded' }</script>")
    going = stage.begin("navigate", url=url)
    gate.wait_entered()
    assert not going.done()
    gate.open()
    assert going.result(60).data["title"] == "loaded"


@pytest.mark.parametrize("wait_until", ["interactive", "none"])
def test_who_does_not_want_to_wait_is_answered_early(stage: Stage, wait_until: str) -> None:
    """`interactive` and `none` answer while an image is still on its way."""
    path = f"/slow-{wait_until}.png"
    gate = stage.site.gate(path)
    url = stage.page(f"<p id=p>there</p><img src={path}>")
    assert stage.ok("navigate", url=url, waitUntil=wait_until)["url"] == url
    gate.wait_entered()
    stage.ok("wait_for", selector="#p")
    assert stage.js("document.readyState") == "interactive"
    gate.open()


@pytest.mark.parametrize("tag", ["img", "script"])
def test_a_page_that_does_not_come_to_its_end_is_a_timeout(stage: Stage, tag: str) -> None:
    """The page stays as far as it came, parsed or not; the error says how to go on, and the session with it."""
    gate = stage.site.gate(f"/slow-{tag}")
    url = stage.page(f"<p>so far</p><{tag} src=/slow-{tag}></{tag}>")
    answer = stage.call("navigate", url=url, timeout=300)
    assert "The page stays as far as it came; raise timeout, or use waitUntil" in refused(answer, "timeout")
    assert answer.data["error"]["retryable"] is True
    assert stage.ok("get_text", selector="p")["text"] == "so far"
    gate.open()


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that accepts and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def test_a_server_that_never_answers_is_a_timeout(stage: Stage, silent: str) -> None:
    """The call is bounded by its own timeout, the page before is still there, and the session goes on."""
    before = stage.show("before")
    answer = stage.call("navigate", url=silent, timeout=500)
    assert silent in refused(answer, "timeout")
    assert stage.ok("get_text")["text"] == "before"
    assert stage.js("location.href") == before


def test_a_later_page_is_not_held_up_by_one_that_never_came(stage: Stage, silent: str) -> None:
    """After the timeout the next page loads as ever, and with its usual patience."""
    stage.call("navigate", url=silent, timeout=300)
    gate = stage.site.gate("/late")
    stage.site.page("/late", "<title>Late</title>late")
    going = stage.begin("navigate", url=stage.site.url("/late"))
    gate.wait_entered()
    threading.Timer(0.6, gate.open).start()
    assert going.result(60).data["title"] == "Late"


def test_a_refused_connection_is_told_with_its_reason(stage: Stage) -> None:
    """Nobody listens: the browser's own word for it and what to check, within a moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    started = time.monotonic()
    text = refused(stage.call("navigate", url=url), "remote_error")
    assert f"{url} could not be loaded: net::ERR_CONNECTION_REFUSED." in text
    assert "Check the address" in text
    assert time.monotonic() - started < 20


def test_an_unknown_host_is_told_with_its_reason(stage: Stage) -> None:
    """A name that leads nowhere."""
    text = refused(stage.call("navigate", url="http://no-such-host.invalid/"), "remote_error")
    assert "could not be loaded: net::ERR_NAME_NOT_RESOLVED" in text


def test_a_page_that_asks_for_a_password_says_so(stage: Stage) -> None:
    """What is not given is told with where to give it: the server can be reached."""
    wanted = {"WWW-Authenticate": 'Basic realm="vault"'}
    url = stage.site.page("/vault", Reply("no", 401, headers=wanted))
    text = refused(stage.call("navigate", url=url), "remote_error")
    assert "could not be loaded: net::ERR_INVALID_AUTH_CREDENTIALS. It asks for a user and a password" in text


@pytest.mark.parametrize("status", [404, 500])
def test_an_error_page_of_the_server_is_a_page(stage: Stage, status: int) -> None:
    """What the server shows beside a bad status can be read."""
    url = stage.site.page(f"/status-{status}", Reply("<title>Oh</title>sorry", status))
    assert stage.ok("navigate", url=url)["title"] == "Oh"
    assert stage.ok("get_text")["text"] == "sorry"


@pytest.mark.core
def test_a_redirect_ends_where_it_leads(stage: Stage) -> None:
    """The answer names the last address."""
    there = stage.page("there", title="There")
    here = stage.site.page("/redirect", Reply("", 302, headers={"Location": there}))
    answer = stage.ok("navigate", url=here)
    assert (answer["url"], answer["title"]) == (there, "There")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_a_page_that_sends_back_is_asked_once(stage: Stage, host: str) -> None:
    """It leads to the page before, as to any other."""
    here = stage.show("in", title="Sign in")
    path = f"/guarded-{host}"
    stage.site.page(path, f"<script>location.replace('{here}')</script>")
    answer = stage.ok("navigate", url=stage.site.url(path, host=host))
    assert (answer["url"], answer["title"]) == (here, "Sign in")
    assert len(stage.site.visits(path)) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "Give either url or history."),
        ({"url": "http://a.test/", "history": "back"}, "Give either url or history."),
        ({"url": "example.com"}, "Url must be absolute, for example https://example.com."),
        ({"url": "javascript:alert(1)"}, "Url cannot be javascript:, use execute_script."),
        ({"history": "sideways"}, "Argument 'history' must be 'back', 'forward' or 'reload'."),
        (
            {"url": "http://a.test/", "waitUntil": "idle"},
            "Argument 'waitUntil' must be 'load', 'none' or 'interactive'.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_happens(
    stage: Stage, arguments: dict[str, str], said: str
) -> None:
    """The sentence says what is wanted; the page stays."""
    url = stage.show("here")
    assert said.casefold() in refused(stage.call("navigate", **arguments), "invalid_argument").casefold()
    assert stage.js("location.href") == url


def test_a_page_can_be_watched_while_it_comes(stage: Stage) -> None:
    """`observe: outline` shows the new page in the same answer."""
    url = stage.page("<button>Pay</button>", title="Shop")
    answer = stage.ok("navigate", url=url, observe="outline")
    assert answer["outline"].startswith('- button "Pay" [e')
    assert answer["stateChange"]["title"]["to"] == "Shop"
    assert answer["stateChange"]["url"]["to"] == url
    assert answer["stable"] is True
