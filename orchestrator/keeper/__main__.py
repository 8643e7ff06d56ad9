"""Started as `python -I __main__.py HOME FOLDER…`; modules are found in the folders, too.

It looks every half second: at whether callers live, and, when somebody wrote to the store, at the records.
"""

from __future__ import annotations

import sys
from pathlib import Path

_TICK = 0.5


def main(home: str, *found_in: str) -> None:
    """Keep this home until nothing is left in it."""
    sys.path += found_in
    from orchestrator.keeper.rounds import keep  # noqa: PLC0415 — only now can it be found

    keep(Path(home), _TICK)


if __name__ == "__main__":
    main(*sys.argv[1:])
