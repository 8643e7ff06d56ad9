"""Lets many HTTP clients call at once, cuts connections, and kills the server: no call is misrouted or runs twice.

`python -m tests.long.clients [--calls N] [--clients N] [--browsers N] [--recorded N] [--seed N]`: clients of both
protocols with four tokens in two namespaces. Each call has a nonce, which the page of its session counts and echoes,
with the session's name. A call that was answered ran once; one whose error says that it is `retryable` did not run,
unless it says `mayHaveRun`; one whose connection broke ran once at most. Nothing is seen of the other namespace.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp import Client, MCPError

from orchestrator.models.session import SessionState
from tests.benchmarks.records import write_sessions
from tests.long.by_hand import run_by_hand
from tests.servers.http_mcp import MODERN, Era, HttpServer, connected, make_call
from tests.servers.ports import free_port
from tests.servers.site import Site
from tests.waiting import PATIENCE

TOKENS = {"ann": "one", "ben": "one", "cleo": "two", "dan": "two"}
NAMESPACES = ("one", "two")
KILL_EVERY, CUT_EVERY, LOOK_EVERY = 250, 40, 25
"""Calls between two kills of the server, cut connections, and looks for what is of the other namespace."""
MOST_TRIES = 20
"""Attempts of a call that is refused as `retryable`."""
PAGE = """<!doctype html><title>NAME</title><label>Nonce <input></label>
<button onclick="show(act(field.value))">Act</button>
<output></output><script>
const field = document.querySelector('input'), counts = {};
const show = (text) => document.querySelector('output').textContent = text;
const act = (nonce) => { counts[nonce] = (counts[nonce] || 0) + 1; return 'NAME:' + nonce; };
</script>"""


@dataclass
class Nonce:
    """A call's nonce: the session that it was sent to, and how often it may have been counted there."""

    session: str
    at_least: int = 0
    at_most: int = 0


@dataclass
class Tally:
    """What happened so far.

    Attributes:
        nonces: By their texts.
        outcomes: Numbers of answers, by kind.
        faults: What must not happen, as sentences.
    """

    nonces: dict[str, Nonce] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, nonce: str, least: int, most: int, outcome: str) -> None:
        """Note how often an attempt may have run."""
        self.nonces[nonce].at_least += least
        self.nonces[nonce].at_most += most
        self.outcomes[outcome] += 1


class Broken(Exception):
    """The connection of a client broke: it connects again."""


class ManyClients:
    """A server that is killed now and then, and its clients."""

    def __init__(self, folder: Path, seed: int, clients: int, browsers: int, recorded: int) -> None:
        self.seed = seed
        self.tally = Tally()
        self._clients = clients
        self._recorded = recorded
        self._random = random.Random(seed)  # noqa: S311 — chance, no secret
        self._home = folder / "home"
        self._address = f"127.0.0.1:{free_port()}"
        self._numbers = itertools.count()
        self._kills: Counter[str] = Counter()
        self._left = 0
        self._serving = anyio.Event()
        self._sessions = {
            namespace: [f"{namespace}-{number}" for number in range(browsers)][place::2]
            for place, namespace in enumerate(NAMESPACES)
        }
        self.server = self._serve()
        self._tokens = {
            name: self.server.token(name, namespace=namespace, calls_per_minute=1_000_000, concurrent_calls=100)
            for name, namespace in TOKENS.items()
        }

    def run(self, calls: int) -> None:
        """Make this many calls, and check what was counted."""
        anyio.run(self._run, calls)

    def _serve(self) -> HttpServer:
        return HttpServer(self._home, "--http", self._address, "--drain", "1")

    async def _run(self, calls: int) -> None:
        for namespace in NAMESPACES:
            await anyio.to_thread.run_sync(
                write_sessions, self._home, self._recorded // 2, SessionState.PARKED, namespace, ()
            )
        with Site() as site:
            await anyio.to_thread.run_sync(self._open_sessions, site)
            self._left = calls
            self._serving.set()
            async with anyio.create_task_group() as group:
                for number in range(self._clients):
                    group.start_soon(self._work, number)
                group.start_soon(self._kill_now_and_then)
            await anyio.to_thread.run_sync(self._close_sessions)
        assert not self.tally.faults, "\n".join([str(self), *self.tally.faults[:20]])

    def _open_sessions(self, site: Site) -> None:
        for name, token in self._first_tokens():
            url = site.page(f"/{name}", PAGE.replace("NAME", name))
            started = self.server.call(token, "start_browser", {"sessionId": name, "navigationUrl": url})
            assert not started.get("isError"), started

    def _close_sessions(self) -> None:
        """Compare what the pages counted with what was answered; then close them."""
        for name, token in self._first_tokens():
            read = self.server.call(token, "execute_script", {"sessionId": name, "script": "return counts"})
            self._compare(name, read["structuredContent"]["value"])
            self.server.call(token, "close_session", {"sessionId": name})

    def _first_tokens(self) -> Iterator[tuple[str, str]]:
        """Yield each session with a token that reaches it."""
        for namespace, names in self._sessions.items():
            holder = next(name for name, reached in TOKENS.items() if reached == namespace)
            yield from ((name, self._tokens[holder]) for name in names)

    def _compare(self, session: str, counts: Mapping[str, int]) -> None:
        sent = {nonce: facts for nonce, facts in self.tally.nonces.items() if facts.session == session}
        for nonce in counts.keys() - sent:
            self.tally.faults.append(f"{session} counted {nonce}, which was sent elsewhere")
        for nonce, facts in sent.items():
            count = counts.get(nonce, 0)
            if not facts.at_least <= count <= facts.at_most:
                self.tally.faults.append(f"{session} counted {nonce} {count} times, not as answered: {facts}")

    async def _kill_now_and_then(self) -> None:
        at = self._left - KILL_EVERY // 2
        while self._left > 0:
            await anyio.sleep(0.05)
            if self._left > at:
                continue
            at -= KILL_EVERY
            self._serving = anyio.Event()
            await anyio.to_thread.run_sync(self._restart, self._random.choice(["SIGKILL", "SIGTERM"]))
            self._serving.set()

    def _restart(self, how: str) -> None:
        self._kills[how] += 1
        print(self, flush=True)
        if how == "SIGKILL":
            self.server.process.kill()
            self.server.wait()
        else:
            self.server.end()
        self.server = self._serve()

    async def _work(self, number: int) -> None:
        """Make calls until none are left; connect again whenever the connection breaks."""
        name = [*TOKENS][number % len(TOKENS)]
        mode: Era = "auto" if number // len(TOKENS) % 2 else "legacy"
        while self._left > 0:
            await self._serving.wait()
            try:
                async with connected(self.server, self._tokens[name], mode) as client:
                    while self._left > 0:
                        self._left -= 1
                        await self._call(client, name)
            except Exception:  # noqa: BLE001 — whatever a broken connection is to the SDK: groups of groups
                self.tally.outcomes["connected again"] += 1
                await anyio.sleep(0.1)

    async def _call(self, client: Client, name: str) -> None:
        namespace = TOKENS[name]
        if self._left % CUT_EVERY == 0:
            await anyio.to_thread.run_sync(self._cut, name)
        if self._left % LOOK_EVERY == 0:
            await self._look_abroad(client, namespace)
        session, nonce = self._draw(namespace)
        for _ in range(MOST_TRIES):
            if await self._try(client, session, nonce):
                return
            await anyio.sleep(self._random.uniform(0, 0.5))
        self.tally.faults.append(f"{nonce} was never answered")

    def _draw(self, namespace: str) -> tuple[str, str]:
        session = self._random.choice(self._sessions[namespace])
        return session, self._new_nonce(session)

    def _new_nonce(self, session: str) -> str:
        nonce = f"n{next(self._numbers)}"
        self.tally.nonces[nonce] = Nonce(session)
        return nonce

    async def _try(self, client: Client, session: str, nonce: str) -> bool:
        """Call once; returns True unless the same call is to be made again.

        Raises:
            Broken: The connection is of no use any more.
        """
        tool, arguments = self._act(session, nonce)
        try:
            with anyio.fail_after(PATIENCE):
                result = await client.call_tool(tool, arguments)
        except MCPError as error:
            return self._judge_error(nonce, error.error.data or {}, error.error.message)
        except Exception as error:
            self.tally.note(nonce, 0, 1, "broken connections")
            raise Broken from error
        if result.is_error:
            error_data = (result.structured_content or {}).get("error", {})
            return self._judge_error(nonce, error_data, str(result.content))
        self.tally.note(nonce, 1, 1, "answered")
        if f"{session}:{nonce}" not in str(result.structured_content):
            self.tally.faults.append(f"{nonce}, sent to {session}, was answered {result.structured_content}")
        return True

    def _judge_error(self, nonce: str, data: Any, message: str) -> bool:
        """Note an error; returns False if the same call may be made again without a risk."""
        told = data if isinstance(data, dict) else {}
        if "retryable" not in told:  # the SDK's own words for a connection that broke
            self.tally.note(nonce, 0, 1, "broken connections")
            raise Broken(message)
        if not told["retryable"]:
            self.tally.faults.append(f"{nonce} was lost without retryable: {message}")
            return True
        if told.get("mayHaveRun"):
            self.tally.note(nonce, 0, 1, "may have run")
            return True
        self.tally.note(nonce, 0, 0, f"refused with {told.get('code')}, and tried again")
        return False

    def _act(self, session: str, nonce: str) -> tuple[str, dict[str, Any]]:
        """Return a call that makes the page of a session count a nonce, by a script or by its button."""
        if self._random.random() < 0.7:
            return "execute_script", {"sessionId": session, "script": f"return act('{nonce}')"}
        steps: list[dict[str, Any]] = [
            {"action": "set_value", "selector": "input", "value": nonce},
            {"action": "click_element", "selector": "button"},
            {"action": "get_text", "selector": "output"},
        ]
        return "execute_sequence", {"sessionId": session, "actions": steps, "verbose": True}

    def _cut(self, name: str) -> None:
        """Make a call, and cut its connection at once."""
        session, nonce = self._draw(TOKENS[name])
        call = make_call("execute_script", {"sessionId": session, "script": f"return act('{nonce}')"})
        self.tally.note(nonce, 0, 1, "cut off")
        with suppress(OSError), self.server.cut_off(self._tokens[name], call, MODERN | {"Mcp-Name": "execute_script"}):
            time.sleep(self._random.uniform(0, 0.05))  # the random moment is intended

    async def _look_abroad(self, client: Client, namespace: str) -> None:
        """List what is there, and name a session of the other namespace: neither shows anything of that."""
        other = next(one for one in NAMESPACES if one != namespace)
        foreign = self._random.choice(self._sessions[other])
        script = {"sessionId": foreign, "script": f"return act('{self._new_nonce(foreign)}')"}
        for tool, arguments in (("list_sessions", {}), ("execute_script", script)):
            try:
                with anyio.fail_after(PATIENCE):
                    result = await client.call_tool(tool, arguments)
            except Exception as error:
                raise Broken from error
            seen = str(result.model_dump()).replace(foreign if arguments else "", "")
            if f"{other}-" in seen:
                self.tally.faults.append(f"{tool} of {namespace} shows something of {other}: {seen[:300]}")
        self.tally.outcomes["looks abroad"] += 1

    def __str__(self) -> str:
        outcomes = ", ".join(f"{number} {what}" for what, number in self.tally.outcomes.most_common())
        kills = ", ".join(f"{number} by {how}" for how, number in sorted(self._kills.items()))
        return f"seed {self.seed}: {outcomes}; the server was ended {kills or 'never'}; {len(self.tally.faults)} faults"


@contextmanager
def many_clients(folder: Path, seed: int, clients: int, browsers: int, recorded: int) -> Iterator[ManyClients]:
    """Run the server of the last restart until the end."""
    many = ManyClients(folder, seed, clients, browsers, recorded)
    try:
        yield many
    finally:
        if many.server.process.poll() is None:
            many.server.end()


if __name__ == "__main__":
    run_by_hand(
        many_clients,
        "calls",
        5_000,
        "Lets many HTTP clients call at once, cuts connections, and kills the server.",
        sizes={"clients": 20, "browsers": 8, "recorded": 1_000},
    )
