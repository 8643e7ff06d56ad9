"""Kills one of server, driver, browser, keeper and client at a time, at random moments, and checks the consequences.

`python -m tests.long.kills [--kills N] [--seed N]`: four sessions of two clients work all the time. After each kill
every session must answer again, and be the same unless one of its own processes was killed; each loss must have been
reported, and no record may contradict a process. At the end nothing may be left.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import psutil

from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.sessions.store import leases
from orchestrator.system import processes
from tests.benchmarks.server import Server
from tests.e2e.harness import Home, in_time, runs
from tests.long.by_hand import run_by_hand
from tests.servers.site import Site
from tests.waiting import PATIENCE, until

VICTIMS = ("server", "chromedriver", "chromium", "keeper", "client")
CLIENTS = (("a", "b"), ("c", "d"))
MOST_WAITED = 1.0
"""Maximum seconds between two kills, once all sessions work again."""
LAST_LINES = 12
"""How many lines of each client's output a failure has."""
PAGE = """
<title>Crash</title><label>Name <input id=name></label>
<button onclick="document.title = document.querySelector('#name').value">Send</button>
"""
SeenT = TypeVar("SeenT")


class Client:
    """A client process with a server of its own, and its output."""

    def __init__(self, home: Path, url: str, names: tuple[str, ...]) -> None:
        self.names = names
        script = Path(__file__).with_name("kill_client.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(home), "100", url, *names], stdout=subprocess.PIPE, text=True
        )
        self.output: list[str] = []
        self.times: list[float] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        with self.process.stdout as stdout:
            for line in stdout:
                self.output.append(line.strip())
                self.times.append(time.monotonic())

    def server(self) -> psutil.Process:
        """Return the client's server process."""
        line = until(lambda: next((one for one in self.output if one.startswith("server ")), ""), "a server")
        return psutil.Process(int(line.split()[1]))

    def rounds(self) -> int:
        """The number of rounds in which all of its sessions have answered."""
        return sum(line.startswith("round ") for line in self.output)


class Crash:
    """A run over one home."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.seed = seed
        self.home = Home(folder)
        self.killed: Counter[str] = Counter()
        self.lost = 0
        self.last = "nothing yet"
        self._began = time.monotonic()
        self._random = random.Random(seed)  # noqa: S311 — chance, no secret
        self._site = Site()
        self._clients: list[Client] = []

    def __enter__(self) -> Self:
        self._site.__enter__()
        self._url = self._site.page("/", PAGE)
        self._clients = [Client(self.home.folder, self._url, names) for names in CLIENTS]
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.process.kill()
            client.process.wait()
            with suppress(psutil.NoSuchProcess):
                self._until(partial(_ended, client.server()), "the end of the server")
        if self.home.records():  # after a failure nothing may be left either
            with Server(self.home.folder) as last:
                last.call("close_sessions", all=True)
        self._site.__exit__(None, None, None)

    def run(self, kills: int) -> None:
        """Kill this often, and end with nothing left."""
        self._all_answer()
        order: list[str] = []
        for _ in range(kills):
            # Every kind of kill occurs, in random order.
            order = order or self._random.sample(VICTIMS, len(VICTIMS))
            victim = order.pop()
            time.sleep(self._random.uniform(0, MOST_WAITED))  # the random moment is intended
            self.killed[victim] += 1
            self.last = f"{victim}, the {self.killed.total()}th kill, at {self._now():.1f} s"
            getattr(self, f"_kill_{victim}")()
            self._all_answer()
            self._records_are_true()
        self._end()

    def _kill_server(self) -> None:
        client = self._random.choice(self._clients)
        self._come_back(client, client.server())

    def _kill_client(self) -> None:
        client = self._random.choice(self._clients)
        self._come_back(client, psutil.Process(client.process.pid))

    def _kill_chromedriver(self) -> None:
        self._lose("chromedriver")

    def _kill_chromium(self) -> None:
        self._lose("chromium")

    def _kill_keeper(self) -> None:
        """Kill the keeper; the next start of a session starts another one."""
        if keeper := self._keeper():
            os.kill(keeper, signal.SIGKILL)
            self._kill_chromium()
            self._until(lambda: self._keeper() not in {None, keeper}, "another keeper")

    def _come_back(self, client: Client, victim: psutil.Process) -> None:
        """Start the next client, which continues in the sessions of the killed one."""
        server = client.server()
        before = self._addresses(client.names)
        os.kill(victim.pid, signal.SIGKILL)
        client.process.wait()
        self._until(partial(_ended, server), "the end of the server")
        self._clients.remove(client)
        self._clients.append(Client(self.home.folder, self._url, client.names))
        self._until(self._clients[-1].rounds, f"an answer of {client.names}")
        assert self._addresses(client.names) == before, f"{before} are others now"
        assert {f"restored {name}" for name in client.names} <= {*self._clients[-1].output}

    def _lose(self, name: str) -> None:
        client = self._random.choice(self._clients)
        session = self._random.choice(client.names)
        before = len(client.output)
        os.kill(self.home.process(session, name).pid, signal.SIGKILL)
        self._until(lambda: f"lost {session}" in client.output[before:], f"the loss of {session} ({name})")
        self._until(lambda: f"started {session}" in client.output[before:], f"{session} anew")
        self.lost += 1

    def _all_answer(self) -> None:
        since = {id(client): client.rounds() for client in self._clients}
        self._until(lambda: all(client.rounds() > since[id(client)] for client in self._clients), "an answer of all")

    def _records_are_true(self) -> None:
        self._until(lambda: all(map(_is_true, self.home.records())), "records that contradict no process")
        assert {record.id for record in self.home.records()} == {name for names in CLIENTS for name in names}

    def _addresses(self, names: tuple[str, ...]) -> dict[str, str]:
        return {name: self.home.record(name).remote_session_id for name in names}

    def _keeper(self) -> int | None:
        with closing(sqlite3.connect(self.home.folder / "sessions.db")) as db:
            keeper = leases.keeper(db)
        return keeper.pid if keeper else None

    def _end(self) -> None:
        """Give the sessions a park time of a second, then kill all clients and servers."""
        for client in self._clients:
            server = client.server()
            client.process.kill()
            client.process.wait()
            self._until(partial(_ended, server), "the end of the server")
        with Server(self.home.folder, park_ttl="1") as last:
            for record in self.home.records():
                last.call("get_text", sessionId=record.id)
            last.process.kill()
        self._until(lambda: not self.home.records(), "the end of all sessions")
        self._until(self.home.is_clean, "the end of all processes and folders")
        self._until(lambda: self._keeper() is None, "the end of the keeper")

    def _until(self, look: Callable[[], SeenT], what: str) -> SeenT:
        """Poll as `until` does, for longer on a busy machine, where the start of a browser alone may take a minute.

        A failure tells the records, tickets and clients as they are then.
        """
        began = time.monotonic()
        while True:
            try:
                return until(look, what)
            except AssertionError as failure:
                if time.monotonic() - began >= in_time(PATIENCE):
                    raise AssertionError(f"{failure}\n{self._describe()}") from None

    def _describe(self) -> str:
        lines = [f"seed {self.seed}, now {self._now():.1f} s; killed last: {self.last}; load {os.getloadavg()[0]:.1f}"]
        for record in self.home.records():
            alive = [f"{one.name} {one.pid}{'' if processes.alive(one) else ' (dead)'}" for one in record.processes]
            lost = f", {record.lost_reason}" if record.lost_reason else ""
            lines.append(f"record {record.id}: {record.state}{lost}, owner {record.owner[:6]}, {', '.join(alive)}")
        lines += [f"ticket {ticket}" for ticket in self.home.describe_tickets()]
        for client in self._clients:
            servers = [line for line in client.output if line.startswith("server ")]
            state = "running" if client.process.poll() is None else f"ended with {client.process.returncode}"
            lines.append(
                f"client {client.process.pid} of {client.names}, {state}, {' '.join(servers)}; its last lines:"
            )
            said = [*zip(client.times, client.output, strict=False)][-LAST_LINES:]
            lines += [f"  {at - self._began:.1f} s: {line}" for at, line in said]
        return "\n".join(lines)

    def _now(self) -> float:
        return time.monotonic() - self._began

    def __str__(self) -> str:
        kills = ", ".join(f"{number} {victim}" for victim, number in sorted(self.killed.items()))
        return f"seed {self.seed}: killed {kills}; {self.lost} sessions were lost and said so, nothing is left"


def _ended(process: psutil.Process) -> bool:
    return not runs(process)


def _is_true(record: SessionRecord) -> bool:
    """Return True if the record matches the state of its processes."""
    return record.state is not SessionState.ACTIVE or all(map(processes.alive, record.processes))


if __name__ == "__main__":
    run_by_hand(Crash, "kills", 100, "Kills parts at random moments and looks what becomes of the rest.")
