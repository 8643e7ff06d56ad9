"""The geckodriver that `make firefox` puts here if there is none on PATH."""

from __future__ import annotations

import sys
from pathlib import Path

GECKODRIVER = Path(sys.prefix, "geckodriver", "bin")
"""Its folder."""
