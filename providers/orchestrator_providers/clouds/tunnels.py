"""The vendors' tunnels, through which a cloud's browsers reach this network.

A tunnel is started for one session, under a name of its own, and ends with it. No command line has the access key.
"""

from __future__ import annotations

import json
import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar

from orchestrator.errors import StartFailed
from orchestrator.provider import LocalMachine, Start
from orchestrator.system import http
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.host import private_files
from orchestrator.system.machine import free_port

_POLL = 0.2
_STATUS_TIMEOUT = 2.0
_SHOWN = 300
"""Characters of a tunnel's log that are reported."""


@dataclass(frozen=True)
class TunnelLaunch:
    """A tunnel that is about to be opened.

    Attributes:
        program: The program to run.
        name: The tunnel's name in the cloud.
        account: User and access key.
        folder: The session's folder.
        port: A free port of this machine, for the program's status.
        region: The vendor's region; empty where it has none.
    """

    program: Path
    name: str
    account: tuple[str, str]
    folder: Path
    port: int
    region: str = ""


class Tunnel(ABC):
    """A vendor's tunnel: its command line, its environment, its readiness."""

    program: ClassVar[str]
    """Its name on PATH."""

    @abstractmethod
    def command(self, opening: TunnelLaunch) -> list[str]:
        """Return the command line, without any secret."""

    @abstractmethod
    def environment(self, opening: TunnelLaunch) -> Mapping[str, str]:
        """Return the variables that are added to its environment."""

    @abstractmethod
    def is_ready(self, opening: TunnelLaunch) -> bool:
        """Return True once it reports that it is ready."""

    def capabilities(self, name: str) -> dict[str, Any]:
        """Return the vendor's options that let a session use the tunnel of this name."""
        return {"tunnelName": name}


def open_tunnel(
    start: Start, tunnel: Tunnel, account: tuple[str, str], given: Path | None, provider: str, region: str = ""
) -> dict[str, Any]:
    """Start a tunnel for this session and wait until it is ready; return the options that use it.

    Raises:
        StartFailed: Its program is not on this machine, or ended.
    """
    program = given or LocalMachine.this().program(tunnel.program)
    if program is None or not program.exists():
        raise StartFailed(
            f"The tunnel's program {program or tunnel.program} is not on this machine.",
            hint=f"Install it, name it as tunnel of {provider} in the setting clouds, or name a running one.",
        )
    name = f"orchestrator-{secrets.token_hex(6)}"
    opening = TunnelLaunch(program, name, account, start.folder(), free_port(), region)
    process = start.spawn(tunnel.program, tunnel.command(opening), env=tunnel.environment(opening), beside=True)
    start.tell(f"waiting for the tunnel {name}")

    def is_ready() -> bool:
        start.check()
        # Read first: a tunnel that ends meanwhile may have been ready before.
        is_running = start.alive(process)
        if tunnel.is_ready(opening):
            return True
        if is_running:
            return False
        log = (start.folder() / f"{tunnel.program}.log").read_text("utf-8", "replace")
        end = " ".join(log.replace(account[1], "•••").split())[-_SHOWN:].rstrip(".")
        message = f"The tunnel {program.name} ended at once{': ' if end else ''}{end}."
        raise StartFailed(message, hint="Run it by hand to see why.")

    poll_until(is_ready, Deadline(math.inf), every=_POLL)  # `start.check` ends it
    return tunnel.capabilities(name)


def _get(port: int, path: str) -> bytes | None:
    """Return the body that a program on this machine answers with 200; None for any other answer or none."""
    try:
        answer = http.request("GET", f"http://127.0.0.1:{port}{path}", timeout=_STATUS_TIMEOUT)
    except OSError:
        return None
    return answer.body if answer.status == HTTPStatus.OK else None


class SauceConnect(Tunnel):
    """Sauce Connect Proxy 5.

    Sources: https://docs.saucelabs.com/dev/cli/sauce-connect-5/run/ (SAUCE_USERNAME, SAUCE_ACCESS_KEY, --api-address)
    and https://docs.saucelabs.com/secure-connections/sauce-connect-5/operation/api-server/ (`/readyz`).
    """

    program = "sc"

    def command(self, opening: TunnelLaunch) -> list[str]:
        """Return the command line; its region is a data center's without the number, such as us-west."""
        region = opening.region.rpartition("-")[0]
        where = ["--region", region, "--tunnel-name", opening.name, "--api-address", f"127.0.0.1:{opening.port}"]
        return [str(opening.program), "run", *where]

    def environment(self, opening: TunnelLaunch) -> Mapping[str, str]:
        """Return the credentials."""
        return {"SAUCE_USERNAME": opening.account[0], "SAUCE_ACCESS_KEY": opening.account[1]}

    def is_ready(self, opening: TunnelLaunch) -> bool:
        """Return True once its status is 200, which is 503 before."""
        return _get(opening.port, "/readyz") is not None


class TestMuTunnel(Tunnel):
    """TestMu AI's (LambdaTest's) tunnel.

    Sources: https://www.testmuai.com/support/docs/lambda-tunnel-modifiers/ (--config, --infoAPIPort) and
    https://www.lambdatest.com/support/docs/advanced-tunnel-features/ (the file's form, `/api/v1.0/info`).
    """

    program = "LT"

    def command(self, opening: TunnelLaunch) -> list[str]:
        """Write the credentials into a file that only its owner can read, until the tunnel is ready."""
        file = self._file(opening)
        user, key = (json.dumps(value) for value in opening.account)
        private_files.create_with(file, f"User: {user}\nKey: {key}\n")
        port = str(opening.port)
        return [str(opening.program), "--config", str(file), "--tunnelName", opening.name, "--infoAPIPort", port]

    def environment(self, opening: TunnelLaunch) -> Mapping[str, str]:  # noqa: ARG002 - see below
        """Return nothing: the file has the credentials."""
        return {}

    def is_ready(self, opening: TunnelLaunch) -> bool:
        """Return True once its status is SUCCESS, and remove the file."""
        try:
            is_ready = bool(json.loads(_get(opening.port, "/api/v1.0/info") or "{}").get("status") == "SUCCESS")
        except (ValueError, AttributeError):
            return False
        if is_ready:
            self._file(opening).unlink(missing_ok=True)
        return is_ready

    def capabilities(self, name: str) -> dict[str, Any]:
        """Return its name and the switch that turns it on."""
        return {"tunnel": True, "tunnelName": name}

    def _file(self, opening: TunnelLaunch) -> Path:
        return opening.folder / ".lt.yaml"


class TestingBotTunnel(Tunnel):
    """TestingBot's tunnel, a program for Java.

    Source: https://testingbot.com/support/tunnel/commandline (TESTINGBOT_KEY, TESTINGBOT_SECRET, --readyfile,
    --tunnel-identifier, --se-port) and its code, https://github.com/testingbot/Testingbot-Tunnel.
    """

    program = "testingbot-tunnel.jar"

    def command(self, opening: TunnelLaunch) -> list[str]:
        """Return the command line, which runs the jar with the Java on PATH."""
        runs = (
            [str(LocalMachine.this().program("java") or "java"), "-jar", str(opening.program)]
            if opening.program.suffix == ".jar"
            else [str(opening.program)]
        )
        # It listens on three ports; its default ones may be another session's.
        ports = ["--se-port", str(opening.port), "--metrics-port", str(free_port()), "--localproxy", str(free_port())]
        return [*runs, "--tunnel-identifier", opening.name, "--readyfile", str(self._file(opening)), *ports]

    def environment(self, opening: TunnelLaunch) -> Mapping[str, str]:
        """Return the credentials."""
        return {"TESTINGBOT_KEY": opening.account[0], "TESTINGBOT_SECRET": opening.account[1]}

    def is_ready(self, opening: TunnelLaunch) -> bool:
        """Return True once it has made its file."""
        return self._file(opening).exists()

    def capabilities(self, name: str) -> dict[str, Any]:
        """Return the tunnel's name as this vendor's option."""
        return {"tunnel-identifier": name}

    def _file(self, opening: TunnelLaunch) -> Path:
        return opening.folder / "tunnel-is-ready"
