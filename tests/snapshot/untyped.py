"""Page engine and screen whose answers may be read by any key: a test knows the expected answer."""

from __future__ import annotations

from typing import Any

from orchestrator.snapshot.methods import PageMethod
from orchestrator.snapshot.native.screen import Screen
from orchestrator.snapshot.web.page import PageEngine


class UntypedEngine(PageEngine):
    """The page engine, which checks its answers itself."""

    def call(self, method: PageMethod[Any], **params: Any) -> Any:
        """Call a method and return its answer."""
        return super().call(method, **params)

    def evaluate(self, body: str, args: list[Any], *, limit_ms: int = 10_000, late: str = "late") -> Any:
        """Run a script and return its value."""
        return super().evaluate(body, args, limit_ms=limit_ms, late=late)


class UntypedScreen(Screen):
    """A screen whose answers are checked like those of the page engine."""

    def call(self, method: PageMethod[Any], **params: Any) -> Any:
        """Call a method and return its answer, once it fits the method's type."""
        return method.read(super().call(method, **params))
