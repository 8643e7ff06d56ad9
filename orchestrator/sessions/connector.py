"""Makes the clients of a session's remote end from its record, with its credentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from orchestrator.models.session import SessionRecord
from orchestrator.sessions.providers import Providers
from orchestrator.settings import Settings
from orchestrator.system.machine import LOOPBACK
from orchestrator.system.secrets import Redactor, credentials, with_credentials
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.cdp import Cdp
from orchestrator.webdriver.devtools import DevTools, debugger_address
from orchestrator.webdriver.remote import Remote

_USUAL_PATHS = ("", "wd/hub", "session", "webdriver")


class Connector:
    """Makes clients of remote ends; every password that it uses is redacted from all output."""

    def __init__(self, providers: Providers, settings: Settings, redactor: Redactor) -> None:
        self._providers = providers
        self._settings = settings
        self._redactor = redactor
        self._credentials = providers.credentials

    def remember_credentials(self, url: str) -> str:
        """Keep the user and password that a caller gave with a URL; return the URL without them."""
        return self._credentials.give(url)

    def make_remote(self, record: SessionRecord, *, timeout: float | None = None) -> Remote:
        """Return the client of a record's session; credentials that a caller gave in this process come first.

        Raises:
            ProviderAuth: Its provider cannot find the credentials in this process.
            ProviderFailure, InvalidArgument: The provider is no longer installed, or cannot be used.
        """
        return self.make_remote_at(self._address(record), record.remote_session_id, name=record.id, timeout=timeout)

    def make_remote_at(self, url: str, remote_session_id: str, *, name: str, timeout: float | None = None) -> Remote:
        """Return the client of a session by its address; `timeout` is in seconds, the setting unless given."""
        if account := credentials(url):
            self.hide(account[1])
        timeout = timeout or self._settings.command_timeout
        return Remote(url, remote_session_id, name=name, timeout=timeout, credentials=self._credentials)

    def bidi(self, record: SessionRecord) -> Bidi | None:
        """Return the WebDriver BiDi client of a record's session, not connected yet; None without a BiDi socket.

        Sessions that share a browser share its socket; each gets the events of its own user context, or in windows of
        one profile those of its own tabs.

        The socket gets user and password of the remote end where both have the same host, but never without TLS where
        the remote end has TLS.

        Raises:
            ProviderAuth, ProviderFailure, InvalidArgument: As `make_remote`.
        """
        url = record.capabilities.get("webSocketUrl")
        if not isinstance(url, str):
            return None
        place = record.instance
        context = "" if place is None else place.context if place.isolated else "default"
        windows = place is not None and bool(place.profile) and not place.isolated
        timeout = self._settings.command_timeout
        return Bidi(
            self._with_credentials(url, record), name=record.id, timeout=timeout, user_context=context, by_tab=windows
        )

    def cdp(self, record: SessionRecord) -> Cdp | None:
        """Return the DevTools client of a record's browser, not connected yet; None where they cannot be reached.

        Raises:
            ProviderAuth, ProviderFailure, InvalidArgument: As `make_remote`.
        """
        find = self.make_devtools_finder(record)
        return find and Cdp(find, name=record.id, timeout=self._settings.command_timeout)

    def make_devtools_finder(self, record: SessionRecord) -> Callable[[], str] | None:
        """Return a function that finds the URL of the browser's DevTools socket; None where it cannot be reached.

        A Selenium Grid names it (capability `se:cdp`); a browser of this machine is asked, and `OSError` is raised
        where none answers.

        Raises:
            ProviderAuth, ProviderFailure, InvalidArgument: As `make_remote`.
        """
        if isinstance(url := record.capabilities.get("se:cdp"), str):
            socket_url = self._with_credentials(url, record)
            return lambda: socket_url
        address = debugger_address(record.capabilities)
        if not address or urlsplit(record.remote_url).hostname not in LOOPBACK:
            return None
        return DevTools(address).socket_url

    def hide(self, secret: str) -> None:
        """Redact a secret from all output from now on."""
        self._redactor.add(secret)

    def hide_path(self, url: str) -> None:
        """Redact the path of a URL that a secret holds, which may be a key, unless it is a usual one."""
        parts = urlsplit(url)
        for text in (parts.path.strip("/"), parts.query):
            if text not in _USUAL_PATHS:
                self.hide(text)

    def redact(self, value: Any) -> Any:
        """Return a JSON value without the secrets that are to be redacted."""
        return self._redactor.data(value)

    def _with_credentials(self, url: str, record: SessionRecord) -> str:
        """Return a socket's URL with the remote end's user and password, where they may go there."""
        address = self._address(record)
        account, remote, socket = credentials(address), urlsplit(address), urlsplit(url)
        is_safe = remote.hostname == socket.hostname and (socket.scheme == "wss" or remote.scheme != "https")
        return with_credentials(url, *account) if account and is_safe else url

    def _address(self, record: SessionRecord) -> str:
        if account := self._credentials.given(record.remote_url):
            return with_credentials(record.remote_url, *account)
        address = self._providers[record.provider].address(record, self._settings)
        if record.secret:
            self.hide_path(address)
        return address
