"""Uses of a session, and those that each caller has not been told of yet."""

from __future__ import annotations

from orchestrator.models.session import Caller, SessionRecord, Use
from orchestrator.sessions.turn import Turn

_REMEMBERED = 10
"""Uses that a record holds, and callers whose last one it remembers."""
_VERBS = {"navigate": "navigated", "release_session": "released the claim"}
_EVERYBODY = ""
"""The caller of what is told to everybody, the one who did it included."""


def list_others_uses(record: SessionRecord, caller: Caller) -> list[str]:
    """Return what other callers did in the session since this caller's last call, as events; nothing at its first."""
    known = record.seen.get(caller.key)
    if known is None:
        return []
    done: dict[str, list[str]] = {}
    for use in record.uses:
        if use.number > known and use.caller != caller.key:
            said = _VERBS.get(use.verb, f"called {use.verb}")
            if said not in (verbs := done.setdefault(use.label, [])):
                verbs.append(said)
    return [f"{label.partition(', ')[0]} {' and '.join(verbs)} here meanwhile." for label, verbs in done.items()]


def add_release(record: SessionRecord, caller: Caller) -> SessionRecord:
    """Return the record with a claim's release by force, which is told to everyone who has used the session."""
    number = record.use_count + 1
    use = Use(number=number, caller=_EVERYBODY, label=caller.label, verb="release_session")
    return record.with_changes(uses=(*record.uses, use)[-_REMEMBERED:], use_count=number)


def note_use(turn: Turn, verb: str, *, changes: bool) -> None:
    """Note a call in the session's record: a changing one is told to the other callers, each is the caller's last."""
    record, caller = turn.record, turn.caller
    uses, number = record.uses, record.use_count
    if changes:
        number += 1
        uses = (*uses, Use(number=number, caller=caller.key, label=caller.label, verb=verb))[-_REMEMBERED:]
    seen = {key: last for key, last in record.seen.items() if key != caller.key}
    seen = dict([*seen.items(), (caller.key, number)][-_REMEMBERED:])
    if (uses, seen) != (record.uses, record.seen):
        turn.change(uses=uses, use_count=number, seen=seen)
