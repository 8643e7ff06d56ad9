"""Calls of a test on its sessions as steps, each with its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchestratorError


@dataclass
class CallStep:
    """A call of a test on one of its sessions.

    `number` counts the calls on the session from 1, `at` is in seconds since the epoch. `arguments` are as a log may
    keep them. `picture` is that of the screen after it.
    """

    name: str
    number: int
    action: str
    arguments: Mapping[str, Any]
    at: float
    duration: float = 0
    error: OrchestratorError | None = None
    picture: Path | None = None

    def __str__(self) -> str:
        """Return the step as one line."""
        given = " ".join(f"{name}={value!r}" for name, value in self.arguments.items() if value is not False)
        return f"step {self.number}, {self.action} {given}".rstrip()


@dataclass
class StepLog:
    """The steps of a test in order of their start; `slow_mo` is a pause after each, in seconds.

    `take_picture` returns the picture of a session's screen after a step; it has no errors.
    """

    slow_mo: float = 0
    take_picture: Callable[[CallStep], Path | None] | None = None
    steps: list[CallStep] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, action: str, arguments: Mapping[str, Any]) -> Iterator[None]:
        """Log the call in the block."""
        number = sum(step.name == name for step in self.steps) + 1
        step = CallStep(name, number, action, arguments, time.time())
        self.steps.append(step)
        began = time.monotonic()
        try:
            yield
        except OrchestratorError as error:
            step.error = error
            raise
        finally:
            step.duration = time.monotonic() - began
            self._after(step)

    def last_of(self, name: str) -> CallStep | None:
        """Return the last step of a session."""
        return next((step for step in reversed(self.steps) if step.name == name), None)

    def find_failed(self, error: BaseException) -> CallStep | None:
        """Return the step that raised an error."""
        return next((step for step in reversed(self.steps) if step.error is error), None)

    def _after(self, step: CallStep) -> None:
        if self.take_picture is not None:
            step.picture = self.take_picture(step)
        if self.slow_mo:
            time.sleep(self.slow_mo)
