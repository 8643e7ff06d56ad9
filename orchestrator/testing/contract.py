"""The contract of a provider as tests, for whoever writes one: each goes through the front door, with real sessions."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar
from unittest import SkipTest

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionLost, Unsupported
from orchestrator.models import AttachRequest, StartRequest
from orchestrator.registry import Providers
from orchestrator.rows import Row
from orchestrator.sync import Orchestrator
from orchestrator.testing.house import House, holds, refusal, until


class ProviderContract:
    """Subclass it under a name that begins with `Test`, and say how to start a session and how to see what lives.

    Its tests share one orchestrator with a home of its own, and start about ten sessions. Fixtures can be used as in
    any test class: each test gets a new instance, on which an `autouse` fixture may put what the methods need. The
    remote end, and the variables that say where it is, must be there until the class is done: give their fixtures the
    scope of the module or session.
    """

    provider: ClassVar[str]
    """The name of the provider; the package that brings it must be installed."""
    secrets: Sequence[str] = ()
    """What must not be readable anywhere: passwords and tokens that a start needs."""
    owns: bool = True
    """Whether it knows its sessions by their URLs (`Provider.owns`); otherwise they are attached as any others."""
    marks: bool = False
    """Whether it keeps a status of its sessions (`Provider.mark`)."""
    _house: ClassVar[House | None] = None

    # What the author says

    def request(self) -> StartRequest:
        """A start that works; its provider and session id are set by the tests."""
        raise NotImplementedError

    def alive(self) -> Collection[str]:
        """The ids of the sessions that live at the remote end now, past everything of ours."""
        raise NotImplementedError

    def failing(self) -> StartRequest:
        """A start that the remote end refuses: one for a platform that nobody has, unless overridden."""
        wish = self.request()
        nowhere = {**wish.capabilities, "platformName": "no such platform"}
        return wish.model_copy(update={"capabilities": nowhere})

    def kill(self, remote_session_id: str) -> None:  # noqa: ARG002 - for overrides
        """End a session, or what it runs on, under whoever drives it; without this its test is skipped."""
        raise SkipTest(f"{type(self).__name__} says nothing of how a session is killed")

    def end(self, remote_url: str, remote_session_id: str) -> None:
        """End a session that was left alive: its Delete Session, unless more belongs to it."""
        self.house.delete(self.provider, remote_url, remote_session_id)

    def settings(self) -> Mapping[str, Any]:
        """Settings that its sessions need, beside home and namespace."""
        return {}

    # What the tests use

    @property
    def house(self) -> House:
        """The orchestrator of this class, with its home."""
        cls = type(self)
        if cls._house is None:
            cls._house = House(self.settings())
        return cls._house

    @property
    def orchestrator(self) -> Orchestrator:
        """The front door."""
        return self.house.orchestrator

    def start(self, name: str, wish: StartRequest | None = None, *, wait: bool = True) -> Row:
        """Start a session under this name."""
        named = (wish or self.request()).model_copy(update={"session_id": name, "provider": self.provider})
        return self.orchestrator.start(named, wait=wait)

    def shared(self) -> Row:
        """One session for all tests that leave it as it is; started by the first of them."""
        if self.house.shared is None:
            self.house.shared = self.start("shared")
        return self.house.shared

    def answers(self, name: str) -> None:
        """Have a session say what it shows."""
        self.orchestrator.session(name).get_visible_elements()

    def is_gone(self, remote_session_id: str) -> bool:
        """Whether it is not alive any more."""
        return remote_session_id not in self.alive()

    @classmethod
    def teardown_class(cls) -> None:
        """End what is left of the class."""
        if cls._house is not None:
            cls._house.close()
            cls._house = None

    # The contract

    def test_it_is_found_by_its_name(self) -> None:
        """Its entry point is installed, it loads, and both have one name."""
        known = {one.name: one for one in Providers().known()}
        holds(self.provider in known, f"no installed package brings a provider {self.provider!r}: {sorted(known)}")
        reason = known[self.provider].reason
        holds(reason is None, f"{self.provider} is broken: {reason}")

    def test_options_are_refused_by_their_names(self) -> None:
        """One that does not exist, and one that is wrong: by name, with the others listed, before anything starts."""
        before = set(self.alive())
        for wrong in ({"no_such_option": 1}, {"idle_timeout": "soon"}):
            wish = self.request()
            bad = wish.model_copy(update={"options": {**wish.options, **wrong}})
            error = refusal(functools.partial(self.start, "refused", bad), InvalidArgument)
            (name,) = wrong
            holds(f"Option '{name}'" in error.message, f"the error does not name {name}: {error.message}")
            holds("idleTimeout" in error.hint, f"the hint does not list the options: {error.hint}")
        holds(set(self.alive()) <= before, "something was started with options that were refused")

    def test_a_start_gives_a_session_that_answers(self) -> None:
        """Its row says that it is active and ours, whose it is and where; it lives there, and can be looked at."""
        row = self.shared()
        said = (row.state, row.provider, row.owned)
        holds(said == ("active", self.provider, True), f"the row says (state, provider, owned) {said}")
        holds(bool(row.remote_url and row.remote_session_id), f"the row does not say where it is: {row}")
        holds(not self.is_gone(row.remote_session_id), "it is not alive at its remote end")
        self.answers(row.session_id)

    def test_no_credential_can_be_read(self) -> None:
        """Not in its row, not in the list, and in no file of the home."""
        row = self.shared()
        told = [row, self.orchestrator.list_sessions()]
        places = self.house.places(self.secrets, [one.model_dump_json() for one in told])
        holds(not places, f"a secret stands in {places}")
        holds("@" not in row.remote_url, "user or password stand in remoteUrl")

    def test_another_process_drives_it(self) -> None:
        """One that knows nothing but the record, and what is in its environment."""
        said = self.house.elsewhere(self.shared().session_id)
        holds(said == "", f"another process could not use the session: {said}")

    def test_two_starts_side_by_side(self) -> None:
        """Both become sessions of their own; ending one leaves the other one alone."""
        with ThreadPoolExecutor(2) as at_once:
            one, two = at_once.map(self.start, ("one", "two"))
        holds(one.remote_session_id != two.remote_session_id, "two starts gave one session")
        self.orchestrator.close_session("one")
        self.answers("two")
        self.orchestrator.close_session("two")

    def test_contexts_share_a_browser_or_are_refused(self) -> None:
        """`x:one` and `x:two` are one browser, which ending one leaves to the other; or the start says why not."""
        if not Providers()[self.provider].contexts:
            error = refusal(functools.partial(self.start, "shared:one"), Unsupported)
            holds(bool(error.hint), "the error does not say what to do instead")
            return
        one, two = (self.start(f"shared:{name}") for name in ("one", "two"))
        holds(one.remote_url == two.remote_url, f"they are at {one.remote_url} and {two.remote_url}")
        holds(one.remote_session_id != two.remote_session_id, "they are one driver session")
        self.orchestrator.close_session("shared:one")
        self.answers("shared:two")
        self.orchestrator.close_session("shared:two")

    def test_closing_ends_it_and_may_be_repeated(self) -> None:
        """It is gone at the remote end; what it came to is told there first, or it is said that nobody keeps that."""
        row = self.start("closed")
        closed = self.orchestrator.close_session("closed", status="passed", reason="all is well")
        holds((closed.closed, closed.failed) == (["closed"], []), f"it was not closed: {closed}")
        unmarked = [warning for warning in closed.warnings if "is not marked as passed" in warning]
        holds(bool(unmarked) != self.marks, f"the status: marks is {self.marks}, and the warnings are {unmarked}")
        until(lambda: self.is_gone(row.remote_session_id), "the session was closed and lives on at its remote end")
        again = self.orchestrator.close_session("closed")
        holds((again.closed, again.failed) == ([], []), f"closing it again was not the same as nothing: {again}")

    def test_its_name_is_free_after_a_start_that_failed(self) -> None:
        """The error says why; nothing is left at the remote end, and the next start of that name works."""
        before = set(self.alive())
        error = refusal(functools.partial(self.start, "again", self.failing()), OrchestratorError)
        holds(bool(error.message and error.hint), f"the error says too little: {error}")
        until(lambda: set(self.alive()) <= before, "a start failed, and something of it lives at the remote end")
        self.start("again")
        self.answers("again")
        self.orchestrator.close_session("again")

    def test_a_start_that_is_cancelled_leaves_nothing(self) -> None:
        """It is closed while it starts; whatever comes of it at the remote end is ended there."""
        before = set(self.alive())
        self.start("cancelled", wait=False)
        self.orchestrator.close_session("cancelled")
        listed = [one.session_id for one in self.orchestrator.list_sessions().sessions]
        holds("cancelled" not in listed, f"it is still listed: {listed}")
        self.start("after")  # what was cancelled has had its time, too, when this one is there
        self.orchestrator.close_session("after")
        until(lambda: set(self.alive()) <= before, "a start was cancelled, and something lives at the remote end")

    def test_detached_it_lives_and_can_be_attached_again(self) -> None:
        """The provider knows a session of its own by the URL, and letting go of it leaves it alive."""
        row = self.start("left")
        where: dict[str, Any] = {"remote_url": row.remote_url, "remote_session_id": row.remote_session_id}
        try:
            told = self.orchestrator.close_session("left", detach=True)
            holds(told.detached == ["left"], f"it was not detached: {told}")
            holds(all(word in told.render() for word in where.values()), "it is not said how to attach to it again")
            wish = AttachRequest(**where, session_id="back", platform=row.type)
            back = self.orchestrator.attach(wish)
            holds(not back.owned, "an attached session is owned")
            known = back.provider == self.provider
            holds(known == self.owns, f"attached, it is listed under the provider {back.provider!r}")
            self.answers("back")
            again = self.orchestrator.attach(wish.model_copy(update={"session_id": "twice"}))
            holds(again.session_id == "back", f"attaching twice made a second session, {again.session_id}")
            self.orchestrator.close_session("back")
            holds(not self.is_gone(row.remote_session_id), "letting go of it ended it")
        finally:
            self.end(**where)

    def test_what_was_killed_is_lost(self) -> None:
        """The next call says so with the code `session_lost`; closing clears it, and its name is free again."""
        row = self.start("killed")
        try:
            self.kill(row.remote_session_id)
            refusal(functools.partial(self.answers, "killed"), SessionLost)
        finally:
            closed = self.orchestrator.close_session("killed")
        holds(closed.closed == ["killed"], f"it could not be cleared: {closed}")
