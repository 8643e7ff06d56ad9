"""The protocol that the page engine and an app's screen have in common."""

from __future__ import annotations

from typing import Any, Protocol

from orchestrator.snapshot.methods import AnswerT, PageMethod


class View(Protocol):
    """A page or an app's screen, queried by the methods of `orchestrator.snapshot.methods`."""

    def call(self, method: PageMethod[AnswerT], **params: Any) -> AnswerT:
        """Call a method and return its answer.

        Raises:
            Interrupted: There is no answer now. The caller decides whether to ask again.
        """
        ...
