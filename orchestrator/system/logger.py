"""Loggers whose library is loaded with the first message: most short processes have none."""

from __future__ import annotations

from typing import Any


def get_logger(name: str) -> Any:
    """Return structlog's logger of this name."""
    import structlog  # noqa: PLC0415 — it loads more modules than all of a command's own work

    return structlog.get_logger(name)
