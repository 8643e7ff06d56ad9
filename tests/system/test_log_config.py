"""Logging: records, their destination, and data that is never logged."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from orchestrator.system import log_config
from orchestrator.system.secrets import Redactor

SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    """Restore the logging configuration, which is global to the process."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


@pytest.fixture
def redactor() -> Redactor:
    """A redactor with a secret."""
    redactor = Redactor()
    redactor.add(SECRET)
    return redactor


def fail(message: str) -> None:
    """Raise an exception in a frame of its own."""
    raise ValueError(message)


def lines(captured: Any) -> list[dict[str, Any]]:
    """Return the logged lines; standard output must be empty."""
    out, err = captured.readouterr()
    assert out == ""
    return [json.loads(line) for line in err.splitlines()]


def test_every_logger_writes_json_lines_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Own loggers and those of other packages write JSON lines of one form."""
    log_config.configure()
    structlog.get_logger("ours").info("it began", session="alice")
    logging.getLogger("theirs").warning("it %s", "ended")
    ours, theirs = lines(capsys)
    assert (ours["event"], ours["session"], ours["level"], ours["logger"]) == ("it began", "alice", "info", "ours")
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("it ended", "warning", "theirs")
    assert ours["timestamp"].endswith("Z")


def test_secrets_are_redacted_from_logs(capsys: pytest.CaptureFixture[str], redactor: Redactor) -> None:
    """Secrets are redacted in messages, in facts and in tracebacks."""
    log_config.configure(redactor=redactor)
    logging.getLogger("theirs").warning("typed %s", SECRET)
    structlog.get_logger().info("typed", keys=[SECRET], error=ValueError(SECRET))
    try:
        fail(SECRET)
    except ValueError:
        structlog.get_logger().exception("broke")
    shown = json.dumps(lines(capsys), ensure_ascii=False)
    assert "hunter2" not in shown
    assert "Traceback" in shown
    assert shown.count("•••") >= 4


@pytest.mark.parametrize("name", ["selenium.webdriver.remote.remote_connection", "urllib3.connectionpool"])
def test_webdriver_commands_are_never_logged(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Debug lines of selenium and urllib3 contain typed text, so they are dropped at any level."""
    log_config.configure("debug")
    logging.getLogger(name).debug("POST /element/value %s", SECRET)
    structlog.get_logger().debug("but ours are")
    [line] = lines(capsys)
    assert line["event"] == "but ours are"


def test_the_last_logging_configuration_counts(capsys: pytest.CaptureFixture[str], redactor: Redactor) -> None:
    """Configuring again replaces level and redactor, since secrets are known only later."""
    log = structlog.get_logger()
    log_config.configure()
    log_config.configure("warning", redactor=redactor)
    log.info("not this")
    log.warning(SECRET)
    [line] = lines(capsys)
    assert line["event"] == "•••"


def test_console_logs_are_plain_text_with_python_tracebacks(capsys: pytest.CaptureFixture[str]) -> None:
    """The console style writes no JSON, and a traceback as Python writes it."""
    log_config.configure(style="console")
    try:
        fail("no")
    except ValueError:
        structlog.get_logger().exception("broke", session="alice")
    shown = capsys.readouterr().err
    assert "broke" in shown
    assert "session=alice" in shown
    assert "Traceback (most recent call last)" in shown
