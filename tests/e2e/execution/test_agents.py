"""Several agents at once, each with an MCP client and a server of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.demo.chat import ChatServer
from tests.servers.mcp import Served, served

pytestmark = pytest.mark.full

PASSWORD = "agents-only"
PEOPLE = ("ann", "ben", "cem")


def join(server: Served, name: str, url: str) -> None:
    """Start an agent's session, signed in to the chat."""
    server.ok("start_browser", sessionId=name, navigationUrl=url)
    steps = [
        {"action": "set_value", "selector": "label=Name", "value": name},
        {"action": "set_value", "selector": "label=Password", "value": PASSWORD},
        {"action": "click_element", "selector": "role=button[name=Sign in]"},
        {"action": "wait_for", "selector": "label=Message"},
    ]
    server.ok("execute_sequence", sessionId=name, actions=steps)


def test_three_mcp_clients_work_at_once_each_in_its_own_session() -> None:  # W3 W4 W31
    """Three clients at once, each in its own session, write to each other and read the others' messages."""
    with (
        ChatServer(dict.fromkeys(PEOPLE, PASSWORD)) as chat,
        served() as one,
        served("legacy") as two,
        served() as three,
    ):
        agents = dict(zip(PEOPLE, (one, two, three), strict=True))
        with ThreadPoolExecutor() as pool:
            for joined in [pool.submit(join, agent, name, chat.url) for name, agent in agents.items()]:
                joined.result()
            for name, agent in agents.items():
                agent.ok("set_value", sessionId=name, selector="label=Message", value=f"{name} is here", submit=True)
            seen = [
                pool.submit(agent.ok, "wait_for", sessionId=name, text=f"{other} is here", timeout=20_000)
                for name, agent in agents.items()
                for other in PEOPLE
            ]
            assert all(one.result() for one in seen)


def test_each_mcp_client_has_its_own_current_session() -> None:  # W31 X8
    """Clients of a project see each other's sessions; each has its own current one, and its end affects no other."""
    with served() as mine:
        mine.ok("start_browser", sessionId="mine")
        with served() as theirs:
            theirs.ok("start_browser", sessionId="theirs")
            assert mine.ok("list_sessions")["currentSession"] == "mine"
            listed = theirs.ok("list_sessions")
            assert (listed["currentSession"], len(listed["sessions"])) == ("theirs", 2)
            assert theirs.ok("get_text", sessionId="mine")["text"] == ""
        assert [row["sessionId"] for row in mine.ok("list_sessions")["sessions"]] == ["mine"]
        assert mine.ok("get_text")["text"] == ""
