"""The fixtures of sessions, for tests of automatic maintenance."""

from __future__ import annotations

from tests.sessions.fixtures import home, keeper, lanes, registry, store

__all__ = ["home", "keeper", "lanes", "registry", "store"]
