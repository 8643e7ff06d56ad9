"""Pass/fail status reported to cloud dashboards."""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

from orchestrator.errors import InvalidArgument
from orchestrator.models.session import Wire

Status = Literal["passed", "failed"]


class TestStatus(Wire):
    """The status of a session on a cloud's dashboard; sessions without one stay unmarked."""

    __test__: ClassVar[bool] = False  # or pytest would collect it by its name

    status: Status
    reason: str | None = None

    @classmethod
    def from_request(cls, status: str | None, reason: str | None) -> TestStatus | None:
        """Check the status and reason that a caller gave; None without a status.

        Raises:
            InvalidArgument: The status is unknown, or there is a reason without one.
        """
        if status is None and reason is not None:
            raise InvalidArgument("The reason has no status.", hint="Give status, too.")
        if status not in {None, *get_args(Status)}:
            raise InvalidArgument(f"{status!r} is not a status.", hint="Use passed or failed.")
        return None if status is None else cls.model_validate({"status": status, "reason": reason})
