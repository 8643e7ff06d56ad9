"""The keeper's entry point: `python -I __main__.py HOME FOLDER…`.

It imports from the folders. Every half second it checks which callers are alive, and reads the records if the store
was written to.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_TICK = 0.5


def main(home: str, *found_in: str) -> None:
    """Run the keeper of this data folder until nothing is left in it."""
    sys.path += found_in
    from orchestrator.lifecycle.keeper.loop import run_keeper  # noqa: PLC0415 — not on the path before
    from orchestrator.system.host.private_files import UMASK  # noqa: PLC0415 — not on the path before

    os.umask(UMASK)
    run_keeper(Path(home), _TICK)


if __name__ == "__main__":
    main(*sys.argv[1:])
