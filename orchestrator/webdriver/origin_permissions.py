"""Permissions of every origin that a session's pages go to, over WebDriver BiDi."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.errors import RemoteFailure
from orchestrator.models.storage_state import origin_of
from orchestrator.webdriver.bidi import Bidi, Listener
from orchestrator.webdriver.websocket import Command

SYSEX = "midi-sysex"
_DESCRIPTORS: Mapping[str, Mapping[str, Any]] = {SYSEX: {"name": "midi", "sysex": True}}
"""The descriptors of permissions that have more than a name."""
_MOST = 1_000
"""Origins that are remembered: a page can go to as many as it likes."""


@dataclass(frozen=True)
class PermissionStates:
    """The states that pages find: `granted`, `denied` or `prompt`, by permission.

    Attributes:
        of_all: Those of every origin.
        of_origins: Those that some origins have instead, by origin.
    """

    of_all: Mapping[str, str] = field(default_factory=dict)
    of_origins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def at(self, origin: str) -> dict[str, str]:
        """Return the states at an origin."""
        return {**self.of_all, **self.of_origins.get(origin, {})}


class OriginPermissions:
    """The states of permissions, set for each origin as soon as a navigation to it begins.

    BiDi sets a permission for one origin at a time, so that there is none for pages that are yet to come.

    Source: https://www.w3.org/TR/permissions/#webdriver-bidi-command-permissions-setPermission.

    Attributes:
        listeners: What handles the events of navigations.
    """

    def __init__(self, bidi: Bidi) -> None:
        self._bidi = bidi
        self._lock = threading.Lock()
        self._wanted = PermissionStates()
        self._origins: dict[str, dict[str, str]] = {}
        self.listeners: Mapping[str, Listener] = dict.fromkeys(
            ("browsingContext.navigationStarted", "browsingContext.navigationCommitted"), self._handle_navigation
        )

    def expect(self, wanted: PermissionStates) -> None:
        """Set these states for origins from now on; those before are another process's work."""
        with self._lock:
            self._wanted = wanted

    def apply(self, wanted: PermissionStates) -> None:
        """Set these states for all origins, known and new; a permission that is not among them is asked for again.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer, or refuses.
        """
        with self._lock:
            reset = dict.fromkeys(self._wanted.of_all, "prompt")
            self._wanted = wanted
            commands = [
                command
                for origin in self._origins
                for command in self._commands(origin, {**reset, **wanted.at(origin)})
            ]
        for answer in self._bidi.call_all(commands):
            if isinstance(answer, RemoteFailure):
                raise answer

    def _handle_navigation(self, event: Mapping[str, Any]) -> None:
        origin = origin_of(str(event["url"]))
        if not origin:
            return
        with self._lock:
            self._origins.setdefault(origin, {})
            if len(self._origins) > _MOST:
                del self._origins[next(iter(self._origins))]
            commands = self._commands(origin, self._wanted.at(origin))
        for method, params in commands:
            self._bidi.send(method, **params)

    def _commands(self, origin: str, states: Mapping[str, str]) -> list[Command]:
        """Return the commands for the permissions of an origin whose states differ from these, and note them as set."""
        known = self._origins.get(origin, {})
        changed = {name: state for name, state in states.items() if known.get(name) != state}
        known.update(changed)
        place = {"origin": origin, "userContext": self._bidi.user_context}
        return [
            (
                "permissions.setPermission",
                {"descriptor": _DESCRIPTORS.get(name, {"name": name}), "state": state, **place},
            )
            for name, state in changed.items()
        ]
