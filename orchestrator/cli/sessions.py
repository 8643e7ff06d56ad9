"""The command `orchestrator sessions`: what is open, and how a person uses, attaches or closes it."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from orchestrator.durations import seconds
from orchestrator.errors import InvalidArgument, OrchestratorError, SessionNotFound, nearest
from orchestrator.mark import Mark
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.activity import Entry
    from orchestrator.api import Orchestrator
    from orchestrator.rows import Closed, SessionFacts, SessionList

AnswerT = TypeVar("AnswerT")

app = typer.Typer(help="The open sessions of a namespace.", rich_markup_mode=None, no_args_is_help=True)

Namespace = Annotated[
    str | None, typer.Option(help="Whose sessions; from the project folder unless given.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Prefix = Annotated[str | None, typer.Option(help="Only ids that begin with it.", show_default=False)]

_HEAD = ("SESSION", "STATE", "BROWSER", "PROVIDER", "UNUSED", "URL")
_LOG_HEAD = ("TIME", "CALLER", "ACTION", "TOOK", "CAME TO")
_PARTS = ("closed", "detached", "failed", "warnings")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


@app.command("list")
def list_(prefix: Prefix = None, namespace: Namespace = None, as_json: AsJson = False) -> None:
    """List the open sessions as they were last known; nothing is asked of them and nothing changed."""
    settings = _settings(namespace)
    listed = _listed(settings, prefix)
    for warning in listed.warnings:
        typer.echo(f"Warning: {warning}", err=True)
    if as_json:
        rows = [one.model_dump(by_alias=True, mode="json", exclude_none=True) for one in listed.sessions]
        typer.echo(json.dumps({"namespace": settings.namespace, "sessions": rows}, indent=2, ensure_ascii=False))
    elif listed.sessions:
        typer.echo(table([_HEAD, *map(_row, listed.sessions)]))
    else:
        typer.echo(f"No session is open in namespace {settings.namespace!r}.")


def _listed(settings: Settings, prefix: str | None) -> SessionList:
    from orchestrator.rows import SessionList
    from orchestrator.store.sqlite import FILE_NAME

    if not (settings.home / FILE_NAME).exists():  # looking must not make one
        return SessionList(sessions=[])
    return _visit(settings, lambda orchestrator: orchestrator.list_sessions(prefix))


@app.command()
def close(
    names: Annotated[list[str] | None, typer.Argument(help="The sessions to close.", show_default=False)] = None,
    prefix: Prefix = None,
    idle: Annotated[
        str | None, typer.Option(help="Only those unused for so long, such as 30m.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them, whoever started them.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Leave them alive at their remote ends.")] = False,
    status: Annotated[
        str | None, typer.Option(help="What those named came to: passed or failed; clouds show it.", show_default=False)
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why they have this status.", show_default=False)] = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Close sessions by name, or those for which every option given holds."""
    mark = _mark(status, reason, names)
    if names and (prefix is not None or idle is not None or every):
        raise InvalidArgument("Names and options are both given.", hint="Give names, or --prefix, --idle, --all.")
    if not names and prefix is None and idle is None and not every:
        raise InvalidArgument("Nothing says what to close.", hint="Give names, or --prefix, --idle, --all.")
    idle_ms = None if idle is None else _milliseconds(idle)

    unknown: list[OrchestratorError] = []

    async def work(orchestrator: Orchestrator) -> list[Closed]:
        if not names:
            wide = every or None
            return [await orchestrator.close_sessions(prefix=prefix, idle_ms=idle_ms, all=wide, detach=detach)]
        done = []
        for name in names:
            try:
                done.append(await orchestrator.close_session(name, detach=detach, **mark))
            except OrchestratorError as error:
                unknown.append(error)
        return done

    _tell(_visit(_settings(namespace), work), as_json=as_json)
    if unknown:
        raise unknown[0]


def _mark(status: str | None, reason: str | None, names: list[str] | None) -> dict[str, Any]:
    """What is told to the remote ends; each of them must be meant."""
    if status is None and reason is None:
        return {}
    if not names:
        raise InvalidArgument("--status and --reason are of sessions that are named.", hint="Give names.")
    found = Mark.of(status, reason)
    return {} if found is None else dict(found)


@app.command()
def log(
    name: Annotated[
        str, typer.Argument(help="The session; a closed one is remembered for a week.", show_default=False)
    ],
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Show what was done in a session, by whom, when and for how long, and what came of it; the newest comes last."""
    settings = _settings(namespace)
    found = _remembered(settings, name)
    if as_json:
        told = [one.model_dump(by_alias=True, mode="json", exclude_defaults=True) for one in found]
        typer.echo(json.dumps({"sessionId": name, "entries": told}, indent=2, ensure_ascii=False))
    else:
        typer.echo(table([_LOG_HEAD, *map(_log_row, found)]))


def _remembered(settings: Settings, name: str) -> list[Entry]:
    from orchestrator.activity import entries
    from orchestrator.ids import session_id
    from orchestrator.store.sqlite import FILE_NAME, SqliteStore

    chosen = session_id(name)
    record = None
    if (settings.home / FILE_NAME).exists():  # looking must not make one
        store = SqliteStore(settings.home)
        record = store.get(settings.namespace, chosen)
        store.disconnect()
    if record is None:
        raise SessionNotFound(chosen)
    return entries(settings.home, record)


@app.command()
def attach(
    remote_url: Annotated[str, typer.Argument(help="The WebDriver endpoint, or secret:NAME.", show_default=False)],
    remote_session_id: Annotated[str, typer.Argument(help="The session there.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="Its name here; browser-1, … unless given.")] = None,
    platform: Annotated[str, typer.Option(help="The type of session.")] = "browser",
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Take in a session that was started elsewhere, for the servers and scripts of the namespace to use by name."""

    async def work(orchestrator: Orchestrator) -> SessionFacts:
        session = await orchestrator.attach_session(remote_url, remote_session_id, name, platform=platform)
        return session.facts

    settings = _settings(namespace)
    # Nobody has it yet: it waits for its first use, also where nothing is to live on when a client goes.
    waiting = settings.model_copy(update={"park_ttl": settings.park_ttl or settings.idle_timeout})
    facts = _visit(waiting, work)
    if as_json:
        typer.echo(facts.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        typer.echo(f"{facts.session_id} is attached. It goes on at its remote end when it is closed here.")


@app.command("do", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def do(
    context: typer.Context,
    action: Annotated[str, typer.Argument(help="A tool that acts or looks, such as navigate.", show_default=False)],
    name: Annotated[str, typer.Option("--session", "-s", help="The session, parked or not.", show_default=False)],
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Do one thing in a session: the tool's parameters are options, such as --url.

    One that was parked comes back for it, and is parked again.
    """
    from orchestrator.api import Orchestrator
    from orchestrator.arguments import read

    orchestrator = Orchestrator(_settings(namespace), parking=True, door="cli")
    declared = orchestrator.actions.get(action)
    if declared is None:
        raise InvalidArgument(f"There is no action {action!r}.", hint=nearest(action, orchestrator.actions))
    wanted = read(declared, _given(context.args))
    outcome = _run(orchestrator, lambda facade: facade.perform(wanted, name))
    if as_json:
        typer.echo(json.dumps(orchestrator.redactor.data(outcome.data()), indent=2, ensure_ascii=False))
    else:
        typer.echo(orchestrator.redactor.text(outcome.render()))


def _given(words: Sequence[str]) -> dict[str, Any]:
    """Parameters as words of a command line: `--url X`, `--url=X`, and `--full-page` for what is true."""
    given: dict[str, Any] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, assigned, value = word.removeprefix("--").replace("-", "_").partition("=")
            given[name] = _value(value) if assigned else True
        elif name and given[name] is True:
            given[name] = _value(word)
        else:
            raise InvalidArgument(f"{word!r} belongs to no option.", hint="Write parameters as --name value.")
    return given


def _value(word: str) -> Any:
    """A value; lists and objects are JSON."""
    try:
        return json.loads(word) if word[:1] in {"[", "{"} else word
    except ValueError:
        return word


def _tell(done: list[Closed], *, as_json: bool) -> None:
    if as_json:
        merged = {name: [one for result in done for one in result.data().get(name, ())] for name in _PARTS}
        typer.echo(json.dumps(merged, indent=2, ensure_ascii=False))
    elif done:
        typer.echo("\n".join(dict.fromkeys(line for result in done for line in result.render().splitlines())))
    if any(result.failed for result in done):
        raise typer.Exit(1)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns of equal width; what would move the cursor is spelled out, since pages have said some of it."""
    rows = [[_plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _plain(text: str) -> str:
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _settings(namespace: str | None) -> Settings:
    return Settings.load({} if namespace is None else {"namespace": namespace})


def _visit(settings: Settings, work: Callable[[Orchestrator], Awaitable[AnswerT]]) -> AnswerT:
    from orchestrator.api import Orchestrator

    return _run(Orchestrator(settings, visiting=True, door="cli"), work)


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


def _log_row(entry: Entry) -> tuple[str, ...]:
    began = datetime.fromisoformat(entry.at).astimezone()
    step = "" if entry.step is None else f"{entry.step}. "
    arguments = " ".join(f"{name}={value}" for name, value in entry.arguments.items())
    came_to = ": ".join(filter(None, (entry.error or "ok", entry.message)))
    who = f"{entry.door} {entry.pid}"
    return (
        f"{began:%Y-%m-%d %H:%M:%S}",
        who,
        f"{step}{entry.action} {arguments}",
        f"{entry.duration_ms:.0f} ms",
        came_to,
    )


def _short(duration: float) -> str:
    for size, unit in _UNITS:
        if duration >= size:
            return f"{duration / size:.0f}{unit}"
    return f"{max(duration, 0):.0f}s"


def _milliseconds(text: str) -> int:
    try:
        return round(float(seconds(text)) * 1000)
    except ValueError as error:
        raise InvalidArgument(f"--idle: {error}.") from None
