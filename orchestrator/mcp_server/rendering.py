"""Renders outcomes and errors as MCP results: text and data, redacted, of bounded size."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from mcp.types import CallToolResult, ImageContent, TextContent
from pydantic_core import PydanticSerializationError, to_json

from orchestrator.errors import MayHaveFailed, OrchestratorError
from orchestrator.mcp_server.error_text import error_data, error_lines, error_quotes
from orchestrator.mcp_server.truncation import size, truncate_data, truncate_text
from orchestrator.models.results import Fence, Outcome, Quote, Screenshot
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
        self._fence = Fence.draw()

    def outcome(self, outcome: Outcome, narrowing: Sequence[str] = ()) -> CallToolResult:
        """Render the outcome of a call; `narrowing` names the parameters that make it smaller."""
        error = outcome.failure() if isinstance(outcome, MayHaveFailed) else None
        lines, quotes, data = outcome.own_lines(), outcome.quotes(), outcome.data()
        if error is not None:
            lines, quotes = [*error_lines(error), *lines], [*error_quotes(error), *quotes]
            data = {**data, **error_data(error)}
        result = self._result(lines, quotes, data, narrowing, is_error=error is not None)
        if isinstance(outcome, Screenshot):
            return CallToolResult(content=[*result.content, _image(outcome.image, outcome.media_type)])
        if isinstance(outcome, Illustrated):
            result.content += [_image(picture, "image/png") for picture in outcome.pictures[:_PICTURES]]
        return result

    def error(self, error: OrchestratorError) -> CallToolResult:
        """Render an error and its hint."""
        return self._result(error_lines(error), error_quotes(error), error_data(error), (), is_error=True)

    def _result(
        self,
        lines: list[str],
        quotes: list[Quote],
        data: dict[str, Any],
        narrowing: Sequence[str],
        *,
        is_error: bool,
    ) -> CallToolResult:
        own, data = self._clean("\n".join(lines)), self._clean(data)
        quoted = self._clean(["\n".join(self._fence.around(quote)) for quote in quotes])
        longest = max(len("\n".join([own, *quoted])), size(data))
        if longest > self._limit:
            note = _note(longest, self._limit, narrowing)
            data = truncate_data({**data, "next": " ".join(filter(None, (data.get("next"), note)))}, self._limit)
            own = f"{truncate_text(own, self._limit - len(note) - 1)}\n{note}"
            quoted = self._cut(quoted, self._limit - len(own))
        text = "\n".join(filter(None, [own, *quoted]))[: self._limit]
        return CallToolResult(content=[TextContent(text=text)], structured_content=data, is_error=is_error)

    def _clean(self, value: Any) -> Any:
        """Redact a text or JSON value, and make it one that can be sent."""
        redacted = self._redactor.text(value) if isinstance(value, str) else self._redactor.data(value)
        return redacted if _is_sendable(redacted) else _sendable(redacted)

    def _cut(self, quoted: list[str], room: int) -> list[str]:
        """Cut the longest quotes until all fit, each with its end; drop what has no room."""
        end = f"\n{self._fence.closing}"
        kept: list[tuple[int, str]] = []
        for index, quote in sorted(enumerate(quoted), key=lambda one: len(one[1])):
            share = room // (len(quoted) - len(kept)) - 1
            shown = quote if len(quote) <= share else truncate_text(quote.removesuffix(end), share - len(end)) + end
            if len(shown) > share:
                shown = ""
            kept.append((index, shown))
            room -= len(shown) + 1
        return [shown for _, shown in sorted(kept)]


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
