"""The command `orchestrator sessions`: lists, attaches and closes sessions, shows logs."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionNotFound
from orchestrator.models.durations import parse_duration
from orchestrator.models.test_status import TestStatus
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.api import Orchestrator
    from orchestrator.sessions.rows import CloseResult, SessionFacts, SessionList
    from orchestrator.sessions.store.sqlite import SqliteStore
    from orchestrator.system.activity import ActivityEntry

AnswerT = TypeVar("AnswerT")

app = typer.Typer(help="The open sessions of a namespace.", rich_markup_mode=None, no_args_is_help=True)

Namespace = Annotated[
    str | None, typer.Option(help="The namespace; derived from the project folder unless given.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Prefix = Annotated[str | None, typer.Option(help="Only ids that begin with this.", show_default=False)]

_HEAD = ("SESSION", "STATE", "BROWSER", "PROVIDER", "UNUSED", "URL")
_LOG_HEAD = ("TIME", "CALLER", "ACTION", "TOOK", "RESULT")
_PARTS = ("closed", "detached", "failed", "warnings")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


@app.command("list")
def list_(prefix: Prefix = None, namespace: Namespace = None, as_json: AsJson = False) -> None:
    """List the open sessions as recorded, without contacting them or changing anything."""
    settings = _settings(namespace)
    listed = _read_list(settings, prefix)
    for warning in listed.warnings:
        typer.echo(f"Warning: {warning}", err=True)
    if as_json:
        rows = [facts.model_dump(by_alias=True, mode="json", exclude_none=True) for facts in listed.sessions]
        typer.echo(json.dumps({"namespace": settings.namespace, "sessions": rows}, indent=2, ensure_ascii=False))
    elif listed.sessions:
        typer.echo(table([_HEAD, *map(_row, listed.sessions)]))
    else:
        typer.echo(f"No session is open in namespace {settings.namespace!r}.")


def _read_list(settings: Settings, prefix: str | None) -> SessionList:
    from orchestrator.sessions.rows import FactsCache, SessionList

    with _existing_store(settings) as store:
        if store is None:
            return SessionList(sessions=[])
        namespace = settings.namespace
        return SessionList.of(
            FactsCache().list_facts(store.list_open(namespace)), store.unreadable(namespace), prefix=prefix
        )


@app.command()
def close(
    names: Annotated[list[str] | None, typer.Argument(help="The sessions to close.", show_default=False)] = None,
    prefix: Prefix = None,
    idle: Annotated[
        str | None, typer.Option(help="Only those unused for this long, such as 30m.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All, including those of other clients.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Leave them alive at their remote ends.")] = False,
    status: Annotated[
        str | None,
        typer.Option(help="The status of those named: passed or failed; clouds show it.", show_default=False),
    ] = None,
    reason: Annotated[str | None, typer.Option(help="The reason for this status.", show_default=False)] = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Close sessions by name, or those that match every option given."""
    mark = _status_arguments(status, reason, names)
    if names and (prefix is not None or idle is not None or every):
        raise InvalidArgument("Names and options are both given.", hint="Give names, or --prefix, --idle, --all.")
    if not names and prefix is None and idle is None and not every:
        raise InvalidArgument("No session was chosen.", hint="Give names, or --prefix, --idle, --all.")
    idle_ms = None if idle is None else _milliseconds(idle)

    failures: list[OrchestratorError] = []

    async def work(orchestrator: Orchestrator) -> list[CloseResult]:
        if not names:
            all_ = every or None
            return [await orchestrator.close_sessions(prefix=prefix, idle_ms=idle_ms, all=all_, detach=detach)]
        done = []
        for name in names:
            try:
                done.append(await orchestrator.close_session(name, detach=detach, **mark))
            except OrchestratorError as error:
                failures.append(error)
        return done

    _print_closed(_run_as_observer(_settings(namespace), work), as_json=as_json)
    if failures:
        raise failures[0]


def _status_arguments(status: str | None, reason: str | None, names: list[str] | None) -> dict[str, Any]:
    """Return the status and its reason as arguments of `close_session`; both apply to named sessions."""
    if status is None and reason is None:
        return {}
    if not names:
        raise InvalidArgument("--status and --reason apply to named sessions.", hint="Give names.")
    test_status = TestStatus.from_request(status, reason)
    return {} if test_status is None else dict(test_status)


@app.command()
def log(
    name: Annotated[str, typer.Argument(help="The session; a closed one is kept for a week.", show_default=False)],
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Show the calls of a session: time, caller, duration and result; the newest comes last."""
    settings = _settings(namespace)
    entries = _read_log(settings, name)
    if as_json:
        data = [entry.model_dump(by_alias=True, mode="json", exclude_defaults=True) for entry in entries]
        typer.echo(json.dumps({"sessionId": name, "entries": data}, indent=2, ensure_ascii=False))
    else:
        typer.echo(table([_LOG_HEAD, *map(_log_row, entries)]))


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


@app.command()
def attach(
    remote_url: Annotated[str, typer.Argument(help="The WebDriver endpoint, or secret:NAME.", show_default=False)],
    remote_session_id: Annotated[str, typer.Argument(help="The session there.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="Its name here; browser-1, … unless given.")] = None,
    platform: Annotated[str, typer.Option(help="The type of session.")] = "browser",
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Attach a session that was started elsewhere, so that servers and scripts of the namespace can use it by name."""

    async def work(orchestrator: Orchestrator) -> SessionFacts:
        session = await orchestrator.attach_session(remote_url, remote_session_id, name, platform=platform)
        return session.facts

    settings = _settings(namespace)
    # It must outlive this command, even with a park_ttl of 0, until a server or script uses it.
    waiting = settings.model_copy(update={"park_ttl": settings.park_ttl or settings.idle_timeout})
    facts = _run_as_observer(waiting, work)
    if as_json:
        typer.echo(facts.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        typer.echo(f"{facts.session_id} is attached. Closing it here leaves it alive at its remote end.")


def _print_closed(done: list[CloseResult], *, as_json: bool) -> None:
    if as_json:
        merged = {name: [entry for result in done for entry in result.data().get(name, ())] for name in _PARTS}
        typer.echo(json.dumps(merged, indent=2, ensure_ascii=False))
    elif done:
        typer.echo("\n".join(dict.fromkeys(line for result in done for line in result.render().splitlines())))
    if any(result.failed for result in done):
        raise typer.Exit(1)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as columns of equal width; control characters, which pages can put into texts, are escaped."""
    rows = [[_plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _plain(text: str) -> str:
    return text if text.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _settings(namespace: str | None) -> Settings:
    return Settings.load({} if namespace is None else {"namespace": namespace})


def _run_as_observer(settings: Settings, work: Callable[[Orchestrator], Awaitable[AnswerT]]) -> AnswerT:
    from orchestrator.api import Orchestrator

    return _run(Orchestrator(settings, observer=True, door="cli"), work)


def _run(orchestrator: Orchestrator, work: Callable[[Orchestrator], Awaitable[AnswerT]]) -> AnswerT:
    import anyio

    async def inside() -> AnswerT:
        async with orchestrator:
            return await work(orchestrator)

    return anyio.run(inside)


def _row(facts: SessionFacts) -> tuple[str, ...]:
    browser = " ".join(filter(None, (facts.capabilities.get(name) for name in ("browserName", "browserVersion"))))
    unused = time.time() - datetime.fromisoformat(facts.last_active_at).timestamp()
    return facts.session_id, facts.state, browser or facts.type, facts.provider, _short(unused), facts.url or ""


def _log_row(entry: ActivityEntry) -> tuple[str, ...]:
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


def _short(duration: float) -> str:
    for size, unit in _UNITS:
        if duration >= size:
            return f"{duration / size:.0f}{unit}"
    return f"{max(duration, 0):.0f}s"


def _milliseconds(text: str) -> int:
    try:
        return round(float(parse_duration(text)) * 1000)
    except ValueError as error:
        raise InvalidArgument(f"--idle: {error}.") from None
