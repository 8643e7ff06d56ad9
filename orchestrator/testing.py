"""The contract of a provider as tests, for authors of providers.

Each test uses the public API, with real sessions.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from unittest import SkipTest
from urllib.parse import quote, quote_plus

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionLost, Unsupported
from orchestrator.models.requests import AttachRequest, StartRequest
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.rows import SessionRow
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.webdriver.remote import Remote

ErrorT = TypeVar("ErrorT", bound=OrchestratorError)

_TIMEOUT = 60.0
"""Seconds after which a wait fails: a guard against hanging, nothing else."""
_POLL = 0.05
_NAMESPACE = "contract"
_SEARCH = """
import json, pathlib, sys
home, spellings = json.load(sys.stdin)
wanted = [bytes.fromhex(each) for each in spellings]
for path in pathlib.Path(home).rglob("*"):
    try:
        content = path.read_bytes() if path.is_file() else b""
    except FileNotFoundError:
        continue  # a browser's files come and go
    if any(each in content for each in wanted):
        print(path)
"""
"""Run in another process: SQLite's locks on the store end in the one that closes any handle of its files."""
_ELSEWHERE = """
import json, sys
from orchestrator.errors import OrchestratorError
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
with Orchestrator(Settings(**json.load(sys.stdin)), observer=True) as orchestrator:
    try:
        orchestrator.session(sys.argv[1]).get_visible_elements()
    except OrchestratorError as error:
        sys.exit(str(error))
"""


class ContractTestbed:
    """The orchestrator that the tests of one class share.

    Attributes:
        home: The folder of its records and processes.
        orchestrator: The blocking API.
        shared: A session for all tests that do not change it.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        with ExitStack() as stack:
            self.home = Path(tempfile.mkdtemp(prefix="contract-"))
            stack.callback(shutil.rmtree, self.home, ignore_errors=True)
            self._settings = {"home": str(self.home), "namespace": _NAMESPACE, **settings}
            self.orchestrator = stack.enter_context(Orchestrator(Settings.load(self._settings)))
            self.shared: SessionRow | None = None
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End all sessions, and remove the home."""
        self._stack.close()

    def find_secrets(self, secrets: Sequence[str], outputs: Sequence[str]) -> list[str]:
        """Return the outputs, and the files of the home, that contain one of the secrets in any encoding."""
        spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
        leaks = [f"output {number}" for number, text in enumerate(outputs) if _contains(text.encode(), spellings)]
        wanted = json.dumps([str(self.home), [spelling.hex() for spelling in spellings]])
        search = _run([sys.executable, "-c", _SEARCH], wanted)
        require(search.returncode == 0, f"the files of the home could not be searched: {search.stderr}")
        return leaks + search.stdout.splitlines()

    def use_in_other_process(self, session_id: str) -> str:
        """Use a session in another process; return its error, or an empty text."""
        command = [sys.executable, "-c", _ELSEWHERE, session_id]
        done = _run(command, json.dumps(self._settings))  # not on the command line, which anybody can read
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
        Remote(url, remote_session_id, name=record.id, timeout=_TIMEOUT).delete(_TIMEOUT)


def require(condition: object, message: str) -> None:
    """Fail with this message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def refusal(call: Callable[[], object], kind: type[ErrorT]) -> ErrorT:
    """Return the error that a call must end with."""
    try:
        result = call()
    except kind as error:
        return error
    raise AssertionError(f"it was not refused: {result}")


def wait_until(check: Callable[[], bool], message: str) -> None:
    """Poll until the check is true; fail with this message when time is up."""
    require(poll_until(check, Deadline(_TIMEOUT), every=_POLL), message)


def _spellings(secret: str) -> set[bytes]:
    texts = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    texts |= {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    return {encoded for text in texts for encoded in (text.encode(), text.encode("utf-16-le"))}


def _run(command: Sequence[str], given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=_TIMEOUT, check=False)


def _contains(content: bytes, spellings: set[bytes]) -> bool:
    return any(spelling in content for spelling in spellings)


class ProviderContract:
    """Tests of a provider: subclass it as `Test…` and implement `request` and `alive`.

    Its tests share one orchestrator with a home of its own, and start about ten sessions. Fixtures can be used as in
    any test class: each test gets a new instance, on which an `autouse` fixture may set attributes for the methods. The
    remote end, and the variables with its address, must exist until the class is done: give their fixtures the scope of
    the module or session.
    """

    provider: ClassVar[str]
    """The name of the provider; its package must be installed."""
    secrets: Sequence[str] = ()
    """Passwords and tokens that a start needs; they must not be readable anywhere."""
    owns: bool = True
    """True if it recognizes its sessions by their URLs (`Provider.owns`)."""
    marks: bool = False
    """True if its remote end keeps the status of sessions (`Provider.mark`)."""
    _testbed: ClassVar[ContractTestbed | None] = None

    # For authors to implement or override

    def request(self) -> StartRequest:
        """Return a request that works; the tests set its provider and session id."""
        raise NotImplementedError

    def alive(self) -> Collection[str]:
        """Return the ids of the sessions at the remote end, read without the orchestrator."""
        raise NotImplementedError

    def failing(self) -> StartRequest:
        """Return a request that the remote end refuses; default: for an unknown platform."""
        request = self.request()
        nowhere = {**request.capabilities, "platformName": "no such platform"}
        return request.model_copy(update={"capabilities": nowhere})

    def kill(self, remote_session_id: str) -> None:  # noqa: ARG002 - for overrides
        """End a session, or its process, behind the orchestrator's back; without this its test is skipped."""
        raise SkipTest(f"{type(self).__name__} does not implement kill")

    def end(self, remote_url: str, remote_session_id: str) -> None:
        """End a session that was left alive; default: Delete Session."""
        self.testbed.delete(self.provider, remote_url, remote_session_id)

    def settings(self) -> Mapping[str, Any]:
        """Return settings that its sessions need, beside home and namespace."""
        return {}

    # Helpers of the tests

    @property
    def testbed(self) -> ContractTestbed:
        """The orchestrator of this class, with its home."""
        cls = type(self)
        if cls._testbed is None:
            cls._testbed = ContractTestbed(self.settings())
        return cls._testbed

    @property
    def orchestrator(self) -> Orchestrator:
        """The blocking API."""
        return self.testbed.orchestrator

    def start(self, name: str, request: StartRequest | None = None, *, wait: bool = True) -> SessionRow:
        """Start a session under this name."""
        named = (request or self.request()).model_copy(update={"session_id": name, "provider": self.provider})
        return self.orchestrator.start(named, wait=wait)

    def shared(self) -> SessionRow:
        """Return the session for all tests that do not change it; the first of them starts it."""
        if self.testbed.shared is None:
            self.testbed.shared = self.start("shared")
        return self.testbed.shared

    def answers(self, name: str) -> None:
        """Check that a session responds."""
        self.orchestrator.session(name).get_visible_elements()

    def is_gone(self, remote_session_id: str) -> bool:
        """Return True if it is no longer alive."""
        return remote_session_id not in self.alive()

    @classmethod
    def teardown_class(cls) -> None:
        """End all sessions of the class."""
        if cls._testbed is not None:
            cls._testbed.close()
            cls._testbed = None

    # The contract

    def test_it_is_found_by_its_name(self) -> None:
        """Its entry point is installed and loads, and both have the same name."""
        known = {provider.name: provider for provider in Providers().list_installed()}
        require(self.provider in known, f"no installed package brings a provider {self.provider!r}: {sorted(known)}")
        reason = known[self.provider].reason
        require(reason is None, f"{self.provider} is broken: {reason}")

    def test_options_are_refused_by_their_names(self) -> None:
        """An unknown or invalid option is refused before anything starts; the error names it and lists the others."""
        before = set(self.alive())
        for wrong in ({"no_such_option": 1}, {"idle_timeout": "soon"}):
            request = self.request()
            bad = request.model_copy(update={"options": {**request.options, **wrong}})
            error = refusal(functools.partial(self.start, "refused", bad), InvalidArgument)
            (name,) = wrong
            require(f"Option '{name}'" in error.message, f"the error does not name {name}: {error.message}")
            require("idleTimeout" in error.hint, f"the hint does not list the options: {error.hint}")
        require(set(self.alive()) <= before, "a session was started with options that were refused")

    def test_a_start_gives_a_session_that_answers(self) -> None:
        """Its row has state, provider and address; it is alive at the remote end, and responds."""
        row = self.shared()
        facts = (row.state, row.provider, row.owned)
        require(facts == ("active", self.provider, True), f"the row has (state, provider, owned) {facts}")
        require(bool(row.remote_url and row.remote_session_id), f"the row has no address: {row}")
        require(not self.is_gone(row.remote_session_id), "it is not alive at its remote end")
        self.answers(row.session_id)

    def test_no_credential_can_be_read(self) -> None:
        """No secret is in its row, in the list of sessions, or in a file of the home."""
        row = self.shared()
        results = [row, self.orchestrator.list_sessions()]
        places = self.testbed.find_secrets(self.secrets, [result.model_dump_json() for result in results])
        require(not places, f"a secret is in {places}")
        require("@" not in row.remote_url, "user or password are in remoteUrl")

    def test_another_process_drives_it(self) -> None:
        """A process with nothing but the record and the environment can use the session."""
        error = self.testbed.use_in_other_process(self.shared().session_id)
        require(error == "", f"another process could not use the session: {error}")

    def test_two_starts_side_by_side(self) -> None:
        """Two concurrent starts give two sessions; ending one leaves the other alone."""
        with ThreadPoolExecutor(2) as threads:
            one, two = threads.map(self.start, ("one", "two"))
        require(one.remote_session_id != two.remote_session_id, "two starts gave the same session")
        self.orchestrator.close_session("one")
        self.answers("two")
        self.orchestrator.close_session("two")

    def test_contexts_share_a_browser_or_are_refused(self) -> None:
        """`x:one` and `x:two` share a browser, which outlives the first to end; or such a start is refused."""
        if not Providers()[self.provider].contexts:
            error = refusal(functools.partial(self.start, "shared:one"), Unsupported)
            require(bool(error.hint), "the error has no hint")
            return
        one, two = (self.start(f"shared:{name}") for name in ("one", "two"))
        require(one.remote_url == two.remote_url, f"they are at {one.remote_url} and {two.remote_url}")
        require(one.remote_session_id != two.remote_session_id, "they are the same driver session")
        self.orchestrator.close_session("shared:one")
        self.answers("shared:two")
        self.orchestrator.close_session("shared:two")

    def test_closing_ends_it_and_may_be_repeated(self) -> None:
        """The session is gone there; its status was reported first, or a warning says that it cannot be."""
        row = self.start("closed")
        closed = self.orchestrator.close_session("closed", status="passed", reason="all is well")
        require((closed.closed, closed.failed) == (["closed"], []), f"it was not closed: {closed}")
        unmarked = [warning for warning in closed.warnings if "is not marked as passed" in warning]
        require(bool(unmarked) != self.marks, f"the status: marks is {self.marks}, and the warnings are {unmarked}")
        wait_until(lambda: self.is_gone(row.remote_session_id), "the session was closed and lives on at its remote end")
        again = self.orchestrator.close_session("closed")
        require((again.closed, again.failed) == ([], []), f"closing it again did something: {again}")

    def test_its_name_is_free_after_a_start_that_failed(self) -> None:
        """The error has a message and a hint; nothing is left at the remote end, and the name can be used again."""
        before = set(self.alive())
        error = refusal(functools.partial(self.start, "again", self.failing()), OrchestratorError)
        require(bool(error.message and error.hint), f"the error says too little: {error}")
        wait_until(lambda: set(self.alive()) <= before, "a start failed and left a session at the remote end")
        self.start("again")
        self.answers("again")
        self.orchestrator.close_session("again")

    def test_a_start_that_is_cancelled_leaves_nothing(self) -> None:
        """A session that is closed while it starts is ended at the remote end."""
        before = set(self.alive())
        self.start("cancelled", wait=False)
        self.orchestrator.close_session("cancelled")
        listed = [row.session_id for row in self.orchestrator.list_sessions().sessions]
        require("cancelled" not in listed, f"it is still listed: {listed}")
        self.start("after")  # by the end of this start the cancelled one has had its time, too
        self.orchestrator.close_session("after")
        wait_until(lambda: set(self.alive()) <= before, "a start was cancelled and left a session at the remote end")

    def test_detached_it_lives_and_can_be_attached_again(self) -> None:
        """The provider recognizes an attached session of its own by the URL; detaching leaves it alive."""
        row = self.start("left")
        where: dict[str, Any] = {"remote_url": row.remote_url, "remote_session_id": row.remote_session_id}
        try:
            closed = self.orchestrator.close_session("left", detach=True)
            require(closed.detached == ["left"], f"it was not detached: {closed}")
            require(all(word in closed.render() for word in where.values()), "the result lacks its address")
            request = AttachRequest(**where, session_id="back", platform=row.type)
            back = self.orchestrator.attach(request)
            require(not back.owned, "an attached session is owned")
            recognized = back.provider == self.provider
            require(recognized == self.owns, f"attached, it is listed under the provider {back.provider!r}")
            self.answers("back")
            again = self.orchestrator.attach(request.model_copy(update={"session_id": "twice"}))
            require(again.session_id == "back", f"attaching twice made a second session, {again.session_id}")
            self.orchestrator.close_session("back")
            require(not self.is_gone(row.remote_session_id), "detaching ended it")
        finally:
            self.end(**where)

    def test_what_was_killed_is_lost(self) -> None:
        """The next call fails with the code `session_lost`; closing frees the name."""
        row = self.start("killed")
        try:
            self.kill(row.remote_session_id)
            refusal(functools.partial(self.answers, "killed"), SessionLost)
        finally:
            closed = self.orchestrator.close_session("killed")
        require(closed.closed == ["killed"], f"it could not be cleared: {closed}")
