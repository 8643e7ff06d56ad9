"""Vendors' storages for apps as data: where a file is sent, what lists them, how the answers are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from orchestrator.errors import ProviderFailure, Unsupported
from orchestrator.provider import StoredApp, Upload
from orchestrator_providers.rest import Api

_LISTING = 30.0
"""Seconds that a list may take."""

Read = Callable[[Mapping[str, Any]], StoredApp]


@dataclass(frozen=True)
class AppStorage:
    """One vendor's storage.

    Attributes:
        title: What the vendor is called.
        base: The base of its API.
        upload_path: Where a file is posted.
        file_field: The form's field for the file.
        list_paths: What lists the apps; `{limit}` in it is how many. More than one are lists of different platforms.
        read: An app of an answer, from the vendor's words.
        uploaded: Where in the answer to an upload the app is.
        listed: Where in a list the apps are; empty: it is the list itself.
        id_field: The form's field for an id of the user's own; empty: there are none.
        name_field: The form's field for the file's name; empty: none is needed.
        shown: What tells of one app by its `{id}`, where the answer to an upload says no more than that; else empty.
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

    def upload(self, api: Api, base: str, upload: Upload) -> StoredApp:
        """Send a file.

        Raises:
            Unsupported: A custom id, where there are none.
            ProviderAuth, ProviderFailure: It was not taken.
        """
        form = {self.name_field: upload.path.name} if self.name_field else {}
        if upload.custom_id is not None:
            if not self.id_field:
                raise Unsupported(f"{self.title} has no custom ids for apps.", hint="Leave customId out.")
            form[self.id_field] = upload.custom_id
        answer = _inside(api.upload(f"{base}{self.upload_path}", upload, self.file_field, form), self.uploaded)
        if self.shown and isinstance(answer, Mapping):
            told = api.ask("GET", f"{base}{self.shown.format(id=answer.get('id'))}", timeout=_LISTING)
            answer = _inside(told, self.uploaded) or answer
        app = self._read(answer)
        return app.model_copy(
            update={"name": app.name or upload.path.name, "custom_id": app.custom_id or upload.custom_id}
        )

    def list(self, api: Api, base: str, limit: int) -> list[StoredApp]:
        """The apps, the newest first as the vendor lists them.

        Raises:
            ProviderAuth, ProviderFailure: They were not told.
        """
        found: list[StoredApp] = []
        for path in self.list_paths:
            answer = _inside(api.ask("GET", f"{base}{path.format(limit=limit)}", timeout=_LISTING), self.listed)
            # An empty storage is told as an object with a message by some.
            found += [self._read(one) for one in answer] if isinstance(answer, list) else []
        if len(self.list_paths) > 1:
            found.sort(key=lambda app: app.uploaded_at or "", reverse=True)
        return found[:limit]

    def _read(self, answer: Any) -> StoredApp:
        try:
            return self.read(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ProviderFailure(f"{self.title} answered with what is no app.") from None


def text(value: Any) -> str | None:
    """A value as text; None where there is nothing."""
    return None if value is None or value == "" else str(value)


def moment(value: Any) -> str | None:
    """A time as text; one in seconds since the epoch as ISO 8601, in UTC."""
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC).isoformat()
    return text(value)


def _inside(answer: Any, place: str) -> Any:
    return answer.get(place, answer) if place and isinstance(answer, Mapping) else answer
