"""The accounts of the chat: passwords, and tokens of the users signed in."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping

COOKIE = "duet_session"


class Members:
    """The users' passwords, and the tokens of those signed in."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = dict(passwords)
        self._signed_in: dict[str, str] = {}
        self._lock = threading.Lock()

    def sign_in(self, name: str, password: str) -> str | None:
        """Return a new token, or None if the name or the password is wrong."""
        # Unknown names are compared too, so that the response time does not reveal which names exist.
        expected = self._passwords.get(name, "")
        is_correct = secrets.compare_digest(expected.encode(), password.encode())
        if not is_correct or name not in self._passwords:
            return None
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._signed_in[token] = name
        return token

    def person_of_token(self, token: str) -> str | None:
        """The user whose token this is; None for an unknown token."""
        with self._lock:
            return self._signed_in.get(token)

    def sign_out(self, token: str) -> None:
        """Revoke the token; does nothing if it is unknown."""
        with self._lock:
            self._signed_in.pop(token, None)
