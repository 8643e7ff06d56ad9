"""One V8 isolate in a process of its own, started as `python -I isolate.py MEMORY FOLDER`.

V8 ends its process where it cannot go on, such as for want of memory in the middle of a copy: then it ends this one. It
imports what stands in the folder, the engine, and nothing of the project.

It reads and writes lines of JSON. `["eval", number, code]` is answered with `{"to": number, "value": …}`, or with an
`error` (thrown, syntax, memory, stopped) and what is `said` of it; `["stop", number]` ends an evaluation,
`["limit", bytes]` says how much memory it may have from now on, and neither is answered. It ends with its input.
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
    """It belongs to the event loop.

    Args:
        racer: The engine, a `py_mini_racer.MiniRacer`.
        answers: Where answers are written.
    """

    def __init__(self, racer: Any, answers: BinaryIO) -> None:
        self._racer = racer
        self._answers = answers
        self._running: dict[int, asyncio.Task[None]] = {}

    def hear(self, word: str, number: int, code: str = "") -> None:
        """Do what is asked."""
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
            return {"error": "syntax", "said": str(error)}
        except JSEvalException as error:
            return {"error": "thrown", "said": str(error)}
        # What a script does after its first await runs once the value is there.
        if self._racer.was_hard_memory_limit_reached():
            return {"error": "memory"}
        return {"value": value if isinstance(value, str | int | float) else None}


async def _serve(memory: int, answers: BinaryIO) -> None:
    from py_mini_racer import mini_racer  # noqa: PLC0415 — see `main`

    loop = asyncio.get_running_loop()
    with mini_racer(loop) as racer:
        isolate = Isolate(racer, answers)
        isolate.hear("limit", memory)

        def listen() -> None:
            for line in sys.stdin.buffer:
                loop.call_soon_threadsafe(isolate.hear, *json.loads(line))
            os._exit(0)  # whatever a script is doing

        threading.Thread(target=listen, daemon=True).start()
        await asyncio.Event().wait()


def main(memory: str, found_in: str) -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is meant for whoever started us
    sys.path.append(found_in)  # only now the engine can be found
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # V8 prints its last words to standard output
    asyncio.run(_serve(int(memory), answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
