"""The whole promise in one command: `orchestrator demo chat` from a shell, as a newcomer runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from orchestrator.demo.run_chat import PASSWORD_PREFIX

PASSWORD = re.compile(rf"{PASSWORD_PREFIX}[\w-]{{16}}".encode())


def demo(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the demonstration in a home of its own."""
    return subprocess.run(
        [sys.executable, "-m", "orchestrator", "demo", "chat", "--out", str(folder / "out")],
        env={**os.environ, "ORCHESTRATOR_HOME": str(folder / "home"), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )


def assert_no_password(folder: Path, run: subprocess.CompletedProcess[str]) -> None:
    """Look for a password of the run in what it said and in every file that it left."""
    texts = {"output": run.stdout.encode(), "errors": run.stderr.encode()}
    texts |= {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert [name for name, text in texts.items() if PASSWORD.search(text)] == []


def size_of_png(path: Path) -> tuple[int, int]:
    """Read width and height from a PNG's header."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert head[12:16] == b"IHDR"
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def test_two_users_chat(tmp_path: Path) -> None:
    """Both messages are seen, both latencies named, both screens saved, and no password is said."""
    run = demo(tmp_path)

    assert run.returncode == 0, run.stdout + run.stderr
    for way in ("alice -> bob", "bob -> alice"):
        assert re.search(rf"{way}\s+latency +\d+\.\d ms", run.stdout)
    for name in ("alice", "bob"):
        screen = tmp_path / "out" / f"chat-{name}.png"
        assert size_of_png(screen) == (1280, 720)
        assert str(screen) in run.stdout
    assert_no_password(tmp_path, run)


def test_failure_is_told(tmp_path: Path) -> None:
    """A tool's error is printed in its own words, everything is closed, and the exit code says so."""
    run = demo(tmp_path, ORCHESTRATOR_CHROME_BINARY=str(tmp_path / "no-such-browser"))

    assert run.returncode == 1, run.stdout + run.stderr
    assert "FAILED" in run.stdout
    assert "start_failed" in run.stdout
    assert "close_all_sessions" in run.stdout
    assert "Both messages were seen" not in run.stdout


def test_server_that_does_not_start_is_told(tmp_path: Path) -> None:
    """When no MCP server answers, the demonstration ends with a sentence and the place of the log."""
    (tmp_path / "file").write_text("not a folder", "utf-8")

    run = demo(tmp_path, ORCHESTRATOR_HOME=str(tmp_path / "file"))

    assert run.returncode == 1
    assert "chat-server.log" in run.stdout
    assert "Traceback" not in run.stdout
