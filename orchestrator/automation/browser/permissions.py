"""Apply the policies for permissions, and report the permissions that pages request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.errors import RemoteFailure
from orchestrator.models import browser_support
from orchestrator.models.policies import NOTIFICATIONS, Approval, PermissionPolicy
from orchestrator.models.session import SessionRecord
from orchestrator.webdriver.bidi import DEFAULT_USER_CONTEXT, Bidi
from orchestrator.webdriver.origin_permissions import SYSEX, OriginPermissions, PermissionStates
from orchestrator.webdriver.remote import Remote
from orchestrator.webdriver.websocket import Command

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
"""Permissions that need the user's consent, by their standard names; some Chromium versions lack some."""
_SETTINGS = {"raise": "prompt", "allow": "granted", "deny": "denied"}
"""Settings by policy. With a setting, Chromium opens no prompt: with `prompt`, the page's request is dismissed."""
_ANSWERS = {
    "raise": "the prompt was dismissed. To allow it, call set_policy with {policy}: allow, then let the page ask again",
    "allow": "it was granted for the rest of this session",
    "deny": "it was denied by policy",
    "manual": "it is left to the browser, which shows a prompt, or denies it when headless",
}
_SHOWN = "shown-notification"
"""The report of a page that shows a notification, with permission or without."""
_NOT_SHOWN = "it has no permission. To give it, call set_policy with {policy}: allow, then let the page try again"
_SET, _RESET = "Browser.setPermission", "Browser.resetPermissions"
_REMEMBERED = 0.6
"""Seconds, and some more, for which Chromium answers a request for a camera or microphone as it did the last one."""
_OPAQUE = "null"
"""The opaque origin, such as a sandboxed frame's: permissions cannot be granted to it alone."""


_OF_ORIGINS = (GEOLOCATION, NOTIFICATIONS, "midi", "persistent-storage", "screen-wake-lock")
"""Permissions that Firefox 153 sets for an origin."""
_UNASKED = "screen-wake-lock"
"""The one of them that pages have without a question."""
_STATES = {**_SETTINGS, "raise": "denied", "manual": "prompt"}
"""States by policy in Firefox: nobody ends its prompt, so that none may open, and the page would wait for ever."""
_REFUSED = "it was refused. To allow it, call set_policy with {policy}: allow, then let the page ask again"
_NOT_SET = "Firefox has no command for it, and decided by itself"
NOT_OF_ORIGINS = "Firefox has no command for the permissions of camera, microphone and clipboard: they are as before."


def origin_states(record: SessionRecord) -> PermissionStates:
    """Return the states of permissions in a browser that sets them for each origin.

    In a session that someone else has started, what no policy allows or denies is left as it is.
    """
    policies = {name: record.policies.of_permission(name) for name in _OF_ORIGINS}
    states = {
        name: "prompt" if (name, policy) == (_UNASKED, "raise") else _STATES[policy]
        for name, policy in policies.items()
        if record.owned or policy in {"allow", "deny"}
    }
    if "midi" in states:
        states[SYSEX] = states["midi"]
    if record.emulation.geolocation.is_set and policies[GEOLOCATION] != "deny":
        states[GEOLOCATION] = "granted"
    approved: dict[str, dict[str, str]] = {}
    for approval in record.approvals:
        if approval.permission in _OF_ORIGINS:
            approved.setdefault(approval.origin, {})[approval.permission] = "granted"
    return PermissionStates(states, approved)


class Permissions:
    """The permissions of a session's pages.

    Source: https://www.w3.org/TR/permissions/, https://chromedevtools.github.io/devtools-protocol/tot/Browser/.
    """

    def __init__(
        self,
        remote: Remote,
        bidi: Bidi | None,
        by_origin: OriginPermissions | None,
        turn: RecordAccess,
        event: Callable[[str], None],
    ) -> None:
        self._remote = remote
        self._by_origin = by_origin
        self._bidi = bidi
        self._turn = turn
        self._event = event

    def apply_policies(self) -> None:
        """Apply the record's policies to all pages from now on; does nothing in browsers without a way to it."""
        self.plan_policies()()

    def plan_policies(self) -> Callable[[], None]:
        """Return what applies the record's policies as they are now, in any thread."""
        record = self._turn.record
        if self._by_origin is not None:
            return partial(self._by_origin.apply, origin_states(record))
        return partial(self._set_all, [*self._commands()] if self._is_chromium else [])

    def _set_all(self, settings: list[Command]) -> None:
        if not settings:
            return
        user_context = self._bidi.user_context if self._bidi is not None else DEFAULT_USER_CONTEXT
        scope = {} if user_context == DEFAULT_USER_CONTEXT else {"browserContextId": user_context}
        commands = [(method, {**params, **scope}) for method, params in settings]
        if self._bidi is None:
            for method, params in commands:
                with suppress(RemoteFailure):  # this version may not know the permission
                    self._remote.cdp(method, **params)
            return
        by_bidi = [("goog:cdp.sendCommand", {"method": method, "params": params}) for method, params in commands]
        reset, *_ = self._bidi.call_all(by_bidi)
        if isinstance(reset, RemoteFailure):  # the others may fail for a permission that this version does not know
            raise reset

    def forget_refusals(self) -> None:
        """Wait until no request is refused any more because the last one was, under an earlier policy."""
        if self._is_chromium:
            time.sleep(_REMEMBERED)

    @property
    def _is_chromium(self) -> bool:
        name = browser_support.normalize_browser_name(self._turn.record.capabilities.get("browserName"))
        return name in browser_support.CHROMIUM

    def revoke_denied(self) -> None:
        """Revoke approvals that the policies now deny."""
        policies = self._turn.record.policies
        approvals = self._turn.record.approvals
        kept = [approval for approval in approvals if policies.of_permission(approval.permission) != "deny"]
        self._turn.change(approvals=tuple(kept))

    def report_requests(self, requests: Iterable[str]) -> None:
        """Report the permissions that pages requested or used, as `name origin`, and record those that were granted."""
        for request in requests:
            asked, _, origin = request.partition(" ")
            permission = NOTIFICATIONS if asked == _SHOWN else asked
            policy_name = NOTIFICATIONS if permission == NOTIFICATIONS else "permissions"
            record = self._turn.record
            policy = record.policies.of_permission(permission)
            approval = Approval(permission=permission, origin=origin)
            if policy != "deny" and (approval in record.approvals or self._is_emulated(permission)):
                continue
            if policy == "allow" and origin != _OPAQUE and self._can_set(permission):
                self._turn.change(approvals=(*record.approvals, approval))
            answer = _NOT_SHOWN if asked == _SHOWN and policy == "raise" else self._answer(permission, policy)
            deed = "tried to show a notification" if asked == _SHOWN else f"asked for the permission {permission}"
            self._event(f"The page at {origin} {deed}: {answer.format(policy=policy_name)}.")

    def _answer(self, permission: str, policy: PermissionPolicy) -> str:
        """Return what became of a request, as a clause."""
        if not self._can_set(permission):
            return _NOT_SET
        return _REFUSED if policy == "raise" and self._by_origin is not None else _ANSWERS[policy]

    def _can_set(self, permission: str) -> bool:
        return self._by_origin is None or permission in _OF_ORIGINS

    def _is_emulated(self, permission: str) -> bool:
        return permission == GEOLOCATION and self._turn.record.emulation.geolocation.is_set

    def _commands(self) -> Iterable[Command]:
        record = self._turn.record
        policies = record.policies
        yield _RESET, {}
        for permission in _NAMES:
            name = permission["name"]
            policy = policies.of_permission(name)
            granted = self._is_emulated(name) and policy != "deny"
            if granted or policy != "manual":
                yield _SET, {"permission": permission, "setting": "granted" if granted else _SETTINGS[policy]}
        for approval in record.approvals:
            permission = {"name": approval.permission}
            yield _SET, {"permission": permission, "setting": "granted", "origin": approval.origin}
