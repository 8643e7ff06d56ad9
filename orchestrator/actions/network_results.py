"""What actions on the requests of a session answer."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from orchestrator.actions.results import Outcome


class Routes(Outcome):
    """The rules that are in force now, the last added first; of bodies their beginnings."""

    routes: list[dict[str, Any]] = Field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """The result as data; no rules are said, too."""
        return {"routes": [], **super().data()}

    def lines(self) -> list[str]:
        """One line of JSON a rule."""
        found = [json.dumps(one, ensure_ascii=False) for one in self.routes]
        return [f"Rules in force: {len(found)}{', the first that matches counts' if found[1:] else ''}.", *found]


class Archive(Outcome):
    """A HAR file, and what of the session is recorded and replayed from now on."""

    path: str | None = None
    pages: int | None = None
    entries: int | None = None
    recording: bool = False
    replays: list[str] = Field(default_factory=list)

    def lines(self) -> list[str]:
        """The file, then what goes on."""
        written = f" ({self.pages} pages, {self.entries} requests)" if self.entries is not None else ""
        lines = [f"HAR: {self.path}{written}."] if self.path else []
        lines.append("Recording." if self.recording else "Not recording.")
        return [*lines, *(f"Replaying {one}." for one in self.replays)]
