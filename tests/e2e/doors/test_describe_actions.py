"""`describe_actions`: what a model learns of tools that are not listed, from text alone and from data alone."""

from __future__ import annotations

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.mcp_server.tools import TOOLS
from tests.e2e.harness import Home
from tests.servers.mcp import Served

pytestmark = pytest.mark.full


def test_an_action_that_is_not_listed_is_described_in_text_and_in_data(home: Home) -> None:
    """Meaning, session types, parameters with types, values, defaults: each of text and data says all."""
    with home.serve(tools="core") as server:
        assert "manage_app" not in {tool.name for tool in server.tools()}
        answer = server.call("describe_actions", names=["manage_app", "tabs"])
    [app, tabs] = answer.data["actions"]
    assert (app["name"], app["kind"], app["sessions"]) == ("manage_app", "action", ["android", "ios"])
    assert app["parameters"]["required"] == ["action"]
    assert "terminate" in app["parameters"]["properties"]["action"]["enum"]
    assert tabs["parameters"]["properties"]["url"]["description"] == "The URL of a new tab."
    assert f"manage_app: {app['description']} In android, ios sessions." in answer.text
    assert "  action (activate | terminate | " in answer.text
    assert "  url (string): The URL of a new tab." in answer.text


@pytest.mark.parametrize(
    ("query", "first"), [("swipe", "swipe"), ("download", "set_policy"), ("local storage", "save_storage_state")]
)
def test_actions_are_found_by_words(modern: Served, query: str, first: str) -> None:
    """Words of names, descriptions and parameters; the nearest comes first."""
    found = modern.ok("describe_actions", query=query)["actions"]
    assert found[0]["name"] == first
    assert len(found) <= 10


def test_without_names_all_tools_are_listed_but_those_that_are_denied(home: Home) -> None:
    """A denied tool is neither listed nor described."""
    with home.serve(deny_tools="script,close_sessions") as server:
        answer = server.call("describe_actions")
        names = [action["name"] for action in answer.data["actions"]]
        assert server.call("describe_actions", names=["run_script"]).code == "denied"
        assert "run_script" not in server.call("describe_actions", query="run JavaScript").text
    assert names == [name for name in TOOLS if name not in {"execute_script", "run_script", "close_sessions"}]
    assert all(f"{name}: " in answer.text for name in names)
    assert "describe_actions with names" in answer.text
    assert set(CATALOGUE) - set(names) == {"execute_script", "run_script"}
