"""The base class of tools for sessions as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

from orchestrator.models.identifiers import split_claim
from orchestrator.models.results import Outcome
from orchestrator.models.session import Wire
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.settings import ToolSet


class SessionTool(Wire, ABC):
    """A tool that is not an action: it works on sessions as a whole.

    The docstring of a subclass is the tool's description, its fields are the parameters, `run` is the implementation.
    """

    verb: ClassVar[str]
    title: ClassVar[str]
    reads: ClassVar[bool] = False
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    open_world: ClassVar[bool] = False
    """True if it reaches beyond this machine, such as to web sites."""
    result: ClassVar[type[Outcome]]
    structured: ClassVar[bool] = True
    toolset: ClassVar[ToolSet] = "sessions"
    """The set of tools that it belongs to."""
    by_default: ClassVar[bool] = False
    """True if it is listed unless the setting `tools` says otherwise; the set `core` always is."""
    always_loaded: ClassVar[bool] = False
    """True if work begins with it, as in `Action`."""
    long_result: ClassVar[bool] = False
    """True if its result is wanted whole, as in `Action`."""
    is_step: ClassVar[bool] = True
    """True if it can be a step of a sequence."""
    used_sessions: ClassVar[tuple[str, ...]] = ()
    """Fields with the ids of open sessions that it uses, for which the names of claims on them can stand."""
    nullable: ClassVar[tuple[str, ...]] = ()
    """Properties of the result that are present even when they are null."""
    described: ClassVar[tuple[str, ...] | None] = None
    """Properties of the result that its schema describes, where another tool describes all of them; None for all."""

    def in_sequence(self, of_sequence: str | None, acting: str | None) -> Self:  # noqa: ARG002 (for overrides)
        """Return it as a step of a sequence; one that takes a session id, and has none, gets it from there.

        Args:
            of_sequence: The session that the sequence is for, if it names one.
            acting: The session that its steps go to now, if it names, started or claimed it.
        """
        return self

    def under_claims(self, claims: Mapping[str, str]) -> Self:
        """Return it with the names of these claims for the ids of their sessions."""
        given = {name: split_claim(one) for name in self.used_sessions if (one := getattr(self, name))}
        named = {name: claims[plain] for name, (plain, suffix) in given.items() if plain in claims and not suffix}
        return self.model_copy(update=named) if named else self

    @abstractmethod
    async def run(self, backend: ToolBackend) -> Outcome:
        """Run it; nothing may be awaited before the call of the backend, or calls would lose their order.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
