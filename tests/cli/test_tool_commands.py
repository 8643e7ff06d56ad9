"""Tools as commands: their words, arguments and help, derived from the list of tools; files of steps; completion."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import commands
from orchestrator.cli.error_report import describe_error
from orchestrator.cli.run_file import read_steps
from orchestrator.cli.tool_commands import ALIASES, OWN_WORDS, find_command, list_entries, list_words, word_for
from orchestrator.cli.tool_parser import make_parser, parse_words
from orchestrator.errors import InvalidArgument
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.sessions.registry import make_caller
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Holder

PARSED: list[tuple[str, dict[str, Any]]] = [
    ("start", {}),
    ("start -s alice http://a.example", {"sessionId": "alice", "navigationUrl": "http://a.example"}),
    ("start browser --headed --browser firefox", {"headless": False, "browser": "firefox"}),
    ("start app Android --app-package a.b --no-wait", {"platform": "Android", "appPackage": "a.b", "wait": False}),
    ("start session testmu browser", {"provider": "testmu", "platform": "browser"}),
    ("start --viewport width=480 --viewport height=900", {"viewport": {"width": 480, "height": 900}}),
    ("start --options '{\"har\": true}' --options idleTimeout=2h", {"options": {"har": True, "idleTimeout": "2h"}}),
    ("start --args=--mute-audio --args=--lang=de", {"args": ["--mute-audio", "--lang=de"]}),
    ("open http://a.example -s=alice", {"url": "http://a.example", "sessionId": "alice"}),
    ("back", {"history": "back"}),
    ("click -s alice text=Save --count 2", {"sessionId": "alice", "selector": "text=Save", "count": 2}),
    (
        "click-element text=Save --modifiers Alt --modifiers Shift",
        {"selector": "text=Save", "modifiers": ["Alt", "Shift"]},
    ),
    ("fill --submit label=Name Ann", {"selector": "label=Name", "value": "Ann", "submit": True}),
    ("fill label=Number -- -5", {"selector": "label=Number", "value": "-5"}),
    ("type Ann label=Name", {"text": "Ann", "selector": "label=Name"}),
    ("press --text Ann", {"text": "Ann"}),
    ("check label=News", {"selector": "label=News", "value": "true"}),
    ("select label=Size S M", {"selector": "label=Size", "values": ["S", "M"]}),
    ("upload label=Photo a.png", {"selector": "label=Photo", "paths": ["a.png"]}),
    ("wait --text Done --timeout 500", {"text": "Done", "timeout": 500}),
    ("expect h1 --not --visible", {"selector": "h1", "not": True, "visible": True}),
    (
        "eval 'return arguments' 5 x '{\"ref\": \"e1\"}'",
        {"script": "return arguments", "args": [5, "x", {"ref": "e1"}]},
    ),
    ("dialog accept Ann", {"accept": True, "promptText": "Ann"}),
    ("dialog dismiss", {"accept": False}),
    ("scroll down --pixels 300", {"direction": "down", "pixels": 300}),
    ("scroll --selector a", {"selector": "a"}),
    ("tabs select t2", {"action": "select", "tab": "t2"}),
    ("compare text a b", {"of": "text", "sessionIds": ["a", "b"]}),
    ("close alice --status passed", {"sessionId": "alice", "status": "passed"}),
]
REFUSED = [
    ("click", "orchestrator click: the following arguments are required: SELECTOR."),
    ("click a b", "orchestrator click: unrecognized arguments: b."),
    ("click a --cuont 2", "orchestrator click: unrecognized arguments: --cuont 2."),
    ("click a --timeout soon", "orchestrator click: argument --timeout: invalid int value: 'soon'."),
    ("tabs open", "orchestrator tabs: argument action: invalid choice: 'open'"),
    ("start --options fast", "orchestrator start: --options 'fast' is no object."),
]


def parse(line: str) -> dict[str, Any]:
    """Parse a command as a shell hands it over."""
    found = find_command(shlex.split(line))
    assert found is not None
    return parse_words(*found)[0]


@pytest.mark.parametrize(("line", "arguments"), PARSED)
def test_words_become_the_arguments_of_the_tool(line: str, arguments: dict[str, Any]) -> None:
    """What is required or usual is positional, everything else an option, with types and choices of the schema."""
    assert parse(line) == arguments


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_wrong_words_are_refused_with_the_command_and_the_reason(line: str, message: str) -> None:
    """The error names the command, the word, and where the options are listed."""
    with pytest.raises(InvalidArgument) as refused:
        parse(line)
    assert refused.value.message.startswith(message)
    assert refused.value.hint


def test_every_tool_is_a_command_with_all_of_its_parameters(subtests: pytest.Subtests) -> None:
    """Under its own name in either spelling, and each parameter is an option or positional."""
    for tool in list_entries():
        for word in {tool, tool.replace("_", "-")}:
            with subtests.test(word):
                found = find_command([word])
                assert found is not None
                command, rest = found
                assert (command.tool, rest) == (tool, [])
                assert {action.dest for action in make_parser(command)._actions} >= set(command.properties)
                assert make_parser(command).format_help()


def test_hints_name_commands_for_tools_and_leave_plain_words_alone() -> None:
    """A tool of one word may be a word of the sentence."""
    error = InvalidArgument("No.", hint="Pass sessionId, or navigate with wait_for; orchestrator scroll --help.")
    assert describe_error(error) == "No. Pass -s NAME, or navigate with orchestrator wait; orchestrator scroll --help."


def test_every_tool_has_one_word_that_help_and_hints_name() -> None:
    """The word finds the tool, and no other command has it."""
    names = {tool: word_for(tool) for tool in list_entries()}
    assert len({*names.values()}) == len(names)
    for tool, word in names.items():
        found = find_command(word.split())
        assert found is not None
        assert found[0].tool == tool


def test_no_two_commands_have_the_same_word() -> None:
    """Words of tools, of the shell itself and of the other commands are different ones."""
    others = {group.name for group in commands.app.registered_groups}
    others |= {command.name for command in commands.app.registered_commands}
    assert not others & {*list_words(), *OWN_WORDS}
    assert not {word.replace("-", "_") for word in ALIASES} & {*list_entries()}


STEPS = [
    ('[{"action": "get_text"}]', {"actions": [{"action": "get_text"}]}),
    ("sequences:\n- {sessionId: a, actions: []}", {"sequences": [{"sessionId": "a", "actions": []}]}),
    (
        "actions:\n- {value: yes, x: 0123, y: 12:30, z: 2026-11-23, on: off, n: null, i: -3, f: 1.5, b: true}",
        {
            "actions": [
                {"value": "yes", "x": "0123", "y": "12:30", "z": "2026-11-23", "on": "off"}
                | {"n": None, "i": -3, "f": 1.5, "b": True}
            ]
        },
    ),
]


@pytest.mark.parametrize(("text", "steps"), STEPS)
def test_a_file_of_steps_is_json_or_yaml_whose_words_stay_words(
    text: str, steps: dict[str, Any], tmp_path: Path
) -> None:
    """Only what JSON has beside text is no text: numbers, true, false and null."""
    (tmp_path / "steps").write_text(text, "utf-8")
    assert read_steps(str(tmp_path / "steps")) == steps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("actions: []\nsequences: []", "holds no steps."),
        ("Tea", "holds no steps."),
        ("a: [", "is not YAML:"),
        ("!!python/object/apply:os.system [id]", "is not YAML:"),
    ],
)
def test_a_file_without_steps_is_refused_with_what_to_write(text: str, message: str, tmp_path: Path) -> None:
    """So is one that wants objects of Python made."""
    (tmp_path / "steps").write_text(text, "utf-8")
    with pytest.raises(InvalidArgument) as refused:
        read_steps(str(tmp_path / "steps"))
    assert message in refused.value.message
    assert refused.value.hint.startswith("Write actions: and a list of steps")
    with pytest.raises(InvalidArgument, match="cannot be read: No such file"):
        read_steps(str(tmp_path / "nowhere"))


@pytest.fixture
def bash(tmp_path: Path) -> Callable[..., set[str]]:
    """A function that lets bash complete a line by the printed script, with two sessions open."""
    store = SqliteStore(tmp_path)
    caller = make_caller()
    for name in ("alice", "bob"):
        reserve(store, name, caller.key)
    store.disconnect()
    program = tmp_path / "orchestrator"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m orchestrator "$@"\n')
    program.chmod(0o700)
    environment = {
        **os.environ,
        "ORCHESTRATOR_HOME": str(tmp_path),
        "ORCHESTRATOR_NAMESPACE": "test",
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
    }

    def complete(*words: str) -> set[str]:
        array = " ".join(shlex.quote(word) for word in words)
        code = (
            f"source <(orchestrator completion bash); COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; "
            "_orchestrator; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(["bash", "-c", code], env=environment, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    return complete


def reserve(store: SqliteStore, name: str, owner: str) -> None:
    """Write the record of a session that starts."""

    def draft(session_id: str) -> SessionRecord:
        return SessionRecord(
            id=session_id,
            namespace="test",
            type=SessionType.BROWSER,
            provider="local",
            owner=owner,
            created_at=1,
            last_active_at=1,
        )

    store.reserve("test", SessionType.BROWSER, name, draft, max_sessions=None, holder=Holder.current())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_values_and_sessions(bash: Callable[..., set[str]]) -> None:
    """By the words before the one that is begun."""
    assert bash("orchestrator", "clo") == {
        "close",
        "close-all",
        "close-all-sessions",
        "close-session",
        "close-sessions",
    }
    assert bash("orchestrator", "prof") == {"profiles"}
    assert bash("orchestrator", "profiles", "l") == {"list"}
    assert bash("orchestrator", "fill", "--su") == {"--submit"}
    assert bash("orchestrator", "click", "--button", "") == {"left", "middle", "right"}
    assert bash("orchestrator", "text", "-s", "") == {"alice", "bob"}
    assert bash("orchestrator", "text", "-s", "=", "a") == {"alice"}
    assert bash("orchestrator", "use", "b") == {"bob"}
    assert bash("orchestrator", "start", "a") == {"app"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_accepted_by_its_shell(shell: str) -> None:
    """Its syntax is that of the shell; one that is not installed cannot be asked."""
    script = subprocess.run(
        [sys.executable, "-m", "orchestrator", "completion", shell], capture_output=True, text=True, check=True
    ).stdout
    assert "__complete" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)
