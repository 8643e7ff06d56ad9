"""Finds what a call would run of the tools that the setting `confirm` holds back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from orchestrator.errors import brief
from orchestrator.execution.parallel import ExecuteParallel
from orchestrator.execution.parallel_run import name_start_tool
from orchestrator.execution.sequence import ExecuteSequence, Step
from orchestrator.models.arguments import parse_arguments
from orchestrator.system.secrets import Redactor

_LONGEST, _MOST = 300, 20
"""Characters of one call's arguments that a question shows, and calls."""


class Held(NamedTuple):
    """The parts of a call that a person has to agree to.

    Attributes:
        question: The question.
        tools: The tools that are held back, if a person may allow them for the whole session of the call; else empty.
    """

    question: str
    tools: frozenset[str]


class _HeldCall(NamedTuple):
    """A call of a tool that is held back, with its line in the question."""

    tool: str
    line: str


class HeldTools:
    """The tools that are held back, and what a call would run of them.

    Args:
        names: Their names.
        by_session: Those of them that act in one session.
        redactor: Removes secrets from questions.
    """

    def __init__(self, names: Sequence[str], by_session: Collection[str], redactor: Redactor) -> None:
        self._names = frozenset(names)
        self._by_session = frozenset(by_session)
        self._redactor = redactor

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def find(self, name: str, declared: type[Any], arguments: Mapping[str, Any]) -> Held | None:
        """Return what to ask a person before this call; None if nothing of it is held back.

        Raises:
            InvalidArgument: The call's steps cannot be read; it would not run either.
        """
        calls = list(self._held(name, declared, arguments)) if self._names else []
        if not calls:
            return None
        more = [f"and {len(calls) - _MOST} more"] if len(calls) > _MOST else []
        question = "\n".join([f"May {name} do this?", *(call.line for call in calls[:_MOST]), *more])
        tools = frozenset(call.tool for call in calls)
        in_one_session = tools <= self._by_session and not issubclass(declared, ExecuteParallel)
        return Held(question, tools if in_one_session else frozenset())

    def _held(self, name: str, declared: type[Any], arguments: Mapping[str, Any]) -> Iterator[_HeldCall]:
        if name in self._names:
            yield _HeldCall(name, self._line(name, arguments))
            return
        if issubclass(declared, ExecuteSequence):
            yield from self._steps(parse_arguments(declared, arguments).actions, "")
        elif issubclass(declared, ExecuteParallel):
            for number, part in enumerate(parse_arguments(declared, arguments).sequences):
                where = f"sequence {number}, "
                if part.start is not None and (starting := name_start_tool(part.start)) in self._names:
                    yield _HeldCall(starting, f"{where}{self._line(starting, part.start)}")
                yield from self._steps(part.actions, where)
                if part.close and "close_session" in self._names:
                    yield _HeldCall("close_session", f"{where}close_session at its end")

    def _steps(self, steps: Sequence[Step], where: str) -> Iterator[_HeldCall]:
        for index, step in enumerate(steps):
            if (verb := step.get("action")) in self._names:
                fields = {name: value for name, value in step.items() if name != "action"}
                yield _HeldCall(str(verb), f"{where}step {index}: {self._line(str(verb), fields)}")

    def _line(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return a call on one line: JSON without characters that could pass for words of ours."""
        shown = json.dumps(self._redactor.data({**arguments}), default=str)
        return f"{name} {brief(shown, _LONGEST)}"
