"""Words about a failure: the step, the session, the outline around it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchestratorError, brief
from orchestrator.pytest_plugin.group import SessionGroup
from orchestrator.pytest_plugin.handles import RecordedSession

_PACKAGE = Path(__file__).parents[1]
_AROUND = 10
"""Lines of the outline that a message has."""
_LONGEST_URL = 120
"""Characters of a URL in a message."""
_WORD = re.compile(r"\w+")


def hide_own_frames(error: BaseException, root: Path) -> None:
    """Leave only frames of the user's files in a traceback: none of ours, and none of what ours called.

    The traceback itself is changed, since pytest reads it anew. The tests of this package itself keep all frames.
    """
    if _PACKAGE.is_relative_to(root) and "site-packages" not in _PACKAGE.parts:
        return
    kept, below, frame = [], False, error.__traceback__
    while frame is not None:
        path = Path(frame.tb_frame.f_code.co_filename)
        if path.is_relative_to(_PACKAGE):
            below = True
        elif not below or (path.is_relative_to(root) and "site-packages" not in path.parts):
            kept.append(frame)
        frame = frame.tb_next
    for one, following in itertools.pairwise([*kept, None]):
        if one is not None:
            one.tb_next = following
    if isinstance(error, OrchestratorError):
        error.__cause__, error.__suppress_context__ = None, True


def explain(error: BaseException, group: SessionGroup) -> None:
    """Add notes to the error of a test: where it happened and what is shown there, or where each session is."""
    if not isinstance(error, OrchestratorError):
        for note in (_describe_place(session, group) for session in group.values()):
            error.add_note(note)
        return
    step = group.log.find_failed(error)
    session = group.get(step.name) if step else _find_by_id(group, error.session_id)
    if session is None:
        return
    error.add_note(_describe_place(session, group))
    wanted = " ".join(map(str, _flatten(step.arguments))) if step else error.message
    if lines := read_outline(session, wanted):
        error.add_note("The outline there:\n" + "\n".join(f"  {line}" for line in lines))


def read_outline(session: RecordedSession, wanted: str) -> list[str]:
    """Return the lines of a session's outline around the one that is most like what was looked for; empty if none."""
    try:
        outline = session.plain.get_visible_elements(scope="page", limit=1000).outline or ""
    except OrchestratorError:
        return []
    return select_lines(outline.splitlines(), wanted)


def select_lines(lines: list[str], wanted: str) -> list[str]:
    """Return ten lines around the one that is most like a text."""
    if not lines:
        return []
    words = {word.lower() for word in _WORD.findall(wanted)}

    def likeness(index: int) -> float:
        found = [word.lower() for word in _WORD.findall(lines[index])]
        shared = sum(word in words for word in found)
        return shared + SequenceMatcher(None, wanted.lower(), lines[index].lower()).ratio()

    best = max(range(len(lines)), key=likeness)
    first = max(0, min(best - _AROUND // 2, len(lines) - _AROUND))
    return lines[first : first + _AROUND]


def _describe_place(session: RecordedSession, group: SessionGroup) -> str:
    step = group.log.last_of(session.name)
    where = _read_url(session)
    return f"Session {session.name}{where}: {step or 'no step yet'}."


def _read_url(session: RecordedSession) -> str:
    try:
        url = session.plain.refresh().url
    except OrchestratorError as error:
        return f" ({error.code})"
    return f" at {brief(url, _LONGEST_URL)}" if url else ""


def _find_by_id(group: SessionGroup, session_id: str | None) -> RecordedSession | None:
    return next((session for session in group.values() if session.id == session_id), None)


def _flatten(arguments: Mapping[str, Any]) -> list[Any]:
    return [value for value in arguments.values() if isinstance(value, str | int)]
