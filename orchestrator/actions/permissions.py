"""Keeps a browser to the session's policies for permissions, and tells what its pages asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from orchestrator import abilities
from orchestrator.actions.turn import Turn
from orchestrator.errors import RemoteFailure
from orchestrator.policies import NOTIFICATIONS, Approval
from orchestrator.webdriver.bidi import DEFAULT, Bidi
from orchestrator.webdriver.remote import Remote

GEOLOCATION = "geolocation"
_NAMES: tuple[dict[str, Any], ...] = (
    {"name": NOTIFICATIONS},
    {"name": "camera"},
    {"name": "microphone"},
    {"name": "clipboard-read"},
    {"name": "midi"},
    {"name": "midi", "sysex": True},
    {"name": "persistent-storage"},
    {"name": "idle-detection"},
    {"name": "local-fonts"},
    {"name": "window-management"},
    {"name": "local-network-access"},
    {"name": GEOLOCATION},
)
"""What pages ask their user for, as the permissions of the standard name it; not every Chromium knows all of them."""
_SETTINGS = {"raise": "prompt", "allow": "granted", "deny": "denied"}
"""By policy. Chromium opens no prompt for what is set: who asks while it is `prompt` hears that it was closed."""
_ANSWERS = {
    "raise": "the question was closed without an answer. To allow it, call set_policy with {policy}: allow, "
    "then let the page ask again",
    "allow": "it has that now, for as long as this session lives",
    "deny": "it was denied, as the policy says",
    "manual": "that is left to the browser: a window shows its prompt, without one it is denied",
}
_SET, _RESET = "Browser.setPermission", "Browser.resetPermissions"
_OPAQUE = "null"
"""The origin of a document that is nobody's, such as a sandboxed frame's: nothing can be allowed to it alone."""


class Permissions:
    """The permissions of one session's pages. What they are told and what the browser does is always one thing.

    Source: https://www.w3.org/TR/permissions/, https://chromedevtools.github.io/devtools-protocol/tot/Browser/.
    """

    def __init__(self, remote: Remote, bidi: Bidi | None, turn: Turn, event: Callable[[str], None]) -> None:
        self._remote = remote
        self._bidi = bidi
        self._turn = turn
        self._event = event

    def keep(self) -> None:
        """Have the browser keep to what the record says, for all pages from now on; nothing in other browsers."""
        record = self._turn.record
        if abilities.browser(record.capabilities.get("browserName")) not in abilities.CHROMIUM:
            return
        own = self._bidi.user_context if self._bidi is not None else DEFAULT
        place = {} if own == DEFAULT else {"browserContextId": own}
        commands = [(method, {**params, **place}) for method, params in self._commands()]
        if self._bidi is None:
            for method, params in commands:
                with suppress(RemoteFailure):  # a name that this version does not know
                    self._remote.cdp(method, **params)
            return
        by_bidi = [("goog:cdp.sendCommand", {"method": method, "params": params}) for method, params in commands]
        reset, *_ = self._bidi.call_all(by_bidi)
        if isinstance(reset, RemoteFailure):  # of the others it may be a name that is not known here, too
            raise reset

    def withdraw(self) -> None:
        """Take back what pages were allowed and what the policies deny now."""
        policies = self._turn.record.policies
        kept = [one for one in self._turn.record.approvals if policies.of_permission(one.permission) != "deny"]
        self._turn.change(approvals=tuple(kept))

    def asked(self, asks: Iterable[str]) -> None:
        """Tell what pages asked for; who was allowed something keeps it."""
        for ask in asks:
            what, _, origin = ask.partition(" ")
            name = NOTIFICATIONS if what == NOTIFICATIONS else "permissions"
            record = self._turn.record
            policy = record.policies.of_permission(what)
            approval = Approval(permission=what, origin=origin)
            if policy != "deny" and (approval in record.approvals or self._is_emulated(what)):
                continue
            if policy == "allow" and origin != _OPAQUE:
                self._turn.change(approvals=(*record.approvals, approval))
            said = _ANSWERS[policy].format(policy=name)
            self._event(f"The page at {origin} asked for the permission {what}: {said}.")

    def _is_emulated(self, what: str) -> bool:
        return what == GEOLOCATION and self._turn.record.emulation.geolocation.there

    def _commands(self) -> Iterable[tuple[str, dict[str, Any]]]:
        record = self._turn.record
        policies = record.policies
        yield _RESET, {}
        for permission in _NAMES:
            name = permission["name"]
            policy = policies.of_permission(name)
            granted = self._is_emulated(name) and policy != "deny"
            if granted or policy != "manual":
                yield _SET, {"permission": permission, "setting": "granted" if granted else _SETTINGS[policy]}
        for one in record.approvals:
            yield _SET, {"permission": {"name": one.permission}, "setting": "granted", "origin": one.origin}
