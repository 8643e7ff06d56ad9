"""Apply the policies for permissions, and report the permissions that pages request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.errors import RemoteFailure
from orchestrator.models import browser_support
from orchestrator.models.policies import NOTIFICATIONS, Approval
from orchestrator.webdriver.bidi import DEFAULT_USER_CONTEXT, Bidi
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
"""Permissions that need the user's consent, by their standard names; some Chromium versions lack some."""
_SETTINGS = {"raise": "prompt", "allow": "granted", "deny": "denied"}
"""Settings by policy. With a setting, Chromium opens no prompt: with `prompt`, the page's request is dismissed."""
_ANSWERS = {
    "raise": "the prompt was dismissed. To allow it, call set_policy with {policy}: allow, then let the page ask again",
    "allow": "it was granted for the rest of this session",
    "deny": "it was denied by policy",
    "manual": "it is left to the browser, which shows a prompt, or denies it when headless",
}
_SET, _RESET = "Browser.setPermission", "Browser.resetPermissions"
_OPAQUE = "null"
"""The opaque origin, such as a sandboxed frame's: permissions cannot be granted to it alone."""


class Permissions:
    """The permissions of a session's pages.

    Source: https://www.w3.org/TR/permissions/, https://chromedevtools.github.io/devtools-protocol/tot/Browser/.
    """

    def __init__(self, remote: Remote, bidi: Bidi | None, turn: RecordAccess, event: Callable[[str], None]) -> None:
        self._remote = remote
        self._bidi = bidi
        self._turn = turn
        self._event = event

    def apply_policies(self) -> None:
        """Apply the record's policies to all pages from now on; does nothing in browsers but Chromium."""
        record = self._turn.record
        if (
            browser_support.normalize_browser_name(record.capabilities.get("browserName"))
            not in browser_support.CHROMIUM
        ):
            return
        user_context = self._bidi.user_context if self._bidi is not None else DEFAULT_USER_CONTEXT
        scope = {} if user_context == DEFAULT_USER_CONTEXT else {"browserContextId": user_context}
        commands = [(method, {**params, **scope}) for method, params in self._commands()]
        if self._bidi is None:
            for method, params in commands:
                with suppress(RemoteFailure):  # this version may not know the permission
                    self._remote.cdp(method, **params)
            return
        by_bidi = [("goog:cdp.sendCommand", {"method": method, "params": params}) for method, params in commands]
        reset, *_ = self._bidi.call_all(by_bidi)
        if isinstance(reset, RemoteFailure):  # the others may fail for a permission that this version does not know
            raise reset

    def revoke_denied(self) -> None:
        """Revoke approvals that the policies now deny."""
        policies = self._turn.record.policies
        approvals = self._turn.record.approvals
        kept = [approval for approval in approvals if policies.of_permission(approval.permission) != "deny"]
        self._turn.change(approvals=tuple(kept))

    def report_requests(self, requests: Iterable[str]) -> None:
        """Report the permissions that pages requested, as `name origin`, and record those that were granted."""
        for request in requests:
            permission, _, origin = request.partition(" ")
            policy_name = NOTIFICATIONS if permission == NOTIFICATIONS else "permissions"
            record = self._turn.record
            policy = record.policies.of_permission(permission)
            approval = Approval(permission=permission, origin=origin)
            if policy != "deny" and (approval in record.approvals or self._is_emulated(permission)):
                continue
            if policy == "allow" and origin != _OPAQUE:
                self._turn.change(approvals=(*record.approvals, approval))
            answer = _ANSWERS[policy].format(policy=policy_name)
            self._event(f"The page at {origin} asked for the permission {permission}: {answer}.")

    def _is_emulated(self, permission: str) -> bool:
        return permission == GEOLOCATION and self._turn.record.emulation.geolocation.is_set

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
        for approval in record.approvals:
            permission = {"name": approval.permission}
            yield _SET, {"permission": permission, "setting": "granted", "origin": approval.origin}
