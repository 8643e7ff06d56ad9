"""The shop as files: the folder that a web server shows, or an app bundle of the simulated device."""

from __future__ import annotations

import json
from functools import partial
from http.server import SimpleHTTPRequestHandler
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from orchestrator.demo.serving import Serving

Platform = Literal["web", "ios", "android"]

_APP = {
    "name": "Kiln & Fern",
    "bundleId": "test.kilnandfern.shop",
    "appPackage": "test.kilnandfern.shop",
    "appActivity": ".MainActivity",
    "entry": "index.html",
}


def bundle(folder: Path, platform: Platform, *, broken: bool = False) -> Path:
    """Write the shop of a platform into a folder and return it.

    Args:
        folder: Made when it is not there.
        platform: Whose clothes it wears; apps get their `sim.json`, too.
        broken: This build charges delivery where it should be free.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for page in files("orchestrator.demo.shop").joinpath("pages").iterdir():
        folder.joinpath(page.name).write_bytes(page.read_bytes())
    config = json.dumps({"platform": platform, "broken": broken})
    folder.joinpath("config.js").write_text(f"window.SHOP = {config};\n", "utf-8")
    if platform != "web":
        folder.joinpath("sim.json").write_text(json.dumps(_APP, indent=2), "utf-8")
    return folder


def web(folder: Path) -> Serving:
    """A web server that shows a folder."""
    return Serving("shop", partial(_Quiet, directory=str(folder)))


class _Quiet(SimpleHTTPRequestHandler):
    """Files, without a line for each of them."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class names it so
        """Say nothing: the demo's own lines are what people read."""
