"""Who a call over MCP is from: what hosts send in `_meta`, and what is no identity."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.mcp_server.callers import make_mcp_caller
from orchestrator.models.session import Caller

CONNECTION = Caller(key="connection", pid=7, created=1.0, door="mcp")


def caller(meta: dict[str, Any], namespace: str = "shop") -> Caller:
    """Return the caller of a call with this `_meta`."""
    return make_mcp_caller(CONNECTION, namespace, meta, "Codex")


def test_a_call_without_an_identity_is_the_connections() -> None:
    """Without a key of a host the connection calls, under the client's name."""
    assert caller({"progressToken": 1}) == CONNECTION.model_copy(update={"client": "Codex"})


@pytest.mark.parametrize(
    "meta",
    [
        {"threadId": "a"},
        {"x-codex-turn-metadata": {"thread_id": "a"}},
        {"x-codex-turn-metadata": '{"thread_id": "a"}'},
        {"ai.opencode/sessionID": "a"},
        {"antigravity.google/conversation_id": "a"},
        {"vscode.conversationId": "a"},
    ],
)
def test_an_agent_that_its_host_names_is_a_caller_of_its_own(meta: dict[str, Any]) -> None:
    """Each known key names a caller, the same at each call and apart from other ids and other namespaces."""
    one = caller(meta)
    assert one.named
    assert one.key == caller(meta).key != CONNECTION.key
    assert one.key != caller(meta, namespace="other").key
    assert one.key != caller({"threadId": "b"}).key


def test_the_first_of_several_identities_counts() -> None:
    """The thread comes before the turn's metadata, and these before the other hosts' keys."""
    meta = {"vscode.conversationId": "c", "x-codex-turn-metadata": {"thread_id": "b"}, "threadId": "a"}
    assert caller(meta).key == caller({"threadId": "a"}).key
    del meta["threadId"]
    assert caller(meta).key == caller({"threadId": "b"}).key


@pytest.mark.parametrize("value", ["", "x" * 201, "a\nb", "a\x1b[2J", 7, None, ["a"], {"thread_id": "a"}])
def test_a_value_that_is_no_plain_short_text_names_nobody(value: object) -> None:
    """What a host sends is not trusted: anything odd counts as absent, wherever it stands."""
    for meta in (
        {"threadId": value},
        {"x-codex-turn-metadata": {"thread_id": value}},
        {"vscode.conversationId": value},
    ):
        assert not caller(meta).named


@pytest.mark.parametrize("value", ["{", "[]", "null", "x" * 9_000, "[" * 7_000])
def test_metadata_that_is_no_object_names_nobody(value: str) -> None:
    """Text that is not a JSON object counts as absent."""
    assert not caller({"x-codex-turn-metadata": value}).named


def test_a_caller_knows_its_parent_and_its_name_where_the_host_gives_them() -> None:
    """Codex names the thread that started an agent, and the agent's path; without a name the id's end tells apart."""
    turn = {"thread_id": "child", "parent_thread_id": "root", "agent_path": "/root/ben"}
    child = caller({"x-codex-turn-metadata": turn})
    assert (child.parent, child.label) == (caller({"threadId": "root"}).key, "ben, Codex")
    assert caller({"ai.opencode/sessionID": "ses_0123456789"}).label == "session 456789, Codex"
