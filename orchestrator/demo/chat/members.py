"""Who may come in: checks passwords and remembers who is signed in."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping

COOKIE = "duet_session"


class Members:
    """The people with their passwords, and the tokens of those who are signed in."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = dict(passwords)
        self._signed_in: dict[str, str] = {}
        self._lock = threading.Lock()

    def sign_in(self, name: str, password: str) -> str | None:
        """A fresh token, or None when the name or the password is wrong."""
        # An unknown name is compared too, so that the time taken does not tell who exists.
        expected = self._passwords.get(name, "")
        right = secrets.compare_digest(expected.encode(), password.encode())
        if not right or name not in self._passwords:
            return None
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._signed_in[token] = name
        return token

    def who(self, token: str) -> str | None:
        """The person that this token stands for."""
        with self._lock:
            return self._signed_in.get(token)

    def sign_out(self, token: str) -> None:
        """Forget the token; a second time does nothing."""
        with self._lock:
            self._signed_in.pop(token, None)
