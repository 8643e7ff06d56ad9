"""One typed model of every setting: argument, then environment, then file, then default."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from orchestrator.durations import seconds
from orchestrator.errors import InvalidArgument

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
"""A cloned repository must not choose what is run, nor where our records are."""

ToolSet = Literal["core", "browser", "sessions", "mobile", "script"]
"""What tools are grouped by, so that a client can have fewer of them listed."""

DEBUGGER = r"^[A-Za-z0-9._-]+:[0-9]{1,5}$"
"""Host and port of a browser's own endpoint."""
_DURATIONS = ("idle_timeout", "max_duration", "park_ttl", "command_timeout", "start_timeout", "script_idle")
_NAMESPACE = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]+")


def endpoint(value: str) -> str:
    """The URL of a WebDriver endpoint, without a slash at its end."""
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("the URL begins with http:// or https:// and names a host")
    return value.rstrip("/")


class CloudSettings(BaseModel):
    """Where a cloud is, when it is not where its vendor's documentation says: a private one, a dedicated hub."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    hub_url: str | None = None
    """Its WebDriver endpoint."""
    api_url: str | None = None
    """Its REST API, for status, dashboard and apps."""
    tunnel: Path | None = None
    """The vendor's tunnel, the program; found on PATH unless given."""

    @field_validator("hub_url", "api_url")
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        return None if value is None else endpoint(value)


class Settings(BaseSettings):
    """How this server or script behaves. Durations are seconds, or text such as `30m`.

    `Settings(…)` takes what is not given from the environment (`ORCHESTRATOR_…`), then from `orchestrator.toml` in the
    working folder, then from the one in `home`.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_default=True,
    )

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("webdriver-orchestrator", appauthor=False)),
        description="Folder of records, profiles, logs and screenshots; only you can read it.",
    )
    namespace: str = Field(
        default="",
        description="Whose sessions are visible; from the project folder unless given.",
        max_length=128,
    )
    headless: bool = Field(default=True, description="Start browsers without a window.")
    lazy_start: bool = Field(default=True, description="`navigate` starts a browser when the caller has no session.")
    session_warning: int = Field(default=5, ge=1, description="From this many open sessions on, a start warns.")
    max_sessions: int | None = Field(default=None, ge=1, description="No more open sessions than this.")
    idle_timeout: float = Field(default=1800, gt=0, description="A session that is unused for so long is ended.")
    max_duration: float | None = Field(default=None, gt=0, description="How old a session may become; any age if none.")
    on_max_duration: Literal["close", "recreate"] = Field(default="close", description="What becomes of one that old.")
    park_ttl: float = Field(
        default=300, ge=0, description="How long a session lives on when its client has gone; 0 ends it at once."
    )
    command_timeout: float = Field(default=30, gt=0, description="The longest a remote end may take for one command.")
    start_timeout: float = Field(default=120, gt=0, description="The longest that starting a session may take.")
    max_output: int = Field(default=20_000, gt=0, description="Characters of one result, text and data each.")
    script_memory: int = Field(default=64, ge=8, description="MB that the script world of a session may take.")
    script_idle: float = Field(default=600, gt=0, description="A script world that is unused for so long is given up.")
    tools: str = Field(
        default="all",
        description="Which sets of tools are listed: all, or some of core, browser, sessions, mobile, script.",
    )
    chrome_binary: Path | None = Field(default=None, description="Chrome or Chromium; found unless given.")
    chromedriver: Path | None = Field(default=None, description="chromedriver; found unless given.")
    firefox_binary: Path | None = Field(default=None, description="Firefox; found unless given.")
    geckodriver: Path | None = Field(default=None, description="geckodriver; found unless given.")
    edge_binary: Path | None = Field(default=None, description="Edge; found unless given.")
    msedgedriver: Path | None = Field(default=None, description="msedgedriver; found unless given.")
    safaridriver: Path | None = Field(default=None, description="safaridriver; found unless given.")
    webkitgtk_binary: Path | None = Field(
        default=None, description="MiniBrowser of WebKitGTK; the one that its driver knows unless given."
    )
    webkitwebdriver: Path | None = Field(default=None, description="WebKitWebDriver; found unless given.")
    appium: Path | None = Field(default=None, description="Appium, the program; found unless given.")
    appium_url: str = Field(
        default="http://127.0.0.1:4723", description="The Appium server; user:password@ in it stays secret.", repr=False
    )
    selenium_server: Path | None = Field(
        default=None, description="The Selenium server's jar, for `orchestrator grid up`; found unless given."
    )
    autostart: bool = Field(
        default=True, description="Start Appium for a session when no server answers at an appium_url of this machine."
    )
    grid_url: str | None = Field(
        default=None,
        description="The Selenium Grid, such as http://127.0.0.1:4444; user:password@ in it stays secret.",
        repr=False,
    )
    attach: str | None = Field(
        default=None,
        description="Where a running Chrome listens, as host:port, for sessions of mode attached.",
        pattern=DEBUGGER,
    )
    secrets_file: Path = Field(
        default_factory=lambda given: given["home"] / "secrets.toml",
        description='Lines such as LT_ACCESS_KEY = "…", for what is not in the environment; secrets.toml in home.',
    )
    clouds: Annotated[dict[str, CloudSettings], NoDecode] = Field(
        default_factory=dict,
        description="By provider its hub_url, api_url and tunnel (a program), where not the vendor's; as JSON.",
        repr=False,
    )

    @field_validator("clouds", mode="before")
    @classmethod
    def _json(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    @field_validator(*_DURATIONS, mode="before")
    @classmethod
    def _seconds(cls, value: Any) -> Any:
        return seconds(value)

    @field_validator("appium_url", "grid_url")
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        return None if value is None else endpoint(value)

    @field_validator("tools")
    @classmethod
    def _known_sets(cls, value: str) -> str:
        unknown = sorted(set(value.split(",")) - {"all", *get_args(ToolSet)})
        if unknown:
            known = ", ".join(get_args(ToolSet))
            raise ValueError(f"there is no set {unknown[0]!r}; write all, or some of {known}, joined by commas")
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

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The order of precedence; a `.env` file of the working folder is not among them."""
        del dotenv_settings, file_secret_settings
        return init_settings, env_settings, _WorkingFolder(settings_cls), _Home(settings_cls)

    @classmethod
    def load(cls, given: Mapping[str, Any] | None = None) -> Self:
        """Read the settings; what is given wins.

        Raises:
            InvalidArgument: A value has the wrong type, or a file cannot be read; it names the setting.
        """
        try:
            return cls(**(given or {}))
        except FileNotFoundError:  # what is asked for without a name is where we are
            raise InvalidArgument("The working folder is not there any more.", hint="Change to another one.") from None
        except ValidationError as error:
            raise InvalidArgument(_explain(error), hint="Settings are listed in docs/settings.md.") from None


class _File(PydanticBaseSettingsSource):
    """The settings of one `orchestrator.toml`."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """One setting, in the form that pydantic-settings asks for."""
        del field
        return self().get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return _file(self.folder())

    def folder(self) -> Path:
        """Where the file is."""
        return Path.cwd()


class _WorkingFolder(_File):
    """That of the working folder, without what a cloned repository must not choose."""

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__call__().items() if name not in _NOT_FROM_WORKING_FOLDER}


class _Home(_File):
    """That of the data folder, which the sources before this one may have moved."""

    def folder(self) -> Path:
        """The data folder."""
        default = Settings.model_fields["home"].get_default(call_default_factory=True)
        return Path(self.current_state.get("home") or default).expanduser()


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Names of environment variables that look like settings of ours and are none, each with a suggestion."""
    found = []
    for variable in sorted(environ):
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and name not in Settings.model_fields:
            near = get_close_matches(name, Settings.model_fields, n=1)
            found.append(f"{variable}" + (f" (did you mean {PREFIX}{near[0].upper()}?)" if near else ""))
    return found


def project_namespace(environ: Mapping[str, str]) -> str:
    """The namespace of the project folder: its name and a short hash of its path; `default` for `/` and home."""
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
        raise InvalidArgument(f"{path} cannot be read: {error}.", hint="Mend or remove the file.") from None


def _explain(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        near = get_close_matches(name, Settings.model_fields, n=1)
        return f"Unknown setting {name!r}." + (f" Did you mean {near[0]!r}?" if near else "")
    said = first["msg"].removeprefix("Value error, ")
    inside = "".join(f" ({place})" for place in first["loc"][-1:] if len(first["loc"]) > 1)
    return f"Setting {name!r}{inside}: {said}."
