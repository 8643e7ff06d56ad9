"""Settings: one typed model, read from arguments, environment, files and defaults."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from orchestrator.errors import InvalidArgument
from orchestrator.models.durations import parse_duration

PREFIX = "ORCHESTRATOR_"
FILE_NAME = "orchestrator.toml"
_NOT_FROM_WORKING_FOLDER = frozenset(
    {
        *("home", "secrets_file", "appium", "appium_url", "grid_url", "selenium_server", "clouds"),
        "attach",
        *("chrome_binary", "chromedriver", "firefox_binary", "geckodriver", "edge_binary", "msedgedriver"),
        *("safaridriver", "webkitgtk_binary", "webkitwebdriver"),
    }
)
"""A cloned repository must not choose the programs that run, nor where records are kept."""

RequireSessionId = Literal["auto", "always", "never"]
ToolSet = Literal["core", "browser", "sessions", "agents", "mobile", "network", "script"]
"""Groups of tools, so that a server can list fewer of them, or deny some."""
SchemaForm = Literal["auto", "full", "plain"]
"""Forms of the schemas of parameters: `plain` for hosts that refuse free objects."""

DEBUGGER = r"^[A-Za-z0-9._-]+:[0-9]{1,5}$"
"""Host and port of a browser's debugger."""
_DURATIONS = ("idle_timeout", "max_duration", "park_ttl", "command_timeout", "start_timeout", "script_idle")
_NAMESPACE = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]+")


def check_endpoint_url(value: str) -> str:
    """Check the URL of a WebDriver endpoint; return it without a slash at its end.

    Raises:
        ValueError: It is not an http or https URL with a host.
    """
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("the URL must begin with http:// or https:// and name a host")
    return value.rstrip("/")


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


def _default_home() -> Path:
    return Path(platformdirs.user_data_dir("webdriver-orchestrator", appauthor=False))


class Settings(BaseModel):
    """Settings of a server or script. Durations are seconds, or text such as `30m`.

    `Settings(…)` reads omitted ones from the environment (`ORCHESTRATOR_…`), then from `orchestrator.toml` in the
    working folder, then from `orchestrator.toml` in `home`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=True)

    home: Path = Field(
        default_factory=_default_home,
        description="Folder of records, profiles, logs and screenshots, readable by you alone.",
    )
    namespace: str = Field(
        default="",
        description="Only sessions of this namespace are visible; default: from the project folder.",
        max_length=128,
    )
    headless: bool = Field(default=True, description="Start browsers without a window.")
    lazy_start: bool = Field(default=True, description="`navigate` starts a browser when the caller has no session.")
    require_session_id: RequireSessionId = Field(
        default="auto",
        description="Refuse changing calls without a session id: where agents may share a connection, always, never.",
    )
    session_warning: int = Field(default=5, ge=1, description="Number of open sessions from which a start warns.")
    max_sessions: int | None = Field(default=None, ge=1, description="Maximum number of open sessions.")
    idle_timeout: float = Field(default=1800, gt=0, description="A session unused for this long is ended.")
    max_duration: float | None = Field(default=None, gt=0, description="Maximum age of a session; default: unlimited.")
    on_max_duration: Literal["close", "recreate"] = Field(
        default="close", description="Close or recreate a session that reaches max_duration."
    )
    park_ttl: float = Field(
        default=300, ge=0, description="A session whose client has gone lives on for this long; 0 ends it at once."
    )
    command_timeout: float = Field(default=30, gt=0, description="Maximum time of one command at a remote end.")
    start_timeout: float = Field(default=120, gt=0, description="Maximum time of a session's start.")
    max_output: int = Field(default=20_000, gt=0, description="Maximum characters of a result's text, and of its data.")
    script_memory: int = Field(default=64, ge=8, description="Memory limit of a session's scripts, in MB.")
    script_idle: float = Field(
        default=600, gt=0, description="Script globals of a session are dropped after this long without a script."
    )
    tools: str = Field(
        default="default",
        description="Tools to list, by name or set: default, all, core, browser, sessions, agents, mobile, network, "
        "script; joined by commas. Others can be called all the same.",
    )
    deny_tools: str = Field(
        default="",
        description="Tools to refuse, by name or set, joined by commas: as calls, as steps and in scripts.",
    )
    output_schemas: bool = Field(default=True, description="List the schemas of results, too.")
    schemas: SchemaForm = Field(
        default="auto",
        description="Schemas of parameters: full, plain (free objects become JSON text), or auto, by the client.",
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
        description='Secrets beside the environment, in lines such as LT_ACCESS_KEY = "…"; default: in home.',
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
        home = Path(nearest.get("home") or _default_home()).expanduser()
        kept = _file(home)
        return {**kept, **_without_dangers(_file(Path.cwd()), kept), **nearest}

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

    @field_validator("tools", "deny_tools", mode="before")
    @classmethod
    def _joined(cls, value: Any) -> Any:
        return ",".join(map(str, value)) if isinstance(value, list) else value

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


def _without_dangers(given: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the working folder's file says, without the settings that a cloned repository must not choose."""
    allowed = {name: value for name, value in given.items() if name not in _NOT_FROM_WORKING_FOLDER}
    if "deny_tools" in allowed:  # it may deny more tools than the file in the data folder, but not fewer
        denied = (allowed["deny_tools"], kept.get("deny_tools", ""))
        allowed["deny_tools"] = ",".join(",".join(one) if isinstance(one, list) else str(one) for one in denied)
    return allowed


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Return the environment variables with our prefix that are no settings, each with a suggestion."""
    unknown = []
    for variable in sorted(environ):
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and name not in Settings.model_fields:
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
