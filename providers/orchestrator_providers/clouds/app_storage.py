"""App storages of clouds, as data: paths, fields, and the readers of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from orchestrator.errors import ProviderFailure, Unsupported
from orchestrator.provider import StoredApp, Upload
from orchestrator_providers.clouds.rest import RestApi

_LISTING = 30.0
"""Seconds that a list may take."""

Read = Callable[[Mapping[str, Any]], StoredApp]


@dataclass(frozen=True)
class AppStorage:
    """A vendor's app storage.

    Attributes:
        title: The vendor's name.
        base: The base URL of its API.
        upload_path: The path that a file is posted to.
        file_field: The form's field for the file.
        list_paths: The paths that list the apps, one for each platform or one for all; `{limit}` is their number.
        read: Reads an app from the vendor's JSON.
        uploaded: The field of an upload's answer that has the app; empty for the answer itself.
        listed: The field of a list's answer that has the apps; empty for the answer itself.
        id_field: The form's field for a custom id; empty if there are none.
        name_field: The form's field for the file's name; empty if none is needed.
        shown: The path of one app by `{id}`, if an upload's answer has no more than the id; else empty.
    """

    title: str
    base: str
    upload_path: str
    file_field: str
    list_paths: Sequence[str]
    read: Read
    uploaded: str = ""
    listed: str = ""
    id_field: str = ""
    name_field: str = ""
    shown: str = ""

    def upload(self, api: RestApi, base: str, upload: Upload) -> StoredApp:
        """Upload a file and return the stored app.

        Raises:
            Unsupported: A custom id was given, and the vendor has none.
            ProviderAuth, ProviderFailure: The upload was refused, or failed.
        """
        form = {self.name_field: upload.path.name} if self.name_field else {}
        if upload.custom_id is not None:
            if not self.id_field:
                raise Unsupported(f"{self.title} has no custom ids for apps.", hint="Omit customId.")
            form[self.id_field] = upload.custom_id
        answer = _inside(api.upload(f"{base}{self.upload_path}", upload, self.file_field, form), self.uploaded)
        if self.shown and isinstance(answer, Mapping):
            details = api.request("GET", f"{base}{self.shown.format(id=answer.get('id'))}", timeout=_LISTING)
            answer = _inside(details, self.uploaded) or answer
        app = self._read(answer)
        return app.model_copy(
            update={"name": app.name or upload.path.name, "custom_id": app.custom_id or upload.custom_id}
        )

    def list_apps(self, api: RestApi, base: str, limit: int) -> list[StoredApp]:
        """Return the apps, the newest first as the vendor lists them.

        Raises:
            ProviderAuth, ProviderFailure: The vendor's API failed.
        """
        apps: list[StoredApp] = []
        for path in self.list_paths:
            answer = _inside(api.request("GET", f"{base}{path.format(limit=limit)}", timeout=_LISTING), self.listed)
            # For an empty storage, some answer with an object that has a message.
            apps += [self._read(one) for one in answer] if isinstance(answer, list) else []
        if len(self.list_paths) > 1:
            apps.sort(key=lambda app: app.uploaded_at or "", reverse=True)
        return apps[:limit]

    def _read(self, answer: Any) -> StoredApp:
        try:
            return self.read(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ProviderFailure(f"The answer of {self.title} is no app.") from None


def text(value: Any) -> str | None:
    """Return a value as text; None for None and the empty text."""
    return None if value is None or value == "" else str(value)


def moment(value: Any) -> str | None:
    """Return a time as text; seconds since the epoch become ISO 8601 in UTC."""
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC).isoformat()
    return text(value)


def _inside(answer: Any, place: str) -> Any:
    return answer.get(place, answer) if place and isinstance(answer, Mapping) else answer
