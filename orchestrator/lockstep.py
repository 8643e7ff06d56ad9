"""One list of steps on several sessions, step by step, until one of them shows something else than the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import chain

from pydantic import Field

from orchestrator.actions.deadline import Deadline
from orchestrator.actions.scene import Scene
from orchestrator.differences import Difference, Listing, comparable, difference
from orchestrator.errors import OrchestratorError, TimedOut
from orchestrator.models import Wire
from orchestrator.sequence import Alone, Stepped, Stopped

_LATE = "Look at that session's own result, or raise timeout."
_GLANCE = 0.25
"""Seconds between looks at whether a waiting sequence was cancelled."""


class Divergence(Wire):
    """The first step after which not all sessions showed the same, by role and name.

    `base` is one of those that agree, `odd` are the others: most of the sessions agree, or those with the first one.
    """

    index: int
    action: str
    base: str
    odd: list[str]
    differences: list[Difference] = Field(default_factory=list)
    errors: dict[str, str] = Field(default_factory=dict, description="Why the step failed, where only it did.")

    def lines(self) -> list[str]:
        """Which step, which sessions, and what differs."""
        odd = ", ".join(self.odd)
        told = [f"Diverged after step {self.index} ({self.action}): {odd} from {self.base}."]
        told += [f"{name}: the step failed: {error}" for name, error in self.errors.items()]
        return [*told, *chain.from_iterable(one.lines(self.base) for one in self.differences)]


_Shown = Listing | OrchestratorError
"""What a session shows after a step, or why it has not come to that."""


class Lockstep:
    """Where the sessions of one call wait for each other after each step, and are compared."""

    def __init__(self, session_ids: Sequence[str]) -> None:
        self.divergence: Divergence | None = None
        self._session_ids = list(session_ids)
        self._turned = threading.Condition()
        self._ended: dict[str, OrchestratorError | None] = {}
        self._shown: dict[int, dict[str, _Shown]] = {}

    def of(self, session_id: str) -> InStep:
        """One session's side of it."""
        return InStep(self, session_id)

    def end(self, session_id: str, error: OrchestratorError | None = None) -> None:
        """This session's sequence is over, for which `error` is the reason if it never began or was lost."""
        with self._turned:
            self._ended[session_id] = error
            self._turned.notify_all()

    def meet(self, session_id: str, stepped: Stepped, shown: _Shown, scene: Scene, deadline: Deadline) -> None:
        """Wait until all have done the step.

        Raises:
            Stopped: They do not show the same, or it failed on all of them.
        """
        with self._turned:
            here = self._shown.setdefault(stepped.index, {})
            here[session_id] = shown
            self._turned.notify_all()
            while missing := [one for one in self._session_ids if one not in here]:
                for one in missing:
                    if error := self._ended.get(one):
                        here[one] = error
                if self._ended.keys() & set(missing) - here.keys() or not deadline.left:
                    who = ", ".join(missing)
                    raise TimedOut(f"Lockstep: {who} did not come to the end of step {stepped.index}.", hint=_LATE)
                scene.check()
                self._turned.wait(min(_GLANCE, deadline.left))
            self.divergence = self.divergence or _diverged(stepped, {one: here[one] for one in self._session_ids})
            if self.divergence or isinstance(shown, OrchestratorError):
                raise Stopped


class InStep(Alone):
    """One session's side of a lockstep. A `sync` in its list is met by that."""

    def __init__(self, lockstep: Lockstep, session_id: str) -> None:
        self._lockstep = lockstep
        self._session_id = session_id

    def stepped(self, stepped: Stepped, scene: Scene, settle: Callable[[], object], deadline: Deadline) -> None:
        """Once the page has settled, show the others what it has come to."""
        shown: _Shown
        if stepped.error is None:
            settle()
            shown = Listing.of(scene)
        else:
            shown = stepped.error
        self._lockstep.meet(self._session_id, stepped, shown, scene, deadline)


def _diverged(stepped: Stepped, shown: dict[str, _Shown]) -> Divergence | None:
    """How the sessions differ, in the order in which they were named."""
    failed = {name: one for name, one in shown.items() if isinstance(one, OrchestratorError)}
    if len(failed) == len(shown):
        return None
    found = comparable({name: one for name, one in shown.items() if isinstance(one, Listing)})
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, rows in found.items():
        groups.setdefault(rows, []).append(name)
    # The first of the largest ones: a dict keeps the order in which the sessions were named.
    agreed = max(groups.values(), key=len)
    base = agreed[0]
    odd = [name for name in shown if name not in agreed]
    if not odd:
        return None
    differences = [difference(name, found[base], found[name]) for name in odd if name in found]
    return Divergence(
        index=stepped.index,
        action=stepped.verb,
        base=base,
        odd=odd,
        differences=[one for one in differences if one],
        errors={name: f"{one.code}: {one}" for name, one in failed.items()},
    )
