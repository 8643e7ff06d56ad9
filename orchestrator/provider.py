"""The contract of providers: a typed request becomes an endpoint; hooks around the start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import Field, field_validator

from orchestrator.errors import Unsupported
from orchestrator.models.base import Wire
from orchestrator.models.browser_support import has_ability, require_ability
from orchestrator.models.durations import parse_duration
from orchestrator.models.paths import ReadPath, WritePath
from orchestrator.models.requests import AttachRequest, Endpoint, Started, StartRequest
from orchestrator.models.session import Mode, ProcessInfo, SessionRecord, SessionType
from orchestrator.models.test_status import TestStatus
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine, free_port, needed_switches
from orchestrator.system.origins import Origins
from orchestrator.system.secrets import named, resolve_reference
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities
from orchestrator.webdriver.credentials import Credentials

__all__ = [
    "AttachRequest", "Endpoint", "LocalMachine", "Mode", "Origins", "ProcessInfo", "Provider", "SessionOptions",
    "SessionRecord", "SessionType", "Settings", "Start", "StartRequest", "Started", "StoredApp", "TestStatus",
    "Upload", "Wire", "check_capabilities", "free_port", "has_ability", "merge_capabilities", "named",
    "needed_switches", "require_ability",
]  # fmt: skip
"""All names that a provider needs besides `orchestrator.errors`."""


class SessionOptions(Wire):
    """The options of every session; a provider's own model adds to them."""

    idle_timeout: float | None = Field(
        default=None, gt=0, description="End it when unused for this long, such as 90 or '45m'; default: the setting."
    )

    max_duration: float | None = Field(
        default=None, gt=0, description="End it when open for this long, such as '8h'; default: the setting."
    )

    start_timeout: float | None = Field(
        default=None, gt=0, description="Maximum time of this start; default: the setting."
    )

    strict: bool = Field(default=False, description="A selector that matches several elements is an error.")

    har: bool | WritePath = Field(
        default=False, description="Record all traffic into a HAR file, written at the end: true, or its path."
    )

    hars: tuple[ReadPath, ...] = Field(default=(), description="HAR files that responses come from.")

    @property
    def can_share_browser(self) -> bool:
        """True if other sessions may use the session's browser."""
        return True

    def limits(self, settings: Settings) -> dict[str, float]:
        """Return the session's time limits for its record, in seconds; without `age` its age is unlimited."""
        age = self.max_duration or settings.max_duration
        return {
            "idle": self.idle_timeout or settings.idle_timeout,
            "park": settings.park_ttl,
            **({"age": age} if age else {}),
        }

    def as_capabilities(self) -> dict[str, Any]:
        """Return the given options that stand for capabilities, by the capabilities' full names.

        A start over MCP may give them only as far as it may give these capabilities.
        """
        return {}

    @field_validator("idle_timeout", "max_duration", "start_timeout", mode="before")
    @classmethod
    def _seconds(cls, value: Any) -> Any:
        return parse_duration(value)


class Start(Protocol):
    """A start in progress, as a provider sees it."""

    @property
    def session_id(self) -> str:
        """The id that the session will have."""
        ...

    @property
    def request(self) -> StartRequest:
        """The caller's request."""
        ...

    @property
    def options(self) -> SessionOptions:
        """The request's options, checked against the provider's `Options`."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        ...

    @property
    def origins(self) -> Origins:
        """Bounds of where its pages and this process may go."""
        ...

    @property
    def headless(self) -> bool:
        """True to start without a window, by the request or else by the setting."""
        ...

    def folder(self) -> Path:
        """Return a temporary folder of this session's own, removed when the session ends."""
        ...

    def profile(self) -> Path | None:
        """Return the existing folder of the profile that was requested by name, which is kept; None if none was.

        Raises:
            DeviceBusy: Another session has it, whose browser cannot be shared.
        """
        ...

    def spawn(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, beside: bool = False
    ) -> ProcessInfo:
        """Start a process of this session, recorded so that any orchestrator process can end it.

        It runs in a process group of its own with its own `TMPDIR`, writes its output to `folder() / f"{name}.log"`,
        and outlives this server. Its environment is what programs usually need, the variables of the setting
        `pass_environment`, and `env`. With `beside` it is not a driver but a helper of a session elsewhere, such as a
        tunnel: it is ended after the session.

        Raises:
            StartFailed: The program does not exist or cannot be run.
        """
        ...

    def alive(self, process: ProcessInfo) -> bool:
        """Return True while a spawned process is running."""
        ...

    def claim(self, name: str) -> SessionRecord | None:
        """Reserve a resource, such as a device or a port, for this session until it ends.

        Returns None when it is reserved now, else the session of this home that has it already.
        """
        ...

    def claim_device(self, claims: Mapping[str, str], wait: float) -> str:
        """Reserve one of several devices for this session until it ends; returns it.

        Starts get them in the order in which they came. The time spent waiting is not that of the start.

        Args:
            claims: The name of each device's claim, by the device.
            wait: Seconds to wait until one is free.

        Raises:
            DeviceBusy: None is.
        """
        ...

    def check(self) -> None:
        """Raise if the start was cancelled or timed out; call it in every loop that waits."""
        ...

    def tell(self, text: str) -> None:
        """Report to the callers what the start is waiting for, as a sentence without a full stop."""
        ...


class StoredApp(Wire):
    """An app in a cloud's storage; `app` is the value for a start there, times are as the vendor reports them."""

    app: str
    name: str | None = None
    version: str | None = None
    id: str | None = None
    custom_id: str | None = None
    uploaded_at: str | None = None
    expires_at: str | None = None


class Upload(Protocol):
    """An upload in progress, as a provider sees it."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def custom_id(self) -> str | None:
        """The caller's own name for the app there."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        ...

    def tell(self, text: str) -> None:
        """Report its progress to the caller, as a sentence without a full stop."""
        ...

    def check(self) -> None:
        """Raise if the caller no longer waits for it; call it in every loop that sends."""
        ...


class Provider(ABC):
    """A source of sessions. One instance serves all sessions and keeps no state of any.

    Providers are found by the entry-point group `orchestrator.providers` and created without arguments.
    """

    name: ClassVar[str]
    types: ClassVar[frozenset[SessionType]]
    browsers: ClassVar[frozenset[str]] = frozenset()
    Options: ClassVar[type[SessionOptions]]
    """The model of `options`; unknown options are refused before anything is started."""
    modes: ClassVar[frozenset[Mode]] = frozenset({"incognito"})
    """Profile modes of its browsers; the folder of a persistent profile is `Start.profile()`."""
    contexts: ClassVar[bool] = False
    """True if sessions can share one of its Chromiums on this machine, each in a browser context (see `context`)."""
    stores_apps: ClassVar[bool] = False
    """True if it has a storage for apps."""
    credentials: Credentials | None = None
    """User and password that callers gave with URLs, for clients of its own; set when it is loaded."""

    @abstractmethod
    def endpoint(self, start: Start) -> Endpoint:
        """Return the URL and the capabilities of New Session. Called once per start, in a worker thread; may block.

        Raises:
            StartFailed: A prerequisite is missing; the message names it, the hint says how to get it.
        """

    def context(self, start: Start, host: SessionRecord) -> Endpoint:  # noqa: ARG002 - for overrides
        """Return the endpoint of a further driver session in the running browser of `host`.

        Its capabilities must leave the browser's tabs as they are; the session then gets a window of its own.
        Called once per start instead of `endpoint`, and only with `contexts`; `started` is not called then.

        Raises:
            StartFailed: The browser cannot be reached.
        """
        raise Unsupported(f"Provider {self.name!r} cannot share the browser of {host.id!r}.")

    def runs_elsewhere(self, options: SessionOptions, settings: Settings) -> bool:  # noqa: ARG002 - for overrides
        """Return True if a session with these options uses no program of this machine, nor of one like it.

        Over MCP, capabilities that choose programs are denied unless this is True. Called in a worker thread; may look
        up the host's name.
        """
        return False

    def waiting(self, start: Start, endpoint: Endpoint) -> str:  # noqa: ARG002 - for overrides
        """Return what New Session is waiting for, worded as for `Start.tell`.

        Called about every second until New Session answers; may query the remote end, for a second or two at most.
        """
        return ""

    def started(self, record: SessionRecord, start: Start) -> Started:
        """Return facts about a new session, with its processes on this machine, so that they can be ended.

        Called once after the remote end answered, in the process that started the session.
        """
        return self.attached(record, start.settings)

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:  # noqa: ARG002 - for overrides
        """Return True if a session that was started elsewhere, at this URL without credentials, is of this provider.

        Providers are called in the order of their names until one returns True: first with an empty `status`, then with
        the value of the W3C command Status there. Make no request here.
        """
        return False

    def attached(self, record: SessionRecord, settings: Settings) -> Started:  # noqa: ARG002 - for overrides
        """Return facts about an attached session of this provider, which is never owned.

        Called once, after the session has answered. Raise an error to refuse it.
        """
        return Started()

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """Return the record's remote URL, with user and password if it needs them.

        Raises:
            ProviderAuth: They are needed and missing; the message names the variable that should hold them.
        """
        return resolve_reference(record.secret, settings.secrets_file) if record.secret else record.remote_url

    def mark(self, record: SessionRecord, mark: TestStatus, settings: Settings) -> None:  # noqa: ARG002 - for overrides
        """Report the test status to the remote end, within a few seconds; called before the session is ended.

        Raises:
            Unsupported: The remote end keeps no status.
            OrchestratorError: It could not be reported.
        """
        raise Unsupported(f"Provider {self.name!r} keeps no status of its sessions.")

    def upload_app(self, upload: Upload) -> StoredApp:  # noqa: ARG002 - for overrides
        """Upload a file of this machine to the app storage, in chunks; called in a worker thread.

        Raises:
            Unsupported: There is no storage, or it supports no custom ids.
            ProviderAuth, ProviderFailure: The upload was refused.
        """
        raise Unsupported(f"Provider {self.name!r} has no storage for apps.")

    def list_apps(self, limit: int, settings: Settings) -> list[StoredApp]:  # noqa: ARG002 - for overrides
        """Return the newest apps in the storage, at most `limit`; called in a worker thread.

        Raises:
            Unsupported: There is no storage.
            ProviderAuth, ProviderFailure: The storage could not be listed.
        """
        raise Unsupported(f"Provider {self.name!r} has no storage for apps.")

    def advice(self, endpoint: Endpoint, said: str) -> str:  # noqa: ARG002 - for overrides
        """Return a sentence for the end of the hint when New Session failed with the message `said`.

        If the credentials were refused it is the whole hint.
        """
        return ""

    def given_up(self, endpoint: Endpoint) -> None:
        """End a session that a dropped request may still create (`Endpoint.hang_up`).

        Called in a thread of its own after the connection was closed; may take long.
        """

    def ended(self, record: SessionRecord, settings: Settings) -> None:
        """Clean up after a session that was started here, or whose start failed after `endpoint` had returned.

        After a failed start the record has the URL and no remote session id, and no session can come of the request
        any more. May run twice, or in another process than the start: be idempotent.
        """
