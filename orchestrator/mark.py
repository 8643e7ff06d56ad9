"""What a session came to, for whoever keeps such a thing: passed or failed, and why."""

from __future__ import annotations

from typing import Literal, get_args

from orchestrator.errors import InvalidArgument
from orchestrator.models import Wire

Status = Literal["passed", "failed"]


class Mark(Wire):
    """What a session came to, as clouds show it on their dashboards; a session stays unmarked unless told."""

    status: Status
    reason: str | None = None

    @classmethod
    def of(cls, status: str | None, reason: str | None) -> Mark | None:
        """The mark that a caller asks for, if any.

        Raises:
            InvalidArgument: There is a reason and no status, or the status is none.
        """
        if status is None and reason is not None:
            raise InvalidArgument("There is a reason, and no status that it is of.", hint="Give status, too.")
        if status not in {None, *get_args(Status)}:
            raise InvalidArgument(f"{status!r} is no status of a session.", hint="It is passed or failed.")
        return None if status is None else cls.model_validate({"status": status, "reason": reason})
