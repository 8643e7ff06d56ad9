"""Reads and lists the resources of the sessions that a caller may see."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

import anyio.to_thread
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    ImageContent,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
)

from orchestrator.api import Orchestrator
from orchestrator.errors import Denied, InvalidArgument, SessionNotFound
from orchestrator.mcp_server.caller_facts import NO_FACTS, CallerFacts
from orchestrator.mcp_server.confirmation import SETTING
from orchestrator.mcp_server.resources.session_files import list_files, read_file
from orchestrator.mcp_server.resources.uris import PLAIN_TEXT, ResourceKind, ResourceUri
from orchestrator.mcp_server.tool_calls import ToolCalls
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.system import activity

_PAGE = 50
"""Sessions on one page of the list."""
_TOOLS = {
    ResourceKind.OUTLINE: "get_visible_elements",
    ResourceKind.SCREENSHOT: "take_screenshot",
    ResourceKind.CONSOLE: "get_console",
}
_LISTS = "list_sessions"
"""The tool without which no session is listed, and neither log nor files are read."""
_LIVE = (SessionState.STARTING, SessionState.ACTIVE, SessionState.PARKED)

Contents = TextResourceContents | BlobResourceContents


class ResourceReader:
    """Reads resources as the tools of these calls would answer, for the caller whom the facts tell."""

    def __init__(self, calls: ToolCalls) -> None:
        self._calls = calls

    async def list_page(self, facts: CallerFacts, cursor: str | None) -> ListResourcesResult:
        """List the resources of the next sessions, in the order of their ids.

        Raises:
            Denied: Sessions may not be listed.
            InvalidArgument: It is no cursor of this list.
        """
        records = await self._records(facts)
        after = _read_cursor(cursor)
        left = sorted(record.id for record in records.values() if record.id > after)
        page = [Resource.model_validate(one) for name in left[:_PAGE] for one in _describe(records[name])]
        more = _make_cursor(left[_PAGE - 1]) if len(left) > _PAGE else None
        return ListResourcesResult(resources=page, next_cursor=more)

    async def read(self, facts: CallerFacts, uri: ResourceUri) -> ReadResourceResult | CallToolResult:
        """Read a resource; returns the error's result if the tool behind it failed.

        Raises:
            OrchestratorError: It is not there, or may not be read.
        """
        tool = _TOOLS.get(uri.kind)
        if tool is None:
            facade, record = await self.find(facts, uri)
            return await self._read_own(facade, record, uri)
        arguments = {"sessionId": uri.name} | ({"scope": "page"} if uri.kind is ResourceKind.OUTLINE else {})
        self._check_allowed(tool)
        result = await self._calls.call_tool(tool, arguments, facts)
        if result.is_error:
            return result
        return ReadResourceResult(contents=_of_result(result, uri))

    async def find(self, facts: CallerFacts, uri: ResourceUri) -> tuple[Orchestrator, SessionRecord]:
        """Find the session of a resource.

        Raises:
            SessionNotFound: It is not open in the caller's namespace.
            Denied: Sessions may not be listed.
        """
        records = await self._records(facts)
        if uri.session_id not in records:
            raise SessionNotFound(uri.name, [*records])
        return self._calls.facade_for(facts), records[uri.session_id]

    async def read_versions(self) -> dict[str, tuple[object, ...]]:
        """Return for each open session what is another value once it has changed."""
        records = await self._calls.facade_for(NO_FACTS).read_records()
        return {record.id: (record.created_at, record.state, record.use_count) for record in records}

    async def _records(self, facts: CallerFacts) -> dict[str, SessionRecord]:
        self._check_allowed(_LISTS)
        return {record.id: record for record in await self._calls.facade_for(facts).read_records()}

    def _check_allowed(self, tool: str) -> None:
        if self._calls.holds_back(tool):
            raise Denied(f"{tool} needs a person's consent: call it. Nothing was read.", setting=SETTING)

    async def _read_own(self, facade: Orchestrator, record: SessionRecord, uri: ResourceUri) -> ReadResourceResult:
        home = facade.settings.home
        if uri.kind is ResourceKind.LOG:
            entries = await anyio.to_thread.run_sync(activity.entries, home, record)
            lines = [entry.model_dump_json(by_alias=True, exclude_defaults=True) for entry in entries]
            return _text(uri, "\n".join(_newest(lines, facade.settings.max_output)))
        if uri.file:
            file, content = await anyio.to_thread.run_sync(read_file, home, record, uri.file)
            data = base64.b64encode(content).decode("ascii")
            blob = BlobResourceContents(uri=str(uri), mime_type=file.media_type, blob=data)
            return ReadResourceResult(contents=[blob])
        files = await anyio.to_thread.run_sync(list_files, home, record)
        rows = [
            {
                "uri": str(ResourceUri(record.id, ResourceKind.FILES, file.name)),
                "name": file.name,
                "size": file.size,
                "mimeType": file.media_type,
            }
            for file in files
        ]
        return _text(uri, json.dumps({"files": rows}, ensure_ascii=False))


def _describe(record: SessionRecord) -> list[dict[str, object]]:
    """Return the resources of a session; a lost one has no page to look at."""
    kinds = ResourceKind if record.state in _LIVE else (ResourceKind.LOG, ResourceKind.FILES)
    return [
        {
            "uri": str(ResourceUri(record.id, kind)),
            "name": f"{record.id} {kind}",
            "mimeType": kind.media_type,
        }
        for kind in kinds
    ]


def _of_result(result: CallToolResult, uri: ResourceUri) -> list[Contents]:
    """Return what a tool answered: its picture alone if it took one, else its text."""
    pictures = [part for part in result.content if isinstance(part, ImageContent)]
    if pictures:
        return [BlobResourceContents(uri=str(uri), mime_type=one.mime_type, blob=one.data) for one in pictures]
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    return [TextResourceContents(uri=str(uri), mime_type=PLAIN_TEXT, text=text)]


def _text(uri: ResourceUri, text: str) -> ReadResourceResult:
    contents = TextResourceContents(uri=str(uri), mime_type=uri.kind.media_type, text=text)
    return ReadResourceResult(contents=[contents])


def _newest(lines: Sequence[str], room: int) -> list[str]:
    """Return the last lines that have room."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]


def _make_cursor(last: str) -> str:
    return base64.urlsafe_b64encode(last.encode()).decode("ascii")


def _read_cursor(cursor: str | None) -> str:
    try:
        return base64.b64decode(cursor or "", altchars=b"-_", validate=True).decode()
    except ValueError:
        raise InvalidArgument("That is no cursor of this list.", hint="Begin without one.") from None
