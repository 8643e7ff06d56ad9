"""The fixtures of sessions: a registry and its lanes over a real store."""

from __future__ import annotations

from tests.sessions.fixtures import home, keeper, lanes, peer, registry, store

__all__ = ["home", "keeper", "lanes", "peer", "registry", "store"]
