"""The chat scenario: two people in two browsers, driven over MCP as any client would."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.demo.chat import ChatServer
from orchestrator.demo.mcp_client import (
    DemoToolCaller,
    Say,
    StepFailed,
    client_with_server,
    innermost,
    made_folder,
    run_together,
)
from orchestrator.system.secrets import Redactor

PASSWORD_PREFIX = "duet-"  # noqa: S105 the random part follows
"""Prefix of all passwords, so that a test can search for leaked ones."""

_LOG = "chat-server.log"
_GREETING = "Hello bob! This is alice, typing in a browser of my own."
_REPLY = "Hello alice! Loud and clear. I am in mine, right beside yours."
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Delivery:
    """A delivered message: milliseconds since the chat received it, and since its author began to type."""

    author: str
    reader: str
    since_sent: float
    since_asked: float

    def __str__(self) -> str:
        """The line for the summary."""
        route = f"{self.author} -> {self.reader}"
        return (
            f"{route:<14} latency {self.since_sent:6.1f} ms until {self.reader}'s session saw it "
            f"({self.since_asked:.0f} ms with typing and click)"
        )


async def run(out: Path, headless: bool, browser: str, console: Say) -> int:  # noqa: FBT001 the flag, passed on
    """Run the demonstration.

    Args:
        out: The folder for the two screenshots and the server's log; created if necessary.
        headless: False shows the two windows.
        browser: Bob's browser; alice's is Chrome or Chromium.
        console: Prints a line of text, as `typer.echo` does.

    Returns:
        The exit code: 0 only if both messages arrived and both screenshots were saved.
    """
    redactor = Redactor()
    passwords = {name: PASSWORD_PREFIX + secrets.token_urlsafe(12) for name in ("alice", "bob")}
    for password in passwords.values():
        redactor.add(password)

    def say(line: str) -> None:
        console(redactor.text(line))

    log = made_folder(out) / _LOG
    code = 1
    try:
        with ChatServer(passwords) as chat, log.open("w", encoding="utf-8") as errlog:
            say(f"The chat application runs at {chat.url}")
            say(f"Starting the MCP server: {Path(sys.executable).name} -m orchestrator serve")
            async with client_with_server("chat", errlog) as client:
                scenario = _ChatScenario(DemoToolCaller(client, say), chat, passwords)
                code = await scenario.play(log.parent, say, {"alice": "chrome", "bob": browser}, headless=headless)
    except Exception as error:  # noqa: BLE001 without an answer the transport raises groups of anything
        say(f"The demonstration stopped: {innermost(error)}")
    if code:
        say(f"The MCP server's log is in {log}")
    return code


class _ChatScenario:
    """The steps of the demonstration, in order."""

    def __init__(self, steps: DemoToolCaller, chat: ChatServer, passwords: Mapping[str, str]) -> None:
        self._steps = steps
        self._chat = chat
        self._passwords = passwords

    async def play(self, folder: Path, say: Say, browsers: Mapping[str, str], *, headless: bool) -> int:
        """Run all steps; every session is closed at the end, also after an error."""
        try:
            try:
                await self._start(browsers, headless=headless)
                await self._sign_in()
                deliveries = [
                    await self._deliver("alice", "bob", _GREETING),
                    await self._deliver("bob", "alice", _REPLY),
                ]
                screens = [folder / f"chat-{name}.png" for name in self._passwords]
                await self._save(screens)
            finally:
                await self._steps.close("both browsers")
        except StepFailed:
            return 1
        return _summary(deliveries, screens, say)

    async def _start(self, browsers: Mapping[str, str], *, headless: bool) -> None:
        page = {"navigationUrl": self._chat.url, "headless": headless}
        await run_together(
            *(
                partial(self._call, f"a browser for {name}: {browser}", "start_browser", name, browser=browser, **page)
                for name, browser in browsers.items()
            )
        )

    async def _sign_in(self) -> None:
        alice, bob = self._passwords
        await self._steps.call(
            f"{alice} and {bob} sign in at the same time",
            "execute_parallel",
            sequences=[
                {"sessionId": name, "actions": _entrance(name, self._passwords[name], other)}
                for name, other in ((alice, bob), (bob, alice))
            ],
        )

    async def _deliver(self, author: str, reader: str, text: str) -> Delivery:
        """Send a message from author to reader, whose session waits for it meanwhile."""
        seen = 0.0

        async def read() -> None:
            nonlocal seen
            await self._call(f"{reader} sees {author}'s message", "wait_for", reader, text=text, timeout=15_000)
            seen = time.perf_counter()

        actions = [
            {"action": "set_value", "selector": "label=Message", "value": text},
            {"action": "click_element", "selector": 'role=button[name="Send"]'},
        ]
        asked = time.perf_counter()
        await run_together(
            read, partial(self._call, f"{author} writes to {reader}", "execute_sequence", author, actions=actions)
        )
        sent = next(message.clock for message in self._chat.messages if message.text == text)
        return Delivery(author, reader, (seen - sent) * 1000, (seen - asked) * 1000)

    async def _save(self, screens: list[Path]) -> None:
        for screen in screens:
            screen.unlink(missing_ok=True)
        await run_together(
            *(
                partial(self._call, f"a screenshot of {name}'s page", "take_screenshot", name, path=str(screen))
                for name, screen in zip(self._passwords, screens, strict=True)
            )
        )

    async def _call(self, purpose: str, tool: str, session: str, **arguments: Any) -> None:
        await self._steps.call(purpose, tool, sessionId=session, **arguments)


def _entrance(name: str, password: str, other: str) -> list[dict[str, Any]]:
    return [
        {"action": "set_value", "selector": "#name", "value": name},
        {"action": "set_value", "selector": "label=Password", "value": password},
        {"action": "click_element", "selector": 'role=button[name="Sign in"]'},
        {"action": "wait_for", "selector": "role=log"},
        {"action": "wait_for", "text": f"{other} is online", "timeout": 15_000},
    ]


def _summary(deliveries: list[Delivery], screens: list[Path], say: Say) -> int:
    missing = [screen for screen in screens if not _is_png(screen)]
    say("")
    say("Both messages were seen:")
    for delivery in deliveries:
        say(f"  {delivery}")
    for screen in screens:
        say(f"  {'MISSING' if screen in missing else 'screen'} {screen}")
    return 1 if missing else 0


def _is_png(path: Path) -> bool:
    return path.is_file() and path.read_bytes().startswith(_PNG)
