"""Lines that break JSON-RPC or MCP in some way: each of them is answered, and the connection goes on."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers.raw_mcp import RawServer

_CALLS: tuple[dict[str, Any], ...] = (
    {"name": "list_sessions", "arguments": {}},
    {"name": "describe_actions", "arguments": {"query": "click"}},
    {"name": "click_element", "arguments": {"selector": "text=Tea \U0001f375", "sessionId": "nobody"}},
)
_WRONG: tuple[Any, ...] = (None, True, 1.5, -0.0, [], [7], {}, {"id": 7})
_VALUES: tuple[Any, ...] = (*_WRONG, 7, "tea", "")


def _cut_off(line: str, random: random.Random) -> str:
    return line[: random.randrange(1, len(line) - 1)]


def _with_control_character(line: str, random: random.Random) -> str:
    at = line.index("name") + random.randrange(4)
    return line[:at] + random.choice("\x00\x01\x08\x1b") + line[at:]


def _with_half_an_emoji(line: str, random: random.Random) -> str:
    half = rf"\u{random.randrange(0xD800, 0xE000):04x}"
    return line.replace('"arguments": {', f'"arguments": {{"x{half}": "{half}", ', 1).replace(", }", "}")


def _nested(line: str, random: random.Random) -> str:
    depth = random.choice((150, 201, 300, 9000))
    opening, closing = random.choice((("[", "]"), ('{"a": ', "}")))
    return line.replace('"arguments": {', f'"arguments": {{"a": {opening * depth}1{closing * depth}, ', 1).replace(
        ", }", "}"
    )


def _with_other_field(line: str, random: random.Random) -> str:
    message = json.loads(line)
    field = random.choice(("id", "method", "params", "jsonrpc"))
    message[field] = random.choice(_WRONG if field == "id" else _VALUES)
    return json.dumps(message)


def _without_field(line: str, random: random.Random) -> str:
    message = json.loads(line)
    del message[random.choice(("method", "params", "jsonrpc"))]
    return json.dumps(message)


def _in_a_batch(line: str, random: random.Random) -> str:
    return f"[{', '.join([line] * random.randrange(1, 4))}]"


def _no_message(_: str, random: random.Random) -> str:
    return random.choice(("7", "null", "true", '"tea"', "[]", "{}", "NaN", "hello", "{", "]", "\ufeff{}", "{}{}"))


def _twice_on_a_line(line: str, _: random.Random) -> str:
    return f"{line} {line}"


_WAYS: tuple[Callable[[str, random.Random], str], ...] = (
    _cut_off, _with_control_character, _with_half_an_emoji, _nested, _with_other_field, _without_field, _in_a_batch,
    _no_message, _twice_on_a_line,
)  # fmt: skip


class BrokenFrames:
    """Sends broken frames to a server, each followed by a ping.

    Attributes:
        answers: The answers to broken frames so far: by error code, or `result` where a frame could be mended.
    """

    def __init__(self, server: RawServer, seed: int) -> None:
        self.answers: Counter[str] = Counter()
        self._server = server
        self._random = random.Random(seed)  # noqa: S311 (to be repeated by its seed)

    def run(self, frames: int) -> None:
        """Send this many; each has one answer, and so has the ping behind it."""
        for number in range(frames):
            request = {"jsonrpc": "2.0", "id": 2 * number + 10, "method": "tools/call"}
            line = json.dumps({**request, "params": self._random.choice(_CALLS)})
            line = self._random.choice(_WAYS)(line, self._random)
            self._server.send_line(line)
            self._server.ask(2 * number + 11, "ping", {})
            answers = [self._server.answer(), self._server.answer()]
            [ping] = [one for one in answers if one.get("id") == 2 * number + 11 and "result" in one] or [None]
            assert ping is not None, (line[:300], answers)
            answers.remove(ping)
            assert answers[0].get("id") in {2 * number + 10, None}, (line[:300], answers)
            self.answers[str(answers[0]["error"]["code"]) if "error" in answers[0] else "result"] += 1

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.answers.most_common())
        return f"{self.answers.total()} broken frames, each answered: {kinds}"


@contextmanager
def broken_frames(home: Path, seed: int) -> Iterator[BrokenFrames]:
    """Start a server for broken frames."""
    server = RawServer({**os.environ, "ORCHESTRATOR_HOME": str(home), "ORCHESTRATOR_NAMESPACE": "frames"})
    try:
        yield BrokenFrames(server, seed)
    finally:
        server.close()
