"""The contract of a provider: it turns a typed request into an endpoint, with hooks around the session's life."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import Field, field_validator

from orchestrator.durations import seconds
from orchestrator.errors import Unsupported
from orchestrator.mark import Mark
from orchestrator.models import Endpoint, Mode, ProcessInfo, SessionRecord, SessionType, Started, StartRequest, Wire
from orchestrator.secrets import named
from orchestrator.settings import Settings


class SessionOptions(Wire):
    """The options of every session, whatever its provider; a provider's own model adds to them."""

    idle_timeout: float | None = Field(
        default=None, gt=0, description="End it when unused for so long, such as 90 or '45m'; a setting unless given."
    )

    max_duration: float | None = Field(
        default=None, gt=0, description="End it when open for so long, such as '8h'; a setting unless given."
    )

    start_timeout: float | None = Field(
        default=None, gt=0, description="The longest that this start may take; a setting unless given."
    )

    strict: bool = Field(default=False, description="A selector that finds several elements is an error.")

    har: bool | str = Field(
        default=False, description="Record all traffic into a HAR file: true, or its path. Written at the end, too."
    )

    hars: tuple[str, ...] = Field(default=(), description="HAR files that requests are answered from.")

    def limits(self, settings: Settings) -> dict[str, float]:
        """What the session's record says of its times, in seconds; without an age it may become as old as it likes."""
        age = self.max_duration or settings.max_duration
        return {
            "idle": self.idle_timeout or settings.idle_timeout,
            "park": settings.park_ttl,
            **({"age": age} if age else {}),
        }

    @field_validator("idle_timeout", "max_duration", "start_timeout", mode="before")
    @classmethod
    def _seconds(cls, value: Any) -> Any:
        return seconds(value)


class Start(Protocol):
    """One start under way, as a provider sees it."""

    @property
    def session_id(self) -> str:
        """The id that the session will have: the caller's, or one that was given to it."""
        ...

    @property
    def request(self) -> StartRequest:
        """What the caller asked for."""
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
    def headless(self) -> bool:
        """Whether to start without a window: the request's word, else the setting."""
        ...

    def folder(self) -> Path:
        """A temporary folder of this session's own, removed when the session ends."""
        ...

    def profile(self) -> Path | None:
        """The folder of the profile that was asked for by name; it is there, and is kept. None where none was."""
        ...

    def spawn(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, beside: bool = False
    ) -> ProcessInfo:
        """Start a process of this session, recorded so that any process of ours can end it.

        It runs in a process group of its own, with its output in `folder() / f"{name}.log"`, `TMPDIR` of
        its own, and outlives this server. `env` is added to the environment. With `beside` it is no driver but
        a help to a session elsewhere, such as a tunnel: the session ends first, then the process.

        Raises:
            StartFailed: The program is not there or cannot be run.
        """
        ...

    def alive(self, process: ProcessInfo) -> bool:
        """Whether a process that was spawned is still running."""
        ...

    def claim(self, name: str) -> SessionRecord | None:
        """Have something for this session alone as long as it lives, such as a device or a port.

        Returns the session of this home that has what this name stands for already; None when it is ours now.
        """
        ...

    def check(self) -> None:
        """Raise when the start was cancelled or ran out of time; call it in every loop that waits."""
        ...

    def tell(self, text: str) -> None:
        """Say to whoever waits for it what the start is waiting for, as a sentence without a full stop."""
        ...


class StoredApp(Wire):
    """An app in a cloud's storage; `app` is what a start there takes, and times are those that the vendor tells."""

    app: str
    name: str | None = None
    version: str | None = None
    id: str | None = None
    custom_id: str | None = None
    uploaded_at: str | None = None
    expires_at: str | None = None


class Upload(Protocol):
    """An upload under way, as a provider sees it."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def custom_id(self) -> str | None:
        """The name that the app is to be known by there."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        ...

    def tell(self, text: str) -> None:
        """Say to whoever waits for it how far it is, as a sentence without a full stop."""
        ...

    def check(self) -> None:
        """Raise when nobody waits for it any more; call it in every loop that sends."""
        ...


class Provider(ABC):
    """Where sessions come from. One instance serves all of them; it keeps no state of a session.

    A provider is found through the entry-point group `orchestrator.providers` and made without arguments.
    """

    name: ClassVar[str]
    types: ClassVar[frozenset[SessionType]]
    browsers: ClassVar[frozenset[str]] = frozenset()
    Options: ClassVar[type[SessionOptions]]
    """The model of `options`; unknown ones are refused before anything is started."""
    modes: ClassVar[frozenset[Mode]] = frozenset({"incognito"})
    """Whose profile a browser of its can have; a kept one is in `Start.profile()`."""
    contexts: ClassVar[bool] = False
    """Whether sessions can share a Chromium of its, which is on this machine, each in a browser context (`context`)."""
    stores_apps: ClassVar[bool] = False
    """Whether it has a storage that apps are uploaded to."""

    @abstractmethod
    def endpoint(self, start: Start) -> Endpoint:
        """Return where to create the session and what to ask for. Called once a start, in a worker thread; may block.

        Raises:
            StartFailed: What is needed is missing; the message says what, the hint how to get it.
        """

    def context(self, start: Start, host: SessionRecord) -> Endpoint:  # noqa: ARG002 - for overrides
        """As `endpoint`, for a further driver session in the browser of `host`, which runs.

        What it asks for must leave the browser's tabs as they are; the session is then given a window of its own.
        Called only with `contexts`, once a start, instead of `endpoint`; nobody asks `started` then.

        Raises:
            StartFailed: The browser cannot be reached.
        """
        raise Unsupported(f"Provider {self.name!r} cannot share the browser of {host.id!r}.")

    def waiting(self, start: Start, endpoint: Endpoint) -> str:  # noqa: ARG002 - for overrides
        """Called about every second while New Session is unanswered; what it waits for, told as `Start.tell` would.

        It may ask the remote end, for a second or two at most.
        """
        return ""

    def started(self, record: SessionRecord, start: Start) -> Started:
        """Called once after the remote end answered, in the process that started the session.

        Returns what is to be known of it; its processes on this machine, so that they can be ended.
        """
        return self.attached(record, start.settings)

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:  # noqa: ARG002 - for overrides
        """Whether a session that was started elsewhere, at this URL without user and password, is one of this provider.

        Every provider is asked, in the order of their names, and the first that says so has the session: once with an
        empty `status`, and if none says so again with the value of the W3C command Status there. Ask nobody.
        """
        return False

    def attached(self, record: SessionRecord, settings: Settings) -> Started:  # noqa: ARG002 - for overrides
        """What is to be known of a session of this provider's that was started elsewhere and is taken in here.

        Called once, when it has answered; it is never owned. An error says that it cannot be taken in.
        """
        return Started()

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """The record's remote URL with user and password, as far as this process can find them.

        Raises:
            ProviderAuth: They are needed and not to be found; it names the variable that would hold them.
        """
        return named(record.secret, settings.secrets_file) if record.secret else record.remote_url

    def mark(self, record: SessionRecord, mark: Mark, settings: Settings) -> None:  # noqa: ARG002 - for overrides
        """Tell the remote end what the session came to; called before the session is ended, within a few seconds.

        Raises:
            Unsupported: Nobody keeps such a thing there.
            OrchestratorError: It could not be told.
        """
        raise Unsupported(f"Provider {self.name!r} keeps no status of its sessions.")

    def upload_app(self, upload: Upload) -> StoredApp:  # noqa: ARG002 - for overrides
        """Send a file of this machine to the app storage, piece by piece; called in a worker thread.

        Raises:
            Unsupported: There is none, or it takes no custom id.
            ProviderAuth, ProviderFailure: It was not taken.
        """
        raise Unsupported(f"Provider {self.name!r} has no storage for apps.")

    def list_apps(self, limit: int, settings: Settings) -> list[StoredApp]:  # noqa: ARG002 - for overrides
        """The newest apps in the storage, at most `limit`; called in a worker thread.

        Raises:
            Unsupported: There is none.
            ProviderAuth, ProviderFailure: They were not told.
        """
        raise Unsupported(f"Provider {self.name!r} has no storage for apps.")

    def advice(self, endpoint: Endpoint, said: str) -> str:  # noqa: ARG002 - for overrides
        """Called when there is no session; a sentence that the hint of the error, which says `said`, ends with.

        Where the credentials are refused it is all of the hint.
        """
        return ""

    def given_up(self, endpoint: Endpoint) -> None:
        """Called in a thread of its own after a request for a session was dropped (`Endpoint.hang_up`).

        Sees to it that no session comes of it; may take its time.
        """

    def ended(self, record: SessionRecord, settings: Settings) -> None:
        """Called after a session that was started here is gone, or did not come to be after all.

        In that case `endpoint` had answered, and the record has its URL and no remote session id; nothing comes of the
        request for a session any more. May run twice, or in another process than the start: be idempotent.
        """
