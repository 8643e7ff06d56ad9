"""Renders outcomes and errors as results: text and data, each enough alone, without secrets, of bounded size."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError, to_json

from orchestrator.actions.results import Outcome, Screenshot
from orchestrator.errors import MayHaveFailed, OrchestratorError
from orchestrator.mcp_server.cutting import cut_data, cut_text, size
from orchestrator.secrets import Redactor

_BESIDE = ("warnings", "events", "restored", "matches", "session", "next")
"""What stands beside an error as it would beside any other data."""


_PICTURES = 4
"""Pictures of one result at most."""


@runtime_checkable
class Illustrated(Protocol):
    """An outcome with pictures beside its data; they are files, too, which its text names."""

    pictures: list[bytes]
    """As PNG, none larger than a model looks at."""


class Renderer:
    """Makes results of outcomes and errors.

    Args:
        redactor: Knows the secrets.
        limit: Characters of one result, text and data each.
    """

    def __init__(self, redactor: Redactor, limit: int) -> None:
        self._redactor = redactor
        self._limit = limit

    def outcome(self, outcome: Outcome, narrowing: Sequence[str] = ()) -> CallToolResult:
        """What came of a call; `narrowing` names the parameters that would have made it smaller."""
        error = outcome.failure() if isinstance(outcome, MayHaveFailed) else None
        body, common = _parts(outcome)
        data = outcome.data()
        if error is not None:
            body = f"{_error_text(error)}\n{body}"
            data = {**data, **_error_data(error)}
        if isinstance(outcome, Screenshot):
            return self._picture(outcome, body + common)
        result = self._result(body, common, data, narrowing, is_error=error is not None)
        if isinstance(outcome, Illustrated):
            result.content += [_image(picture, "image/png") for picture in outcome.pictures[:_PICTURES]]
        return result

    def error(self, error: OrchestratorError) -> CallToolResult:
        """What went wrong, and what to do next."""
        return self._result(_error_text(error), "", _error_data(error), (), is_error=True)

    def _picture(self, shot: Screenshot, text: str) -> CallToolResult:
        shown: list[ContentBlock] = [
            TextContent(text=cut_text(self._redactor.text(text), self._limit)),
            _image(shot.image, shot.media_type),
        ]
        return CallToolResult(content=shown)

    def _result(
        self, body: str, common: str, data: dict[str, Any], narrowing: Sequence[str], *, is_error: bool
    ) -> CallToolResult:
        body, common, data = self._redactor.text(body), self._redactor.text(common), self._redactor.data(data)
        if not _is_sendable([body, common, data]):
            body, common, data = _sendable(body), _sendable(common), _sendable(data)
        longest = max(len(body) + len(common), size(data))
        if longest > self._limit:
            note = _note(longest, self._limit, narrowing)
            common = f"{common}\n{note}"
            data = cut_data({**data, "next": " ".join(filter(None, (data.get("next"), note)))}, self._limit)
            body = cut_text(body, self._limit - len(common))
        text = (body + common)[: self._limit]
        return CallToolResult(content=[TextContent(text=text)], structured_content=data, is_error=is_error)


def _is_sendable(value: Any) -> bool:
    try:
        to_json(value)
    except PydanticSerializationError:
        return False
    return True


def _sendable(value: Any) -> Any:
    """The value with a mark for each half of a surrogate pair: one of them in an answer would end the connection."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_sendable(name): _sendable(item) for name, item in value.items()}
    return [_sendable(item) for item in value] if isinstance(value, list) else value


def _image(image: bytes, media_type: str) -> ImageContent:
    return ImageContent(data=base64.b64encode(image).decode("ascii"), mime_type=media_type)


def _note(longest: int, limit: int, narrowing: Sequence[str]) -> str:
    rest = f"narrow it with {' or '.join(narrowing)}" if narrowing else "ask for less in one call"
    return f"Cut: it has {longest} characters and max_output is {limit}. To see the rest, {rest}."


def _parts(outcome: Outcome) -> tuple[str, str]:
    """An outcome's text: its own, and what every outcome can say besides, which must not be cut."""
    text = outcome.render()
    shared = Outcome(**{name: getattr(outcome, name) for name in Outcome.model_fields})
    common = shared.render().removeprefix("\n".join(shared.lines()))
    return (text.removesuffix(common), common) if text.endswith(common) else (text, "")


def _error_text(error: OrchestratorError) -> str:
    """`code: what happened. What to do next.`, then a line or a block for each fact that was not said."""
    lines = [f"{error.code}: {error}"]
    said = str(error)
    for name, value in error.details.items():
        lines += _fact(name, value, said)
    if error.session_id and not re.search(rf"(?<![\w.-]){re.escape(error.session_id)}(?![\w-])", said):
        lines.append(f"Session: {error.session_id}.")
    return "\n".join(lines)


def _fact(name: str, value: Any, said: str) -> list[str]:
    if name in {"warnings", "events"}:
        return [f"{name.removesuffix('s').capitalize()}: {one}" for one in value]
    items = value if isinstance(value, list | tuple) else [value]
    if all(_spelled(item) in said for item in items):
        return []
    title = " ".join(name.split("_")).capitalize()
    if isinstance(value, list | tuple):
        return [f"{title}:", *(f"- {_spelled(item)}" for item in items)]
    return [f"{title}: {_spelled(value)}"]


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _error_data(error: OrchestratorError) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(json.dumps(error.details, default=str))
    beside = {name: facts.pop(name) for name in _BESIDE if facts.get(name)}
    named = {"sessionId": error.session_id} if error.session_id else {}
    own: Mapping[str, Any] = {
        "code": error.code,
        "message": error.message,
        **named,
        "hint": error.hint,
        "retryable": error.retryable,
    }
    more = {to_camel(name): value for name, value in facts.items()}
    return {**beside, "error": {**own, **{name: value for name, value in more.items() if name not in own}}}
