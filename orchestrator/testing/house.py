"""An orchestrator in a home of its own, and what can be found out about it from outside."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from orchestrator.errors import OrchestratorError
from orchestrator.models import SessionRecord, SessionType
from orchestrator.registry import Providers
from orchestrator.rows import Row
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from orchestrator.webdriver.remote import Remote

ErrorT = TypeVar("ErrorT", bound=OrchestratorError)

_PATIENCE = 60.0
"""Seconds after which something counts as never happening: a guard against hanging, nothing else."""
_POLL = 0.05
_NAMESPACE = "contract"
_ELSEWHERE = """
import json, sys
from orchestrator.errors import OrchestratorError
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
with Orchestrator(Settings(**json.load(sys.stdin)), visiting=True) as orchestrator:
    try:
        orchestrator.session(sys.argv[1]).get_visible_elements()
    except OrchestratorError as error:
        sys.exit(str(error))
"""


class House:
    """What the tests of one class share.

    Attributes:
        home: The folder of its records, and of what it starts.
        orchestrator: The front door.
        shared: A session for all tests that leave it as it is.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        with ExitStack() as stack:
            self.home = Path(tempfile.mkdtemp(prefix="contract-"))
            stack.callback(shutil.rmtree, self.home, ignore_errors=True)
            self._settings = {"home": str(self.home), "namespace": _NAMESPACE, **settings}
            self.orchestrator = stack.enter_context(Orchestrator(Settings.load(self._settings)))
            self.shared: Row | None = None
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End all sessions, and remove the home."""
        self._stack.close()

    def places(self, secrets: Sequence[str], told: Sequence[str]) -> list[str]:
        """Where one of the secrets stands, in any spelling: in what was told, or in which file of the home."""
        spelled = {one for secret in secrets for one in _spellings(secret)}
        found = [f"answer {number}" for number, text in enumerate(told) if _holds(text.encode(), spelled)]
        return found + [str(path) for path in self._files() if _holds(path.read_bytes(), spelled)]

    def elsewhere(self, session_id: str) -> str:
        """Use a session in another process; what went wrong there."""
        command = [sys.executable, "-c", _ELSEWHERE, session_id]
        given = json.dumps(self._settings)  # not on the command line, which anybody can read
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_PATIENCE, check=False)
        return "" if done.returncode == 0 else done.stderr

    def delete(self, provider: str, remote_url: str, remote_session_id: str) -> None:
        """End a session at its remote end, with the credentials that its provider finds."""
        record = SessionRecord(
            id="left",
            namespace=_NAMESPACE,
            type=SessionType.BROWSER,
            provider=provider,
            owner="",
            remote_url=remote_url,
            remote_session_id=remote_session_id,
            created_at=0,
            last_active_at=0,
        )
        url = Providers()[provider].address(record, self.orchestrator.settings)
        Remote(url, remote_session_id, name=record.id, timeout=_PATIENCE).delete(_PATIENCE)

    def _files(self) -> Iterator[Path]:
        with suppress(FileNotFoundError):  # a browser's files come and go
            yield from (path for path in self.home.rglob("*") if path.is_file())


def holds(condition: object, otherwise: str) -> None:
    """Fail with these words unless the condition holds."""
    if not condition:
        raise AssertionError(otherwise)


def refusal(call: Callable[[], object], kind: type[ErrorT]) -> ErrorT:
    """The error that a call must end with."""
    try:
        answer = call()
    except kind as error:
        return error
    raise AssertionError(f"it was not refused: {answer}")


def until(look: Callable[[], bool], otherwise: str) -> None:
    """Look again and again; fail with these words when it never comes."""
    deadline = time.monotonic() + _PATIENCE
    while not look():
        holds(time.monotonic() < deadline, otherwise)
        time.sleep(_POLL)


def _spellings(secret: str) -> set[bytes]:
    texts = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    texts |= {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    return {spelled for text in texts for spelled in (text.encode(), text.encode("utf-16-le"))}


def _holds(content: bytes, spelled: set[bytes]) -> bool:
    return any(one in content for one in spelled)
