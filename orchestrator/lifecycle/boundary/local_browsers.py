"""The limit of browsers on this machine: the setting `max_local_browsers`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from orchestrator.errors import SessionLimit
from orchestrator.lifecycle.start_plan import StartPlan
from orchestrator.models.identifiers import instance_of
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.settings import Settings
from orchestrator.system.machine import available_memory

PROVIDER = "local"
LEAST_MEMORY = 400_000_000
"""Bytes of memory that have to be available for the start of a browser, unless the setting is a number."""
_IDLE_AFTER = 60.0
"""Seconds without a call after which a session is named as one that could be closed."""
_NAMED = 5
"""Sessions that are named."""


class LocalBrowsers:
    """Refuses the start of one more browser on this machine where there is no room for it.

    Args:
        settings: The settings.
        now: Returns the time of records.
        available: Returns the bytes of memory that new processes can have; None where that is not known.
    """

    def __init__(
        self, settings: Settings, now: Callable[[], float], available: Callable[[], int | None] = available_memory
    ) -> None:
        self._limit = settings.max_local_browsers
        self._namespace = settings.namespace
        self._now = now
        self._available = available

    def checker(self, plan: StartPlan) -> Callable[[Sequence[SessionRecord]], None] | None:
        """Return what checks a start, given all open sessions of the home; None if it starts no browser here."""
        request = plan.request
        if plan.provider.name != PROVIDER or request.mode == "attached":
            return None
        wanted = (self._namespace, instance_of(request.session_id)) if request.session_id else None
        return lambda records: None if wanted in _browsers(records) else self.require_room(records)

    def require_room(self, records: Sequence[SessionRecord]) -> None:
        """Check that one more browser can be started beside those of these sessions.

        Raises:
            SessionLimit: It cannot.
        """
        if self._limit != "auto":
            if (open_now := len(_browsers(records))) >= self._limit:
                open_ = f"{open_now} browser{' is' if open_now == 1 else 's are'} open on this machine"
                self._refuse(f"{open_}, and max_local_browsers is {self._limit}.", records)
            return
        available = self._available()
        if available is not None and available < LEAST_MEMORY:
            self._refuse(
                f"{available // 1_000_000} MB of memory are available; a browser is started from "
                f"{LEAST_MEMORY // 1_000_000} MB on.",
                records,
            )

    def _refuse(self, why: str, records: Iterable[SessionRecord]) -> None:
        own = [one for one in records if one.namespace == self._namespace and one.provider == PROVIDER]
        idle = sorted(
            (one for one in own if self._now() - one.last_active_at >= _IDLE_AFTER), key=lambda one: one.last_active_at
        )
        named = ", ".join(f"{one.id} ({(self._now() - one.last_active_at) / 60:.0f} min)" for one in idle[:_NAMED])
        close = (
            f"Close an idle session: {named}." if named else "No session of this project has been idle for a minute."
        )
        raise SessionLimit(why, f"{close} The setting max_local_browsers is auto or a number; the operator sets it.")


def _browsers(records: Iterable[SessionRecord]) -> set[tuple[str, str]]:
    """Return the browsers of these sessions that were started on this machine: contexts share theirs."""
    return {
        (record.namespace, instance_of(record.id))
        for record in records
        if record.provider == PROVIDER and record.owned and _has_browser(record)
    }


def _has_browser(record: SessionRecord) -> bool:
    return bool(record.processes) or record.state is SessionState.STARTING
