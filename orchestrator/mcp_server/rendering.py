"""Renders outcomes and errors as MCP results: text and data, redacted, of bounded size."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent
from pydantic_core import PydanticSerializationError, to_json

from orchestrator.errors import MayHaveFailed, OrchestratorError
from orchestrator.mcp_server.error_text import error_data, error_text
from orchestrator.mcp_server.truncation import size, truncate_data, truncate_text
from orchestrator.models.results import Outcome, Screenshot
from orchestrator.system.secrets import Redactor

_PICTURES = 4
"""The most pictures in one result."""


@runtime_checkable
class Illustrated(Protocol):
    """An outcome with pictures beside its data; its text names them as files."""

    pictures: list[bytes]
    """PNG images, none larger than models read."""


class Renderer:
    """Makes MCP results of outcomes and errors.

    Args:
        redactor: Redacts the secrets.
        limit: The most characters of a result, text and data each.
    """

    def __init__(self, redactor: Redactor, limit: int) -> None:
        self._redactor = redactor
        self._limit = limit

    def outcome(self, outcome: Outcome, narrowing: Sequence[str] = ()) -> CallToolResult:
        """Render the outcome of a call; `narrowing` names the parameters that make it smaller."""
        error = outcome.failure() if isinstance(outcome, MayHaveFailed) else None
        body, common = _parts(outcome)
        data = outcome.data()
        if error is not None:
            body = f"{error_text(error)}\n{body}"
            data = {**data, **error_data(error)}
        if isinstance(outcome, Screenshot):
            return self._picture(outcome, body + common)
        result = self._result(body, common, data, narrowing, is_error=error is not None)
        if isinstance(outcome, Illustrated):
            result.content += [_image(picture, "image/png") for picture in outcome.pictures[:_PICTURES]]
        return result

    def error(self, error: OrchestratorError) -> CallToolResult:
        """Render an error and its hint."""
        return self._result(error_text(error), "", error_data(error), (), is_error=True)

    def _picture(self, shot: Screenshot, text: str) -> CallToolResult:
        shown: list[ContentBlock] = [
            TextContent(text=truncate_text(self._redactor.text(text), self._limit)),
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
            data = truncate_data({**data, "next": " ".join(filter(None, (data.get("next"), note)))}, self._limit)
            body = truncate_text(body, self._limit - len(common))
        text = (body + common)[: self._limit]
        return CallToolResult(content=[TextContent(text=text)], structured_content=data, is_error=is_error)


def _is_sendable(value: Any) -> bool:
    try:
        to_json(value)
    except PydanticSerializationError:
        return False
    return True


def _sendable(value: Any) -> Any:
    """Replace lone surrogates, which cannot be encoded: one of them in an answer would end the connection."""
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
    """Split an outcome's text into its own, and the part that every outcome can have, which must not be cut."""
    text = outcome.render()
    shared = Outcome(**{name: getattr(outcome, name) for name in Outcome.model_fields})
    common = shared.render().removeprefix("\n".join(shared.lines()))
    return (text.removesuffix(common), common) if text.endswith(common) else (text, "")
