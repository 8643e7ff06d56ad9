"""Talks to a browser on this machine beside its driver: for what no command of WebDriver does or is let through to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

_PATIENCE = 3.0
"""Seconds that the browser may take for one of these unless more is given."""


def debugger_address(capabilities: Mapping[str, Any]) -> str:
    """Where the browser of a session listens beside its driver, on the machine that it runs on; empty for none."""
    options = (capabilities.get(f"{vendor}Options") for vendor in ("goog:chrome", "ms:edge"))
    found = (one.get("debuggerAddress") for one in options if isinstance(one, dict))
    return str(next(filter(None, found), ""))


class DevTools:
    """A browser's own endpoint.

    Source: https://chromedevtools.github.io/devtools-protocol/#endpoints (`/json/list`, `/json/new`, `/json/close`).

    Args:
        address: Host and port, as `debugger_address` tells it.
        patience: Seconds that one answer may take.

    Raises:
        OSError: Nobody answers there, or somebody who is no browser; any of its methods.
    """

    def __init__(self, address: str, patience: float = _PATIENCE) -> None:
        self._address = address
        self._patience = patience

    def tabs(self) -> dict[str, str]:
        """The addresses of its tabs by id, which is their window handle in WebDriver, the last one used first."""
        with _understood():
            return {str(one["id"]): str(one["url"]) for one in json.loads(self._ask("list")) if one["type"] == "page"}

    def open(self) -> None:
        """Open an empty tab."""
        self._ask("new?about:blank", "PUT")

    def close(self, tab: str) -> None:
        """Close a tab, whatever its page is doing; no page is asked."""
        self._ask(f"close/{tab}")

    def socket(self) -> str:
        """The URL of the browser's own socket (`/json/version`)."""
        with _understood():
            return str(json.loads(self._ask("version"))["webSocketDebuggerUrl"])

    def _ask(self, what: str, method: str = "GET") -> Any:
        request = Request(f"http://{self._address}/json/{what}", method=method)
        with _understood(), build_opener(ProxyHandler({})).open(request, timeout=self._patience) as answer:
            return answer.read()


@contextmanager
def _understood() -> Iterator[None]:
    """Who answers otherwise than a browser is as good as nobody."""
    try:
        yield
    except (HTTPException, LookupError, TypeError, ValueError) as error:
        raise ConnectionError("what answers is no browser") from error
