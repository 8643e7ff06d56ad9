"""What is logged, where, and what never is."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from orchestrator import logs
from orchestrator.secrets import Redactor

SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    """Logging is one for the whole process: leave it as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


@pytest.fixture
def redactor() -> Redactor:
    """One that knows a secret."""
    redactor = Redactor()
    redactor.add(SECRET)
    return redactor


def fail(message: str) -> None:
    """Break in a frame of its own."""
    raise ValueError(message)


def lines(captured: Any) -> list[dict[str, Any]]:
    """What was logged; standard output stayed empty."""
    out, err = captured.readouterr()
    assert out == ""
    return [json.loads(line) for line in err.splitlines()]


def test_every_logger_writes_json_lines_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours, with its facts, and those of other packages, in one form."""
    logs.configure()
    structlog.get_logger("ours").info("it began", session="alice")
    logging.getLogger("theirs").warning("it %s", "ended")
    ours, theirs = lines(capsys)
    assert (ours["event"], ours["session"], ours["level"], ours["logger"]) == ("it began", "alice", "info", "ours")
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("it ended", "warning", "theirs")
    assert ours["timestamp"].endswith("Z")


def test_secrets_are_struck_out(capsys: pytest.CaptureFixture[str], redactor: Redactor) -> None:
    """In messages, in facts, and in tracebacks."""
    logs.configure(redactor=redactor)
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
def test_commands_are_never_logged(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Their debug lines hold what is typed, whatever level was asked for."""
    logs.configure("debug")
    logging.getLogger(name).debug("POST /element/value %s", SECRET)
    structlog.get_logger().debug("but ours are")
    [line] = lines(capsys)
    assert line["event"] == "but ours are"


def test_the_last_configuration_counts(capsys: pytest.CaptureFixture[str], redactor: Redactor) -> None:
    """The secrets are known only once the server is made."""
    log = structlog.get_logger()
    logs.configure()
    logs.configure("warning", redactor=redactor)
    log.info("not this")
    log.warning(SECRET)
    [line] = lines(capsys)
    assert line["event"] == "•••"


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """No JSON, and a traceback as Python writes it."""
    logs.configure(style="console")
    try:
        fail("no")
    except ValueError:
        structlog.get_logger().exception("broke", session="alice")
    shown = capsys.readouterr().err
    assert "broke" in shown
    assert "session=alice" in shown
    assert "Traceback (most recent call last)" in shown
