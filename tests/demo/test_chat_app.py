"""The chat application without a browser: HTTP requests like those of its page."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPResponse
from http.cookiejar import CookieJar
from importlib.resources import files
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

import pytest

from orchestrator.demo.chat import ChatServer
from tests.e2e.harness import in_time
from tests.waiting import PATIENCE

PASSWORDS = {"alice": "open sesame", "bob": "swordfish"}
MARKUP = "<b>bold</b> & 'quoted' \u2713"


class Person:
    """Someone at the chat's HTTP interface, with cookies of their own."""

    def __init__(self, chat: ChatServer) -> None:
        self.cookies = CookieJar()
        self._url = chat.url
        self._opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(self.cookies))

    def open(self, method: str, path: str, body: Any = None, **headers: str) -> HTTPResponse:
        """Send a request; an answer above 399 raises HTTPError."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = Request(self._url + path, data, headers, method=method)  # noqa: S310 our own server
        response: HTTPResponse = self._opener.open(request, timeout=PATIENCE)
        return response

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and read its JSON answer."""
        with self.open(method, path, body) as response:
            return json.load(response)

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Send a request that must be refused; return status and message."""
        with pytest.raises(HTTPError) as caught, self.open(method, path, body):
            pass
        with closing(caught.value):
            return caught.value.code, json.load(caught.value)["error"]

    def sign_in(self, name: str) -> Person:
        """Sign in with the right password."""
        assert self.call("POST", "api/session", {"name": name, "password": PASSWORDS[name]}) == {"user": name}
        return self

    def say(self, text: str) -> Any:
        """Send a message."""
        return self.call("POST", "api/messages", {"text": text})

    @contextmanager
    def listening(self, **headers: str) -> Iterator[Iterator[tuple[str, Any]]]:
        """Open the event stream and return its events."""
        with self.open("GET", "api/events", **headers) as stream:
            assert stream.headers["Content-Type"] == "text/event-stream"
            yield _events(stream)


def _events(stream: HTTPResponse) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in stream:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def message(events: Iterator[tuple[str, Any]]) -> Any:
    """Return the next message of a stream."""
    return next(data for name, data in events if name == "message")


def online(events: Iterator[tuple[str, Any]]) -> set[str]:
    """Return the users online according to the next such message of a stream."""
    people = next(data["people"] for name, data in events if name == "people")
    return {person["name"] for person in people if person["online"]}


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    """Run a chat of alice and bob."""
    with ChatServer(PASSWORDS) as server:
        yield server


@pytest.fixture
def alice(chat: ChatServer) -> Person:
    """Sign alice in."""
    return Person(chat).sign_in("alice")


@pytest.fixture
def bob(chat: ChatServer) -> Person:
    """Sign bob in."""
    return Person(chat).sign_in("bob")


@pytest.mark.parametrize(
    ("path", "kind"),
    [("", "text/html"), ("chat.css", "text/css"), ("chat.js", "text/javascript"), ("icon.svg", "image/svg+xml")],
)
def test_chat_page_files_are_served_with_their_type_and_without_cache(chat: ChatServer, path: str, kind: str) -> None:
    """Every file of the page is served with its type and without a cache."""
    with Person(chat).open("GET", path) as response:
        assert response.headers["Content-Type"].startswith(kind)
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'self'")
        assert response.read()


def test_chat_pages_load_nothing_from_other_hosts() -> None:
    """The chat's pages load nothing from other hosts, so the demonstration works without a network."""
    pages = list(files("orchestrator.demo.chat").joinpath("pages").iterdir())
    elsewhere = re.compile(r"(?:https?:)?//(?!www\.w3\.org/2000/svg)\w+\.")

    assert len(pages) == 4
    assert [page.name for page in pages if elsewhere.search(page.read_text("utf-8"))] == []


def test_unknown_path_is_not_found(chat: ChatServer) -> None:
    """A path outside the pages is not found, however it is spelled."""
    assert Person(chat).refused("GET", "../handler.py")[0] == 404
    assert Person(chat).refused("DELETE", "api/messages")[0] == 404


@pytest.mark.parametrize(("name", "password"), [("alice", "swordfish"), ("alice", ""), ("carol", ""), ("", "")])
def test_wrong_password_is_refused(chat: ChatServer, name: str, password: str) -> None:
    """A wrong password and an unknown name get the same sentence, and no cookie."""
    person = Person(chat)

    assert person.refused("POST", "api/session", {"name": name, "password": password}) == (
        401,
        "The name or the password is wrong.",
    )
    assert not list(person.cookies)
    assert person.call("GET", "api/session") == {"user": None}


def test_session_is_a_cookie_that_scripts_cannot_read(chat: ChatServer) -> None:
    """The cookie is HttpOnly, stays on this site, and holds no word of the password."""
    credentials = {"name": " Alice ", "password": PASSWORDS["alice"]}
    with Person(chat).open("POST", "api/session", credentials) as response:
        cookie = response.headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert PASSWORDS["alice"] not in cookie


def test_chat_requests_without_a_session_are_refused(chat: ChatServer) -> None:
    """Without a session there is no conversation."""
    assert Person(chat).refused("POST", "api/messages", {"text": "hello"}) == (401, "Sign in first.")
    assert Person(chat).refused("GET", "api/events") == (401, "Sign in first.")
    assert chat.messages == []


@pytest.mark.parametrize(
    "body", [{"text": " \n "}, {"text": "x" * 2_001}, {"text": 7}, {}, ["text"], b"{", b"\xff", b"x" * 64_001]
)
def test_an_empty_overlong_or_malformed_chat_message_is_refused(chat: ChatServer, alice: Person, body: Any) -> None:
    """Empty, too long or malformed messages reach no user."""
    assert alice.refused("POST", "api/messages", body)[0] == 400
    assert chat.messages == []


def test_a_chat_message_reaches_the_other_user_unchanged(alice: Person, bob: Person) -> None:
    """A message arrives unchanged, with its author and the server's time."""
    with bob.listening() as events:
        sent = alice.say(MARKUP)
        arrived = message(events)

    assert arrived == sent
    assert (arrived["author"], arrived["text"], arrived["number"]) == ("alice", MARKUP, 1)
    assert abs(datetime.now(UTC) - datetime.fromisoformat(arrived["at"])) < timedelta(seconds=30)


def test_an_event_stream_begins_with_the_messages_it_missed(alice: Person, bob: Person) -> None:
    """A new stream begins with the whole conversation, a reconnected one with the messages that it missed."""
    for text in ("one", "two", "three"):
        alice.say(text)

    with bob.listening() as events:
        assert [message(events)["text"] for _ in range(3)] == ["one", "two", "three"]
    with bob.listening(**{"Last-Event-ID": "2"}) as events:
        assert message(events)["text"] == "three"


def test_a_user_is_online_while_an_event_stream_is_open(alice: Person, bob: Person) -> None:
    """A user with an open event stream is online, and offline soon after it closes."""
    with alice.listening() as events:
        assert online(events) == {"alice"}
        with bob.listening() as theirs:
            assert online(theirs) == {"alice", "bob"}
            assert online(events) == {"alice", "bob"}
        assert online(events) == {"alice"}


def test_signing_out_ends_the_chat_session_and_its_event_stream(alice: Person) -> None:
    """The cookie is invalid afterwards, and the open page's stream ends."""
    with alice.listening() as events:
        online(events)
        assert alice.call("DELETE", "api/session") == {"user": None}
        assert list(events) == []

    assert alice.refused("POST", "api/messages", {"text": "still here?"})[0] == 401


def stop_while_connected() -> float:
    """Stop a server with an open stream and an idle connection, both of which end; return the seconds it took."""
    before = threading.active_count()
    with ExitStack() as stack:
        with ChatServer(PASSWORDS) as chat:
            alice = Person(chat).sign_in("alice")
            events = stack.enter_context(alice.listening())
            online(events)
            idle = stack.enter_context(closing(HTTPConnection(urlsplit(chat.url).netloc, timeout=PATIENCE)))
            idle.request("GET", "/api/session")
            idle.getresponse().read()
            assert threading.active_count() >= before + 3
            stopping = time.monotonic()
        took = time.monotonic() - stopping
        assert threading.active_count() == before
        assert list(events) == []
    return took


def test_stopping_the_chat_server_leaves_no_thread() -> None:
    """A server with open streams and idle connections ends, and nothing of it is left."""
    stop_while_connected()


@pytest.mark.clock
def test_connections_do_not_delay_the_end_of_the_chat_server() -> None:
    """A server with open streams and idle connections ends within a second."""
    assert stop_while_connected() < in_time(1)
