"""A V8 isolate in a process of its own, started as `python -I isolate.py MEMORY FOLDER`.

V8 ends its process when it cannot continue, such as when memory runs out in the middle of a copy: a process of its own
protects the server. It imports the engine from the folder, and nothing of the project.

Input and output are lines of JSON. `["eval", number, code]` is answered with `{"to": number, "value": …}`, or with an
`error` (thrown, syntax, memory, stopped) and its `message`. `["stop", number]` ends an evaluation, `["limit", bytes]`
sets the memory limit; neither is answered. The process ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from typing import Any, BinaryIO


class Isolate:
    """Handles the commands; runs in the event loop.

    Args:
        racer: The engine, a `py_mini_racer.MiniRacer`.
        answers: The stream for answers.
    """

    def __init__(self, racer: Any, answers: BinaryIO) -> None:
        self._racer = racer
        self._answers = answers
        self._running: dict[int, asyncio.Task[None]] = {}

    def handle_command(self, word: str, number: int, code: str = "") -> None:
        """Set a limit, start an evaluation, or stop one."""
        if word == "limit":
            self._racer.set_hard_memory_limit(number)
        elif word == "eval":
            self._running[number] = asyncio.create_task(self._answer(number, code))
        elif number in self._running:
            self._running[number].cancel()

    async def _answer(self, number: int, code: str) -> None:
        answer = {"to": number, **await self._evaluate(code)}
        del self._running[number]
        self._answers.write(json.dumps(answer).encode() + b"\n")
        self._answers.flush()

    async def _evaluate(self, code: str) -> dict[str, Any]:
        from py_mini_racer import JSEvalException, JSOOMException, JSParseException  # noqa: PLC0415 — see `main`

        try:
            value = await self._racer.eval_cancelable(code)
        except asyncio.CancelledError:
            return {"error": "stopped"}
        except JSOOMException:
            return {"error": "memory"}
        except JSParseException as error:
            return {"error": "syntax", "message": str(error)}
        except JSEvalException as error:
            return {"error": "thrown", "message": str(error)}
        # Code after the script's first await runs before the value arrives here, and may have reached the limit.
        if self._racer.was_hard_memory_limit_reached():
            return {"error": "memory"}
        return {"value": value if isinstance(value, str | int | float) else None}


async def _serve(memory: int, answers: BinaryIO) -> None:
    from py_mini_racer import mini_racer  # noqa: PLC0415 — see `main`

    loop = asyncio.get_running_loop()
    with mini_racer(loop) as racer:
        isolate = Isolate(racer, answers)
        isolate.handle_command("limit", memory)

        def listen() -> None:
            for line in sys.stdin.buffer:
                loop.call_soon_threadsafe(isolate.handle_command, *json.loads(line))
            os._exit(0)  # even while a script runs

        threading.Thread(target=listen, daemon=True).start()
        await asyncio.Event().wait()


def main(memory: str, engine_folder: str) -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is meant for the server
    sys.path.append(engine_folder)  # the engine can be imported from here on
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # V8 prints fatal errors to standard output
    asyncio.run(_serve(int(memory), answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
