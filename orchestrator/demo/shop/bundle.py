"""Write the shop's files, for a web server or as an app of the simulated phone."""

from __future__ import annotations

import json
from functools import partial
from http.server import SimpleHTTPRequestHandler
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from orchestrator.demo.http_server import LocalHttpServer

Platform = Literal["web", "ios", "android"]

_APP = {
    "name": "Kiln & Fern",
    "bundleId": "test.kilnandfern.shop",
    "appPackage": "test.kilnandfern.shop",
    "appActivity": ".MainActivity",
    "entry": "index.html",
}


def bundle(folder: Path, platform: Platform, *, broken: bool = False) -> Path:
    """Write the shop for a platform into a folder; returns the folder.

    Args:
        folder: The folder; created if necessary.
        platform: The platform whose look the shop has; apps also get their `sim.json`.
        broken: True for a build with a bug: it charges for free delivery.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for page in files("orchestrator.demo.shop").joinpath("pages").iterdir():
        folder.joinpath(page.name).write_bytes(page.read_bytes())
    config = json.dumps({"platform": platform, "broken": broken})
    folder.joinpath("config.js").write_text(f"window.SHOP = {config};\n", "utf-8")
    if platform != "web":
        folder.joinpath("sim.json").write_text(json.dumps(_APP, indent=2), "utf-8")
    return folder


def web(folder: Path) -> LocalHttpServer:
    """A web server for a folder."""
    return LocalHttpServer("shop", partial(_Quiet, directory=str(folder)))


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without logging."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class names it so
        """Log nothing: the demonstration prints its own lines."""
