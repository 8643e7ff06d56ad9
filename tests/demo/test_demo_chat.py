"""The demonstration `orchestrator demo chat`, run from a shell as a newcomer does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.demo.chat.scenario import PASSWORD_PREFIX

pytestmark = pytest.mark.timeout(300)

PASSWORD = re.compile(rf"{PASSWORD_PREFIX}[\w-]{{16}}".encode())


def demo(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the demonstration in a home of its own."""
    return subprocess.run(
        [sys.executable, "-m", "orchestrator", "demo", "chat", "--out", str(folder / "out"), *options],
        env={**os.environ, "ORCHESTRATOR_HOME": str(folder / "home"), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=280,
        check=False,
    )


def assert_no_password(folder: Path, run: subprocess.CompletedProcess[str]) -> None:
    """Fail if a password of the run is in its output or in a file that it left."""
    texts = {"output": run.stdout.encode(), "errors": run.stderr.encode()}
    texts |= {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert [name for name, text in texts.items() if PASSWORD.search(text)] == []


def size_of_png(path: Path) -> tuple[int, int]:
    """Read width and height from a PNG's header."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert head[12:16] == b"IHDR"
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def test_demo_chat_prints_latencies_and_saves_screenshots_without_showing_a_password(tmp_path: Path) -> None:
    """Both messages are seen, both latencies printed, both screenshots saved, and no password is in any output."""
    run = demo(tmp_path)

    assert run.returncode == 0, run.stdout + run.stderr
    for way in ("alice -> bob", "bob -> alice"):
        assert re.search(rf"{way}\s+latency +\d+\.\d ms", run.stdout)
    for name in ("alice", "bob"):
        screen = tmp_path / "out" / f"chat-{name}.png"
        assert size_of_png(screen) == (1280, 720)
        assert str(screen) in run.stdout
    assert_no_password(tmp_path, run)


@pytest.mark.full
@pytest.mark.usefixtures("needs_firefox")
def test_demo_chat_lets_a_user_of_chromium_and_one_of_firefox_chat(tmp_path: Path) -> None:
    """With `--browser firefox` both messages are seen and both screenshots saved, as between two of Chromium."""
    run = demo(tmp_path, "--browser", "firefox")

    assert run.returncode == 0, run.stdout + run.stderr
    assert "a browser for alice: chrome" in run.stdout
    assert "a browser for bob: firefox" in run.stdout
    for way in ("alice -> bob", "bob -> alice"):
        assert re.search(rf"{way}\s+latency +\d+\.\d ms", run.stdout)
    assert [size_of_png(tmp_path / "out" / f"chat-{name}.png") for name in ("alice", "bob")] == [(1280, 720)] * 2


@pytest.mark.full
def test_demo_chat_prints_a_tool_error_and_exits_with_1(tmp_path: Path) -> None:
    """A tool's error is printed unchanged, everything is closed, and the exit code is 1."""
    run = demo(tmp_path, ORCHESTRATOR_CHROME_BINARY=str(tmp_path / "no-such-browser"))

    assert run.returncode == 1, run.stdout + run.stderr
    assert "FAILED" in run.stdout
    assert "start_failed" in run.stdout
    assert "close_all_sessions" in run.stdout
    assert "Both messages were seen" not in run.stdout


@pytest.mark.full
def test_demo_chat_names_the_log_when_its_mcp_server_does_not_start(tmp_path: Path) -> None:
    """Without an answer of the MCP server the demonstration ends with one sentence and the path of the log."""
    (tmp_path / "file").write_text("not a folder", "utf-8")

    run = demo(tmp_path, ORCHESTRATOR_HOME=str(tmp_path / "file"))

    assert run.returncode == 1
    assert "chat-server.log" in run.stdout
    assert "Traceback" not in run.stdout
