"""Completeness of declarations, documentation and tests."""

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
from orchestrator.cli import run_file, tool_parser
from orchestrator.cli.commands import app
from orchestrator.cli.serve import make_parser
from orchestrator.cli.tool_commands import find_command
from orchestrator.mcp_server.tool_list import FILE
from orchestrator.mcp_server.tools import TOOLS
from orchestrator.models.arguments import names_of
from orchestrator.models.results import Outcome
from orchestrator.models.session import SessionType
from orchestrator.pytest_plugin.options import DECLARED
from orchestrator.session_tools.parameter_meanings import MEANINGS
from orchestrator.sessions.providers import Providers
from orchestrator.settings import Settings
from tests.e2e.apps.test_every_app_tool import CASES as APP_CASES
from tests.e2e.doors.test_every_tool import CASES
from tests.generators import behaviours, docs, tool_list
from tests.generators.result_meanings import RESULTS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

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
    "claim_session",
    "release_session",
    "fork_session",
    "execute_sequence",
    "execute_parallel",
    "compare_sessions",
    "describe_actions",
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
    "passkeys",
    "print_page",
    "audit_page",
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
    "session_claimed",
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
"""Every error code; those of features that do not exist yet have no class."""


def read(page: Path) -> str:
    """Return the text of a page."""
    return page.read_text("utf-8")


# Declarations


def test_the_server_has_exactly_the_expected_tools_in_order() -> None:
    """A tool is added or removed deliberately, in the order in which clients list them."""
    assert list(TOOLS) == TOOL_NAMES


def test_every_tool_has_a_title_and_its_docstring_as_description(subtests: pytest.Subtests) -> None:
    """People and models read the same words: a title, and a docstring of its own with at most two sentences."""
    for name, tool in TOOLS.items():
        with subtests.test(name):
            assert tool.declared.__doc__
            assert tool.declared.title
            assert tool.mcp_tool.description == " ".join((inspect.getdoc(tool.declared) or "").split())


def test_every_tool_is_in_the_docs(subtests: pytest.Subtests) -> None:  # X59
    """The reference has a section for each tool, and a meaning for each parameter."""
    reference = read(docs.DOCS / "actions.md")
    for name, tool in TOOLS.items():
        with subtests.test(name):
            assert f"\n## {name}\n" in reference
            assert [one for one in tool.mcp_tool.input_schema["properties"] if not docs.meaning(tool, one)] == []


def test_every_parameter_meaning_of_the_reference_is_used() -> None:
    """A meaning is kept while a tool has the parameter; a general one while a schema lacks its description."""
    schemas = [
        (tool.name, *item) for tool in TOOLS.values() for item in tool.mcp_tool.input_schema["properties"].items()
    ]
    own = {f"{tool}.{name}" for tool, name, _ in schemas}
    general = {
        name for tool, name, schema in schemas if "description" not in schema and f"{tool}.{name}" not in MEANINGS
    }
    assert set(MEANINGS) - own - general == set()


def test_every_field_of_a_tools_result_is_in_the_docs(subtests: pytest.Subtests) -> None:
    """The reference lists every field of a result with its meaning."""
    reference = read(docs.DOCS / "actions.md")
    for name, tool in TOOLS.items():
        with subtests.test(name):
            section = reference.split(f"\n## {name}\n")[1].split("\n## ")[0]
            own = docs.own_fields(tool) if tool.declared.structured else []
            assert [one for one in own if not docs.result_meaning(name, tool.declared.result, one)] == []
            assert [one for one in own if f"\n| `{one}` |" not in section] == []


def test_every_result_field_meaning_of_the_reference_is_used() -> None:
    """A result field's meaning is kept only while the field exists and has no description of its own."""
    common = [("", Outcome, name) for name in names_of(Outcome)]
    asked = [(tool.name, tool.declared.result, name) for tool in TOOLS.values() for name in docs.own_fields(tool)]
    silent = [(tool, name) for tool, model, name in common + asked if not docs.field_of(model, name).description]
    assert set(RESULTS) - {f"{tool}.{name}" for tool, name in silent} - {name for _, name in silent} == set()


def test_every_tool_is_called_by_an_end_to_end_test() -> None:
    """End-to-end tests call each tool through the server, on a real browser, an app or both, well and badly."""
    of_browsers = {name for name in TOOLS if name not in CATALOGUE or SessionType.BROWSER in CATALOGUE[name].types}
    of_apps = {name for name, action in CATALOGUE.items() if SessionType.IOS in action.types}
    assert of_browsers - CASES.keys() == set()
    assert of_apps - APP_CASES.keys() == set()


def test_every_error_class_has_a_docstring_and_a_known_code(subtests: pytest.Subtests) -> None:
    """Each class says when it is raised, and its code is one of the contract; only relatives share one."""
    sharing = docs.codes()
    for error in docs.error_classes():
        with subtests.test(error.__name__):
            assert error.__doc__
            assert error.code in CODES
            first, *more = sharing[error.code]
            assert all(issubclass(one, first) for one in more)


def test_every_setting_is_documented(subtests: pytest.Subtests) -> None:
    """Each setting has a meaning, a row in the reference and an option of `serve`."""
    reference, of_serve = read(docs.DOCS / "settings.md"), options("serve")
    for name, field in Settings.model_fields.items():
        option = f"--{name.replace('_', '-')}"
        with subtests.test(name):
            assert field.description
            assert f"| `{name}` | `{option}`" in reference
            assert option in of_serve


def test_every_provider_option_has_a_short_description(subtests: pytest.Subtests) -> None:
    """Each option has a short description, which the reference and `orchestrator providers` print."""
    for name, provider in Providers().items():
        for option, field in provider.Options.model_fields.items():
            with subtests.test(f"{name}: {option}"):
                assert 0 < len(field.description or "") <= 160
                assert re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", field.alias or "")


def test_the_generated_docs_pages_are_up_to_date(subtests: pytest.Subtests) -> None:
    """A page generated from the declarations matches them: run `make docs`."""
    for name, page in docs.pages().items():
        with subtests.test(name):
            assert read(docs.DOCS / name) == page, "stale: run `make docs`"


def test_the_list_of_tools_is_up_to_date() -> None:
    """The server lists its tools from a file that matches the declarations: run `make docs`."""
    assert read(FILE) == tool_list.text(), "stale: run `make docs`"


def test_behaviour_rows_named_by_tests_exist() -> None:
    """A mistyped row would prove nothing."""
    known = {row.name for _, rows in behaviours.parts() for row in rows}
    named = {name for proof in behaviours.proving_tests() for name in proof.rows}
    assert named - known == set()


# Pages


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Return the page and anchor of each link to another page of ours."""
    for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            yield (page.parent / file).resolve() if file else page, anchor


def test_links_of_docs_pages_resolve(subtests: pytest.Subtests) -> None:
    """A link leads to an existing page, and to an existing heading on it."""
    for page in PAGES:
        with subtests.test(page.name):
            found = list(links(page))
            assert [str(file) for file, _ in found if not file.exists()] == []
            assert [f"{file.name}#{anchor}" for file, anchor in found if anchor and anchor not in headings(file)] == []


def test_every_docs_page_is_linked_from_the_readme() -> None:
    """A page without a link from the README is never read."""
    assert {page for page in PAGES if page.name != "README.md"} - {file for file, _ in links(PAGES[0])} == set()


def commands(page: Path) -> Iterator[list[str]]:
    """Return the commands of a page: the lines of its `sh` blocks, and code that begins like one of ours."""
    text = read(page)
    for block in re.findall(r"^```sh(?: fails)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield from (shlex.split(line) for line in block.splitlines() if line)
    for code in re.findall(r"`((?:\.venv/bin/)?(?:make|orchestrator|webdriver-orchestrator) [^`]+)`", text):
        yield shlex.split(code)


def test_commands_on_docs_pages_exist(subtests: pytest.Subtests) -> None:
    """A reader can type every command of a page."""
    for page in PAGES:
        for command in commands(page):
            with subtests.test(f"{page.name}: {' '.join(command)}"):
                check_command(command)


def check_command(command: list[str]) -> None:
    """Assert that a command exists, and that its options do."""
    words = command[command.index("--") + 1 :] if command[:3] == ["claude", "mcp", "add"] else command
    words = words[3:] if words[:2] == ["uvx", "--from"] else words
    program = Path(words[0]).name
    if program == "make":
        assert words[1] in set(re.findall(r"^([\w-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    elif program in {"orchestrator", "webdriver-orchestrator"}:
        plain = [word for word in words[1:] if not word.startswith("-")]
        assert {word for word in words[1:] if word.startswith("--")} <= options(*plain)
    elif program == "pytest":
        own = {word for word in words if word.startswith("--orchestrator-")}
        assert own <= {f"--orchestrator-{option.name}" for option in DECLARED}
    else:
        assert program == "python3" or words[:2] == ["pip", "install"]


def options(*words: str) -> set[str]:
    """Return the options of the command in these words; words beyond it are their values.

    Raises:
        KeyError: There is no such command.
    """
    if words[:1] == ("serve",):
        return {option for one in make_parser()._actions for option in one.option_strings}
    if words and (shell := find_command([*words])):
        return {option for one in tool_parser.make_parser(shell[0])._actions for option in one.option_strings}
    if words[:1] == ("run",):
        return {option for one in run_file.make_parser()._actions for option in one.option_strings}
    if words[:1] == ("completion",):
        return {"--help"}
    command = typer.main.get_command(app)
    for word in words:
        if not hasattr(command, "commands"):
            break
        command = command.commands[word]
    found = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    return {*found, "--help"}


def test_every_behaviour_that_is_built_is_proven_by_a_test() -> None:
    """Every row of the acceptance table is named by a test."""
    unproven = {row.name for _, rows in behaviours.parts() for row in rows if not row.tests}
    assert unproven == set()


def test_every_command_of_the_command_line_is_documented() -> None:
    """Each command of the command line is described on the page about operation."""
    text = read(docs.DOCS / "operate.md")
    assert [name for name in leaves(typer.main.get_command(app), "orchestrator") if f"`{name}`" not in text] == []


def leaves(command: Any, name: str) -> Iterator[str]:
    """Yield the full names of a command's subcommands."""
    below = getattr(command, "commands", {})
    if not below:
        yield name
    for word, one in below.items():
        yield from leaves(one, f"{name} {word}")
