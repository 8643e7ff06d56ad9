"""The HTTP handler of the chat: static files, a small JSON API and an event stream."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from typing import Any, ClassVar
from urllib.parse import urlsplit

from orchestrator.demo.chat.accounts import COOKIE, Members
from orchestrator.demo.chat.room import Event, Room

_PAGES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/chat.css": ("chat.css", "text/css; charset=utf-8"),
    "/chat.js": ("chat.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_LONGEST_BODY = 64_000
_LONGEST_TEXT = 2_000
_CHECK_EVERY = 1.0
"""Seconds between two checks whether a quiet stream's page is still connected."""


class Refused(Exception):
    """A request is refused; the page shows the sentence."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class ChatHandler(BaseHTTPRequestHandler):
    """Serves a connection in a thread of its own."""

    protocol_version = "HTTP/1.1"
    # Headers and body are two writes: with Nagle's algorithm the second waits 40 ms for an acknowledgement.
    disable_nagle_algorithm = True

    def __init__(self, members: Members, room: Room, *connection: Any) -> None:
        self._members = members
        self._room = room
        super().__init__(*connection)

    def do_GET(self) -> None:
        """Serve static files, the signed-in user, and the event stream."""
        self._serve()

    def do_POST(self) -> None:
        """Sign in, or post a message."""
        self._serve()

    def do_DELETE(self) -> None:
        """Sign out."""
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class names it so
        """Log nothing: the demonstration prints its own lines."""

    def _serve(self) -> None:
        route = self._routes.get((self.command, urlsplit(self.path).path), ChatHandler._page)
        try:
            route(self)
        except Refused as refusal:
            # Otherwise the rest of the body would be read as the next request.
            self.close_connection = True
            self._answer(refusal.status, {"error": str(refusal)})

    def _page(self) -> None:
        path = urlsplit(self.path).path
        if self.command != "GET" or path not in _PAGES:
            raise Refused(HTTPStatus.NOT_FOUND, "This page does not exist.")
        name, kind = _PAGES[path]
        self._send(HTTPStatus.OK, files("orchestrator.demo.chat").joinpath("pages", name).read_bytes(), kind)

    def _session(self) -> None:
        self._answer(HTTPStatus.OK, {"user": self._members.person_of_token(self._token())})

    def _sign_in(self) -> None:
        sent = self._body()
        name = _text(sent, "name").strip().lower()
        token = self._members.sign_in(name, _text(sent, "password"))
        if token is None:
            raise Refused(HTTPStatus.UNAUTHORIZED, "The name or the password is wrong.")
        self._answer(HTTPStatus.OK, {"user": name}, cookie=token)

    def _sign_out(self) -> None:
        token = self._token()
        self._members.sign_out(token)
        self._room.end_listeners(token)
        self._answer(HTTPStatus.OK, {"user": None}, cookie="")

    def _post(self) -> None:
        author = self._person()
        text = _text(self._body(), "text").strip()
        if not text:
            raise Refused(HTTPStatus.BAD_REQUEST, "The message is empty.")
        if len(text) > _LONGEST_TEXT:
            raise Refused(HTTPStatus.BAD_REQUEST, f"A message has at most {_LONGEST_TEXT} characters.")
        self._answer(HTTPStatus.CREATED, self._room.post(author, text).data())

    def _events(self) -> None:
        person = self._person()
        seen = self.headers.get("Last-Event-ID", "")
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        listener = self._room.join(person, self._token(), int(seen) if seen.isdecimal() else 0)
        try:
            while not listener.ended:
                if event := listener.next(_CHECK_EVERY):
                    self.wfile.write(_as_stream(event))
                elif _hung_up(self.connection):
                    break
        finally:
            self._room.leave(listener)

    def _token(self) -> str:
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            return ""
        return cookie[COOKIE].value if COOKIE in cookie else ""

    def _person(self) -> str:
        person = self._members.person_of_token(self._token())
        if person is None:
            raise Refused(HTTPStatus.UNAUTHORIZED, "Sign in first.")
        return person

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _LONGEST_BODY:
            raise Refused(HTTPStatus.BAD_REQUEST, "The request is too long, or has no Content-Length.")
        try:
            sent = json.loads(self.rfile.read(int(length)))
        except ValueError:
            sent = None
        if not isinstance(sent, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "The request is not a JSON object.")
        return sent

    def _answer(self, status: HTTPStatus, data: dict[str, Any], cookie: str | None = None) -> None:
        self._send(status, json.dumps(data).encode(), "application/json", cookie)

    def _send(self, status: HTTPStatus, content: bytes, kind: str, cookie: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", "default-src 'self'; base-uri 'none'; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        if cookie is not None:
            age = "" if cookie else "; Max-Age=0"
            self.send_header("Set-Cookie", f"{COOKIE}={cookie}; Path=/; HttpOnly; SameSite=Strict{age}")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    _routes: ClassVar[dict[tuple[str, str], Callable[[ChatHandler], None]]] = {
        ("GET", "/api/session"): _session,
        ("POST", "/api/session"): _sign_in,
        ("DELETE", "/api/session"): _sign_out,
        ("POST", "/api/messages"): _post,
        ("GET", "/api/events"): _events,
    }


def _text(sent: dict[str, Any], field: str) -> str:
    value = sent.get(field)
    if not isinstance(value, str):
        raise Refused(HTTPStatus.BAD_REQUEST, f"The field {field} is missing.")
    return value


def _as_stream(event: Event) -> bytes:
    number = "" if event.number is None else f"id: {event.number}\n"
    return f"event: {event.name}\n{number}data: {json.dumps(event.data)}\n\n".encode()


def _hung_up(connection: socket.socket) -> bool:
    """True if the other side closed the connection: then the socket is readable but empty."""
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
