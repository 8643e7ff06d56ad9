"""The embedded JavaScript engine: evaluates code within limits on time and memory, and can always be stopped."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from orchestrator.errors import Unsupported

_MODULES = ("py_mini_racer", "tree_sitter", "tree_sitter_javascript")
_PROGRAM = Path(__file__).with_name("isolate.py")
_NEEDED = ("SYSTEMROOT", "PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python needs of the environment to begin; nothing else of it is a script's business."""
_LOOK = 0.05
"""Seconds between two looks at an evaluation that takes long, and between two at the memory."""
_BESIDE = 4
"""How many times the limit the process may grow: typed arrays lie outside the engine's heap."""
_PLACE = re.compile(r"(?:script-\d+|<anonymous>):(\d+): (.*)")


class TookTooLong(Exception):
    """The evaluation did not end in time, and was stopped."""


class OutOfMemory(Exception):
    """The evaluation took more memory than it may, and was stopped."""


class Thrown(Exception):
    """The code itself threw, and did not catch it."""


class WrongSyntax(Exception):
    """The code cannot be read; `line` is where."""

    def __init__(self, said: str, line: int | None) -> None:
        super().__init__(said)
        self.said = said
        self.line = line


def installed() -> bool:
    """Whether the engine is there."""
    return all(find_spec(name) for name in _MODULES)


def need() -> None:
    """Say how to get the engine where it is missing.

    Raises:
        Unsupported: It is not installed.
    """
    if not installed():
        raise Unsupported(
            "run_script needs a JavaScript engine, which is not installed.",
            hint='Run: pip install "webdriver-orchestrator[script]", then start the server again.',
        )


class Engine:
    """One isolated heap with its own globals, in a process of its own, see `isolate`. Used by one thread at a time.

    Args:
        memory: Bytes that its heap may have.

    Attributes:
        ended: Whether its process is no more.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_PROGRAM), str(memory), _found_in()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _NEEDED if name in os.environ},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._answers: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._asked = 0
        self.ended = False
        self._before = 0
        self._looked = 0.0
        threading.Thread(target=self._listen, name="script", daemon=True).start()

    def evaluate(self, code: str, seconds: float, check: Callable[[], None] = lambda: None) -> Any:
        """The value of a script's last expression: a number, a string or nothing.

        `check` is called while it runs, and may raise.

        Raises:
            TookTooLong, OutOfMemory: It was stopped. The engine is of no further use then.
            WrongSyntax: It cannot be read.
            Thrown: It threw.
        """
        self._asked += 1
        self._tell("eval", self._asked, code)
        try:
            answer = self._answer(seconds, check)
        except BaseException:
            self._tell("stop", self._asked)
            raise
        if "value" in answer:
            return answer["value"]
        if answer["error"] == "syntax":
            raise _syntax(answer["said"])
        if answer["error"] == "thrown":
            raise Thrown(answer["said"].strip().splitlines()[0])
        raise OutOfMemory("it takes too much memory")

    def _answer(self, seconds: float, check: Callable[[], None]) -> Mapping[str, Any]:
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            try:
                answer = self._answers.get(timeout=max(0.0, min(_LOOK, left)))
            except queue.Empty:
                check()
                if left <= 0:
                    raise TookTooLong("it takes too long") from None
                self._look()
                continue
            if answer["to"] != self._asked:
                continue  # to one that was stopped
            self._before = self._before or self._size()
            if time.monotonic() - self._looked > _LOOK:
                self._look()
            return answer

    def _look(self) -> None:
        """See how much more memory it takes than when it had started, all that its scripts have kept included."""
        if self.ended or (self._before and self._size() - self._before > _BESIDE * self._memory):
            raise OutOfMemory("it takes too much memory")
        self._looked = time.monotonic()

    def _size(self) -> int:
        """Bytes that it takes; on Linux without the files that it has mapped, which it reads piece by piece."""
        try:
            found = psutil.Process(self._process.pid).memory_info()
        except psutil.Error:
            return 0
        return int(found.rss) - int(getattr(found, "shared", 0))

    def last_word(self, code: str, seconds: float) -> Any:
        """The value of a script's last expression, also after it was stopped.

        Raises:
            TookTooLong, OutOfMemory, WrongSyntax, Thrown: It cannot say any more.
        """
        self._before = 0
        self._tell("limit", 2 * self._memory)
        return self.evaluate(code, seconds)

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()  # whoever listens to it collects it

    def _tell(self, *words: Any) -> None:
        pipe = self._process.stdin
        if pipe is not None:
            with suppress(OSError, ValueError):  # it has ended, which is told where an answer is waited for
                pipe.write(json.dumps(words).encode() + b"\n")
                pipe.flush()

    def _listen(self) -> None:
        """Take its answers until it ends."""
        for line in self._process.stdout or ():
            if line.endswith(b"\n"):  # the last one may be half of one
                self._answers.put(json.loads(line))
        self.ended = True
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()


def _found_in() -> str:
    """The folder in which its process finds the engine, wherever that was installed to."""
    found = find_spec("py_mini_racer")
    return str(Path(found.origin).parents[1]) if found and found.origin else ""


def _syntax(said: str) -> WrongSyntax:
    found = _PLACE.search(said)
    return WrongSyntax(found[2], int(found[1])) if found else WrongSyntax(said.splitlines()[0], None)
