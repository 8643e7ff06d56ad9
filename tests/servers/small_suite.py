"""A folder of small tests with the conftest of this suite, for runs inside a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[1] / "conftest.py"


class SmallSuite:
    """A folder of tests, and runs of it.

    Attributes:
        folder: The folder.
        temporary: The temporary folder of its runs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        shutil.copy(CONFTEST, folder)
        (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")

    def write(self, **files: str) -> None:
        """Write files of tests, by name without `.py`."""
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text, "utf-8")

    def begin(self, module: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a module of Python, such as pytest, in the folder."""
        env = {
            **os.environ,
            "TMPDIR": str(self.temporary),
            # Each plug-in costs its import, in each process.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "-p no:cacheprovider -p xdist -p pytest_timeout",
            "LEAK_GRACE": "1",
        }
        command = [sys.executable, "-m", module, *arguments]
        return subprocess.Popen(
            command, cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def run(self, module: str, *arguments: str) -> tuple[int, str]:
        """Run a module to its end; return the exit code and the output."""
        with self.begin(module, *arguments) as begun:
            output, _ = begun.communicate(timeout=110)
        return begun.returncode, output
