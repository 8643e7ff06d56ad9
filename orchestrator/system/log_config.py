"""Configures logging: one JSON object per line on standard error, without secrets.

Standard output belongs to the protocol. Logs of other packages take the same way.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from orchestrator.system.secrets import Redactor

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["json", "console"]

_AT_LEAST = {
    **dict.fromkeys(("selenium", "urllib3", "appium", "websockets"), logging.WARNING),
    "mcp": logging.INFO,
}
"""Lowest levels of packages whose debug lines hold whole commands and headers, hence typed passwords, too."""


def configure(level: Level = "info", style: Format = "json", redactor: Redactor | None = None) -> None:
    """Send every log line of this process to standard error; a later call replaces the configuration."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=_rendering(style, redactor or Redactor()),
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name, least in _AT_LEAST.items():
        logging.getLogger(name).setLevel(max(least, root.level))
    logging.captureWarnings(capture=True)


def _rendering(style: Format, redactor: Redactor) -> list[Processor]:
    def redact(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        clean: EventDict = redactor.data(event)
        return clean

    def redact_text(_: WrappedLogger, __: str, line: str) -> str:
        return redactor.text(line)

    last: list[Processor] = (
        [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)]
        if style == "console"
        else [structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    plain: list[Processor] = [structlog.processors.format_exc_info] if style == "json" else []
    meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    return [meta, *plain, redact, *last, redact_text]  # type: ignore[list-item]
