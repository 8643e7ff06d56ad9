"""The command line: help is quick, settings are options, wrong input is one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator import __version__
from orchestrator.settings import Settings

ORCHESTRATOR = [sys.executable, "-m", "orchestrator"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with no input."""
    return subprocess.run(
        [*ORCHESTRATOR, *arguments],
        env={**os.environ, "COLUMNS": "200", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_version() -> None:
    """Nothing but the version."""
    assert run("--version").stdout == f"{__version__}\n"


def test_help_names_the_commands() -> None:
    """What there is, and nothing that is not built."""
    shown = run("--help").stdout
    assert "serve" in shown
    assert "demo" in shown


def test_every_setting_is_an_option() -> None:
    """Derived from the settings themselves, with their words."""
    shown = " ".join(run("serve", "--help").stdout.split())
    for name, field in Settings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in shown
        assert field.description is not None
        assert " ".join(field.description.split()) in shown
    assert "--no-headless" in shown
    assert "--log-level" in shown
    assert "--log-format" in shown


def test_help_does_not_wait_for_heavy_packages() -> None:
    """MCP, browsers and databases are imported by the commands that need them."""
    code = "import sys, orchestrator.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"mcp", "selenium", "sqlite3", "starlette"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("arguments", [(), ("serve",)], ids=["nothing", "serve"])
def test_without_a_terminal_it_serves(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """A client starts it without arguments as well; standard output stays the protocol's."""
    done = run(*arguments, ORCHESTRATOR_HOME=str(tmp_path), ORCHESTRATOR_MAX_OUTPUTT="1")
    assert done.returncode == 0
    assert done.stdout == ""
    assert "ORCHESTRATOR_MAX_OUTPUTT (did you mean ORCHESTRATOR_MAX_OUTPUT?)" in done.stderr
    assert '"event": "serving over stdio"' in done.stderr


def test_options_win_over_the_environment(tmp_path: Path) -> None:
    """The nearest to the command line counts."""
    done = run("serve", "--namespace", "given", ORCHESTRATOR_HOME=str(tmp_path), ORCHESTRATOR_NAMESPACE="other")
    assert '"namespace": "given"' in done.stderr


def test_an_empty_option_is_none(tmp_path: Path) -> None:
    """`--home "$UNSET"` does not make the working folder the data folder: the variable counts then."""
    here = {path.name for path in Path.cwd().glob("sessions.db*")}
    run("serve", "--home", "", ORCHESTRATOR_HOME=str(tmp_path))
    assert (tmp_path / "sessions.db").exists()
    assert {path.name for path in Path.cwd().glob("sessions.db*")} == here


def test_what_the_system_refuses_is_one_sentence(tmp_path: Path) -> None:
    """Exit code 1, no traceback."""
    (tmp_path / "file").write_text("")
    done = run("demo", "chat", "--out", str(tmp_path / "file" / "below"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("[Errno ")
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_setting_is_one_sentence() -> None:
    """Exit code 2, no traceback."""
    done = run("serve", "--start-timeout", "soon")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Setting 'start_timeout'")
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_command_is_wrong_input() -> None:
    """Exit code 2, as for any wrong input."""
    assert run("srve").returncode == 2


def test_logs_for_people(tmp_path: Path) -> None:
    """Readable, and as quiet as asked for."""
    done = run("serve", "--log-format", "console", ORCHESTRATOR_HOME=str(tmp_path))
    assert "serving over stdio" in done.stderr
    assert "{" not in done.stderr
    quiet = run("serve", "--log-level", "warning", ORCHESTRATOR_HOME=str(tmp_path))
    assert quiet.stderr == ""
