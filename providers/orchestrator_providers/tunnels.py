"""Vendors' tunnels: a program of the vendor's that lets a cloud's browsers reach what this machine reaches.

One is started for a session under a name of its own, and ends with it. The access key never stands on a command line.
"""

from __future__ import annotations

import http.client
import json
import secrets
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from orchestrator.errors import StartFailed
from orchestrator.machine import free_port
from orchestrator.provider import Start

_POLL = 0.2
_SAID = 300


@dataclass(frozen=True)
class Opening:
    """A tunnel that is about to be opened.

    Attributes:
        program: What to run.
        name: How the cloud knows it.
        account: User and access key.
        folder: The session's folder.
        port: A free port of this machine's, for what the program tells of itself.
        region: The vendor's region, where it has some.
    """

    program: Path
    name: str
    account: tuple[str, str]
    folder: Path
    port: int
    region: str = ""


class Tunnel(ABC):
    """How one vendor's tunnel is started, and when it is ready."""

    program: ClassVar[str]
    """Its name on PATH."""

    @abstractmethod
    def command(self, opening: Opening) -> list[str]:
        """The command line, without any secret."""

    @abstractmethod
    def environment(self, opening: Opening) -> Mapping[str, str]:
        """What is added to its environment."""

    @abstractmethod
    def ready(self, opening: Opening) -> bool:
        """Whether it says so."""

    def capabilities(self, name: str) -> dict[str, Any]:
        """The vendor's options that let a session use the tunnel of this name."""
        return {"tunnelName": name}


def open_tunnel(
    start: Start, tunnel: Tunnel, account: tuple[str, str], given: Path | None, provider: str, region: str = ""
) -> dict[str, Any]:
    """Start a tunnel for this session and wait until it is ready; returns the options that use it.

    Raises:
        StartFailed: Its program is not here, or it ended.
    """
    found = given or (Path(path) if (path := shutil.which(tunnel.program)) else None)
    if found is None or not found.exists():
        raise StartFailed(
            f"The tunnel's program {found or tunnel.program} is not on this machine.",
            hint=f"Install it, name it as tunnel of {provider} in the setting clouds, or name a running one.",
        )
    name = f"orchestrator-{secrets.token_hex(6)}"
    opening = Opening(found, name, account, start.folder(), free_port(), region)
    process = start.spawn(tunnel.program, tunnel.command(opening), env=tunnel.environment(opening), beside=True)
    start.tell(f"waiting for the tunnel {name}")
    while True:
        start.check()
        # Looked at before the question: one that ended meanwhile says nothing any more.
        runs = start.alive(process)
        if tunnel.ready(opening):
            return tunnel.capabilities(name)
        if not runs:
            log = (start.folder() / f"{tunnel.program}.log").read_text("utf-8", "replace")
            said = " ".join(log.replace(account[1], "•••").split())[-_SAID:].rstrip(".")
            raise StartFailed(
                f"The tunnel {found.name} ended at once{': ' if said else ''}{said}.", hint="Run it by hand to see why."
            )
        time.sleep(_POLL)


def _asked(port: int, path: str) -> str | None:
    """What a program on this machine answers with 200, None if it does not."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return text if answer.status == http.client.OK else None


class SauceConnect(Tunnel):
    """Sauce Connect Proxy 5.

    Sources: https://docs.saucelabs.com/dev/cli/sauce-connect-5/run/ (SAUCE_USERNAME, SAUCE_ACCESS_KEY, --api-address)
    and https://docs.saucelabs.com/secure-connections/sauce-connect-5/operation/api-server/ (`/readyz`).
    """

    program = "sc"

    def command(self, opening: Opening) -> list[str]:
        """Its region is a data center's without its number: us-west."""
        region = opening.region.rpartition("-")[0]
        where = ["--region", region, "--tunnel-name", opening.name, "--api-address", f"127.0.0.1:{opening.port}"]
        return [str(opening.program), "run", *where]

    def environment(self, opening: Opening) -> Mapping[str, str]:
        """The credentials."""
        return {"SAUCE_USERNAME": opening.account[0], "SAUCE_ACCESS_KEY": opening.account[1]}

    def ready(self, opening: Opening) -> bool:
        """It answers 200 when it is, and 503 before."""
        return _asked(opening.port, "/readyz") is not None


class TestMuTunnel(Tunnel):
    """TestMu AI's (LambdaTest's) tunnel.

    Sources: https://www.testmuai.com/support/docs/lambda-tunnel-modifiers/ (--config, --infoAPIPort) and
    https://www.lambdatest.com/support/docs/advanced-tunnel-features/ (the file's form, `/api/v1.0/info`).
    """

    program = "LT"

    def command(self, opening: Opening) -> list[str]:
        """The credentials are in a file that only its owner reads, and that is gone once the tunnel is ready."""
        file = self._file(opening)
        file.touch(mode=0o600)
        user, key = (json.dumps(value) for value in opening.account)
        file.write_text(f"User: {user}\nKey: {key}\n", "utf-8")
        port = str(opening.port)
        return [str(opening.program), "--config", str(file), "--tunnelName", opening.name, "--infoAPIPort", port]

    def environment(self, opening: Opening) -> Mapping[str, str]:  # noqa: ARG002 - the file has it all
        """Nothing."""
        return {}

    def ready(self, opening: Opening) -> bool:
        """It tells of itself when it is."""
        try:
            is_ready = bool(json.loads(_asked(opening.port, "/api/v1.0/info") or "{}").get("status") == "SUCCESS")
        except (ValueError, AttributeError):
            return False
        if is_ready:
            self._file(opening).unlink(missing_ok=True)
        return is_ready

    def capabilities(self, name: str) -> dict[str, Any]:
        """It is asked for by a switch, too."""
        return {"tunnel": True, "tunnelName": name}

    def _file(self, opening: Opening) -> Path:
        return opening.folder / ".lt.yaml"


class TestingBotTunnel(Tunnel):
    """TestingBot's tunnel, a program for Java.

    Source: https://testingbot.com/support/tunnel/commandline (TESTINGBOT_KEY, TESTINGBOT_SECRET, --readyfile,
    --tunnel-identifier, --se-port) and its code, https://github.com/testingbot/Testingbot-Tunnel.
    """

    program = "testingbot-tunnel.jar"

    def command(self, opening: Opening) -> list[str]:
        """The jar in a Java that is on PATH."""
        runs = ["java", "-jar", str(opening.program)] if opening.program.suffix == ".jar" else [str(opening.program)]
        # It listens on three ports; those that it would take itself may be another session's.
        ports = ["--se-port", str(opening.port), "--metrics-port", str(free_port()), "--localproxy", str(free_port())]
        return [*runs, "--tunnel-identifier", opening.name, "--readyfile", str(self._file(opening)), *ports]

    def environment(self, opening: Opening) -> Mapping[str, str]:
        """The credentials."""
        return {"TESTINGBOT_KEY": opening.account[0], "TESTINGBOT_SECRET": opening.account[1]}

    def ready(self, opening: Opening) -> bool:
        """It touches a file when it is."""
        return self._file(opening).exists()

    def capabilities(self, name: str) -> dict[str, Any]:
        """Its own word for a tunnel's name."""
        return {"tunnel-identifier": name}

    def _file(self, opening: Opening) -> Path:
        return opening.folder / "tunnel-is-ready"
