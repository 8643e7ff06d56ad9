"""Runs commands one after the other, each with a limit, and says at the end what failed and how.

Usage: python3 steps.py SECONDS [SECONDS COMMAND]... with the limit of all first. A command that fails does not keep the
later ones from running, unless it is the first: without what it installs there is nothing to run. What a limit ends is
sent SIGINT and, a minute later, SIGKILL; before that the stacks of its Python processes that print them on SIGUSR1 are
shown, and the processes of this machine.

Exit code 0 if every command ended with 0, else 1. Needs Python 3.11 alone: nothing is installed yet.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

GRACE = float(os.environ.get("STEP_GRACE", "60"))
"""Seconds between SIGINT and SIGKILL."""
PRINTED_WITHIN = 1.0
"""Seconds for a process to print its stacks."""
LAST_LINES = 40
"""Lines of a failed step that are repeated at the end, unless it says itself where its outcome begins."""


class Step:
    """A command under way, in a process group of its own; its output is passed on and kept."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.lines: list[str] = []
        self.failure = ""
        self.seconds = 0.0
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def run(self, limit: float) -> None:
        """Wait for the end, or bring it about at the limit."""
        began = time.monotonic()
        try:
            status = self._process.wait(limit)
            self.failure = f"exit status {status}" if status else ""
        except subprocess.TimeoutExpired:
            self.failure = f"not ended after {limit:.0f} s"
            say(f"== {self.command}: {self.failure}")
            show_stacks(self._process.pid)
            show_processes()
        finally:
            if self._process.poll() is None:
                self.end()
        # Whoever holds the pipe after that is none of the step.
        self._reader.join(5)
        self.seconds = time.monotonic() - began

    def end(self) -> None:
        """Interrupt the whole group; kill what is left of it after the grace."""
        self._signal(signal.SIGINT)
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self._process.wait()

    def outcome(self) -> list[str]:
        """Return the last lines: from the line `== outcome` on, if there is one."""
        if "== outcome" in self.lines:
            return self.lines[len(self.lines) - self.lines[::-1].index("== outcome") :]
        return self.lines[-LAST_LINES:] if self.failure else []

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
            say(self.lines[-1])


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def show_stacks(root: int) -> None:
    """Let each Python process below this one print its stacks, if it is prepared to."""
    for pid in below(root):
        if handles(pid, signal.SIGUSR1) and read(pid, "comm").startswith("python"):
            say(f"== the stacks of process {pid}")
            os.kill(pid, signal.SIGUSR1)
            time.sleep(PRINTED_WITHIN)


def show_processes() -> None:
    """Print the processes of this machine as a tree."""
    say("== the processes")
    listed = subprocess.run(
        ["ps", "-e", "--forest", "-o", "pid,stat,etimes,rss,args"], capture_output=True, text=True, check=False
    )
    for line in listed.stdout.splitlines():
        say(line[:160])


def below(root: int) -> list[int]:
    """Return the pids of a process and of those below it."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += [int(child) for child in _text(task).split()]
    return found


def handles(pid: int, number: int) -> bool:
    """Return True if a process has a handler for a signal."""
    caught = [line for line in read(pid, "status").splitlines() if line.startswith("SigCgt:")]
    return bool(caught) and bool(int(caught[0].split()[1], 16) >> (number - 1) & 1)


def read(pid: int, name: str) -> str:
    """Return a file about a process; nothing if there is none."""
    return _text(Path(f"/proc/{pid}/{name}"))


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def main(words: list[str]) -> int:
    """Run the steps, say what came of them; return the exit code."""
    left, steps = float(words[0]), []
    for limit, command in zip(map(float, words[1::2]), words[2::2], strict=True):
        say(f"== {command}")
        step = Step(command)
        steps.append(step)
        step.run(max(1.0, min(limit, left)))
        left -= step.seconds
        say(f"== {command}: {step.failure or 'passed'}, {step.seconds:.0f} s")
        if step.failure and len(steps) == 1:
            break
    for step in steps:
        if lines := step.outcome():
            say(f"== the end of {step.command}")
            say("\n".join(lines))
    failed = [step.command for step in steps if step.failure]
    say(f"== failed: {', '.join(failed)}" if failed else "== passed")
    return int(bool(failed))


def _exit(number: int, _: object) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    # The steps are in groups of their own, and do not get them. Where SIGINT was ignored, as in the background of a
    # shell, the steps would ignore it, too.
    signal.signal(signal.SIGINT, _exit)
    signal.signal(signal.SIGTERM, _exit)
    sys.exit(main(sys.argv[1:]))
