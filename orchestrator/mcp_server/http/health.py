"""Health of the server for anyone: `/health`, that it lives, `/ready`, that it takes calls."""

from __future__ import annotations

import json
from collections.abc import Callable

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

_OK = 200
_UNAVAILABLE = 503

Check = Callable[[], bool]


class Health:
    """Answers the two questions.

    Args:
        checks: What must be so for calls to be taken, by name; each may block for a moment.

    Attributes:
        ending: True from the moment on at which no new requests are taken.
    """

    def __init__(self, checks: dict[str, Check]) -> None:
        self.ending = False
        self._checks = checks

    async def live(self, _: Request) -> Response:
        """Answer that the process lives."""
        return _answer(_OK, {"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """Answer whether calls are taken: 200, or 503 with what is missing."""
        found = {name: await anyio.to_thread.run_sync(check) for name, check in self._checks.items()}
        found["running"] = not self.ending
        is_ready = all(found.values())
        return _answer(_OK if is_ready else _UNAVAILABLE, {"status": "ok" if is_ready else "not ready", **found})


def _answer(status: int, data: dict[str, object]) -> Response:
    return Response(json.dumps(data), status, media_type="application/json", headers={"Cache-Control": "no-store"})
