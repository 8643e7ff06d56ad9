"""Pages and examples: calls shown on pages give the answers shown, and programs under examples/ run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generators import transcripts

pytestmark = [pytest.mark.full, pytest.mark.browser]

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("page", transcripts.pages()[1:], ids=lambda page: page.name)
def test_calls_on_a_docs_page_answer_as_shown(page: Path) -> None:
    """The calls of a page, made in order, give the answers on the page, except for times and ids."""
    assert transcripts.stale_calls(page) == []


def run(folder: Path, name: str, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of an example, with a home folder of its own."""
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name / program), *arguments],
        env={**os.environ, "HOME": str(folder), "ORCHESTRATOR_NAMESPACE": f"example-{Path(name).name}"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "program", "missing"),
    [("hand_over", "at_a_grid.py", "the Grid's URL"), ("app_with_a_web_view", "main.py", "the app's folder")],
)
def test_an_example_without_its_argument_says_what_is_missing(
    tmp_path: Path, name: str, program: str, missing: str
) -> None:
    """One sentence, and the exit code of a wrong call."""
    done = run(tmp_path, name, program)
    assert done.stderr.startswith(f"Give {missing}"), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 2


def test_the_two_users_over_mcp_example_has_users_read_each_others_messages(tmp_path: Path) -> None:  # W3 W44
    """Two users write to each other in one call, and each reads the other's message."""
    done = run(tmp_path, "two_users_over_mcp", "main.py")
    assert done.stdout.split("\n")[:2] == ["ann: 7 of 7 steps ", "ben: 7 of 7 steps "], done.stdout + done.stderr
    assert done.returncode == 0


def test_the_hand_over_example_shares_a_session_between_script_and_agent(tmp_path: Path) -> None:
    """A script signs in, an agent writes in its session over MCP, and the script answers and reads both."""
    done = run(tmp_path, "hand_over", "main.py")
    seen, read = done.stdout.splitlines() or ("", done.stderr)
    assert seen == "The agent sees the sessions ['ann']"
    assert re.findall(r"'([^']+[.!])'", read) == ["Tea is ready.", "Thank you!"], read
    assert done.returncode == 0


def test_the_logged_in_and_out_example_shows_what_only_one_session_sees(tmp_path: Path) -> None:  # W2 W5
    """Text and picture of two sessions on one page show what only one of them gets; the clock does not count."""
    done = run(tmp_path, "logged_in_and_out", "main.py")
    *text, pixels = done.stdout.splitlines() or [done.stderr]
    assert text == [
        "Only Ann sees: ['Hello, Ann', 'Your price: 7.50', 'Buy again']",
        "Only a guest sees: ['Price: 9.00', 'Name Sign in']",
    ]
    told = re.fullmatch(r"Pixels that differ: (\d+\.\d)%, in red in (.+)", pixels)
    assert told, pixels
    assert 0 < float(told[1]) < 20
    assert Path(told[2]).read_bytes().startswith(b"\x89PNG")


def test_the_one_session_an_agent_example_gives_each_agent_its_own_storage(
    tmp_path: Path,
) -> None:  # W4 W31
    """Three clients with a server each work at once, each in its own storage; a fourth lists and closes all."""
    done = run(tmp_path, "one_session_an_agent", "main.py")
    assert sorted(done.stdout.splitlines()) == [
        "The coordinator closed ['agent-black', 'agent-green', 'agent-herbs']",
        "The coordinator sees ['agent-black', 'agent-green', 'agent-herbs']",
        "agent-black reads ['Assam', 'Ceylon']",
        "agent-green reads ['Sencha', 'Longjing']",
        "agent-herbs reads ['Mint', 'Camomile']",
    ], done.stderr


def test_the_sub_agents_of_a_parent_take_turns_in_the_sessions_it_started(tmp_path: Path) -> None:  # W20 W31
    """On one connection, two sub-agents write and answer by turns, each in the session whose id it was given."""
    done = run(tmp_path, "one_session_an_agent", "handed_out.py")
    assert done.stdout.splitlines() == [
        "Ben reads ['Is the kettle on?', 'It is. Two cups?', 'Three.']",
        "The parent closed ['ann', 'ben']",
    ], done.stderr


def test_sub_agents_with_sessions_of_their_own_share_nothing_and_leave_nothing(tmp_path: Path) -> None:  # W21 W31
    """Three at once on one connection: each reads its own notes alone, in the session whose id it was answered."""
    done = run(tmp_path, "one_session_an_agent", "own.py")
    *read, left = done.stdout.splitlines() or [done.stderr]
    assert sorted(read) == [
        "browser reads ['Assam', 'Ceylon']",
        "browser reads ['Mint', 'Camomile']",
        "browser reads ['Sencha', 'Longjing']",
    ]
    assert left == "Left are []"


def test_a_parent_gives_one_task_to_several_sub_agents_and_compares_the_outcome(tmp_path: Path) -> None:  # W22 W31
    """Three emulated devices are started at once, used at once, and show the same."""
    done = run(tmp_path, "one_session_an_agent", "at_once.py")
    assert done.stdout.splitlines() == [
        "The same on all of them: True",
        "The parent closed ['desktop', 'phone', 'tablet']",
    ], done.stderr


def test_the_race_for_the_last_item_example_has_exactly_one_winner(tmp_path: Path) -> None:  # W3
    """Both shoppers click after the barrier; exactly one gets the item, and the result of the call names the winner."""
    done = run(tmp_path, "race_for_the_last_item", "main.py")
    *told, winner = done.stdout.splitlines() or [done.stderr]
    won, lost = ("ann", "ben") if winner == "Who has the teapot: ['ann']" else ("ben", "ann")
    assert winner == f"Who has the teapot: ['{won}']"
    assert set(told) == {
        f"{won} reads 'text: The teapot is yours, {won}.'",
        f"{lost} reads 'text: Sold out. Sorry, {lost}.'",
    }


@pytest.mark.usefixtures("needs_phones")
@pytest.mark.parametrize("program", ["main.py", "over_mcp.py"])
def test_the_checkout_example_ends_the_same_on_web_ios_and_android(tmp_path: Path, program: str) -> None:  # W2 W43
    """A list of steps buys on a web page and in two apps, and all three show the same at the end."""
    done = run(tmp_path, "checkout_on_three_platforms", program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        done.stdout.splitlines()
        == {
            "main.py": [
                *[f"{name}: 11 of 11 steps " for name in ("web", "ios", "android")],
                "All sessions show the same as web.",
            ],
            "over_mcp.py": [
                "ios: iPhone 15 (simulated)",
                "android: Pixel 8 (simulated)",
                "{'web': 11, 'ios': 11, 'android': 11}",
                "The same everywhere",
            ],
        }[program]
    )


@pytest.mark.usefixtures("needs_phones")
def test_the_web_view_example_switches_from_native_to_the_page_and_back(tmp_path: Path) -> None:
    """An app's native screen, its web view and the native screen again are read in one session."""
    done = run(
        tmp_path, "app_with_a_web_view", "main.py", str(EXAMPLES.parent / "tests" / "servers" / "apps" / "pocket")
    )
    contexts, said, back = done.stdout.splitlines() or ("", "", done.stderr)
    assert contexts == "Contexts: ['NATIVE', 'WEBVIEW']"
    assert said == "The page in the app says: Tea"
    assert re.fullmatch(r'Back in the app: - heading "Home" \[e\d+\].*', back)
    assert done.returncode == 0


def installed(name: str, folder: Path) -> tuple[Path, dict[str, str]]:
    """Build and install an example that is a package; return its folder and its environment."""
    example, place = EXAMPLES / name, folder / "packages"
    uv = shutil.which("uv")
    install = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    subprocess.run([*install, "--quiet", "--no-deps", "--target", str(place), str(example)], timeout=100, check=True)
    return example, {**os.environ, "PYTHONPATH": str(place), "ORCHESTRATOR_HOME": str(folder / "home")}


def own_tests(example: Path, environ: dict[str, str], folder: Path) -> str:
    """Run the tests of an installed example, all of which must pass; return their output."""
    quiet = ["-p", "no:cacheprovider", "--basetemp", str(folder / "tests"), "--rootdir", str(example)]
    tests = [sys.executable, "-m", "pytest", *quiet, str(example)]
    done = subprocess.run(tests, env=environ, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(300)
def test_the_provider_example_is_installed_listed_and_passes_its_own_tests(tmp_path: Path) -> None:
    """The package is built and installed: the command lists its provider, which passes the contract at a real farm."""
    example, environ = installed("a_provider_of_your_own", tmp_path)
    command = [sys.executable, "-m", "orchestrator", "providers"]
    listed = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=100, check=True)
    assert "farm (of webdriver-orchestrator-farm): browser, browsers: chrome\n" in listed.stdout
    assert "  option pool: The pool of machines: office or lab.\n" in listed.stdout
    assert "15 passed" in own_tests(example, environ, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_tool_example_is_installed_listed_and_passes_its_own_tests(tmp_path: Path) -> None:
    """The package is built and installed: the command lists its actions, which act and share the session's world."""
    example, environ = installed("a_tool_of_your_own", tmp_path)
    command = [sys.executable, "-m", "orchestrator", "actions"]
    listed = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=100, check=True)
    assert listed.stdout.splitlines()[:2] == [
        "basket (of webdriver-orchestrator-basket):",
        "  add_up: Add up the prices that an element of the page shows, such as those of a basket.",
    ]
    assert "4 passed" in own_tests(example, environ, tmp_path)


def test_every_example_is_run() -> None:
    """A folder under examples/ is run by a test of this module, or that of the pytest plug-in by its own."""
    of_plugin = EXAMPLES.parent / "tests" / "pytest_plugin" / "test_example_project.py"
    shown = "".join(path.read_text("utf-8") for path in (Path(__file__), Path(transcripts.__file__), of_plugin))
    assert [folder.name for folder in EXAMPLES.iterdir() if f'"{folder.name}"' not in shown] == []
