"""Settings: one typed model, read from arguments, environment, files and defaults."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from orchestrator.errors import InvalidArgument
from orchestrator.models.comma_lists import split_list
from orchestrator.models.durations import parse_duration
from orchestrator.models.origin_patterns import narrow_patterns, parse_patterns
from orchestrator.settings.endpoints import DEBUGGER, HTTP_ADDRESS, check_endpoint_url, check_issuer_url
from orchestrator.settings.sessions import SessionSettings, default_home

PREFIX = "ORCHESTRATOR_"
SECRET_PREFIX = f"{PREFIX}SECRET_"
"""Beginning of the names of variables with secrets, which are no settings."""
FILE_NAME = "orchestrator.toml"
LOCAL_HTTP_ADDRESS = "127.0.0.1:4820"
"""The address of `--http` without a value."""
HARMLESS = frozenset(
    {
        *("headless", "lazy_start", "session_warning", "on_max_duration"),
        *("tools", "output_schemas", "schemas"),
    }
)
"""Settings that the working folder's file chooses freely: a cloned repository can do no harm with them."""
DOWNWARDS = frozenset(
    {
        *("max_sessions", "idle_timeout", "max_duration", "park_ttl", "command_timeout", "start_timeout"),
        *("default_timeout",),
        *("max_output", "script_memory", "script_idle", "downloads_max"),
        *("uploads_max", "keep_uploads"),
    }
)
"""Limits that the working folder's file can only lower."""
STRICTER: Mapping[str, tuple[Any, ...]] = {
    "autostart": (True, False),
    "file_urls": ("all", "roots", "none"),
    "require_session_id": ("never", "auto", "always"),
    "sandbox": ("off", "auto", "require"),
    "unsafe_args": (True, False),
}
"""Settings that it can only make stricter: their values, the strictest last."""
_ADDED_TO = frozenset({"deny_tools", "confirm", "blocked_origins"})
"""Lists that it adds to those of the file in the data folder; from `allowed_origins` it only takes away."""

ToolSet = Literal["core", "browser", "sessions", "agents", "mobile", "network", "script"]
"""Groups of tools, so that a server can list fewer of them, or deny some."""
FileUrls = Literal["roots", "none", "all"]
SandboxMode = Literal["auto", "require", "off"]
SchemaForm = Literal["auto", "full", "plain"]
"""Forms of the schemas of parameters: `plain` for hosts that refuse free objects."""

_DURATIONS = (
    "idle_timeout",
    "max_duration",
    "park_ttl",
    "command_timeout",
    "start_timeout",
    "default_timeout",
    "script_idle",
    "keep_files",
    "keep_uploads",
    "detach_after",
    "drain",
)
_NAMESPACE = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]+")


class CloudSettings(BaseModel):
    """Addresses of a cloud that differ from its vendor's defaults: a private cloud, a dedicated hub."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    hub_url: str | None = None
    """Its WebDriver endpoint."""
    api_url: str | None = None
    """The URL of its REST API, for status, dashboard and apps."""
    tunnel: Path | None = None
    """The vendor's tunnel program; default: found on PATH."""

    @field_validator("hub_url", "api_url")
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        return None if value is None else check_endpoint_url(value)


_BODY = 0.9
"""The share of a result that its body may take."""


class Settings(SessionSettings):
    """Settings of a server or script. Durations are seconds, or text such as `30m`.

    `Settings(…)` reads omitted ones from the environment (`ORCHESTRATOR_…`), then from `orchestrator.toml` in the
    working folder, then from `orchestrator.toml` in `home`.
    """

    tools: str = Field(
        default="default",
        description="Tools to list, by name or set: default, all, core, browser, sessions, agents, mobile, network, "
        "script; joined by commas. Others can be called all the same.",
    )
    deny_tools: str = Field(
        default="",
        description="Tools to refuse, by name or set, joined by commas: as calls, as steps and in scripts.",
    )
    confirm: str = Field(
        default="",
        description="Tools that a person confirms, for a call or a session: names, sets, or `destructive`.",
    )
    unsafe_args: bool = Field(
        default=False,
        description="Over MCP, starts may choose programs, profiles, ports and weaker protections of browsers.",
    )
    sandbox: SandboxMode = Field(
        default="auto",
        description="Chromium's sandbox: auto (where it works, else a warning), require (else no start), or off.",
    )
    extensions: list[Path] = Field(
        default_factory=list,
        description="Folders that starts over MCP may load browser extensions from, joined by commas.",
    )
    file_roots: str = Field(
        default="default",
        description="Folders and files that tools may read and write over MCP, joined as in PATH; default stands for "
        "the project folder, the temporary folder, and our own downloads, screenshots, prints, hars and states.",
    )
    file_urls: FileUrls = Field(
        default="roots", description="`file:` pages over MCP: those in file_roots, none, or all (browser pages, too)."
    )
    allowed_origins: str = Field(
        default="",
        description="Over MCP, origins that pages, their requests and connections to remote ends may lead to, joined "
        "by commas: https://*.example.com, http://localhost:*; default: all but metadata addresses of clouds, which "
        "are blocked unless named here.",
    )
    blocked_origins: str = Field(default="", description="Origins that they must not lead to, such as *.ads.example.")
    output_schemas: bool = Field(default=True, description="List the schemas of results, too.")
    schemas: SchemaForm = Field(
        default="auto",
        description="Schemas of parameters: full, plain (free objects become JSON text), or auto, by the client.",
    )
    http: str | None = Field(
        default=None,
        description=f"Serve MCP over HTTP at this HOST:PORT, in place of stdio; `--http` alone: {LOCAL_HTTP_ADDRESS}.",
        pattern=HTTP_ADDRESS,
    )
    tls_certificate: Path | None = Field(
        default=None, description="Over HTTP, the certificate chain, a PEM file; goes with tls_key."
    )
    tls_key: Path | None = Field(default=None, description="Over HTTP, the certificate's private key, a PEM file.")
    insecure: bool = Field(
        default=False,
        description="Over HTTP, serve other machines without TLS: tokens and pages are readable on the way.",
    )
    http_hosts: str = Field(
        default="",
        description="Over HTTP, host names besides that of the address by which clients may call, joined by commas.",
    )
    http_origins: str = Field(
        default="",
        description="Over HTTP, origins whose web pages may call, joined by commas; default: those of this machine.",
    )
    oauth_issuer: str | None = Field(
        default=None,
        description="Over HTTP, the URL of an authorization server whose access tokens are taken, too, as they name "
        "it in iss.",
    )
    oauth_resource: str | None = Field(
        default=None,
        description="The URL of this server's /mcp as clients reach it, the aud of access tokens; default: the "
        "address that it listens at.",
    )
    oauth_scopes: str = Field(
        default="orchestrator:read,orchestrator:act,orchestrator:admin",
        description="The scopes of access tokens that give the roles read, act and admin, joined by commas.",
        pattern=r"""^[^\s,"\\]+(,[^\s,"\\]+){2}$""",
    )
    oauth_namespace: str = Field(
        default="",
        description="The claim of access tokens that names their namespace; default: all have the setting namespace.",
    )
    http_body: int = Field(default=4, ge=1, description="Over HTTP, the largest request, in MB.")
    detach_after: float = Field(
        default=300, gt=0, description="Over HTTP, a client silent for this long is gone: its sessions are parked."
    )
    drain: float = Field(
        default=10, ge=0, description="Over HTTP, how long calls in flight may go on when the server is told to end."
    )
    chrome_binary: Path | None = Field(default=None, description="Chrome or Chromium; default: detected.")
    chromedriver: Path | None = Field(default=None, description="chromedriver; default: detected.")
    firefox_binary: Path | None = Field(default=None, description="Firefox; default: detected.")
    geckodriver: Path | None = Field(default=None, description="geckodriver; default: detected.")
    edge_binary: Path | None = Field(default=None, description="Edge; default: detected.")
    msedgedriver: Path | None = Field(default=None, description="msedgedriver; default: detected.")
    safaridriver: Path | None = Field(default=None, description="safaridriver; default: detected.")
    webkitgtk_binary: Path | None = Field(
        default=None, description="MiniBrowser of WebKitGTK; default: its driver's choice."
    )
    webkitwebdriver: Path | None = Field(default=None, description="WebKitWebDriver; default: detected.")
    appium: Path | None = Field(default=None, description="The Appium program; default: detected.")
    appium_url: str = Field(
        default="http://127.0.0.1:4723", description="The Appium server; user:password@ in it stays secret.", repr=False
    )
    selenium_server: Path | None = Field(
        default=None, description="The Selenium server's jar, for `orchestrator grid up`; default: detected."
    )
    autostart: bool = Field(
        default=True, description="Start Appium for a session if no server responds at a local appium_url."
    )
    grid_url: str | None = Field(
        default=None,
        description="The Selenium Grid, such as http://127.0.0.1:4444; user:password@ in it stays secret.",
        repr=False,
    )
    attach: str | None = Field(
        default=None,
        description="host:port of a running Chrome's debugger, for sessions of mode attached.",
        pattern=DEBUGGER,
    )
    secrets_file: Path = Field(
        default_factory=lambda given: given["home"] / "secrets.toml",
        description='Secrets beside the environment, in lines such as LT_ACCESS_KEY = "…" or tables with value and '
        "origins; default: in home.",
    )
    pass_environment: str = Field(
        default="",
        description="Environment variables that browsers, drivers and other started programs get besides the usual "
        "ones, by name, joined by commas: NODE_OPTIONS,SIM_*.",
    )
    clouds: dict[str, CloudSettings] = Field(
        default_factory=dict,
        description="JSON: hub_url, api_url and tunnel (a program) by provider, if not the vendor's.",
        repr=False,
    )

    @model_validator(mode="before")
    @classmethod
    def _from_sources(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Add what the environment and the files say; each source goes before those after it."""
        nearest = {**_environment(os.environ), **given}
        home = Path(nearest.get("home") or default_home()).expanduser()
        kept = _file(home)
        return {**kept, **_from_project(_file(Path.cwd()), kept), **nearest}

    @field_validator("oauth_issuer", "oauth_resource")
    @classmethod
    def _of_oauth(cls, value: str | None) -> str | None:
        return None if value is None else check_issuer_url(value)

    @field_validator("clouds", mode="before")
    @classmethod
    def _json(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    @field_validator(*_DURATIONS, mode="before")
    @classmethod
    def _seconds(cls, value: Any) -> Any:
        return parse_duration(value)

    @field_validator("appium_url", "grid_url")
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        return None if value is None else check_endpoint_url(value)

    @field_validator(
        *("tools", "deny_tools", "confirm", "pass_environment", "allowed_origins", "blocked_origins"),
        *("http_hosts", "http_origins", "oauth_scopes"),
        mode="before",
    )
    @classmethod
    def _joined(cls, value: Any) -> Any:
        return _joined_text(value) if isinstance(value, list) else value

    @field_validator("extensions", mode="before")
    @classmethod
    def _folders(cls, value: Any) -> Any:
        folders = split_list(value) if isinstance(value, str) else value
        return [Path(folder).expanduser().absolute() for folder in folders if str(folder).strip()]

    @field_validator("file_roots", mode="before")
    @classmethod
    def _as_in_path(cls, value: Any) -> Any:
        return os.pathsep.join(map(str, value)) if isinstance(value, list) else value

    @field_validator("allowed_origins", "blocked_origins")
    @classmethod
    def _patterns(cls, value: str) -> str:
        parse_patterns(value)
        return value

    @field_validator("home", "secrets_file")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("namespace")
    @classmethod
    def _from_folder(cls, value: str) -> str:
        value = value or project_namespace(os.environ)
        if not _NAMESPACE.fullmatch(value):
            raise ValueError("use letters, digits, '.', '_' and '-': it names folders below home")
        return value

    @property
    def body_room(self) -> int:
        """Maximum characters of a result's body; the rest of `max_output` is for the text around it."""
        return round(self.max_output * _BODY)

    @classmethod
    def load(cls, given: Mapping[str, Any] | None = None) -> Self:
        """Read the settings; those given take precedence.

        Raises:
            InvalidArgument: A value has the wrong type, or a file cannot be read; the message names the setting.
        """
        try:
            return cls(**(given or {}))
        except FileNotFoundError:  # from Path.cwd()
            raise InvalidArgument("The working folder no longer exists.", hint="Change to another one.") from None
        except ValidationError as error:
            raise InvalidArgument(_explain(error), hint="Settings are listed in docs/settings.md.") from None


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that the environment has; an empty variable says nothing."""
    values = {name: environ.get(PREFIX + name.upper(), "") for name in Settings.model_fields}
    return {name: value for name, value in values.items() if value}


def _from_project(given: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the working folder's file may choose, where the file in `home` says `kept`."""
    allowed = {name: value for name, value in given.items() if _is_allowed(name, value, kept)}
    for name in _ADDED_TO & {*allowed}:  # it may refuse more than the data folder's file
        allowed[name] = f"{_joined_text(allowed[name])},{_joined_text(kept.get(name, ''))}".strip(",")
    if "allowed_origins" in allowed:
        before = _joined_text(kept.get("allowed_origins", ""))
        with suppress(ValueError):  # the validator reports it
            allowed["allowed_origins"] = narrow_patterns(_joined_text(allowed["allowed_origins"]), before)
    return allowed


def _joined_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _is_allowed(name: str, value: Any, kept: Mapping[str, Any]) -> bool:
    """Return True for a setting that a cloned repository may choose, and for an unknown one, which is an error."""
    if name in HARMLESS | _ADDED_TO | {"allowed_origins"} or name not in Settings.model_fields:
        return True
    before = kept.get(name, Settings.model_fields[name].default)
    if name in DOWNWARDS:
        return _is_lower(value, before)
    levels = STRICTER.get(name, ())
    return value in levels and (before not in levels or levels.index(value) >= levels.index(before))


def _is_lower(value: Any, before: Any) -> bool:
    try:
        return before is None or parse_duration(value) <= parse_duration(before)
    except (ValueError, TypeError):
        return False


def ignored_in_project(home: Path) -> list[str]:
    """Return what the working folder's file says in vain, since a cloned repository must not choose it.

    Args:
        home: The setting, where the user's own file is.

    Raises:
        InvalidArgument: A file cannot be read.
    """
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        return []
    kept = _file(home)
    return sorted(name for name, value in _file(folder).items() if not _is_allowed(name, value, kept))


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Return the environment variables with our prefix that are no settings, each with a suggestion."""
    unknown = []
    for variable in sorted(environ):
        name = variable.removeprefix(PREFIX).lower()
        is_secret = variable.startswith(SECRET_PREFIX)
        if variable.startswith(PREFIX) and name not in Settings.model_fields and not is_secret:
            near = get_close_matches(name, Settings.model_fields, n=1)
            unknown.append(f"{variable}" + (f" (did you mean {PREFIX}{near[0].upper()}?)" if near else ""))
    return unknown


def project_namespace(environ: Mapping[str, str]) -> str:
    """Return the namespace of the project folder: its name and a short hash of its path; `default` for `/` and home."""
    folder = Path(environ.get("CLAUDE_PROJECT_DIR") or Path.cwd()).absolute()
    if folder == Path(folder.anchor) or folder == Path.home():
        return "default"
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', folder.name)[:40]}-{digest}"


def _file(folder: Path) -> dict[str, Any]:
    path = folder / FILE_NAME
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:  # no TOML, or no UTF-8
        raise InvalidArgument(f"{path} cannot be read: {error}.", hint="Correct or remove the file.") from None


def _explain(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        near = get_close_matches(name, Settings.model_fields, n=1)
        return f"Unknown setting {name!r}." + (f" Did you mean {near[0]!r}?" if near else "")
    problem = first["msg"].removeprefix("Value error, ")
    inside = "".join(f" ({place})" for place in first["loc"][-1:] if len(first["loc"]) > 1)
    return f"Setting {name!r}{inside}: {problem}."
