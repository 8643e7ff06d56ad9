"""Configuration snippets with which MCP clients connect to a server over HTTP."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.cli.doctor.clients import CALL_SECONDS, NAME
from orchestrator.settings import LOCAL_HTTP_ADDRESS, Settings

_PLACEHOLDER = "TOKEN"


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """A server over HTTP as a client reaches it.

    Attributes:
        url: The endpoint of MCP.
        token: The token; `TOKEN` if it is not known here.
    """

    url: str
    token: str

    @classmethod
    def of_settings(cls, settings: Settings) -> HttpEndpoint:
        """Return the server that these settings start, with the token that its first start made, while it is valid."""
        from orchestrator.mcp_server.http.tokens import FIRST_FILE_NAME, TokenFile

        scheme = "https" if settings.tls_certificate else "http"
        try:
            secret = (settings.home / FIRST_FILE_NAME).read_text("utf-8").strip()
        except OSError:
            secret = ""
        known = bool(secret) and TokenFile(settings.home).find(secret) is not None
        return cls(f"{scheme}://{settings.http or LOCAL_HTTP_ADDRESS}/mcp", secret if known else _PLACEHOLDER)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of each request."""
        return {"Authorization": f"Bearer {self.token}"}

    def notes(self) -> list[str]:
        """Return sentences on what else to know."""
        notes = ["The snippet contains a token: whoever has it can use the server. Commit it nowhere."]
        if self.token == _PLACEHOLDER:
            notes = [f"Write a token in place of {_PLACEHOLDER}: orchestrator tokens add NAME prints one."]
        return [*notes, "The server must run: orchestrator serve --http"]


def http_snippet(client: str, endpoint: HttpEndpoint) -> str:
    """Return the text to paste into a client, by its name as in `--client`; it goes where that for stdio goes."""
    return _WRITERS[client](endpoint)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _claude_code(endpoint: HttpEndpoint) -> str:
    words = ["claude", "mcp", "add", "--scope", "user", "--transport", "http", NAME, endpoint.url]
    return shlex.join([*words, "--header", f"Authorization: Bearer {endpoint.token}"])


def _claude_desktop(endpoint: HttpEndpoint) -> str:
    # It starts programs alone: mcp-remote connects one to a server over HTTP. Its arguments may hold no spaces.
    args = ["-y", "mcp-remote", endpoint.url, "--header", "Authorization:${AUTHORIZATION}"]
    env = {"AUTHORIZATION": f"Bearer {endpoint.token}"}
    return _json({"mcpServers": {NAME: {"command": "npx", "args": args, "env": env}}})


def _codex(endpoint: HttpEndpoint) -> str:
    lines = [
        f"[mcp_servers.{NAME}]",
        f"url = {json.dumps(endpoint.url)}",
        f"http_headers = {{ Authorization = {json.dumps(f'Bearer {endpoint.token}')} }}",
        f"tool_timeout_sec = {CALL_SECONDS}",
    ]
    return "\n".join(lines)


def _servers(key: str, url: str, **fields: Any) -> Callable[[HttpEndpoint], str]:
    """Return a writer of JSON in which servers stand under `key`, each with its URL under `url` and its headers."""

    def write(endpoint: HttpEndpoint) -> str:
        return _json({key: {NAME: {**fields, url: endpoint.url, "headers": endpoint.headers}}})

    return write


_WRITERS: Mapping[str, Callable[[HttpEndpoint], str]] = {
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "codex": _codex,
    "cursor": _servers("mcpServers", "url"),
    "vscode": _servers("servers", "url", type="http"),
    "gemini": _servers("mcpServers", "httpUrl", timeout=CALL_SECONDS * 1000),
    "windsurf": _servers("mcpServers", "serverUrl"),
    "opencode": _servers("mcp", "url", type="remote", enabled=True, timeout=CALL_SECONDS * 1000),
    "zed": _servers("context_servers", "url"),
    "cline": _servers("mcpServers", "url", type="streamableHttp", timeout=CALL_SECONDS, disabled=False),
}
