"""The command line: a quick help, settings as options, wrong input reported in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator import __version__
from orchestrator.cli.serve import make_parser
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


def test_version_prints_the_version_alone() -> None:
    """The option --version prints nothing but the version."""
    assert run("--version").stdout == f"{__version__}\n"


def test_help_names_the_commands() -> None:
    """The help lists all commands."""
    shown = run("--help").stdout
    assert "serve" in shown
    assert "demo" in shown


def test_every_setting_is_an_option_of_serve() -> None:
    """Options of serve are derived from the settings, with their descriptions."""
    shown = " ".join(run("serve", "--help").stdout.split())
    for name, field in Settings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in shown
        assert field.description is not None
        assert " ".join(field.description.split()) in shown
    assert "--no-headless" in shown
    assert "--log-level" in shown
    assert "--log-format" in shown


def test_the_command_line_imports_no_heavy_packages_at_start() -> None:
    """MCP, browsers and databases are imported by the commands that need them."""
    code = "import sys, orchestrator.cli.commands; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"mcp", "selenium", "sqlite3", "starlette"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("arguments", [(), ("serve",)], ids=["nothing", "serve"])
def test_the_command_serves_over_stdio_when_there_is_no_terminal(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """The server starts with and without the word serve, and standard output stays the protocol's."""
    done = run(*arguments, ORCHESTRATOR_HOME=str(tmp_path), ORCHESTRATOR_MAX_OUTPUTT="1")
    assert done.returncode == 0
    assert done.stdout == ""
    assert "ORCHESTRATOR_MAX_OUTPUTT (did you mean ORCHESTRATOR_MAX_OUTPUT?)" in done.stderr
    assert '"event": "serving over stdio"' in done.stderr


def test_options_win_over_the_environment(tmp_path: Path) -> None:
    """An option on the command line overrides the environment variable of that setting."""
    done = run("serve", "--namespace", "given", ORCHESTRATOR_HOME=str(tmp_path), ORCHESTRATOR_NAMESPACE="other")
    assert '"namespace": "given"' in done.stderr


def test_an_empty_option_counts_as_not_given(tmp_path: Path) -> None:
    """`--home "$UNSET"` does not make the working folder the data folder: the environment variable applies then."""
    here = {path.name for path in Path.cwd().glob("sessions.db*")}
    run("serve", "--home", "", ORCHESTRATOR_HOME=str(tmp_path))
    assert (tmp_path / "sessions.db").exists()
    assert {path.name for path in Path.cwd().glob("sessions.db*")} == here


def test_an_operating_system_error_is_printed_as_one_line(tmp_path: Path) -> None:
    """An error of the operating system ends with exit code 1 and no traceback."""
    (tmp_path / "file").write_text("")
    done = run("demo", "chat", "--out", str(tmp_path / "file" / "below"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("[Errno ")
    assert len(done.stderr.splitlines()) == 1


def test_an_invalid_setting_is_printed_as_one_line() -> None:
    """An invalid setting ends with exit code 2 and no traceback."""
    done = run("serve", "--start-timeout", "soon")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Setting 'start_timeout'")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [("--max-outputt", "1"), ("--log-level", "loud"), ("--namespace",), ("extra",)])
def test_wrong_options_of_serve_are_reported_in_one_line(words: tuple[str, ...]) -> None:
    """An unknown option, a wrong or missing value, a stray word: exit code 2, and where to find the options."""
    done = run("serve", *words)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("orchestrator serve: ")
    assert line.endswith(" orchestrator serve --help lists the options.")


def test_options_of_serve_are_taken_in_either_spelling() -> None:
    """`--name value` and `--name=value`; a switch has a negative; an option not given is left to the other sources."""
    parsed = make_parser().parse_args(["--namespace=a b", "--no-headless", "--max-sessions", "3", "--log-level=debug"])
    expected = {"namespace": "a b", "headless": False, "max_sessions": "3", "log_level": "debug", "log_format": "json"}
    assert vars(parsed) == expected


def test_an_unknown_command_exits_with_code_2() -> None:
    """An unknown command ends with exit code 2, as any wrong input does."""
    assert run("srve").returncode == 2


def test_the_console_log_format_is_no_json_and_obeys_the_log_level(tmp_path: Path) -> None:
    """The console format writes no JSON, and nothing below the log level."""
    done = run("serve", "--log-format", "console", ORCHESTRATOR_HOME=str(tmp_path))
    assert "serving over stdio" in done.stderr
    assert "{" not in done.stderr
    quiet = run("serve", "--log-level", "warning", ORCHESTRATOR_HOME=str(tmp_path))
    assert quiet.stderr == ""
