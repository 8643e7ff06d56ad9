"""The page of the self-test: served by this machine, or carried by its own address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

from orchestrator.demo.http_server import LocalHttpServer
from orchestrator.errors import InvalidArgument

_FORM = "Write it as http://HOST:PORT, where HOST is this machine as the browser reaches it."
_EVERYWHERE = ""
"""The host that means every interface of this machine."""


@contextmanager
def served_page(url: str | None = None) -> Iterator[str]:
    """Serve the page while the block runs; yields its address.

    Args:
        url: Its address for another machine: it is served to all machines then, at the address's port. Without one
            it is served to this machine alone.

    Raises:
        InvalidArgument: The URL is none of HTTP, or its port is taken.
    """
    if url is None:
        with LocalHttpServer("check", _PageHandler) as server:
            yield server.url
        return
    with _listen(url):
        yield url


def data_page() -> str:
    """Return the page as a `data:` address, which reaches any browser, and has no cookies."""
    return f"data:text/html;charset=utf-8,{quote(_html())}"


def _html() -> str:
    return files("orchestrator.cli.doctor.check").joinpath("page.html").read_text("utf-8")


def _listen(url: str) -> LocalHttpServer:
    try:
        parts = urlsplit(url)
        port = parts.port or 80
    except ValueError as error:
        raise InvalidArgument(f"{url} is not a URL: {error}.", hint=_FORM) from error
    if parts.scheme != "http" or not parts.hostname:
        raise InvalidArgument(f"{url} is not an address for the page.", hint=_FORM)
    try:
        return LocalHttpServer("check", _PageHandler, address=(_EVERYWHERE, port))
    except OSError as error:
        text = f"The page cannot be served at port {port}: {error.strerror or error}."
        raise InvalidArgument(text, hint="Give a URL with another port.") from error


class _PageHandler(BaseHTTPRequestHandler):
    """Answers every address with the page."""

    def do_GET(self) -> None:
        """Send the page."""
        body = _html().encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class names it so
        """Log nothing: the table is all that is printed."""
