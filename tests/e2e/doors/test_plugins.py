"""Actions from other packages: tools, steps and functions like the built-in ones; broken ones are logged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import TextIO

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.mcp import served
from tests.servers.site import Site

pytestmark = pytest.mark.full

BASKET = Path(__file__).parents[3] / "examples" / "a_tool_of_your_own" / "src" / "orchestrator_basket"
PRICES = "<ul id=basket><li>Tea 4.50<li>Pot 9.00</ul>"
CLASH = """
    from orchestrator_basket import AddUp

    class Navigate(AddUp):
        \"\"\"Go elsewhere.\"\"\"

        verb = "navigate"

    class Close(AddUp):
        \"\"\"Close all.\"\"\"

        verb = "close_all_sessions"

    OVER, ENDS = [Navigate], [Close]
"""
BROUGHT = {
    "basket": "orchestrator_basket:ACTIONS",
    "missing": "not_here_at_all:ACTIONS",
    "over": "clash:OVER",
    "ends": "clash:ENDS",
}
"""Packages by name, with their entry points, laid out as an installer would."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TextIO]:
    """Return the server's standard error."""
    with (tmp_path_factory.mktemp("log") / "server.log").open("w+") as log:
        yield log


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, log: TextIO) -> Iterator[Stage]:
    """A server beside which a good package is installed, and three that cannot be used."""
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(BASKET, folder / BASKET.name)
    (folder / "clash.py").write_text(dedent(CLASH))
    for name, value in BROUGHT.items():
        about = folder / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[orchestrator.actions]\n{name} = {value}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
        with Site() as site, served("auto", (), log, namespace="plug-ins") as server:
            server.ok("start_browser", sessionId="one")
            yield Stage(server, site)


def test_an_action_of_a_plug_in_package_is_a_tool(stage: Stage) -> None:
    """A plug-in's action is listed with its schema and called like any other, with errors of the same form."""
    (listed,) = [tool for tool in stage.server.tools() if tool.name == "add_up"]
    assert set(listed.input_schema["properties"]) == {"selector", "expect", "sessionId"}
    stage.show(PRICES)
    assert stage.ok("add_up", selector="#basket")["total"] == "13.50"
    assert "13.50 = 4.50 + 9.00" in stage.call("add_up", selector="#basket").text
    assert "The total of the prices is 13.50." in refused(
        stage.call("add_up", selector="#basket", expect="9.00"), "expectation_failed"
    )
    refused(stage.call("add_up", selectr="#basket"), "invalid_argument")


def shell(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the namespace of the server."""
    environment = {**os.environ, "ORCHESTRATOR_NAMESPACE": "plug-ins", "ORCHESTRATOR_SESSION": "one"}
    command = [sys.executable, "-m", "orchestrator", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=100)


def test_an_action_of_a_plug_in_package_is_a_command(stage: Stage) -> None:
    """By its name in either spelling, with its parameters; with help, completion, exit codes and the nearest name."""
    stage.show(PRICES)
    done = shell("add-up", "#basket")
    assert (done.returncode, done.stderr, done.stdout.splitlines()[-1]) == (0, "", "13.50 = 4.50 + 9.00")
    unmet = shell("add_up", "#basket", "--expect", "9.00")
    assert (unmet.returncode, "The total of the prices is 13.50. Check the basket." in unmet.stderr) == (1, True)
    assert "  add-up " in shell("--help").stdout
    assert "Add up the prices that an element" in shell("add-up", "--help").stdout
    assert shell("__complete", "add-up", "--ex").stdout == "--expect\n"
    assert "There is no command 'ad-up'. Did you mean 'add-up'?" in shell("ad-up").stderr


def test_an_action_of_a_plug_in_package_is_a_sequence_step(stage: Stage) -> None:
    """A plug-in's step is checked with the whole list before the first one runs."""
    stage.show(PRICES)
    steps = [{"action": "add_up", "selector": "#basket"}, {"action": "take_off", "percent": 50}]
    assert stage.ok("execute_sequence", actions=steps)["completed"] == 2
    wrong = [{"action": "hover", "selector": "#basket"}, {"action": "take_off", "percent": 500}]
    assert "Step 1" in refused(stage.call("execute_sequence", actions=wrong), "invalid_argument")


def test_scripts_and_plug_in_actions_share_globals_and_vars(stage: Stage) -> None:  # F4 F41 F43
    """Globals and vars are shared both ways, also while a script runs; another session has its own."""
    stage.show(PRICES)
    stage.ok("add_up", selector="#basket")
    script = "prices.push('6.50'); return [prices.length, vars.get('total')]"
    assert stage.ok("run_script", script=script)["value"] == [3, "13.50"]
    assert stage.ok("take_off", percent=50)["total"] == "10.00"
    script = """
        vars.set('note', 'mine');
        const sum = await page.addUp({selector: '#basket'});
        return [sum.total, prices, vars.get('total'), vars.get('note')];
    """
    assert stage.ok("run_script", script=script)["value"] == ["13.50", ["4.50", "9.00"], "13.50", "mine"]
    stage.ok("start_browser", sessionId="two")
    answer = stage.ok("run_script", script="return [typeof prices, vars.keys()]", sessionId="two")
    assert answer["value"] == ["undefined", []]
    stage.ok("close_session", sessionId="two")


def test_a_plug_in_that_cannot_be_used_is_logged_with_the_reason(stage: Stage, log: TextIO) -> None:
    """A missing module and a taken name are logged at the start, and the server's own tools stay as they are."""
    log.flush()
    said = Path(log.name).read_text()
    assert "No module named 'not_here_at_all'" in said
    assert "an action or tool 'navigate' exists already" in said
    assert "an action or tool 'close_all_sessions' exists already" in said
    assert [tool.title for tool in stage.server.tools() if tool.name == "navigate"] == ["Navigate"]
