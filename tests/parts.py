"""The parts of all tests, each of which takes at most a quarter of an hour, and their runs.

Usage: `python -m tests.parts [PART ...]`; without a part it runs all of them, one after the other. Exit code 0: every
test passed, at least when tried again; 2: there is no such part.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.decide import SIDE_BY_SIDE, make_runs

FOLDERS = {
    "page": ("automation", "e2e/acting", "e2e/flows", "e2e/network", "e2e/seeing", "snapshot"),
    "remotes": ("e2e/apps", "e2e/firefox", "e2e/providers", "providers", "webdriver"),
    "life": ("demo", "e2e/execution", "e2e/sessions", "lifecycle", "network", "sessions", "system"),
    "doors": (
        "actions",
        "cli",
        "e2e/doors",
        "mcp_server",
        "models",
        "servers",
        "test_errors.py",
        "test_session_methods.py",
        "test_settings.py",
    ),
    "project": ("project", "pytest_plugin"),
}
"""Folders and files below `tests` by part. Each has its tests of the tiers required and full."""

ELSEWHERE = {"remotes": ("firefox", "webkitgtk", "grid")}
"""Places other than the local Chromium in which a part runs the core set, too."""

PARTS = (*FOLDERS, "clock")


def runs_of(part: str) -> list[Sequence[str]]:
    """Return the arguments of pytest of each run of a part."""
    if part == "clock":
        return [("--tier", "clock")]
    paths = [f"tests/{folder}" for folder in FOLDERS[part]]
    core = [("tests/e2e", "-m", "core", "--on", place) for place in ELSEWHERE.get(part, ())]
    return [(*paths, "--tier", "required", "--tier", "full", *SIDE_BY_SIDE), *core]


def main(names: Sequence[str]) -> int:
    """Make the runs of these parts, or of all; return the exit code."""
    if unknown := set(names) - set(PARTS):
        print(f"There is no part {', '.join(sorted(unknown))}: {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    codes: list[int] = []
    lines: list[str] = []
    for part in names or PARTS:
        began = time.monotonic()
        codes.append(make_runs(runs_of(part)))
        lines.append(f"== {part} {'failed' if codes[-1] else 'passed'} after {(time.monotonic() - began) / 60:.0f} min")
    print("\n".join(lines))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
