"""The settings of sessions: where they are kept, how many, and how long they and calls last."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

RequireSessionId = Literal["auto", "always", "never"]


def default_home() -> Path:
    """Return the data folder that the platform gives an application."""
    return Path(platformdirs.user_data_dir("webdriver-orchestrator", appauthor=False))


class SessionSettings(BaseModel):
    """Settings of sessions, whoever uses them. Durations are seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=True)

    home: Path = Field(
        default_factory=default_home,
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
    max_local_browsers: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        default="auto",
        description="Maximum number of browsers on this machine; auto: one more as long as 400 MB of memory are "
        "available.",
    )
    downloads_max: int = Field(default=1000, ge=1, description="Maximum size of a session's downloads, in MB.")
    keep_files: float = Field(
        default=30 * 86_400,
        ge=0,
        description="Downloads, pictures, prints and recordings in home, under names of ours, are removed after this "
        "long, the oldest earlier from 5 GB on; 0 keeps them.",
    )
    uploads_max: int = Field(
        default=100, ge=1, description="Maximum size of the files that a client has sent and not removed, in MB."
    )
    keep_uploads: float = Field(
        default=86_400, gt=0, description="Files that clients sent are removed after this long."
    )
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
    default_timeout: float | None = Field(
        default=None,
        gt=0,
        le=600,
        description="Time that an action waits for its element or condition unless it has a timeout of its own; "
        "default: 5 s, at a remote end 15 s.",
    )
    max_output: int = Field(default=20_000, gt=0, description="Maximum characters of a result's text, and of its data.")
    script_memory: int = Field(default=64, ge=8, description="Memory limit of a session's scripts, in MB.")
    script_idle: float = Field(
        default=600, gt=0, description="Script globals of a session are dropped after this long without a script."
    )
    script_modules: Path | None = Field(
        default=None, description="Folder of JavaScript modules that scripts can import; default: they import nothing."
    )
