"""The base class of clouds: credentials, capabilities, names, idle time, status, apps."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import SecretStr

from orchestrator.errors import InvalidArgument, OrchestratorError, ProviderAuth
from orchestrator.models.requests import Endpoint, Started
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.models.test_status import TestStatus
from orchestrator.provider import Provider, SessionOptions, Start, StoredApp, Upload
from orchestrator.settings import CloudSettings, Settings
from orchestrator.system.secrets import find_secret, with_credentials
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities
from orchestrator.webdriver.remote import Remote
from orchestrator_providers.capabilities import app_capabilities, browser_capabilities
from orchestrator_providers.clouds.app_storage import AppStorage
from orchestrator_providers.clouds.options import CloudOptions, TunnelOptions, credential
from orchestrator_providers.clouds.rest import RestApi
from orchestrator_providers.clouds.tunnels import Tunnel, open_tunnel

STATUS_TIMEOUT = 5.0
"""Seconds that a vendor may take to store a status."""
DASHBOARD_TIMEOUT = 3.0
"""Seconds that it may take to return the dashboard's URL of a session, which is optional."""


class CloudProvider(Provider):
    """A vendor's browsers and devices, reached through its hub as one account.

    Attributes:
        title: The vendor's name.
        block: The capability that holds the vendor's options.
        users: Environment variables that hold the user, in order of precedence; none where there is no user.
        keys: The same for the access key.
        hubs: Its WebDriver endpoints; credentials are sent to no other one, but for the setting `clouds`.
        idle_option: The vendor's option for the seconds without a command after which it ends a session; or empty.
        longest_idle: The most that is requested: the vendor's maximum, or a safe value where none is documented.
        session_name: The vendor's option for a session's name.
        build_name: The vendor's option for a group of sessions; the value of `build_variable` unless given.
        build_variable: The environment variable for it.
        tunnel: The vendor's tunnel, if one can be started for a session.
        storage: The vendor's storage for apps.
    """

    types = frozenset(SessionType)
    title: ClassVar[str]
    block: ClassVar[str]
    users: ClassVar[tuple[str, ...]]
    keys: ClassVar[tuple[str, ...]]
    hubs: ClassVar[tuple[str, ...]] = ()
    idle_option: ClassVar[str] = ""
    longest_idle: ClassVar[float] = math.inf
    session_name: ClassVar[str] = "name"
    build_name: ClassVar[str] = "build"
    build_variable: ClassVar[str] = ""
    tunnel: ClassVar[Tunnel | None] = None
    stores_apps = True
    storage: ClassVar[AppStorage]

    def runs_elsewhere(self, options: SessionOptions, settings: Settings) -> bool:  # noqa: ARG002 - for all options
        """Return True: browsers and devices are the vendor's."""
        return True

    def endpoint(self, start: Start) -> Endpoint:
        """Return the hub with the account's credentials, and the capabilities; those of the user win.

        Raises:
            InvalidArgument: The capabilities contain credentials.
            ProviderAuth: The environment and the secrets file lack them.
        """
        options = start.options
        if not isinstance(options, CloudOptions):
            raise TypeError(f"options are {type(options).__name__}, not CloudOptions")
        theirs = start.request.capabilities
        check_capabilities(theirs)
        self._refuse_credentials(theirs, start.settings)
        account = self.account(start.settings)
        url = self._cloud_settings(start.settings).hub_url or self.hub(start, options)
        own = self.vendor_options(start, options)
        if isinstance(options, TunnelOptions) and options.start_tunnel and self.tunnel is not None:
            program = self._cloud_settings(start.settings).tunnel
            own |= open_tunnel(start, self.tunnel, account, program, self.name, self.region(url))
        ours = {**self._shared(start), **options.standard_capabilities(), **self.vendor_capabilities(own, start)}
        requested = merge_capabilities(_with_spelling_of(theirs, ours), theirs)
        return Endpoint(
            remote_url=with_credentials(url, *account) if account[0] else url,
            capabilities=self.with_access_key(requested, account[1]),
            secrets=(SecretStr(account[1]), *_passwords(requested)),
        )

    def hub(self, start: Start, options: CloudOptions) -> str:  # noqa: ARG002 - for overrides
        """Return the WebDriver endpoint that serves this start."""
        return self.hubs[0]

    def region(self, url: str) -> str:  # noqa: ARG002 - for overrides
        """Return the vendor's region of a hub; empty if it has none."""
        return ""

    def vendor_options(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """Return the vendor's options, with defaults for the names and the idle time."""
        defaults: dict[str, Any] = {self.session_name: start.session_id}
        if build := os.environ.get(self.build_variable):
            defaults[self.build_name] = build
        if self.idle_option:
            defaults[self.idle_option] = self._requested_idle_seconds(start)
        return defaults | options.vendor_options()

    def vendor_capabilities(self, own: dict[str, Any], start: Start) -> dict[str, Any]:  # noqa: ARG002 - for overrides
        """Return the vendor's options as capabilities."""
        return {self.block: own}

    def with_access_key(self, capabilities: dict[str, Any], key: str) -> dict[str, Any]:  # noqa: ARG002 - for overrides
        """Return the capabilities with the access key, if the vendor requires it there."""
        return capabilities

    def started(self, record: SessionRecord, start: Start) -> Started:
        """Return the dashboard's URL of the session, and how long it may stay idle."""
        facts = self.attached(record, start.settings)
        return facts.model_copy(update={"keep_alive": self._granted_idle_seconds(start)}) if self.idle_option else facts

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:  # noqa: ARG002 - the URL tells
        """Return True for the vendor's hubs."""
        return url.rstrip("/") in self.known_hubs(settings)

    def attached(self, record: SessionRecord, settings: Settings) -> Started:
        """Return the dashboard's URL of the session, if it is available."""
        try:
            url = self.dashboard(record, settings)
        except OrchestratorError:
            url = None
        return Started(remote_end={"dashboardUrl": url} if url else {})

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """Return the hub's URL with the account's credentials.

        Raises:
            ProviderAuth: There are none, or the session's URL is no hub of this vendor.
        """
        if record.secret:
            return super().address(record, settings)
        if not self.owns(record.remote_url, {}, settings):
            raise ProviderAuth(
                f"{record.remote_url} is no hub of {self.title}: credentials are not sent there.",
                hint=f"Name it as hub_url of {self.name} in the setting clouds.",
            )
        user, key = self.account(settings)
        return with_credentials(record.remote_url, user, key) if user else record.remote_url

    def known_hubs(self, settings: Settings) -> tuple[str, ...]:
        """Return the hubs that credentials are sent to."""
        given = self._cloud_settings(settings).hub_url
        return (*self.hubs, *([given] if given else []))

    @abstractmethod
    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:
        """Return the URL of the vendor's page for a session; None if there is none.

        Raises:
            OrchestratorError: The vendor's API failed.
        """

    @abstractmethod
    def mark(self, record: SessionRecord, mark: TestStatus, settings: Settings) -> None:
        """Store the session's test status at the vendor."""

    def upload_app(self, upload: Upload) -> StoredApp:
        """Send an app to the vendor's storage."""
        return self.storage.upload(self.api(upload.settings), self.storage_url(upload.settings), upload)

    def list_apps(self, limit: int, settings: Settings) -> list[StoredApp]:
        """Return the apps in the vendor's storage, the newest first."""
        return self.storage.list_apps(self.api(settings), self.storage_url(settings), limit)

    def storage_url(self, settings: Settings) -> str:
        """Return the base URL of the storage's API."""
        return self.api_url(settings, self.storage.base)

    def account(self, settings: Settings) -> tuple[str, str]:
        """Return user and access key, from the environment or the secrets file; no user if the vendor has none.

        Raises:
            ProviderAuth: They are missing; it names the variables.
        """
        given = [_first(names, settings) for names in (self.users, self.keys) if names]
        missing = [
            names[0] for names, value in zip(filter(None, (self.users, self.keys)), given, strict=True) if not value
        ]
        if missing:
            raise ProviderAuth(
                f"{self.title} needs credentials, and {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
                "not set.",
                hint=f"Set {'it' if len(missing) == 1 else 'them'} in the environment of this server, or write "
                f'{missing[0]} = "…" into {settings.secrets_file}.',
            )
        values = [str(value) for value in given]
        return (values[0], values[1]) if self.users else ("", values[0])

    def api(self, settings: Settings) -> RestApi:
        """Return a client of the vendor's REST API for this process's account."""
        return RestApi(self.title, self.account(settings), self.variables())

    def api_url(self, settings: Settings, default: str) -> str:
        """Return the base URL of the REST API."""
        return self._cloud_settings(settings).api_url or default

    def script(self, record: SessionRecord, settings: Settings, script: str, *args: Any) -> None:
        """Run a script in the session that the vendor's hub interprets."""
        remote = Remote(
            self.address(record, settings), record.remote_session_id, name=record.id, timeout=STATUS_TIMEOUT
        )
        remote.script(script, args)

    @classmethod
    def variables(cls) -> str:
        """Return the names of the environment variables, as text."""
        return " and ".join(names[0] for names in (cls.users, cls.keys) if names)

    def _cloud_settings(self, settings: Settings) -> CloudSettings:
        return settings.clouds.get(self.name) or CloudSettings()

    def advice(self, endpoint: Endpoint, said: str) -> str:  # noqa: ARG002 - the message is enough
        """Return the hint for refused credentials."""
        return f"Check {self.variables()}." if "credentials" in said else ""

    def longest_idle_for(self, start: Start) -> float:  # noqa: ARG002 - for overrides
        """Return the longest idle time in seconds that the vendor takes for this session."""
        return self.longest_idle

    def _requested_idle_seconds(self, start: Start) -> int:
        """Return a minute more than our own limit, which ends a session with a reason; at most the vendor's maximum."""
        ours = start.options.idle_timeout or start.settings.idle_timeout
        return round(min(math.ceil(ours) + 60, self.longest_idle_for(start)))

    def _granted_idle_seconds(self, start: Start) -> float:
        """Return the idle time that was requested, by us or by the user."""
        theirs = start.request.capabilities
        block = next((value for name, value in theirs.items() if name.lower() == self.block), None)
        given = [
            block.get(self.idle_option) if isinstance(block, Mapping) else None,
            theirs.get("appium:newCommandTimeout"),
        ]
        numbers = [one for one in given if isinstance(one, int | float) and one > 0]
        return min(numbers) if numbers else self._requested_idle_seconds(start)

    def _shared(self, start: Start) -> dict[str, Any]:
        if start.request.type is SessionType.BROWSER:
            return browser_capabilities(start, headless=False)
        capabilities = app_capabilities(start)
        if start.request.new_command_timeout is None:
            capabilities["appium:newCommandTimeout"] = self._requested_idle_seconds(start)
        return capabilities

    def _refuse_credentials(self, capabilities: Mapping[str, Any], settings: Settings) -> None:
        prefix = self.block.partition(":")[0].lower()
        for name, value in capabilities.items():
            vendor, _, rest = name.partition(":")
            if vendor.lower() != prefix:
                continue
            inside = value if isinstance(value, Mapping) else {rest: value}
            if forbidden := credential(inside):
                raise InvalidArgument(
                    f"The capability {forbidden!r} is not allowed, since it would be stored.",
                    hint=f"Set {self.variables()} in the environment, or write them into {settings.secrets_file}.",
                )


def is_app(record: SessionRecord) -> bool:
    """Return True for an app session, False for a browser, on a device or not."""
    return record.type is not SessionType.BROWSER and not record.capabilities.get("browserName")


def _first(names: tuple[str, ...], settings: Settings) -> str | None:
    return next((value for name in names if (value := find_secret(name, settings.secrets_file))), None)


def _with_spelling_of(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return our capabilities with the case of their names, as in `LT:Options`: both are one capability."""
    spellings = {name.lower(): name for name in theirs if ":" in name}
    return {spellings.get(name.lower(), name): value for name, value in ours.items()}


def _passwords(value: Any) -> Iterator[SecretStr]:
    """Yield all passwords in capabilities, such as that of an app store's account."""
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        if isinstance(inner, str) and name.lower() == "password":
            yield SecretStr(inner)
        yield from _passwords(inner)
