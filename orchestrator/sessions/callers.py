"""Who calls."""

from __future__ import annotations

import secrets

from orchestrator.models import Caller, Door
from orchestrator.store import Holder


def this_process(door: Door = "python") -> Caller:
    """A caller that this process stands for, as on stdio; its key is random and new each time."""
    here = Holder.here()
    return Caller(key=secrets.token_hex(16), pid=here.pid, created=here.created, door=door)
