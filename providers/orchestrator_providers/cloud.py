"""What the clouds have in common: credentials, the vendor's block of capabilities, names, idle time, status, apps."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import SecretStr

from orchestrator.errors import InvalidArgument, OrchestratorError, ProviderAuth
from orchestrator.mark import Mark
from orchestrator.models import Endpoint, SessionRecord, SessionType, Started
from orchestrator.provider import Provider, Start, StoredApp, Upload
from orchestrator.secrets import secret, with_credentials
from orchestrator.settings import CloudSettings, Settings
from orchestrator.webdriver.capabilities import check, merge
from orchestrator.webdriver.remote import Remote
from orchestrator_providers.app_storage import AppStorage
from orchestrator_providers.cloud_options import CloudOptions, TunnelOptions, credential
from orchestrator_providers.rest import Api
from orchestrator_providers.tunnels import Tunnel, open_tunnel
from orchestrator_providers.wanted import app_capabilities, browser_capabilities

SHORT = 5.0
"""Seconds that a vendor may take to be told a status."""
BRIEF = 3.0
"""Seconds that it may take to say where its dashboard shows a session: nothing depends on it."""


class Cloud(Provider):
    """A vendor's browsers and devices, reached through its hub as one account.

    Attributes:
        title: What the vendor calls itself.
        block: The capability that holds the vendor's options.
        users: Environment variables that hold the user, in order of precedence; none where there is no user.
        keys: The same for the access key.
        hubs: Its WebDriver endpoints; credentials are sent to no other one, but for the setting `clouds`.
        idle: The vendor's option for the seconds without a command after which it ends a session; empty: there is none.
        longest_idle: What is asked for at most: what the vendor takes, or what it surely does where none is documented.
        session_name: The vendor's option for a session's name.
        build_name: The same for what groups sessions; its value is that of the variable `build` unless given.
        tunnel: The vendor's tunnel, where it can be started for a session.
        storage: The vendor's storage for apps.
    """

    types = frozenset(SessionType)
    title: ClassVar[str]
    block: ClassVar[str]
    users: ClassVar[tuple[str, ...]]
    keys: ClassVar[tuple[str, ...]]
    hubs: ClassVar[tuple[str, ...]] = ()
    idle: ClassVar[str] = ""
    longest_idle: ClassVar[float] = math.inf
    session_name: ClassVar[str] = "name"
    build_name: ClassVar[str] = "build"
    build: ClassVar[str] = ""
    tunnel: ClassVar[Tunnel | None] = None
    stores_apps = True
    storage: ClassVar[AppStorage]

    def endpoint(self, start: Start) -> Endpoint:
        """The hub with the account's credentials, and what is asked for there; the user's capabilities win.

        Raises:
            InvalidArgument: There are credentials among the capabilities.
            ProviderAuth: There are none where they belong.
        """
        options = start.options
        if not isinstance(options, CloudOptions):
            raise TypeError(f"options are {type(options).__name__}, not CloudOptions")
        theirs = start.request.capabilities
        check(theirs)
        self._refuse_credentials(theirs, start.settings)
        account = self.account(start.settings)
        url = self._place(start.settings).hub_url or self.hub(start, options)
        own = self.own(start, options)
        if isinstance(options, TunnelOptions) and options.start_tunnel and self.tunnel is not None:
            program = self._place(start.settings).tunnel
            own |= open_tunnel(start, self.tunnel, account, program, self.name, self.region(url))
        ours = {**self._shared(start), **options.of_standard(), **self.placed(own, start)}
        asked = merge(_spelled(ours, theirs), theirs)
        return Endpoint(
            remote_url=with_credentials(url, *account) if account[0] else url,
            capabilities=self.authorized(asked, account[1]),
            secrets=(SecretStr(account[1]), *_passwords(asked)),
        )

    def hub(self, start: Start, options: CloudOptions) -> str:  # noqa: ARG002 - for overrides
        """The WebDriver endpoint that serves this start."""
        return self.hubs[0]

    def region(self, url: str) -> str:  # noqa: ARG002 - for overrides
        """The vendor's region that a hub is in; empty where it has none."""
        return ""

    def own(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """The vendor's options, with the names and the idle time that are not given."""
        found: dict[str, Any] = {self.session_name: start.session_id}
        if build := os.environ.get(self.build):
            found[self.build_name] = build
        if self.idle:
            found[self.idle] = self._patience(start)
        return found | options.own()

    def placed(self, own: dict[str, Any], start: Start) -> dict[str, Any]:  # noqa: ARG002 - for overrides
        """The vendor's options as capabilities."""
        return {self.block: own}

    def authorized(self, capabilities: dict[str, Any], key: str) -> dict[str, Any]:  # noqa: ARG002 - for overrides
        """The capabilities with the access key, where the vendor wants it there."""
        return capabilities

    def started(self, record: SessionRecord, start: Start) -> Started:
        """Where the dashboard shows it, and how long it may stay idle."""
        known = self.attached(record, start.settings)
        return known.model_copy(update={"keep_alive": self._idle(start)}) if self.idle else known

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:  # noqa: ARG002 - the URL tells
        """Whether that is one of its hubs."""
        return url.rstrip("/") in self.known(settings)

    def attached(self, record: SessionRecord, settings: Settings) -> Started:
        """Where the dashboard shows it, if that can be found out."""
        try:
            found = self.dashboard(record, settings)
        except OrchestratorError:
            found = None
        return Started(remote_end={"dashboardUrl": found} if found else {})

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """The hub with the account's credentials, as this process finds them.

        Raises:
            ProviderAuth: There are none, or the session is at no hub of this vendor's.
        """
        if record.secret:
            return super().address(record, settings)
        if not self.owns(record.remote_url, {}, settings):
            raise ProviderAuth(
                f"{record.remote_url} is no hub of {self.title}: its credentials are not sent there.",
                hint=f"Name it as hub_url of {self.name} in the setting clouds.",
            )
        user, key = self.account(settings)
        return with_credentials(record.remote_url, user, key) if user else record.remote_url

    def known(self, settings: Settings) -> tuple[str, ...]:
        """The hubs that credentials are sent to."""
        given = self._place(settings).hub_url
        return (*self.hubs, *([given] if given else []))

    @abstractmethod
    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:
        """The page of the vendor's that shows a session.

        Raises:
            OrchestratorError: It could not be asked for.
        """

    @abstractmethod
    def mark(self, record: SessionRecord, mark: Mark, settings: Settings) -> None:
        """Tell the vendor what the session came to."""

    def upload_app(self, upload: Upload) -> StoredApp:
        """Send it to the vendor's storage."""
        return self.storage.upload(self.api(upload.settings), self.storage_url(upload.settings), upload)

    def list_apps(self, limit: int, settings: Settings) -> list[StoredApp]:
        """What is in the vendor's storage, the newest first."""
        return self.storage.list(self.api(settings), self.storage_url(settings), limit)

    def storage_url(self, settings: Settings) -> str:
        """The base of the storage's API."""
        return self.api_url(settings, self.storage.base)

    # What the vendors' modules are made of

    def account(self, settings: Settings) -> tuple[str, str]:
        """User and access key, from the environment or the secrets file; an empty user where the vendor has none.

        Raises:
            ProviderAuth: There are none; it names what would hold them.
        """
        found = [_first(names, settings) for names in (self.users, self.keys) if names]
        missing = [
            names[0] for names, value in zip(filter(None, (self.users, self.keys)), found, strict=True) if not value
        ]
        if missing:
            raise ProviderAuth(
                f"{self.title} needs credentials, and {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
                "not set.",
                hint=f"Set {'it' if len(missing) == 1 else 'them'} in the environment of this server, or write "
                f'{missing[0]} = "…" into {settings.secrets_file}.',
            )
        values = [str(value) for value in found]
        return (values[0], values[1]) if self.users else ("", values[0])

    def api(self, settings: Settings) -> Api:
        """The vendor's REST API, as the account of this process."""
        return Api(self.title, self.account(settings), self.variables())

    def api_url(self, settings: Settings, default: str) -> str:
        """The base of the REST API."""
        return self._place(settings).api_url or default

    def script(self, record: SessionRecord, settings: Settings, script: str, *args: Any) -> None:
        """Run a script that the vendor's hub understands, in the session."""
        remote = Remote(self.address(record, settings), record.remote_session_id, name=record.id, timeout=SHORT)
        remote.script(script, args)

    @classmethod
    def variables(cls) -> str:
        """The environment variables, for people."""
        return " and ".join(names[0] for names in (cls.users, cls.keys) if names)

    def _place(self, settings: Settings) -> CloudSettings:
        return settings.clouds.get(self.name) or CloudSettings()

    def advice(self, endpoint: Endpoint, said: str) -> str:  # noqa: ARG002 - what it says is enough
        """Where the credentials are from."""
        return f"Check {self.variables()}." if "credentials" in said else ""

    def longest(self, start: Start) -> float:  # noqa: ARG002 - for overrides
        """What the vendor takes at most as the seconds without a command after which it ends this session."""
        return self.longest_idle

    def _patience(self, start: Start) -> int:
        """A minute longer than ours, so that our own limit ends a session and says why; no longer than is taken."""
        ours = start.options.idle_timeout or start.settings.idle_timeout
        return round(min(math.ceil(ours) + 60, self.longest(start)))

    def _idle(self, start: Start) -> float:
        """What was asked for, by us or by the user."""
        theirs = start.request.capabilities
        block = next((value for name, value in theirs.items() if name.lower() == self.block), None)
        given = [block.get(self.idle) if isinstance(block, Mapping) else None, theirs.get("appium:newCommandTimeout")]
        numbers = [one for one in given if isinstance(one, int | float) and one > 0]
        return min(numbers) if numbers else self._patience(start)

    def _shared(self, start: Start) -> dict[str, Any]:
        if start.request.type is SessionType.BROWSER:
            return browser_capabilities(start, headless=False)
        found = app_capabilities(start)
        if start.request.new_command_timeout is None:
            found["appium:newCommandTimeout"] = self._patience(start)
        return found

    def _refuse_credentials(self, capabilities: Mapping[str, Any], settings: Settings) -> None:
        prefix = self.block.partition(":")[0].lower()
        for name, value in capabilities.items():
            vendor, _, rest = name.partition(":")
            if vendor.lower() != prefix:
                continue
            inside = value if isinstance(value, Mapping) else {rest: value}
            if found := credential(inside):
                raise InvalidArgument(
                    f"{found!r} is no capability to give, for it would be kept.",
                    hint=f"Set {self.variables()} in the environment, or write them into {settings.secrets_file}.",
                )


def is_app(record: SessionRecord) -> bool:
    """Whether it is an app's session, and not one of a browser."""
    return record.type is not SessionType.BROWSER and not record.capabilities.get("browserName")


def _first(names: tuple[str, ...], settings: Settings) -> str | None:
    return next((value for name in names if (value := secret(name, settings.secrets_file))), None)


def _spelled(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Ours with the names of theirs where only the case differs, as in `LT:Options`: they are one capability."""
    spelled = {name.lower(): name for name in theirs if ":" in name}
    return {spelled.get(name.lower(), name): value for name, value in ours.items()}


def _passwords(value: Any) -> Iterator[SecretStr]:
    """Passwords of anybody's in capabilities, such as that of an app store's account."""
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        if isinstance(inner, str) and name.lower() == "password":
            yield SecretStr(inner)
        yield from _passwords(inner)
