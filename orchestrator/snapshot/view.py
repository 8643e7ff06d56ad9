"""What a web page's engine and an app's screen have in common."""

from __future__ import annotations

from typing import Any, Protocol


class View(Protocol):
    """What a session shows, asked by methods of one set of names."""

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method and return its answer.

        Raises:
            Interrupted: There is no answer now. The caller decides whether to ask again.
        """
        ...
