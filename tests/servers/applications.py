"""Applications that nobody of this project wrote: a shop, a chat and notebooks; `make flows` installs them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from tests.servers.ports import free_port
from tests.waiting import until

FOLDER = Path(sys.prefix) / "flows"
"""Path of the applications that `make flows` installs, of `tests/data/flows`."""
DATA = Path(__file__).parents[1] / "data" / "flows"
PASSWORD = "correct horse"
"""The password of every user of every application."""
USERS = ("alice", "bob")
"""The users of the chat."""
CHANNEL = "#plan"
_PYTHON = FOLDER / "python" / Path(sys.executable).parent.name / "python"
_CHAT = FOLDER / "node_modules" / "thelounge" / "index.js"
_HASH = "process.stdout.write(require('bcryptjs').hashSync(process.argv[1], 8))"


def missing() -> str | None:
    """Return what is missing for the applications, if anything."""
    return None if (FOLDER / "installed").is_file() else f"The applications are not in {FOLDER}: `make flows`."


class Shop:
    """A shop (django-oscar) with Django's administration, on a database of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self._folder = folder

    def rows(self, query: str) -> list[Any]:
        """Return the rows of a query to the shop's database."""
        with closing(sqlite3.connect(self._folder / "shop.sqlite3", timeout=30)) as db:
            return db.execute(query).fetchall()


class Notebooks:
    """A notebook server (Jupyter) with one notebook, whose only code cell is empty."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = f"{url}/notebooks/sums.ipynb"
        self._file = folder / "sums.ipynb"

    def cells(self) -> list[dict[str, Any]]:
        """Return the cells of the notebook's file."""
        cells: list[dict[str, Any]] = json.loads(self._file.read_text("utf-8"))["cells"]
        return cells


class Chat:
    """A chat (The Lounge, on an IRC server) for two users who are in one channel."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self._folder = folder

    def said(self, user: str) -> str:
        """Return the chat's own log of the channel, as kept for a user."""
        return "\n".join(log.read_text("utf-8") for log in (self._folder / "logs" / user).rglob(f"{CHANNEL}.log"))


@contextmanager
def shop() -> Iterator[Shop]:
    """Run the shop for a block, with the goods that `make flows` prepared."""
    with _place() as folder:
        shutil.copytree(FOLDER / "shop", folder, dirs_exist_ok=True)
        port = free_port()
        environ = {
            "SHOP_FOLDER": str(folder), "DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(DATA / "shop"),
            "PYTHONWARNINGS": "ignore",
        }  # fmt: skip
        command = [str(_PYTHON), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"]
        url = f"http://127.0.0.1:{port}"
        with _running(command, folder, environ, f"{url}/catalogue/"):
            yield Shop(url, folder)


@contextmanager
def notebooks() -> Iterator[Notebooks]:
    """Run the notebook server for a block."""
    with _place() as folder:
        shutil.copy(DATA / "sums.ipynb", folder)
        port = free_port()
        command = [
            str(_PYTHON), "-m", "notebook", "--allow-root", "--no-browser", "--ip=127.0.0.1", f"--port={port}",
            "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}",
        ]  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        with _running(command, folder, {"HOME": str(folder / "home")}, f"{url}/tree"):
            yield Notebooks(url, folder)


@contextmanager
def chat() -> Iterator[Chat]:
    """Run the chat and its IRC server for a block."""
    with _place() as folder:
        port, irc = free_port(), free_port()
        shutil.copy(DATA / "chat" / "config.js", folder)
        hashed = subprocess.run(
            ["node", "-e", _HASH, PASSWORD], cwd=FOLDER, check=True, capture_output=True, text=True
        ).stdout
        (folder / "users").mkdir()
        for user in USERS:
            network = {
                "name": "Local", "host": "127.0.0.1", "port": irc, "tls": False, "nick": user, "username": user,
                "realname": user, "channels": [{"name": CHANNEL}],
            }  # fmt: skip
            account = {"password": hashed, "log": True, "awayMessage": "", "networks": [network], "sessions": {}}
            (folder / "users" / f"{user}.json").write_text(json.dumps(account), "utf-8")
        url = f"http://127.0.0.1:{port}"
        environ = {"LOUNGE_HOME": str(folder), "CHAT_PORT": str(port)}
        with (
            _running([str(_PYTHON), "-m", "irc.server", "-a", "127.0.0.1", "-p", str(irc)], folder, {}, irc),
            _running(["node", str(_CHAT), "start"], folder, environ, url),
        ):
            running = Chat(url, folder)
            until(
                lambda: all(f"{user} ({user}@localhost) join" in running.said(user) for user in USERS),
                "both users in the channel",
            )
            yield running


@contextmanager
def _place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="app-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(command: list[str], folder: Path, environ: dict[str, str], at: str | int) -> Iterator[None]:
    """Run a program until the block ends, with all that it started; it is ready when it answers at a URL or a port."""
    log = folder / f"{Path(command[0]).name}-{len(list(folder.glob('*.out')))}.out"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environ}, stdout=output, stderr=subprocess.STDOUT
        )
    program = psutil.Process(process.pid)
    try:
        until(lambda: process.poll() is not None or _answers(at), " ".join(command[:3]))
        assert process.poll() is None, log.read_text("utf-8")
        yield
    finally:
        below: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):
            below = program.children(recursive=True)
        for one in (program, *below):
            with suppress(psutil.NoSuchProcess):
                one.kill()
        process.wait()
        psutil.wait_procs(below, timeout=10)


def _answers(at: str | int) -> bool:
    if isinstance(at, int):
        with suppress(OSError), socket.create_connection(("127.0.0.1", at), timeout=10):
            return True
        return False
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(at, timeout=10):
            return True
    except OSError:
        return False
