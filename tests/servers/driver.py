"""A stand-in for another browser's driver: its name and its switches in front of a real chromedriver.

Its requests go through the recording relay to the chromedriver, which refuses other browsers than its own.
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

from orchestrator_providers.local import drivers
from tests.benchmarks.classic import _connected
from tests.servers.ports import free_port
from tests.servers.webdriver import Relayed, relayed

ROOT = Path(__file__).parents[2]
_PROGRAM = """\
#!{python}
import sys
sys.path[:0] = {path!r}
from tests.servers.driver import run
run({notes!r})
"""
SAYS = {
    "geckodriver": "1732265000000\tgeckodriver\tINFO\tListening on 127.0.0.1:{port}",
    "msedgedriver": "Microsoft Edge WebDriver was started successfully on port {port}.",
}
"""Line that each prints with its port when it listens, if it chose the port itself."""


class StandIn:
    """A stand-in driver, and the record of its requests."""

    def __init__(self, folder: Path, name: str) -> None:
        self.program = folder / name
        self._notes = folder / f"{name}.notes"
        path = [str(ROOT), str(ROOT / "providers")]
        self.program.write_text(_PROGRAM.format(python=sys.executable, path=path, notes=str(self._notes)), "utf-8")
        self.program.chmod(0o700)

    def noted(self) -> list[Any]:
        """Return its switches, then the requests: method, path, body."""
        return [json.loads(line) for line in self._notes.read_text("utf-8").splitlines()]

    def asked(self) -> dict[str, Any]:
        """Return the capabilities of the only New Session request."""
        [wanted] = [body for method, path, body in self.noted()[1:] if (method, path[-8:]) == ("POST", "/session")]
        assert wanted["capabilities"]["firstMatch"] == [{}]
        return dict(wanted["capabilities"]["alwaysMatch"])


class _Notes(list[Any]):
    """Requests, each written to a file when it comes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def append(self, one: Any) -> None:
        """Add a request."""
        super().append(one)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(one)}\n")


def run(notes: str) -> None:
    """Run as the driver until killed."""
    name, switches = Path(sys.argv[0]).name, sys.argv[1:]
    found = _Notes(Path(notes))
    found.append(switches)
    given = re.search(r"(?:--port=|-p )(\d+)", " ".join(switches))
    own = [one for one in switches if one.startswith("--url-base=")]
    here, port = drivers.DriverFinder.this(), free_port()
    driver = here.driver(here.browser("chrome"))
    subprocess.Popen([str(driver), f"--port={port}", *own], stdout=subprocess.DEVNULL, env=dict(os.environ))
    _connected(port).close()
    end = Relayed(requests=found)
    with relayed(port, end, at=("127.0.0.1", int(given[1]) if given else 0)):
        print(SAYS.get(name, "").format(port=end.url.rpartition(":")[2]), flush=True)
        while True:
            time.sleep(60)
