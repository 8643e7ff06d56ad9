"""Runs the doctor's self-tests here, and writes the tables of docs/own_browsers.md.

By hand, since times differ from run to run: `python -m tests.generators.self_tests`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.demo.device_server import DeviceServer
from tests.generators.behaviours import table
from tests.servers.appium import POCKET
from tests.servers.geckodriver import GECKODRIVER
from tests.servers.grid import grid_end

PAGE = Path(__file__).parents[2] / "docs" / "own_browsers.md"
BEGINS = "<!-- Written by `python -m tests.generators.self_tests`. -->"
ENDS = "<!-- End of the generated part. -->"

PAGES: Mapping[str, Sequence[str]] = {
    "Chromium": ("chrome",),
    "Firefox": ("firefox",),
    "WebKitGTK": ("webkitgtk",),
    "a Grid": ("selenium_grid", "--options", "url={grid}"),
    "Safari, simulated iPhone": ("appium", "--platform", "ios", "--browser", "safari", "--options", "url={appium}"),
    "Chrome, simulated Pixel": ("appium", "--platform", "android", "--browser", "chrome", "--options", "url={appium}"),
}
"""The words of each self-test on a web page, by the column's title."""
APPS: Mapping[str, Sequence[str]] = {
    "Settings, simulated iPhone": ("appium", "--platform", "ios", "--options", "url={appium}"),
    "Settings, simulated Pixel": ("appium", "--platform", "android", "--options", "url={appium}"),
    "an app, simulated iPhone": ("appium", "--platform", "ios", "--app", str(POCKET), "--options", "url={appium}"),
    "an app, simulated Pixel": ("appium", "--platform", "android", "--app", str(POCKET), "--options", "url={appium}"),
}
"""Those in an app."""


def write_tables() -> None:
    """Run every self-test and write the tables."""
    with grid_end(1, 1) as grid, DeviceServer() as phones:
        found = [_run_checks(places, grid.url, phones.url) for places in (PAGES, APPS)]
    before, _, rest = PAGE.read_text("utf-8").partition(BEGINS)
    software = {data["software"] for data in {**found[0], **found[1]}.values()}
    parts = [f"By {', '.join(sorted(software))}:", _session_table({**found[0], **found[1]}), *map(_action_table, found)]
    text = "\n\n".join(part.strip() for part in parts)
    PAGE.write_text(f"{before}{BEGINS}\n\n{text}\n\n{ENDS}{rest.partition(ENDS)[2]}", "utf-8")


def _run_checks(places: Mapping[str, Sequence[str]], grid: str, appium: str) -> dict[str, dict[str, Any]]:
    return {title: _check([word.format(grid=grid, appium=appium) for word in words]) for title, words in places.items()}


def _check(words: Sequence[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        done = subprocess.run(
            [sys.executable, "-m", "orchestrator", "doctor", "--check", *words, "--json"],
            env={**os.environ, "ORCHESTRATOR_HOME": home, "PATH": f"{GECKODRIVER}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def _session_table(found: Mapping[str, Mapping[str, Any]]) -> str:
    rows = ((title, data["session"], data["date"], _verdict(data)) for title, data in found.items())
    return table(("where", "session", "date", "result"), rows)


def _verdict(data: Mapping[str, Any]) -> str:
    return f"{'passed' if data['passed'] else 'failed'} in {data['seconds']} s"


def _action_table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the rows of the actions, of whose names the first place decides."""
    first, *_ = found.values()
    rows = ((row["action"], *_cells(found.values(), number)) for number, row in enumerate(first["actions"]))
    return table(("action, ms", *found), rows)


def _cells(places: Any, number: int) -> Iterator[str]:
    for data in places:
        row = data["actions"][number]
        yield str(row["ms"]) if row["state"] == "ok" else f"{row['state']}: {row['said']}"


if __name__ == "__main__":
    write_tables()
