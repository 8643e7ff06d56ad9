"""Everything that is declared is described, documented and tried: completeness is a test, not a promise."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.actions.results import Outcome
from orchestrator.arguments import names_of
from orchestrator.cli import app
from orchestrator.errors import OrchestratorError
from orchestrator.mcp_server.tools import TOOLS, Tool
from orchestrator.models import SessionType
from orchestrator.registry import Providers
from orchestrator.settings import Settings
from tests import behaviours, generated
from tests.e2e.apps.test_every_app_tool import CASES as APP_CASES
from tests.e2e.test_every_tool import CASES
from tests.result_meanings import RESULTS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

LATER = "F44 F45 F46 F47 F48 F49 F50 F51"
"""The rows of the pytest plug-in, which is not built yet."""

TOOL_NAMES = [
    "start_browser",
    "start_app_session",
    "start_session",
    "attach_session",
    "list_sessions",
    "list_devices",
    "upload_app",
    "list_apps",
    "set_current_session",
    "close_session",
    "close_sessions",
    "close_all_sessions",
    "execute_sequence",
    "execute_parallel",
    "compare_sessions",
    "navigate",
    "get_visible_elements",
    "get_text",
    "get_page_source",
    "take_screenshot",
    "click_element",
    "hover",
    "scroll",
    "tap_element",
    "swipe",
    "pinch",
    "drag_and_drop",
    "set_value",
    "press_keys",
    "select_option",
    "upload_files",
    "wait_for",
    "expect",
    "execute_script",
    "run_script",
    "get_console",
    "get_network",
    "handle_dialog",
    "set_policy",
    "tabs",
    "switch_frame",
    "set_viewport",
    "emulate",
    "cookies",
    "save_storage_state",
    "route",
    "har",
    "switch_context",
    "manage_app",
    "manage_device",
]

CODES = [
    "no_session",
    "session_not_found",
    "session_exists",
    "session_lost",
    "session_limit",
    "start_failed",
    "element_not_found",
    "not_actionable",
    "stale_ref",
    "expectation_failed",
    "timeout",
    "dialog_open",
    "device_busy",
    "invalid_argument",
    "unsupported",
    "denied",
    "provider_error",
    "provider_auth",
    "remote_error",
]
"""Every code there may be; those whose feature is not built yet have no class."""

each_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def read(page: Path) -> str:
    """The text of a page."""
    return page.read_text("utf-8")


# Declarations


def test_the_tools_are_these() -> None:
    """A tool comes and goes on purpose, in the order in which clients list them."""
    assert list(TOOLS) == TOOL_NAMES


@each_tool
def test_tool_explains_itself(tool: Tool) -> None:
    """People and models read the same words: a title, and a docstring of its own with at most two sentences."""
    assert tool.declared.__doc__
    assert tool.declared.title
    told = " ".join((inspect.getdoc(tool.declared) or "").split())
    assert tool.listed.description == told


@each_tool
def test_tool_is_in_the_docs(tool: Tool) -> None:
    """The reference has a section of each tool, and a meaning of each parameter."""
    assert f"\n## {tool.name}\n" in read(generated.DOCS / "actions.md")
    names = tool.listed.input_schema["properties"]
    assert [name for name in names if not generated.meaning(tool, name)] == []


def test_every_meaning_is_used() -> None:
    """What the reference adds to a declaration goes when the declaration says it itself, or is gone."""
    asked = [(tool, name) for tool in TOOLS.values() for name in tool.listed.input_schema["properties"]]
    silent = [(tool, name) for tool, name in asked if "description" not in tool.listed.input_schema["properties"][name]]
    needed = {f"{tool.name}.{name}" for tool, name in silent} | {name for _, name in silent}
    assert set(generated.MEANINGS) - needed == set()


@each_tool
def test_result_is_in_the_docs(tool: Tool) -> None:
    """The reference says what each field of a result means, and lists every field."""
    section = read(generated.DOCS / "actions.md").split(f"\n## {tool.name}\n")[1].split("\n## ")[0]
    own = generated.own_fields(tool) if tool.declared.structured else []
    assert [name for name in own if not generated.result_meaning(tool.name, tool.declared.result, name)] == []
    assert [name for name in own if f"\n| `{name}` |" not in section] == []


def test_every_meaning_of_a_result_is_used() -> None:
    """One whose field is gone, or says it itself, goes."""
    common = [("", Outcome, name) for name in names_of(Outcome)]
    asked = [(tool.name, tool.declared.result, name) for tool in TOOLS.values() for name in generated.own_fields(tool)]
    silent = [(tool, name) for tool, model, name in common + asked if not generated.field_of(model, name).description]
    assert set(RESULTS) - {f"{tool}.{name}" for tool, name in silent} - {name for _, name in silent} == set()


@each_tool
def test_tool_is_called_end_to_end(tool: Tool) -> None:
    """A test that comes in through the server calls each tool, on a real browser, an app or both, well and badly."""
    action = CATALOGUE.get(tool.name)
    assert tool.name in CASES or (action is not None and SessionType.BROWSER not in action.types)
    assert tool.name in APP_CASES or action is None or SessionType.IOS not in action.types


@pytest.mark.parametrize("error", generated.error_classes(), ids=lambda error: error.__name__)
def test_error_has_its_code(error: type[OrchestratorError]) -> None:
    """Each class says when it is raised, and its code is one of the contract; only relatives share one."""
    assert error.__doc__
    assert error.code in CODES
    first, *more = generated.codes()[error.code]
    assert all(issubclass(one, first) for one in more)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_setting_is_documented(name: str) -> None:
    """Each setting has a meaning, a row in the reference and an option of `serve`."""
    assert Settings.model_fields[name].description
    assert f"| `{name}` | `--{name.replace('_', '-')}`" in read(generated.DOCS / "settings.md")
    assert f"--{name.replace('_', '-')}" in options("serve")


@pytest.mark.parametrize("name", Providers())
def test_option_has_a_meaning(name: str) -> None:
    """Each option of a provider says what it is, shortly: the reference and `orchestrator providers` print it."""
    for option, field in Providers()[name].Options.model_fields.items():
        assert 0 < len(field.description or "") <= 160, option
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", field.alias or ""), option


@pytest.mark.parametrize("name", generated.pages())
def test_generated_page_is_fresh(name: str) -> None:
    """What is made of the declarations says what they say: run `make docs`."""
    assert read(generated.DOCS / name) == generated.pages()[name], "stale: run `make docs`"


def test_rows_that_tests_name_exist() -> None:
    """A mistyped row would prove nothing."""
    known = {row for _, found in behaviours.parts() for one in found for row in one.rows}
    named = {row for _, rows in behaviours.proving_tests() for row in rows}
    assert named - known == set()


# Pages


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The page and anchor that each link of a page to another one of ours leads to."""
    for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            yield (page.parent / file).resolve() if file else page, anchor


@each_page
def test_links_resolve(page: Path) -> None:
    """A link leads to a page that is there, and to a heading that is on it."""
    found = list(links(page))
    assert [str(file) for file, _ in found if not file.exists()] == []
    assert [f"{file.name}#{anchor}" for file, anchor in found if anchor and anchor not in headings(file)] == []


def test_every_page_can_be_reached() -> None:
    """A page that README does not lead to is never read."""
    assert {page for page in PAGES if page.name != "README.md"} - {file for file, _ in links(PAGES[0])} == set()


def commands(page: Path) -> Iterator[list[str]]:
    """The commands of a page: the lines of its `sh` blocks, and code that begins like one of ours."""
    text = read(page)
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield from (shlex.split(line) for line in block.splitlines() if line)
    for code in re.findall(r"`((?:\.venv/bin/)?(?:make|orchestrator|webdriver-orchestrator) [^`]+)`", text):
        yield shlex.split(code)


@each_page
def test_commands_exist(page: Path) -> None:
    """A reader can type what a page tells them to type."""
    targets = set(re.findall(r"^([\w-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    for command in commands(page):
        words = command[command.index("--") + 1 :] if command[:3] == ["claude", "mcp", "add"] else command
        program = Path(words[0]).name
        if program == "make":
            assert words[1] in targets, command
        elif program in {"orchestrator", "webdriver-orchestrator"}:
            plain = [word for word in words[1:] if not word.startswith("-")]
            assert {word for word in words[1:] if word.startswith("--")} <= options(*plain), command
        else:
            assert program == "python3", command


def options(*words: str) -> set[str]:
    """The options of the command that these words call; words beyond it are their values.

    Raises:
        KeyError: There is no such command.
    """
    command = typer.main.get_command(app)
    for word in words:
        if not hasattr(command, "commands"):
            break
        command = command.commands[word]
    found = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    for verb in words[2:3] if words[:2] == ("sessions", "do") else ():
        found |= {f"--{name.replace('_', '-')}" for name in CATALOGUE[verb].model_fields}
    return {*found, "--help"}


def test_each_behaviour_is_proven() -> None:
    """Every row of the acceptance table is named by a test, but for those of what is not built yet."""
    unproven = {row for _, found in behaviours.parts() for one in found for row in one.open}
    assert unproven == {*LATER.split()}


def test_commands_are_documented() -> None:
    """Each command of the command line has its place on the page about operation."""
    text = read(generated.DOCS / "operate.md")
    assert [name for name in leaves(typer.main.get_command(app), "orchestrator") if f"`{name}`" not in text] == []


def leaves(command: Any, name: str) -> Iterator[str]:
    """The full names of the commands below one."""
    below = getattr(command, "commands", {})
    if not below:
        yield name
    for word, one in below.items():
        yield from leaves(one, f"{name} {word}")
