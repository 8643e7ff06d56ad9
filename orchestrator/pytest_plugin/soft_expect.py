"""Expectations that let their test go on, and fail it at its end."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from orchestrator.errors import OrchestratorError
from orchestrator.pytest_plugin.explanation import explain
from orchestrator.pytest_plugin.group import SessionGroup


class SoftExpectationsFailed(AssertionError):
    """Expectations of a test failed, and it went on; the text has all of them."""


class SoftExpect:
    """Notes what fails in its blocks: `with soft_expect: …`, as often as needed."""

    def __init__(self, group: SessionGroup) -> None:
        self._group = group
        self._failures: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, AssertionError | OrchestratorError) or trace is None:
            return False
        # While the page is as it was then.
        explain(error, self._group)
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        notes = getattr(error, "__notes__", [])
        self._failures.append("\n".join([f"{place}: {type(error).__name__}: {error}", *notes]))
        return True

    def fail(self) -> None:
        """Fail the test if something failed in the blocks.

        Raises:
            SoftExpectationsFailed: It did.
        """
        if self._failures:
            listed = "\n".join(f"{number}. {failure}" for number, failure in enumerate(self._failures, 1))
            raise SoftExpectationsFailed(f"Expectations that failed: {len(self._failures)}.\n{listed}")
