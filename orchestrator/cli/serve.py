"""The command `orchestrator serve`: an MCP server over stdin and stdout, or over HTTP.

Clients wait for its list of tools before anything else. So neither typer nor the orchestrator is loaded for that: the
options are those of argparse, which loads quickly, and the orchestrator is loaded afterwards.
"""

from __future__ import annotations

import argparse
import functools
import gc
import logging
import os
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import anyio

from orchestrator.actions import ENTRY_POINTS
from orchestrator.cli.argument_parser import ArgumentParser
from orchestrator.cli.error_report import report_error
from orchestrator.mcp_server.stdio import serve_stdio
from orchestrator.mcp_server.tool_list import check_tool_names
from orchestrator.settings import FILE_NAME, LOCAL_HTTP_ADDRESS, Settings, ignored_in_project, unknown_variables

if TYPE_CHECKING:
    from orchestrator.api import Orchestrator
    from orchestrator.mcp_server.tool_calls import ToolCalls
    from orchestrator.system.log_config import Format, Level
    from orchestrator.system.secrets import Redactor

_LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")
_FORMATS: tuple[Format, ...] = ("json", "console")
_COLLECTOR = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables of OpenTelemetry that say where spans go; without one nothing of it is loaded."""

_ConfigureLogs = Callable[["Redactor | None"], None]


def run(words: Sequence[str]) -> None:
    """Serve MCP until the client goes, with the options that these words give."""
    options = vars(make_parser().parse_args(words))
    level, style = options.pop("log_level"), options.pop("log_format")
    configure_logs = functools.partial(_configure_logs, level, style)
    # An empty option counts as not given, like an empty variable.
    settings = Settings.load({name: value for name, value in options.items() if value != ""})
    logging.basicConfig(level=level.upper(), handlers=[_FirstRecord(configure_logs)])
    if not entry_points(group=ENTRY_POINTS):  # else only loading them shows which tools there are
        check_tool_names(settings)
    if any(os.environ.get(name) for name in _COLLECTOR):
        from orchestrator.mcp_server.tracing import send_spans

        send_spans()
    if settings.http is not None:
        _serve_http(settings, configure_logs)
        return
    anyio.run(serve_stdio, settings, functools.partial(_load, settings, configure_logs), report_error)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options: each setting has one."""
    parser = ArgumentParser(
        prog="orchestrator serve",
        usage="%(prog)s [OPTIONS]",
        description="Serve MCP over standard input and output, or over HTTP.",
    )
    for name, field in Settings.model_fields.items():
        option = f"--{name.replace('_', '-')}"
        text = (field.description or "").replace("%", "%%")
        if name == "http":
            parser.add_argument(option, metavar="HOST:PORT", nargs="?", const=LOCAL_HTTP_ADDRESS, help=text)
        elif field.annotation is bool:
            parser.add_argument(option, action=argparse.BooleanOptionalAction, help=text)
        else:
            shown = f" [default: {field.default}]" if field.default and not field.default_factory else ""
            parser.add_argument(option, metavar="VALUE", help=f"{text}{shown}")
    shown = "[default: %(default)s]"
    parser.add_argument("--log-level", choices=_LEVELS, default="info", help=f"How much goes to stderr. {shown}")
    parser.add_argument(
        "--log-format", choices=_FORMATS, default="json", help=f"json for machines, console for people. {shown}"
    )
    return parser


class _FirstRecord(logging.Handler):
    """Configures the logs when the first record is logged: most servers list their tools without one."""

    def __init__(self, configure: _ConfigureLogs) -> None:
        super().__init__()
        self._configure = configure

    def emit(self, record: logging.LogRecord) -> None:
        self._configure(None)
        logger = logging.getLogger(record.name)
        if logger.isEnabledFor(record.levelno):
            logger.handle(record)


def _configure_logs(level: Level, style: Format, redactor: Redactor | None) -> None:
    from orchestrator.system import log_config

    log_config.configure(level, style, redactor)


def _serve_http(settings: Settings, configure_logs: _ConfigureLogs) -> None:
    """Serve over HTTP; what that takes is loaded by this alone."""
    from orchestrator.mcp_server.http.server import LogRedactor, serve_http
    from orchestrator.system.host.shortages import raise_file_limit

    raise_file_limit()
    redactor = LogRedactor()
    configure_logs(redactor)
    _warn_about_settings(settings)
    gc.freeze()
    gc.enable()
    anyio.run(serve_http, settings, redactor)


def _load(settings: Settings, configure_logs: _ConfigureLogs) -> tuple[Orchestrator, ToolCalls]:
    """Load the orchestrator and its tools; the garbage collector works from now on, but not on what is loaded."""
    import structlog

    from orchestrator.api import Orchestrator
    from orchestrator.mcp_server.tool_calls import ToolCalls
    from orchestrator.mcp_server.tracing import choose_meter
    from orchestrator.system.host.shortages import raise_file_limit

    raise_file_limit()
    orchestrator = Orchestrator(settings, adopt_orphans=True, park_on_exit=True, door="mcp", meter=choose_meter())
    configure_logs(orchestrator.redactor)
    _warn_about_settings(settings)
    log = structlog.get_logger("orchestrator")
    for plug_in in orchestrator.actions.plug_ins:
        if plug_in.reason:
            log.warning("plug-in refused", name=plug_in.name, reason=plug_in.reason)
    calls = ToolCalls(orchestrator)
    gc.freeze()
    gc.enable()
    return orchestrator, calls


def _warn_about_settings(settings: Settings) -> None:
    """Log what of the settings has no effect, and a data folder that others can read."""
    import structlog

    from orchestrator.system.host import home_folder

    log = structlog.get_logger("orchestrator")
    if home_folder.stays_open(settings.home):
        log.warning("the data folder stays open to other users", home=str(settings.home))
    for name in unknown_variables(os.environ):
        log.warning("unknown environment variable", variable=name)
    for name in ignored_in_project(settings.home):
        log.warning("the working folder's file cannot choose this setting", file=FILE_NAME, setting=name)
