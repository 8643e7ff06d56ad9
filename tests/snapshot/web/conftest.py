"""A real Chromium and a web server for the page engine's tests."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from urllib.error import URLError

import pytest

from orchestrator.snapshot.methods import SNAPSHOT
from orchestrator.snapshot.web.world import install_page_engine
from tests.servers.ports import free_port
from tests.snapshot.web.chromium import Browser, Site, without_refs


def _await(base: str) -> None:
    while True:
        with suppress(URLError), urllib.request.urlopen(base + "/status", timeout=5) as answer:  # noqa: S310 (our own driver)
            if json.load(answer)["value"]["ready"]:
                return


@pytest.fixture(scope="session")
def driver() -> Iterator[str]:
    """A chromedriver of our own, ended by its own command."""
    folder = tempfile.mkdtemp(prefix="snapshot-tests-")
    base = f"http://127.0.0.1:{(port := free_port())}"
    process = subprocess.Popen(
        [shutil.which("chromedriver") or "chromedriver", f"--port={port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"TMPDIR": folder, "HOME": folder, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    try:
        _await(base)
        yield base
        with suppress(OSError):
            urllib.request.urlopen(base + "/shutdown", timeout=5).close()  # noqa: S310 (our own driver)
        process.wait(60)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def browser(driver: str) -> Iterator[Browser]:
    """A session for each module, with the engine installed from document start in every frame."""
    session = Browser(driver)
    try:
        install_page_engine(session.remote, {"browserName": "chrome"})
        yield session
    finally:
        session.quit()


@pytest.fixture
def outline(browser: Browser) -> Callable[..., str]:
    """Show a page and return its outline as text, refs left out."""

    def write(html: str, **params: Any) -> str:
        answer = browser.open(html).call(SNAPSHOT, **{"scope": "page", "limit": 500, **params})
        return without_refs("\n".join(answer["lines"]))

    return write


@pytest.fixture
def site() -> Iterator[Site]:
    """A web server for frames and requests."""
    server = Site()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
