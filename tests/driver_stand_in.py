"""A driver of another browser, as far as this machine has one: its name and its switches, and a real chromedriver.

What is asked of it goes through the recording relay to the chromedriver, which refuses other browsers than its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from orchestrator_providers import drivers
from tests.benchmarks.classic import _connected
from tests.ports import free_port
from tests.remote_end import Relayed, relayed

ROOT = Path(__file__).parents[1]
_PROGRAM = """\
#!{python}
import sys
sys.path[:0] = {path!r}
from tests.driver_stand_in import run
run({notes!r})
"""
SAYS = {
    "geckodriver": "1732265000000\tgeckodriver\tINFO\tListening on 127.0.0.1:{port}",
    "msedgedriver": "Microsoft Edge WebDriver was started successfully on port {port}.",
}
"""What each says once it listens, where it chooses its port."""


class StandIn:
    """A driver by its program, and what it was told."""

    def __init__(self, folder: Path, name: str) -> None:
        self.program = folder / name
        self._notes = folder / f"{name}.notes"
        path = [str(ROOT), str(ROOT / "providers")]
        self.program.write_text(_PROGRAM.format(python=sys.executable, path=path, notes=str(self._notes)), "utf-8")
        self.program.chmod(0o700)

    def noted(self) -> list[Any]:
        """Its switches, then the requests that came: method, path, body."""
        return [json.loads(line) for line in self._notes.read_text("utf-8").splitlines()]

    def asked(self) -> dict[str, Any]:
        """What the one New Session request asked for."""
        [wanted] = [body for method, path, body in self.noted()[1:] if (method, path[-8:]) == ("POST", "/session")]
        assert wanted["capabilities"]["firstMatch"] == [{}]
        return dict(wanted["capabilities"]["alwaysMatch"])


class _Notes(list[Any]):
    """Requests, each written down when it comes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def append(self, one: Any) -> None:
        """Take note of it."""
        super().append(one)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(one)}\n")


def run(notes: str) -> None:
    """Be the driver, until somebody ends it."""
    name, switches = Path(sys.argv[0]).name, sys.argv[1:]
    found = _Notes(Path(notes))
    found.append(switches)
    given = re.search(r"(?:--port=|-p )(\d+)", " ".join(switches))
    own = [one for one in switches if one.startswith("--url-base=")]
    here, port = drivers.Machine.this(), free_port()
    driver = here.driver(here.browser("chrome"))
    subprocess.Popen([str(driver), f"--port={port}", *own], stdout=subprocess.DEVNULL, env=dict(os.environ))
    _connected(port).close()
    end = Relayed(requests=found)
    with relayed(port, end, at=("127.0.0.1", int(given[1]) if given else 0)):
        print(SAYS.get(name, "").format(port=end.url.rpartition(":")[2]), flush=True)
        while True:
            time.sleep(60)
