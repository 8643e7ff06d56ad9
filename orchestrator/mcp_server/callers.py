"""Callers over MCP: the agent that the host names in a call's `_meta`, else the connection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from orchestrator.models.session import Caller

_LONGEST = 200
"""Characters of a name that a host gives."""
_LONGEST_OBJECT = 8_000
"""Characters of an object that a host gives as text."""
_TAIL = 6
"""Last characters of an id by which others tell agents without a name apart."""
_TURN = "x-codex-turn-metadata"
_IDS = (
    ("ai.opencode/sessionID", "session"),
    ("antigravity.google/conversation_id", "conversation"),
    ("vscode.conversationId", "conversation"),
)
"""Keys of `_meta` with the id of an agent's conversation, after Codex's own."""

Meta = Mapping[str, Any]


class HostIdentity(NamedTuple):
    """An agent as its host names it: an id, that of the agent that started it, and a name for people."""

    kind: str
    id: str
    parent: str | None = None
    agent: str = ""


def read_identity(meta: Meta) -> HostIdentity | None:
    """Return the first identity in a call's `_meta`; None without one. What is no plain short text counts as absent."""
    turn = _object(meta.get(_TURN))
    if thread := _text(meta.get("threadId")) or _text(turn.get("thread_id")):
        parent = _text(turn.get("parent_thread_id"))
        return HostIdentity("thread", thread, parent if parent != thread else None, _last_part(turn.get("agent_path")))
    for key, kind in _IDS:
        if name := _text(meta.get(key)):
            return HostIdentity(kind, name)
    return None


def make_mcp_caller(connection: Caller, namespace: str, meta: Meta, client: str, http_session: str = "") -> Caller:
    """Make the caller of a call that came over a connection, from a client of this name.

    Over HTTP the connection is the token, and agents of one name under two tokens are two callers. Without an agent's
    name the id of the protocol's session, which only the 2025 protocol has, tells a token's clients apart.
    """
    known = connection.model_copy(update={"client": _text(client), "door": "mcp"})
    identity = read_identity(meta)
    is_agent = identity is not None
    if identity is None and http_session:
        identity = HostIdentity("connection", http_session)
    if identity is None:
        return known
    scope = connection.key if connection.named else namespace
    fields = {
        "key": _key(scope, identity.kind, identity.id),
        "named": True,
        "is_agent": is_agent,
        "parent": _key(scope, identity.kind, identity.parent) if identity.parent else None,
        "agent": identity.agent or f"{identity.kind} {identity.id[-_TAIL:]}",
    }
    return known.model_copy(update=fields)


def _key(scope: str, kind: str, name: str) -> str:
    return hashlib.sha256(json.dumps([scope, kind, name]).encode()).hexdigest()[:32]


def _text(value: object) -> str:
    """Return a text that a host gave; empty for anything else, and for what is too long or holds control characters."""
    return value if isinstance(value, str) and len(value) <= _LONGEST and value.isprintable() else ""


def _object(value: object) -> Mapping[str, Any]:
    """Return an object that a host gave, as such or as JSON text; empty for anything else."""
    if isinstance(value, str) and len(value) <= _LONGEST_OBJECT:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def _last_part(path: object) -> str:
    """Return the last name of an agent's path such as /root/ben; empty for the first agent, which has no other."""
    parts = _text(path).strip("/").split("/")
    return parts[-1] if len(parts) > 1 else ""
