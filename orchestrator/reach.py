"""Makes the client of any session's remote end from its record, with the credentials that this process can find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from orchestrator.machine import LOOPBACK
from orchestrator.models import SessionRecord
from orchestrator.registry import Providers
from orchestrator.secrets import Redactor, credentials, with_credentials, without_credentials
from orchestrator.settings import Settings
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.cdp import Cdp
from orchestrator.webdriver.devtools import DevTools, debugger_address
from orchestrator.webdriver.remote import Remote


class Reach:
    """Knows what is needed to reach a remote end; no credential that it meets is shown from then on."""

    def __init__(self, providers: Providers, settings: Settings, redactor: Redactor) -> None:
        self._providers = providers
        self._settings = settings
        self._redactor = redactor
        self._told: dict[str, str] = {}

    def told(self, url: str) -> str:
        """Keep the user and password that a caller gave with a URL, in this process; returns the URL without them."""
        plain = without_credentials(url)
        if plain != url:
            self._told[plain] = url
        return plain

    def of(self, record: SessionRecord, *, timeout: float | None = None) -> Remote:
        """The client of a record's session; credentials that a caller gave in this process come first.

        Raises:
            ProviderAuth: Its provider cannot find the credentials in this process.
            ProviderFailure, InvalidArgument: The provider is no longer there, or not to be used.
        """
        return self.to(self._address(record), record.remote_session_id, name=record.id, timeout=timeout)

    def to(self, url: str, remote_session_id: str, *, name: str, timeout: float | None = None) -> Remote:
        """The client of a session by its address; `timeout` is the setting unless given, in seconds."""
        if own := credentials(url):
            self.hide(own[1])
        return Remote(url, remote_session_id, name=name, timeout=timeout or self._settings.command_timeout)

    def bidi(self, record: SessionRecord) -> Bidi | None:
        """WebDriver BiDi of a record's session, not connected yet; None where its remote end gave no socket.

        Sessions that share a browser share its socket, each hearing of its own user context alone; those in windows of
        one profile, of its own tabs.

        User and password of the remote end are those of its socket, where both are one host's; never from TLS into
        the open.

        Raises:
            ProviderAuth, ProviderFailure, InvalidArgument: As `of`.
        """
        url = record.capabilities.get("webSocketUrl")
        if not isinstance(url, str):
            return None
        place = record.instance
        context = "" if place is None else place.context if place.isolated else "default"
        windows = place is not None and bool(place.profile) and not place.isolated
        timeout = self._settings.command_timeout
        return Bidi(self._opened(url, record), name=record.id, timeout=timeout, user_context=context, by_tab=windows)

    def cdp(self, record: SessionRecord) -> Cdp | None:
        """The browser's DevTools beside a record's session, not connected yet; None where there is no way to them.

        Raises:
            ProviderAuth, ProviderFailure, InvalidArgument: As `of`.
        """
        find = self.devtools(record)
        return find and Cdp(find, name=record.id, timeout=self._settings.command_timeout)

    def devtools(self, record: SessionRecord) -> Callable[[], str] | None:
        """What finds the URL of the browser's own socket (OSError where nobody answers); None where there is no way.

        A Selenium Grid has a socket for them (capability `se:cdp`); a browser of this machine is asked for its own.

        Raises:
            ProviderAuth, ProviderFailure, InvalidArgument: As `of`.
        """
        if isinstance(url := record.capabilities.get("se:cdp"), str):
            opened = self._opened(url, record)
            return lambda: opened
        address = debugger_address(record.capabilities)
        if not address or urlsplit(record.remote_url).hostname not in LOOPBACK:
            return None
        return DevTools(address).socket

    def hide(self, secret: str) -> None:
        """Strike a secret out of whatever is said from now on."""
        self._redactor.add(secret)

    def clean(self, value: Any) -> Any:
        """A JSON value without the secrets that are known."""
        return self._redactor.data(value)

    def _opened(self, url: str, record: SessionRecord) -> str:
        """A socket's URL with user and password of the remote end, where both are one host's, and as well hidden."""
        address = self._address(record)
        own, there, socket = credentials(address), urlsplit(address), urlsplit(url)
        safe = there.hostname == socket.hostname and (socket.scheme == "wss" or there.scheme != "https")
        return with_credentials(url, *own) if own and safe else url

    def _address(self, record: SessionRecord) -> str:
        told = self._told.get(record.remote_url)
        return told or self._providers[record.provider].address(record, self._settings)
