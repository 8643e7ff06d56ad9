"""Uploads apps to the app storage of cloud providers, and lists them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import anyio.to_thread
from pydantic import Field

from orchestrator.errors import InvalidArgument, ProviderFailure, TimedOut, Unsupported
from orchestrator.lifecycle.app_request import resolve_existing_path
from orchestrator.models.results import Outcome
from orchestrator.provider import Provider, StoredApp
from orchestrator.sessions import progress
from orchestrator.sessions.providers import Providers
from orchestrator.settings import Settings

ResultT = TypeVar("ResultT")


class UploadedApp(Outcome, StoredApp):
    """An app that was uploaded to a cloud; start sessions there with `app`."""

    def lines(self) -> list[str]:
        """Return one line about the app."""
        return [_line(self)]


class AppList(Outcome):
    """The apps in a cloud's storage, newest first."""

    apps: list[StoredApp] = Field(default_factory=list)

    def lines(self) -> list[str]:
        """Return one line per app."""
        return [_line(app) for app in self.apps] or ["The storage is empty."]


class _Upload:
    """An upload in progress; implements `provider.Upload`."""

    def __init__(self, path: Path, custom_id: str | None, settings: Settings) -> None:
        self.path = path
        self.custom_id = custom_id
        self.settings = settings
        self.cancelled = threading.Event()

    def tell(self, text: str) -> None:
        """Report the progress."""
        progress.report_progress(text)

    def check(self) -> None:
        """Raise when the upload was cancelled."""
        if self.cancelled.is_set():
            raise TimedOut("The upload was cancelled.")


async def upload_app(
    providers: Providers, settings: Settings, name: str, path: str, custom_id: str | None
) -> UploadedApp:
    """Send a file to the app storage of a provider; a cancellation stops the upload.

    Raises:
        InvalidArgument: There is no such file, or no such provider.
        Unsupported: The provider has no app storage, or takes no custom id.
        ProviderAuth, ProviderFailure: The upload was refused, or failed.
    """
    provider = _provider_with_storage(providers, name)
    file = resolve_existing_path("path", path)
    if not file.is_file():
        raise InvalidArgument(f"path: {file} is a folder.", hint="Give a file, such as an .apk, .ipa or .zip.")
    upload = _Upload(file, custom_id, settings)
    try:
        stored = await _in_thread(lambda: provider.upload_app(upload))
    finally:
        upload.cancelled.set()
    return UploadedApp(**dict(stored))


async def list_apps(providers: Providers, settings: Settings, name: str, limit: int) -> AppList:
    """Return the newest apps in the storage of a provider, at most `limit`.

    Raises:
        InvalidArgument: There is no such provider.
        Unsupported: It has no app storage.
        ProviderAuth, ProviderFailure: The list was refused, or failed.
    """
    provider = _provider_with_storage(providers, name)
    return AppList(apps=await _in_thread(lambda: provider.list_apps(limit, settings)))


async def _in_thread(request: Callable[[], ResultT]) -> ResultT:
    return await anyio.to_thread.run_sync(request, abandon_on_cancel=True)


def _provider_with_storage(providers: Providers, name: str) -> Provider:
    provider = providers[name]
    if not provider.stores_apps:
        with_storage = []
        for other in providers:
            with contextlib.suppress(ProviderFailure):
                with_storage += [other] if providers[other].stores_apps else []
        raise Unsupported(
            f"Provider {name!r} has no storage for apps.",
            hint=f"Providers with one: {', '.join(with_storage) or 'none'}.",
        )
    return provider


def _line(app: StoredApp) -> str:
    details = app.model_dump(by_alias=True, exclude_none=True, include=set(StoredApp.model_fields) - {"app"})
    return ", ".join([f"app {app.app}", *(f"{name} {value}" for name, value in details.items())])
