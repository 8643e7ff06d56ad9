"""Claims on sessions: for a while, only calls under the claim's name may change a session."""

from __future__ import annotations

import anyio

from orchestrator.errors import SessionClaimed
from orchestrator.lifecycle.services import Services
from orchestrator.models.session import Caller, SessionRecord
from orchestrator.sessions.rows import Claimed, Released
from orchestrator.sessions.uses import add_release
from orchestrator.system.activity import LoggedAction
from orchestrator.system.deadline import Deadline

_POLL = 0.1
"""Seconds between two attempts to claim a session that someone else has claimed."""


class Claims:
    """Makes and ends claims, for the caller that asks."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def claim(self, caller: Caller, session_id: str, ttl: float, wait: int | None = None) -> Claimed:
        """Claim a session for `ttl` seconds after its last use; wait that many milliseconds for someone else's claim.

        Raises:
            SessionNotFound: It is not open.
            SessionClaimed: Someone else has claimed it.
        """
        deadline = Deadline((wait or 0) / 1000)
        registry = self._services.registry.for_caller(caller)
        while True:
            try:
                name, until = await registry.claim(session_id, ttl)
            except SessionClaimed:
                if not deadline.seconds_left:
                    raise
                await anyio.sleep(min(_POLL, deadline.seconds_left))
            else:
                await self._log(name, "claim_session")
                return Claimed.of(name, until)

    async def release(self, caller: Caller, session_id: str, *, force: bool = False) -> Released:
        """End a claim by its name; with `force`, the session's owner or an administrator may end that of someone else.

        Raises:
            SessionNotFound: The session is not open, or the claim is over.
            SessionClaimed: Someone else has claimed it, and it may not be forced.
        """
        registry = self._services.registry.for_caller(caller)
        family = await registry.family()

        def may_force(record: SessionRecord) -> bool:
            return force and (record.owner in family or caller.may_override)

        plain, was_claimed = await registry.release(
            session_id, force=may_force, told=lambda record: add_release(record, caller)
        )
        if was_claimed:
            await self._log(plain, "release_session")
        return Released(released=[plain] if was_claimed else [])

    async def _log(self, session_id: str, action: str) -> None:
        """Log it in the session, without the claim's name."""
        if record := await self._services.registry.get(session_id):
            self._services.runner.activity.log_event(record, LoggedAction(action))
