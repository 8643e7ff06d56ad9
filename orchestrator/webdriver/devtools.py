"""HTTP endpoints of a browser's DevTools, for what no WebDriver command does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from orchestrator.system import http

_PATIENCE = 3.0
"""Seconds that an answer of the browser may take unless more is given."""


def debugger_address(capabilities: Mapping[str, Any]) -> str:
    """Return host and port of the DevTools of a session's browser, on the machine of its driver; empty for none."""
    options = (capabilities.get(f"{vendor}Options") for vendor in ("goog:chrome", "ms:edge"))
    addresses = (one.get("debuggerAddress") for one in options if isinstance(one, dict))
    return str(next(filter(None, addresses), ""))


class DevTools:
    """The HTTP endpoints of one browser.

    Source: https://chromedevtools.github.io/devtools-protocol/#endpoints (`/json/list`, `/json/new`, `/json/close`).

    Args:
        address: Host and port, as `debugger_address` returns them.
        patience: Seconds that one answer may take.

    Raises:
        OSError: Nothing answers there, or something that is not a browser; any of its methods.
    """

    def __init__(self, address: str, patience: float = _PATIENCE) -> None:
        self._address = address
        self._patience = patience

    def tabs(self) -> dict[str, str]:
        """Return the URLs of the tabs by id, which is their window handle in WebDriver, the last used first."""
        with _as_connection_error():
            return {str(one["id"]): str(one["url"]) for one in self._request("list").json() if one["type"] == "page"}

    def open_tab(self) -> None:
        """Open an empty tab."""
        self._request("new?about:blank", "PUT")

    def close_tab(self, tab: str) -> None:
        """Close a tab, whatever its page is doing; the page has no say in it."""
        self._request(f"close/{tab}")

    def socket_url(self) -> str:
        """Return the URL of the browser's own WebSocket (`/json/version`)."""
        with _as_connection_error():
            return str(self._request("version").json()["webSocketDebuggerUrl"])

    def _request(self, path: str, method: str = "GET") -> http.HttpResponse:
        answer = http.request(method, f"http://{self._address}/json/{path}", timeout=self._patience)
        if answer.status != HTTPStatus.OK:
            raise ConnectionError(f"the browser answered {answer.status}")
        return answer


@contextmanager
def _as_connection_error() -> Iterator[None]:
    """Raise `ConnectionError` for an answer of something that is not a browser."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise ConnectionError("what answers is not a browser") from error
