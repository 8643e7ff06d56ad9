"""Passkeys of a session: virtual authenticators in its tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.automation.browser.window_handles import WindowHandles
from orchestrator.errors import RemoteFailure, Unsupported
from orchestrator.models.session import Tab

Credential = Mapping[str, Any]
"""A credential as the remote end has it, with its private key (W3C WebAuthn, 11.5 Add Credential)."""

_AUTHENTICATOR: Mapping[str, Any] = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserConsenting": True,
    "isUserVerified": True,
}
"""Properties of an authenticator of the device itself, which keeps passkeys and whose person always agrees."""


class Authenticators:
    """The virtual authenticators of a session's tabs, which hold its passkeys.

    In Chromium each tab has an authenticator of its own, so that credentials are brought from tab to tab. Private keys
    are never stored: they go from one tab of the browser into another.

    Source: https://www.w3.org/TR/webauthn-3/#sctn-automation.
    """

    def __init__(self, handles: WindowHandles, turn: RecordAccess, on_switched: Callable[[], None]) -> None:
        self._remote = handles.remote
        self._handles = handles
        self._turn = turn
        self._on_switched = on_switched

    @property
    def are_used(self) -> bool:
        """True if a tab has an authenticator."""
        return any(tab.authenticator for tab in self._turn.record.tabs)

    def bring_to(self, tab: Tab, current: str) -> Tab:
        """Give a tab an authenticator with the passkeys of all tabs; return it.

        The tab `current` (a handle) is current before and after it. A passkey that several tabs have is as it was used
        last: sites refuse one whose counter goes back.

        Raises:
            Unsupported: The remote end has no virtual authenticators.
        """
        newest: dict[str, Credential] = {}
        with self._switching(current) as switch:
            for other in self._list_equipped():
                if other.handle != tab.handle:
                    switch(other.handle)
                    for one in self._read(other):
                        newest[one["credentialId"]] = _newer(one, newest.get(one["credentialId"]))
            switch(tab.handle)
            if not tab.authenticator:
                tab = tab.model_copy(update={"authenticator": self._make()})
            own = {one["credentialId"]: one for one in self._read(tab)}
            for name, one in newest.items():
                if name not in own or _newer(one, own[name]) is one:
                    self._replace(tab, one, known=name in own)
        return tab

    def read(self, tab: Tab) -> list[Credential]:
        """Return the passkeys of the current tab."""
        return self._read(tab) if tab.authenticator else []

    def add(self, tab: Tab, credential: Credential) -> None:
        """Add a passkey to the current tab, in place of one with the same id.

        Raises:
            RemoteFailure: The remote end refuses it.
        """
        known = any(one["credentialId"] == credential["credentialId"] for one in self._read(tab))
        self._replace(tab, credential, known=known)

    def remove(self, credential_id: str | None, current: str) -> bool:
        """Remove a passkey from all tabs, or all of them with their authenticators; False if none was there."""
        found = False
        with self._switching(current) as switch:
            for tab in self._list_equipped():
                switch(tab.handle)
                if credential_id is None:
                    self._remote.execute("removeVirtualAuthenticator", authenticatorId=tab.authenticator)
                    found = True
                elif any(one["credentialId"] == credential_id for one in self._read(tab)):
                    self._delete(tab, credential_id)
                    found = True
        return found

    def _list_equipped(self) -> list[Tab]:
        """Return the open tabs that have an authenticator."""
        equipped = [tab for tab in self._turn.record.tabs if tab.authenticator]
        there = self._handles.all() if equipped else []
        return [tab for tab in equipped if tab.handle in there]

    @contextmanager
    def _switching(self, current: str) -> Iterator[Callable[[str], None]]:
        """Go to other tabs for a block, by a function."""
        here = current

        def switch(handle: str) -> None:
            nonlocal here
            if handle != here:
                self._handles.switch_to(handle)
                here = handle

        try:
            yield switch
        finally:
            if here != current:
                self._handles.switch_to(current)
                self._on_switched()

    def _make(self) -> str:
        try:
            return str(self._remote.execute("addVirtualAuthenticator", **_AUTHENTICATOR))
        except RemoteFailure as error:
            if not error.is_unknown_command:
                raise
            raise Unsupported(
                "The remote end has no virtual authenticators.", hint="Use Chrome or Edge, on this machine or a Grid."
            ) from error

    def _read(self, tab: Tab) -> list[Credential]:
        found: list[Credential] = self._remote.execute("getCredentials", authenticatorId=tab.authenticator)
        return found

    def _replace(self, tab: Tab, credential: Credential, *, known: bool) -> None:
        if known:
            self._delete(tab, credential["credentialId"])
        self._remote.execute("addCredential", authenticatorId=tab.authenticator, **credential)

    def _delete(self, tab: Tab, credential_id: str) -> None:
        self._remote.execute("removeCredential", authenticatorId=tab.authenticator, credentialId=credential_id)


def _newer(one: Credential, other: Credential | None) -> Credential:
    return one if other is None or one["signCount"] > other["signCount"] else other
