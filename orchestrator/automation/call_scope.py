"""The mode in which an action runs inside its call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.automation.browser.settling import LateOpening
from orchestrator.errors import PlaceGone
from orchestrator.system.deadline import Deadline


@dataclass
class CallScope:
    """The mode in which actions run inside a call: alone, as steps of a sequence, or called by a script.

    Attributes:
        deadline: When the whole call must end; None where each action has only its own timeout.
        in_sequence: True for steps of a sequence: changes are reported once, at its end.
        warn: Takes a warning that comes after its step is over; None where each step's result is shown.
        page_unread: True when a step has left the page unread, which may have opened a dialog.
        opening: The menu or the like that the last step may open late; None once it was waited for.
        page_gone: The error of a page that went away with the step before, so that another is current now.
        rest: True when a press has missed because its element moved: for the next one it must be at rest.
        target: Role and name of the first element that the running action found, if by a ref, else empty.
    """

    deadline: Deadline | None = None
    in_sequence: bool = False
    warn: Callable[[str], None] | None = None
    page_unread: bool = False
    opening: LateOpening | None = None
    page_gone: PlaceGone | None = None
    rest: bool = False
    target: str | None = None
