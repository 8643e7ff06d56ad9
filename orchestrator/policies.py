"""What happens by itself to what a page does and nobody asked for."""

from __future__ import annotations

from typing import Literal

from orchestrator.wire import Kept, Wire

NOTIFICATIONS = "notifications"
"""The permission that has a policy of its own."""
DialogPolicy = Literal["raise", "accept", "dismiss", "manual"]
PermissionPolicy = Literal["raise", "allow", "deny", "manual"]
PickerPolicy = Literal["raise", "deny", "manual"]
DownloadPolicy = Literal["raise", "allow", "deny"]
TabPolicy = Literal["raise", "allow", "deny"]


class Policies(Kept):
    """A session's policies; with `raise` it is handled so that the page goes on, and the next result reports it."""

    dialogs: DialogPolicy = "raise"
    permissions: PermissionPolicy = "raise"
    notifications: PermissionPolicy = "raise"
    file_pickers: PickerPolicy = "raise"
    downloads: DownloadPolicy = "raise"
    new_tabs: TabPolicy = "raise"

    def of_permission(self, name: str) -> PermissionPolicy:
        """The policy for a permission by its name in the standard."""
        return self.notifications if name == NOTIFICATIONS else self.permissions


class Approval(Wire):
    """A permission that the pages of an origin have for as long as the session lives."""

    permission: str
    origin: str
