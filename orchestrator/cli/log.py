"""The command `orchestrator log`: shows the activity log of a session."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.errors import SessionNotFound
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.sessions.store.sqlite import SqliteStore
    from orchestrator.system.activity import ActivityEntry

_HEAD = ("TIME", "CALLER", "ACTION", "TOOK", "RESULT")


def show(
    name: Annotated[str, typer.Argument(help="The session; a closed one is kept for a week.", show_default=False)],
    namespace: Annotated[
        str | None,
        typer.Option(help="The namespace; default: derived from the project folder.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the calls of a session: time, caller, duration and result; the newest comes last."""
    settings = Settings.load({} if namespace is None else {"namespace": namespace})
    entries = _read_log(settings, name)
    if as_json:
        data = [entry.model_dump(by_alias=True, mode="json", exclude_defaults=True) for entry in entries]
        typer.echo(json.dumps({"sessionId": name, "entries": data}, indent=2, ensure_ascii=False))
    else:
        typer.echo(table([_HEAD, *map(_row, entries)]))


def _read_log(settings: Settings, name: str) -> list[ActivityEntry]:
    from orchestrator.models.identifiers import normalize_session_id
    from orchestrator.system.activity import entries

    session_id = normalize_session_id(name)
    with _existing_store(settings) as store:
        record = None if store is None else store.get(settings.namespace, session_id)
    if record is None:
        raise SessionNotFound(session_id)
    return entries(settings.home, record)


@contextlib.contextmanager
def _existing_store(settings: Settings) -> Iterator[SqliteStore | None]:
    """Open the store, which alone is enough to read records; reading does not create one."""
    from orchestrator.sessions.store.sqlite import FILE_NAME, SqliteStore

    if not (settings.home / FILE_NAME).exists():
        yield None
        return
    store = SqliteStore(settings.home)
    try:
        yield store
    finally:
        store.disconnect()


def table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as columns of equal width; control characters, which pages can put into texts, are escaped."""
    rows = [[_plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _plain(text: str) -> str:
    return text if text.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _row(entry: ActivityEntry) -> tuple[str, ...]:
    start = datetime.fromisoformat(entry.at).astimezone()
    step = "" if entry.step is None else f"{entry.step}. "
    arguments = " ".join(f"{name}={value}" for name, value in entry.arguments.items())
    result = ": ".join(filter(None, (entry.error or "ok", entry.message)))
    caller = f"{entry.door} {entry.pid}"
    return (
        f"{start:%Y-%m-%d %H:%M:%S}",
        caller,
        f"{step}{entry.action} {arguments}",
        f"{entry.duration_ms:.0f} ms",
        result,
    )
