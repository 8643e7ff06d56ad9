"""Tools that the setting `deny_tools` refuses, in every form in which they could be asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.settings import Settings
from tests.e2e.harness import Home

pytestmark = pytest.mark.full

PAGE = "data:text/html,<title>Denied</title><p>x"


def test_a_denied_tool_is_refused_as_a_call_as_a_step_and_in_a_script(home: Home) -> None:
    """The set `network` and the tool `execute_script` are refused everywhere, and nothing else is."""
    with home.serve(deny_tools="execute_script,network", tools="all") as server:
        names = {tool.name for tool in server.tools()}
        assert names.isdisjoint({"execute_script", "route", "har", "get_network", "get_console"})
        server.ok("navigate", url=PAGE)
        called = server.call("execute_script", script="return 1")
        assert called.code == "denied"
        assert called.text.startswith(
            "denied: execute_script is denied by the setting deny_tools, as a tool, as a step"
        )
        steps = [{"action": "scroll", "direction": "up"}, {"action": "har", "do": "start"}]
        for asked in ({"actions": steps}, {"sequences": [{"sessionId": "browser-1", "actions": steps}]}):
            sequence = server.call("execute_sequence" if "actions" in asked else "execute_parallel", **asked)
            assert sequence.code == "denied"
            assert sequence.data["error"]["message"].startswith("Step 1: har is denied by the setting deny_tools")
        script = server.call("run_script", script="return context.route({action: 'clear'})")
        assert script.code == "denied"
        assert server.ok("run_script", script="return page.getText({})")["value"]


def test_a_session_is_not_started_by_itself_where_starting_browsers_is_denied(home: Home) -> None:
    """`navigate` without a session starts none: that would be `start_browser` under another name."""
    with home.serve(deny_tools="start_browser") as server:
        assert server.call("navigate", url=PAGE).code == "no_session"
        assert server.call("start_browser").code == "denied"
    assert home.records() == []


def test_the_working_folder_can_deny_more_tools_but_allow_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloned repository must not lift what the person who runs the server denied."""
    home, folder = tmp_path / "home", tmp_path / "folder"
    for place, line in ((home, 'deny_tools = "script"'), (folder, 'deny_tools = ["tabs", "har"]')):
        place.mkdir()
        (place / "orchestrator.toml").write_text(f"{line}\n", "utf-8")
    monkeypatch.chdir(folder)
    assert Settings.load({"home": home}).deny_tools == "tabs,har,script"
