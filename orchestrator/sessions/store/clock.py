"""The clock of a store, which goes on evenly when the wall clock is set.

Imports only the standard library beside the boot's clock, since the keeper imports this module.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from orchestrator.system import boot


def open_clock(db: sqlite3.Connection) -> Callable[[], float]:
    """Return the clock of this store, in seconds since the epoch; runs inside a write transaction.

    The first process after a start of the machine reads the wall clock once; from then on the clock of the boot is
    added, by every process alike. Where the system has no boot id, it is the wall clock.
    """
    here = boot.boot()
    if not here:
        return time.time
    db.execute("INSERT OR IGNORE INTO clocks (boot, epoch) VALUES (?, ?)", (here, time.time() - boot.seconds()))
    (epoch,) = db.execute("SELECT epoch FROM clocks WHERE boot = ?", (here,)).fetchone()
    return boot.make_clock(float(epoch))
