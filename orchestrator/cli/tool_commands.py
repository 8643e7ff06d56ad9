"""The tools by the words that people type, read without loading any action."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

SESSION_ID = "sessionId"
_FILE = Path(__file__).parents[1] / "mcp_server" / "tools.json"


class Alias(NamedTuple):
    """A tool, the arguments that a command presets for it, and the order of its own in place of the tool's."""

    tool: str
    preset: Mapping[str, Any] = {}
    order: tuple[str, ...] = ()


ALIASES: Mapping[str, Alias] = {
    "start": Alias("start_browser"),
    "attach": Alias("attach_session"),
    "list": Alias("list_sessions"),
    "use": Alias("set_current_session"),
    "close": Alias("close_session"),
    "close-all": Alias("close_all_sessions"),
    "open": Alias("navigate"),
    "goto": Alias("navigate"),
    "back": Alias("navigate", {"history": "back"}),
    "forward": Alias("navigate", {"history": "forward"}),
    "reload": Alias("navigate", {"history": "reload"}),
    "outline": Alias("get_visible_elements"),
    "snapshot": Alias("get_visible_elements"),
    "text": Alias("get_text"),
    "source": Alias("get_page_source"),
    "screenshot": Alias("take_screenshot"),
    "click": Alias("click_element"),
    "dblclick": Alias("click_element", {"count": 2}),
    "tap": Alias("tap_element"),
    "drag": Alias("drag_and_drop"),
    "fill": Alias("set_value"),
    "check": Alias("set_value", {"value": "true"}),
    "uncheck": Alias("set_value", {"value": "false"}),
    "press": Alias("press_keys"),
    "type": Alias("press_keys", order=("text", "selector")),
    "select": Alias("select_option"),
    "upload": Alias("upload_files"),
    "wait": Alias("wait_for"),
    "eval": Alias("execute_script"),
    "script": Alias("run_script"),
    "console": Alias("get_console"),
    "network": Alias("get_network"),
    "dialog": Alias("handle_dialog"),
    "policy": Alias("set_policy"),
    "frame": Alias("switch_frame"),
    "context": Alias("switch_context"),
    "resize": Alias("set_viewport"),
    "viewport": Alias("set_viewport"),
    "save-state": Alias("save_storage_state"),
    "app": Alias("manage_app"),
    "device": Alias("manage_device"),
    "devices": Alias("list_devices"),
    "apps": Alias("list_apps"),
    "compare": Alias("compare_sessions"),
    "describe": Alias("describe_actions"),
    "claim": Alias("claim_session"),
    "release": Alias("release_session"),
    "fork": Alias("fork_session"),
}
"""Commands by what people type. Where several stand for one tool, the first is the one that help and hints name."""

KINDS: Mapping[str, str] = {"browser": "start_browser", "app": "start_app_session", "session": "start_session"}
"""The tools of `start` by its first word; without one of these it starts a browser."""

OWN_WORDS: Mapping[str, str] = {
    "run": "Run the steps in a YAML or JSON file, in one session or in several.",
    "completion": "Print what makes bash, zsh or fish complete the words of commands.",
}
"""The commands without a tool, and what they do."""

_POSITIONAL: Mapping[str, tuple[str, ...]] = {
    "start_browser": ("navigationUrl",),
    "attach_session": ("remoteUrl", "remoteSessionId"),
    "set_current_session": (SESSION_ID,),
    "close_session": (SESSION_ID,),
    "claim_session": (SESSION_ID,),
    "release_session": (SESSION_ID,),
    "fork_session": (SESSION_ID,),
    "list_sessions": ("prefix",),
    "compare_sessions": ("of", "sessionIds"),
    "execute_sequence": (),
    "execute_parallel": (),
    "describe_actions": ("names",),
    "navigate": ("url",),
    "get_visible_elements": ("query",),
    "get_text": ("selector",),
    "get_page_source": ("selector",),
    "take_screenshot": ("path",),
    "tap_element": ("selector",),
    "scroll": ("direction",),
    "drag_and_drop": ("source", "target"),
    "press_keys": ("keys", "selector"),
    "upload_files": ("selector", "paths"),
    "wait_for": ("selector",),
    "expect": ("selector",),
    "execute_script": ("script", "args"),
    "handle_dialog": ("accept", "promptText"),
    "tabs": ("action", "tab"),
    "cookies": ("action", "name", "value"),
    "save_storage_state": ("path",),
    "switch_frame": ("selector",),
    "switch_context": ("context",),
    "emulate": ("device",),
    "route": ("action", "url"),
    "har": ("action", "path"),
    "manage_app": ("action", "app"),
    "manage_device": ("action", "value"),
}
"""The parameters of a tool that are written without their names, in this order; others: the required ones."""


@dataclass(frozen=True)
class Command:
    """A tool as a command.

    Attributes:
        word: What was typed.
        tool: The tool's name.
        title: What it does, in a few words.
        description: When to use it.
        properties: The JSON schemas of its parameters.
        required: The parameters that must be given.
        preset: Arguments that the command gives by itself.
        order: The parameters that are written without their names; empty: as for every command of the tool.
    """

    word: str
    tool: str
    title: str
    description: str
    properties: Mapping[str, Schema]
    required: frozenset[str] = frozenset()
    preset: Mapping[str, Any] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @classmethod
    def of_entry(
        cls, word: str, tool: Mapping[str, Any], preset: Mapping[str, Any] = {}, order: tuple[str, ...] = ()
    ) -> Command:
        """Make the command of a tool, given as it stands in a list of tools."""
        schema = tool["inputSchema"]
        return cls(
            word=word,
            tool=tool["name"],
            title=tool.get("title", ""),
            description=tool.get("description", ""),
            properties=schema.get("properties", {}),
            required=frozenset((*schema.get("required", ()), *order[:1])),
            preset=preset,
            order=order,
        )

    @property
    def positional(self) -> list[str]:
        """The parameters that are written without their names, in their order."""
        required = [name for name in self.properties if name in self.required]
        names = self.order or _POSITIONAL.get(self.tool, tuple(required))
        return [name for name in names if name in self.properties and name not in self.preset]

    @property
    def options(self) -> list[str]:
        """The parameters that are written as options, but for the session."""
        others = {SESSION_ID, *self.positional, *self.preset}
        return [name for name in self.properties if name not in others]


@cache
def list_entries() -> Mapping[str, Mapping[str, Any]]:
    """Return the tools that ship with the project by their names."""
    return {entry["tool"]["name"]: entry for entry in json.loads(_FILE.read_text("utf-8"))}


def find_command(words: list[str]) -> tuple[Command, list[str]] | None:
    """Return the command that these words begin with, and the words after it; None if they begin with none."""
    word, *rest = words
    if word == "start" and rest and rest[0] in KINDS:
        kind = rest[0]
        return Command.of_entry(f"start {kind}", list_entries()[KINDS[kind]]["tool"]), rest[1:]
    alias = ALIASES.get(word, Alias(word.replace("-", "_")))
    entry = list_entries().get(alias.tool)
    return (
        None
        if entry is None
        else (
            Command.of_entry(word, entry["tool"], alias.preset, alias.order),
            rest,
        )
    )


def list_words() -> dict[str, Command]:
    """Return the commands by their words: every tool once, by its first alias or its own name; then other aliases."""
    spelled = [*ALIASES, *(name.replace("_", "-") for name in list_entries())]
    found = {word: find_command([word]) for word in spelled}
    return {word: command[0] for word, command in found.items() if command is not None}


def list_help() -> list[tuple[str, str]]:
    """Return each command with what it does, for the help of all commands: every tool once, by the word it goes by."""
    own = [*OWN_WORDS.items()]
    return own + [(word_for(name), entry["tool"].get("title", "")) for name, entry in list_entries().items()]


def word_for(tool: str) -> str:
    """Return the command that help and hints name for a tool."""
    kind = next((kind for kind, name in KINDS.items() if name == tool and kind != "browser"), None)
    if kind is not None:
        return f"start {kind}"
    first = (word for word, alias in ALIASES.items() if alias.tool == tool and not alias.preset)
    return next(first, tool.replace("_", "-"))
