"""The world of a scenario: its users, its variables, its attachments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.pytest_plugin.group import SessionGroup
    from orchestrator.pytest_plugin.handles import RecordedSession
    from orchestrator.sync import Orchestrator

_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass
class ScenarioWorld:
    """The state that the steps of one scenario share; the next scenario has another.

    Attributes:
        sessions: The sessions by user.
        folder: The folder that relative files of steps belong to: that of the feature file.
        variables: Texts by name; `${name}` in a step stands for one.
        policies: Policies of every session, such as `{"dialogs": "accept"}`.
    """

    sessions: SessionGroup
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)

    @property
    def orchestrator(self) -> Orchestrator:
        """The orchestrator of this process."""
        return self.sessions.worker.orchestrator

    def user(self, name: str, **parameters: Any) -> RecordedSession:
        """Return the session of a user, started with these parameters if there is none.

        Raises:
            OrchestratorError: It was not started, or refuses a policy.
        """
        if name in self.sessions:
            return self.sessions[name]
        session = self.sessions.start(name, **parameters)
        self.apply_policies(session)
        return session

    def apply_policies(self, *sessions: RecordedSession) -> None:
        """Set the policies of the scenario in sessions.

        Raises:
            OrchestratorError: One refuses a policy.
        """
        for session in sessions:
            if self.policies:
                session.set_policy(**self.policies)  # type: ignore[arg-type]  # the action checks the values

    def attach(self, name: str, content: bytes | str) -> None:
        """Add a file to the artifacts of the scenario; `name` is that of the file, such as `receipt.txt`."""
        self.sessions.attachments[Path(name).name] = content

    def fill(self, text: str) -> str:
        """Replace each `${name}` in a text.

        Raises:
            KeyError: There is no variable of this name.
        """

        def value(found: re.Match[str]) -> str:
            if found[1] not in self.variables:
                known = ", ".join(self.variables) or "none"
                raise KeyError(f"No variable {found[1]!r} in this scenario (there are: {known}).")
            return self.variables[found[1]]

        return _VARIABLE.sub(value, text)
