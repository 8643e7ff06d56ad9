"""The chromedriver of this machine behind a script that starts it when it is told to."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

_SCRIPT = """\
#!/bin/sh
[ "$1" = --version ] && exec {real} "$@"
while :; do
  for leave in {folder}/*; do rm "$leave" 2>/dev/null && exec {real} "$@"; done
  sleep 0.02
done
"""
"""Takes one of the files in a folder as its leave to start: a file can be removed only once."""


class SlowDriver:
    """A chromedriver whose start takes as long as the test wants.

    Attributes:
        program: The program, for the setting `chromedriver`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "leave"
        self._folder.mkdir()
        self._numbers = itertools.count()
        self.program = folder / "chromedriver"
        self.program.write_text(_SCRIPT.format(real=shutil.which("chromedriver"), folder=self._folder))
        self.program.chmod(0o755)

    def go(self) -> None:
        """Let one start go on, be it waiting already or not yet."""
        (self._folder / str(next(self._numbers))).touch()
