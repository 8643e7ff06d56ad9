"""The command `orchestrator run`: the steps in a file, for one session or several."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orchestrator.cli import tool_call
from orchestrator.cli.argument_parser import ArgumentParser
from orchestrator.cli.tool_commands import OWN_WORDS, SESSION_ID
from orchestrator.cli.tool_parser import add_common_options
from orchestrator.errors import InvalidArgument

WORD = "run"
_STANDARD_INPUT = "-"
_SHAPE = "Write actions: and a list of steps, or sequences: and for each session its sessionId and actions."
_SCALARS = {
    "tag:yaml.org,2002:bool": (r"true|false", "tf"),
    "tag:yaml.org,2002:null": (r"null|~|", "n~\0"),
    "tag:yaml.org,2002:int": (r"-?(0|[1-9][0-9]*)", "-0123456789"),
    "tag:yaml.org,2002:float": (r"-?(0|[1-9][0-9]*)\.[0-9]+", "-0123456789"),
}
"""The scalars of YAML that are no text: those of JSON. So `yes`, `on`, `0123` and `12:30` stay as they are written."""


def run(words: Sequence[str]) -> int:
    """Run the steps in a file; returns the exit code.

    Raises:
        OrchestratorError: The file is wrong, or a step failed.
    """
    given = vars(make_parser().parse_intermixed_args(list(words)))
    arguments = read_steps(given["file"])
    tool = "execute_parallel" if "sequences" in arguments else "execute_sequence"
    if given.get(SESSION_ID):
        arguments[SESSION_ID] = given[SESSION_ID]
    return tool_call.call_tool(tool, arguments, as_json=given["_json"], namespace=given.get("_namespace"))


def make_parser() -> ArgumentParser:
    """Return the parser of its words."""
    parser = ArgumentParser(prog=f"orchestrator {WORD}", description=OWN_WORDS[WORD])
    parser.add_argument("file", metavar="FILE", help="The file; - for standard input.")
    add_common_options(parser, with_session=True)
    return parser


def read_steps(name: str) -> dict[str, Any]:
    """Read the file of a run: the arguments of a sequence or a parallel run; a list alone is that of a sequence.

    Raises:
        InvalidArgument: It cannot be read, or is neither.
    """
    try:
        text = sys.stdin.read() if name == _STANDARD_INPUT else Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidArgument(f"{name} cannot be read: {reason}.", hint=_SHAPE) from None
    content = _parse_yaml(name, text)
    arguments = {"actions": content} if isinstance(content, list) else content
    if not isinstance(arguments, dict) or ("actions" in arguments) == ("sequences" in arguments):
        raise InvalidArgument(f"{name} holds no steps.", hint=_SHAPE)
    return arguments


def _parse_yaml(name: str, text: str) -> Any:
    """Parse YAML, which JSON is a part of."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads the scalars of JSON alone as other than text."""

        yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 — as its base declares it

    for tag, (pattern, first) in _SCALARS.items():
        Loader.add_implicit_resolver(tag, re.compile(f"^(?:{pattern})$"), ["" if c == "\0" else c for c in first])
    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 — a loader without objects
    except yaml.YAMLError as error:
        raise InvalidArgument(f"{name} is not YAML: {' '.join(str(error).split())}.", hint=_SHAPE) from None
