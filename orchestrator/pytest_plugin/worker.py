"""Sessions of one process that runs tests, and the browsers they share."""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from orchestrator.errors import OrchestratorError, SessionLost, StartFailed
from orchestrator.models.test_status import Status
from orchestrator.pytest_plugin.options import WEB, PluginOptions
from orchestrator.sessions.progress import listen_to_progress
from orchestrator.sessions.store.sqlite import FILE_NAME, SqliteStore
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator, Session
from orchestrator.system.activity import ActivityEntry, entries

_LOGGER = logging.getLogger("orchestrator.pytest_plugin")
LOCAL, APPIUM = "local", "appium"
_SHAREABLE = {None, "chrome", "edge"}
"""Browsers of which several sessions can share one."""
_OF_BROWSER = ("browser", "headless", "args", "capabilities")
"""Parameters that the sessions of one browser have in common."""
_OF_CONTEXT = {"strict", "har", "hars", "idleTimeout", "maxDuration", "idle_timeout", "max_duration"}
"""Options that each session of a browser has for itself."""
_NOT_SHARED = {"mode", "profile", "debugger_address"}


@dataclass(frozen=True)
class SessionPlan:
    """A session to start: its name in the test, its platform (web, ios, android), where, and its parameters."""

    name: str
    platform: str
    provider: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_context(self) -> bool:
        """True if it can share a browser of this machine with others."""
        return (
            self.provider == LOCAL
            and self.platform == WEB
            and self.parameters.get("browser") in _SHAREABLE
            and self.parameters.keys().isdisjoint(_NOT_SHARED)
        )

    def of_browser(self) -> dict[str, Any]:
        """Return the parameters that belong to the browser."""
        own = {name: value for name, value in self.parameters.items() if name in _OF_BROWSER}
        options = {name: value for name, value in self.parameters.get("options", {}).items() if name not in _OF_CONTEXT}
        return own | ({"options": options} if options else {})

    def of_context(self) -> dict[str, Any]:
        """Return the parameters that are left for a context of the browser."""
        own = {name: value for name, value in self.parameters.items() if name not in {*_OF_BROWSER, "options"}}
        options = {name: value for name, value in self.parameters.get("options", {}).items() if name in _OF_CONTEXT}
        return own | ({"options": options} if options else {})


class Worker:
    """The sessions of one process that runs tests, in a namespace of its own.

    A browser is launched for the first test that needs it, with an empty session that keeps it; later tests get new
    contexts of it, until a session of it is kept: then the next test gets another browser.

    Attributes:
        orchestrator: The open orchestrator.
    """

    def __init__(self, options: PluginOptions, worker_id: str) -> None:
        given = {"grid_url": options.grid_url} if options.grid_url else {}
        project = Settings.load()
        self._options = options
        self._worker_id = worker_id
        self._label = ""
        self._keepers: dict[str, str] = {}
        self._kept: set[str] = set()
        self._starting = threading.Lock()
        self._rename()
        settings = Settings.load(
            {**given, "namespace": f"{project.namespace}.{worker_id}", "park_ttl": options.hand_over}
        )
        self.orchestrator = Orchestrator(settings, park_on_exit=options.hand_over > 0)
        self.orchestrator.__enter__()

    def start(self, plan: SessionPlan) -> Session:
        """Start a session.

        Raises:
            OrchestratorError: It was not started.
        """
        if not plan.is_context:
            with listen_to_progress(lambda text: _log_progress(plan.name, text)):
                return self._start_alone(plan)
        keeper = self._find_browser(plan)
        try:
            return self._start_context(keeper, plan)
        except (SessionLost, StartFailed):
            # The test before may have ended the browser.
            self._forget_browser(keeper)
            return self._start_context(self._find_browser(plan), plan)

    def close(self, session_id: str, status: Status | None, reason: str | None) -> None:
        """End a session; one that is gone already is no error."""
        with suppress(OrchestratorError):
            self.orchestrator.close_session(session_id, status=status, reason=reason)

    def keep(self, session_id: str) -> None:
        """Leave a session as it is, to be parked at the end; later tests get other browsers and other names."""
        self._kept.add(session_id)
        self._forget_browser(session_id.partition(":")[0])
        with self._starting:
            self._rename()

    def activity(self, session_id: str) -> list[ActivityEntry]:
        """Read the log of a session's calls, oldest first."""
        settings = self.orchestrator.settings
        if not (settings.home / FILE_NAME).exists():
            return []
        store = SqliteStore(settings.home)
        try:
            record = store.get(settings.namespace, session_id)
        finally:
            store.disconnect()
        return [] if record is None else entries(settings.home, record)

    def end(self) -> None:
        """End every session but those that are kept, which are parked."""
        for facts in self.orchestrator.list_sessions().sessions:
            if facts.owned and facts.session_id not in self._kept:
                self.close(facts.session_id, None, None)
        self.orchestrator.__exit__(None, None, None)

    def _rename(self) -> None:
        """Choose a label for the next sessions, which no session of another run or of a kept one has."""
        self._label = f"{self._worker_id}-{secrets.token_hex(2)}"

    def _find_browser(self, plan: SessionPlan) -> str:
        """Return the instance of a browser with these parameters, launched if there is none."""
        parameters = plan.of_browser()
        key = json.dumps(parameters, sort_keys=True, default=str)
        with self._starting:
            if key not in self._keepers:
                name = self._label if not self._keepers else f"{self._label}-{len(self._keepers)}"
                self._keepers[key] = self.orchestrator.start_browser(name, **parameters).id
            return self._keepers[key]

    def _forget_browser(self, instance: str) -> None:
        """Let a browser end with the last session that is in it."""
        with self._starting:
            found = [key for key, name in self._keepers.items() if name == instance]
            for key in found:
                del self._keepers[key]
            if found:
                self._rename()
        if found:
            self.close(instance, None, None)

    def _start_context(self, keeper: str, plan: SessionPlan) -> Session:
        return self.orchestrator.start_browser(f"{keeper}:{plan.name}", **plan.of_context())

    def _start_alone(self, plan: SessionPlan) -> Session:
        name, parameters = f"{self._label}.{plan.name}", dict(plan.parameters)
        if plan.provider == LOCAL and plan.platform == WEB:
            return self.orchestrator.start_browser(name, **parameters)
        if plan.provider == APPIUM and plan.platform != WEB:
            return self.orchestrator.start_app_session(plan.platform, name, **parameters)
        kind = "browser" if plan.platform == WEB else plan.platform
        return self.orchestrator.start_session(plan.provider, kind, name, **parameters)


def _log_progress(name: str, text: str) -> None:
    """Log what a start waits for, such as its place in the queue for a phone."""
    if text:
        _LOGGER.info("%s: %s", name, text)
