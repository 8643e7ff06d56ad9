"""The public keys of an authorization server, which verify the tokens that it issues."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import structlog
from jwt import PyJWK, PyJWKSet
from jwt.exceptions import PyJWTError
from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls

from orchestrator.settings.endpoints import check_issuer_url
from orchestrator.system import http
from orchestrator.system.deadline import Deadline

_FRESH = 300.0
"""Seconds after which the keys are read again: one that the issuer took away is trusted no longer than that."""
_PAUSE = 10.0
"""Seconds between two attempts, however many tokens name keys that are not there."""
_TIMEOUT = 10.0
_LARGEST = 1_000_000
_OK = 200

_log = structlog.get_logger(__name__)


class IssuerUnreachable(Exception):
    """The issuer's keys cannot be read; its text says why."""


class IssuerKeys:
    """Reads and keeps an issuer's keys, for any thread.

    Args:
        issuer: The issuer's URL, as its tokens name it.
        clock: Seconds that only grow.
    """

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: list[PyJWK] = []
        self._tried_at = self._read_at = float("-inf")

    def find_fresh(self, key_id: str | None) -> PyJWK | None:
        """Return a key without a request to the issuer; None if one is needed first."""
        is_fresh = self._clock() - self._read_at < _FRESH
        return self._find(key_id) if is_fresh else None

    def find(self, key_id: str | None) -> PyJWK | None:
        """Return a key; None if the issuer has none of this id. May block.

        Raises:
            IssuerUnreachable: The keys cannot be read, and no older ones are at hand.
        """
        with self._lock:
            found = self.find_fresh(key_id)
            if found is None and self._clock() - self._tried_at >= _PAUSE:
                self._tried_at = self._clock()
                self._read()
            return self._find(key_id)

    def _find(self, key_id: str | None) -> PyJWK | None:
        """Return the key of an id; a token without one is signed by the only key."""
        if key_id is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.key_id == key_id), None)

    def _read(self) -> None:
        try:
            keys = PyJWKSet.from_dict(_read_json(self._read_keys_url())).keys
        except (IssuerUnreachable, PyJWTError) as error:
            if not self._keys:
                raise IssuerUnreachable(str(error)) from None
            _log.warning("the issuer's keys cannot be read; the last ones are used", error=str(error))
            return
        self._keys = [key for key in keys if key.public_key_use in {None, "sig"}]
        self._read_at = self._clock()

    def _read_keys_url(self) -> str:
        """Return where the keys are, by the issuer's metadata (RFC 8414, OpenID Connect Discovery)."""
        problem = ""
        for url in build_oauth_authorization_server_metadata_discovery_urls(self._issuer, self._issuer):
            try:
                metadata = _read_json(url)
                if metadata.get("issuer") == self._issuer:
                    return check_issuer_url(str(metadata.get("jwks_uri", "")))
                problem = problem or f"{url} is of the issuer {metadata.get('issuer')!r}"
            except (IssuerUnreachable, ValueError) as error:
                problem = problem or str(error)
        raise IssuerUnreachable(problem)


def _read_json(url: str) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        IssuerUnreachable: There is none at the URL.
    """
    try:
        answer = http.request("GET", url, timeout=_TIMEOUT, deadline=Deadline(_TIMEOUT), largest=_LARGEST)
        content = answer.json() if answer.status == _OK else None
    except (OSError, ValueError) as error:
        raise IssuerUnreachable(f"{url}: {error}") from None
    if not isinstance(content, dict):
        raise IssuerUnreachable(f"{url} has no JSON object (status {answer.status})")
    return content
