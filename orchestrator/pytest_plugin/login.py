"""Logins of roles: each is made once a run, whichever process needs it first."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from orchestrator.errors import InvalidArgument
from orchestrator.models.identifiers import normalize_session_id
from orchestrator.models.near_names import nearest
from orchestrator.pytest_plugin.handles import RecordedSession

SignIn = Callable[[RecordedSession], object]
"""Signs in, in an empty session."""
_PATIENCE = 600.0
"""Seconds that a process waits for another one to sign in."""


class LoginStates:
    """Files with the cookies and storage of signed-in roles, shared by all processes of a run.

    Args:
        folder: The folder of the files, which the processes have in common.
        sign_ins: The way to sign in, by role.
        start: Starts a session of this name.
        close: Ends a session.
    """

    def __init__(
        self,
        folder: Path,
        sign_ins: Mapping[str, SignIn],
        *,
        start: Callable[[str], RecordedSession],
        close: Callable[[RecordedSession], None],
    ) -> None:
        self._folder = folder
        self._sign_ins = sign_ins
        self._start = start
        self._close = close

    def __call__(self, role: str) -> Path:
        """Return the file of a role, after signing in if there is none, or if a cookie of it has expired.

        Raises:
            InvalidArgument: There is no way to sign in for this role.
            OrchestratorError: Signing in failed.
        """
        if role not in self._sign_ins:
            hint = nearest(role, self._sign_ins) if self._sign_ins else "Override the fixture logins in a conftest.py."
            raise InvalidArgument(f"No login {role!r}.", hint=hint)
        state = self._folder / f"login-{normalize_session_id(role)}.json"
        with _locked(state.with_suffix(".lock")):
            if is_expired(state):
                session = self._start(f"login-{role}")
                self._sign_ins[role](session)
                session.plain.save_storage_state(str(state), overwrite=True)
                self._close(session)
        return state


def is_expired(state: Path) -> bool:
    """Return True if there is no such file, or a cookie in it has expired."""
    try:
        cookies: list[dict[str, Any]] = json.loads(state.read_text("utf-8"))["cookies"]
    except FileNotFoundError:
        return True
    return any(0 < cookie.get("expires", -1) <= time.time() for cookie in cookies)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Let one process, and one thread of it, into the block at a time; the lock of a dead process is free."""
    with closing(sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield
        lock.execute("COMMIT")
