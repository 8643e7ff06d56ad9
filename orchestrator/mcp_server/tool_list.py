"""The list of tools for clients, read from `tools.json` without loading any action."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

from mcp.types import Tool as ProtocolTool

from orchestrator.errors import InvalidArgument
from orchestrator.mcp_server.plain_schemas import needs_plain_schemas, plain_schema
from orchestrator.models.comma_lists import split_list
from orchestrator.models.near_names import nearest
from orchestrator.settings import Settings, ToolSet

FILE = Path(__file__).with_name("tools.json")
"""The tools that ship with the project; `make docs` writes it, and a test fails when it is stale."""
DESTRUCTIVE = "destructive"
"""A word in the setting `confirm` for all tools with that annotation."""
_SETS = ("default", "all", *get_args(ToolSet))


@dataclass(frozen=True)
class ToolEntry:
    """A tool as clients read it, and when it is listed.

    Attributes:
        toolset: The set that it belongs to.
        by_default: True if it is also in the set `default`.
        requires: Modules that must be installed.
        module: The module that declares it.
    """

    tool: ProtocolTool
    toolset: str
    by_default: bool = False
    requires: tuple[str, ...] = ()
    module: str = ""

    def data(self) -> dict[str, Any]:
        """Return it as it stands in the file."""
        tool = self.tool.model_dump(mode="json", by_alias=True, exclude_unset=True)
        facts = {
            "toolset": self.toolset,
            "byDefault": self.by_default,
            "requires": list(self.requires),
            "module": self.module,
        }
        return {**facts, "tool": tool}

    def is_in(self, names: Collection[str]) -> bool:
        """Return True if these names of sets and tools include it."""
        return (
            "all" in names
            or self.toolset in names
            or self.tool.name in names
            or (self.by_default and "default" in names)
        )


def read_entries() -> list[ToolEntry]:
    """Read the tools that ship with the project, in the order in which they are listed."""
    return [
        ToolEntry(
            ProtocolTool.model_validate(entry["tool"]),
            entry["toolset"],
            entry["byDefault"],
            tuple(entry["requires"]),
            entry["module"],
        )
        for entry in json.loads(FILE.read_text("utf-8"))
    ]


def split_names(setting: str, value: str, entries: Iterable[ToolEntry]) -> frozenset[str]:
    """Return the names of sets and tools in the value of a setting.

    Raises:
        InvalidArgument: There is no set or tool of a name.
    """
    names = split_list(value)
    known = {*_SETS, *(entry.tool.name for entry in entries)}
    for name in names:
        if name not in known:
            message = f"Setting '{setting}': there is no set or tool {name!r}."
            raise InvalidArgument(message, hint=f"{nearest(name, known)} Sets: {', '.join(_SETS)}.")
    return frozenset(names)


def check_tool_names(settings: Settings, entries: Sequence[ToolEntry] | None = None) -> None:
    """Check the settings that name tools.

    Args:
        settings: The settings to check.
        entries: All tools; default: those that ship with the project.

    Raises:
        InvalidArgument: A setting names something that does not exist.
    """
    if settings.deny_tools or settings.confirm or settings.tools != "default":
        known = read_entries() if entries is None else entries
        split_names("tools", settings.tools, known)
        split_names("deny_tools", settings.deny_tools, known)
        held_tools(settings, known)


def denied_tools(settings: Settings, entries: Sequence[ToolEntry]) -> list[str]:
    """Return the names of the tools that the setting `deny_tools` refuses.

    Raises:
        InvalidArgument: It names something that does not exist.
    """
    names = split_names("deny_tools", settings.deny_tools, entries)
    return [entry.tool.name for entry in entries if entry.is_in(names)]


def held_tools(settings: Settings, entries: Sequence[ToolEntry]) -> list[str]:
    """Return the names of the tools that the setting `confirm` holds back until a person agrees.

    Raises:
        InvalidArgument: It names something that does not exist.
    """
    words = split_list(settings.confirm)
    names = split_names("confirm", ",".join(word for word in words if word != DESTRUCTIVE), entries)
    return [
        entry.tool.name
        for entry in entries
        if entry.is_in(names)
        or (DESTRUCTIVE in words and entry.tool.annotations and entry.tool.annotations.destructive_hint)
    ]


def listed_entries(settings: Settings, entries: Sequence[ToolEntry], joined: Collection[str] = ()) -> list[ToolEntry]:
    """Return the tools to list; those that are not denied can still be called.

    Args:
        settings: The settings `tools` and `deny_tools` choose.
        entries: All tools.
        joined: Sets that joined the default one.

    Raises:
        InvalidArgument: A setting names something that does not exist.
    """
    names = split_names("tools", settings.tools, entries)
    denied = set(denied_tools(settings, entries))
    return [
        entry
        for entry in entries
        if entry.is_in(names | set(joined)) and entry.tool.name not in denied and all(map(find_spec, entry.requires))
    ]


def list_tools(
    settings: Settings, entries: Sequence[ToolEntry], *, joined: Collection[str] = (), client: str = ""
) -> list[ProtocolTool]:
    """Return the tools as a client lists them.

    Args:
        settings: Which tools are listed, and with which schemas.
        entries: All tools.
        joined: Sets that joined the default one.
        client: The client's name, as it introduced itself.
    """
    plain = settings.schemas == "plain" or (settings.schemas == "auto" and needs_plain_schemas(client))
    with_output = settings.output_schemas and not plain
    return [
        _listed(entry.tool, plain=plain, with_output=with_output) for entry in listed_entries(settings, entries, joined)
    ]


def _listed(tool: ProtocolTool, *, plain: bool, with_output: bool) -> ProtocolTool:
    """Return a tool as it is listed: the defaults of its parameters are left to `describe_actions` and the docs."""
    schema = tool.input_schema
    properties = {
        name: {key: value for key, value in declared.items() if key != "default"}
        for name, declared in schema["properties"].items()
    }
    listed = {**schema, "properties": properties}
    changes: dict[str, Any] = {"input_schema": plain_schema(listed) if plain else listed}
    return tool.model_copy(update=changes if with_output else {**changes, "output_schema": None})
