"""Policies for unrequested page events: dialogs, permissions, choosers, downloads, tabs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import WithJsonSchema

from orchestrator.models.base import StoredModel, Wire

NOTIFICATIONS = "notifications"
"""The one permission with its own policy."""
DialogPolicy = Literal["raise", "accept", "dismiss", "manual"]
PermissionPolicy = Literal["raise", "allow", "deny", "manual"]
PickerPolicy = Literal["raise", "deny", "manual"]
DownloadPolicy = Literal["raise", "allow", "deny"]
TabPolicy = Literal["raise", "allow", "deny"]


class Policies(StoredModel):
    """A session's policies; `raise` handles the event so that the page continues, and the next result reports it."""

    dialogs: DialogPolicy = "raise"
    permissions: PermissionPolicy = "raise"
    notifications: PermissionPolicy = "raise"
    file_pickers: PickerPolicy = "raise"
    downloads: DownloadPolicy = "raise"
    new_tabs: TabPolicy = "raise"

    def of_permission(self, name: str) -> PermissionPolicy:
        """Return the policy for a permission, by its name in the Permissions standard."""
        return self.notifications if name == NOTIFICATIONS else self.permissions


_AS_TEXT = WithJsonSchema({"type": "string"})
"""Keeps the values out of the schema, which every model pays for: the description of `set_policy` names them."""


class PolicyChanges(Wire):
    """The parameters of `set_policy`; omitted policies stay as they are."""

    dialogs: DialogPolicy | None = None
    permissions: PermissionPolicy | None = None
    notifications: Annotated[PermissionPolicy | None, _AS_TEXT] = None
    file_pickers: Annotated[PickerPolicy | None, _AS_TEXT] = None
    downloads: Annotated[DownloadPolicy | None, _AS_TEXT] = None
    new_tabs: Annotated[TabPolicy | None, _AS_TEXT] = None


class PolicyValues(Wire):
    """The policies as results report them."""

    dialogs: str
    permissions: str
    notifications: str
    file_pickers: str
    downloads: str
    new_tabs: str


class Approval(Wire):
    """A permission granted to the pages of an origin for the life of the session."""

    permission: str
    origin: str
