"""JSON-RPC messages as lines of input, none of which is dropped in silence.

What the SDK's reader would drop is mended, or refused to its sender.

Source: JSON-RPC 2.0, https://www.jsonrpc.org/specification; MCP, its basic protocol: an id is a string or an integer.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.os.win32.utilities import rebind_std_handle_to_fd
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)
_DEPTH = 200
"""Levels of arrays and objects that the parser takes."""


class InputLines:
    """The lines of our input, in order; a message that cannot be read is refused to its sender, and left out."""

    def __init__(self, lines: anyio.AsyncFile[str]) -> None:
        self._lines = lines
        self._outgoing: WriteStream[SessionMessage]

    def refuse_to(self, outgoing: WriteStream[SessionMessage]) -> None:
        """Send refusals there; to be called before the first line is read."""
        self._outgoing = outgoing

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            read = read_line(line)
            if isinstance(read, types.JSONRPCError):
                await self._outgoing.send(SessionMessage(read))
            elif read:
                yield read


def read_line(line: str) -> str | types.JSONRPCError | None:
    """Return the line of a message, with lone surrogates replaced by U+FFFD; else its refusal, None where none is due.

    None is due for an empty line, and for an answer to a request of ours.
    """
    if not line.strip():
        return None
    problem = _problem(line)
    if not problem:
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(types.PARSE_ERROR, f"Parse error: {problem}", _find_id(line))
    mended = json.dumps(_without_lone_surrogates(message))
    problem = _problem(mended)
    if not problem:
        return mended
    if not isinstance(message, dict):
        return _refusal(types.INVALID_REQUEST, f"Invalid request: {problem}", None)
    is_answer = "method" not in message and ("result" in message or "error" in message)
    return None if is_answer else _refusal(types.INVALID_REQUEST, f"Invalid request: {problem}", message.get("id"))


def _problem(line: str) -> str:
    """Return what is wrong with a message, as a clause; empty if nothing is."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        return _explain(error)
    # A request whose id is none would be taken for a notification, to which nobody answers.
    if isinstance(message, types.JSONRPCNotification) and '"id"' in line and "id" in json.loads(line):
        return "its id is neither a string nor an integer"
    return ""


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=True)[0]
    if first["type"] == "json_invalid":
        reason = str(first.get("ctx", {}).get("error", first["msg"]))
        return reason.replace("recursion limit exceeded", f"it is nested deeper than {_DEPTH} levels")
    if len(first["loc"]) < 2:  # noqa: PLR2004 (a kind of message, and the field in it)
        return "a message is one object"
    return f"its {first['loc'][1]} is wrong ({first['msg']})"


def _refusal(code: int, message: str, id_: Any) -> types.JSONRPCError:
    known = id_ if isinstance(id_, str) or (isinstance(id_, int) and not isinstance(id_, bool)) else None
    return types.JSONRPCError(
        jsonrpc="2.0", id=_whole(known), error=types.ErrorData(code=code, message=f"{message}. Nothing was done.")
    )


def _find_id(line: str) -> str | int | None:
    """Return the id of a message that is not JSON: the whole value after a key `id` of the outermost object.

    A number at the end of the line may be the beginning of another request's.
    """
    depth, parts = 0, _TOKEN.findall(line)
    for index, part in enumerate(parts):
        depth += (part in "{[") - (part in "}]")
        if depth == 1 and part == '"id"' and parts[index + 1 : index + 2] == [":"] and len(parts) > index + 3:
            with suppress(ValueError):
                found = json.loads(parts[index + 2])
                return found if isinstance(found, (str, int)) and not isinstance(found, bool) else None
    return None


def _whole(value: Any) -> Any:
    """Return text without lone surrogates, which UTF-8 cannot hold."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def _without_lone_surrogates(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole(name): _without_lone_surrogates(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_lone_surrogates(one) for one in value]
    return _whole(value)


def open_input() -> anyio.AsyncFile[str]:
    """Open our input at a descriptor that no child inherits; whoever reads the standard one meets its end."""
    number = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    with suppress(OSError):
        rebind_std_handle_to_fd(0)
    # It stays open: a thread may still wait there, and must not read what is opened under this number later.
    return anyio.wrap_file(os.fdopen(number, encoding="utf-8", errors="replace", closefd=False))
