"""Apps in the storages of clouds: sent there from this machine, and listed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import anyio.to_thread
from pydantic import Field

from orchestrator import progress
from orchestrator.actions.results import Outcome
from orchestrator.app_start import there
from orchestrator.errors import InvalidArgument, ProviderFailure, TimedOut, Unsupported
from orchestrator.provider import Provider, StoredApp
from orchestrator.registry import Providers
from orchestrator.settings import Settings

FoundT = TypeVar("FoundT")


class UploadedApp(Outcome, StoredApp):
    """An app that is in a cloud's storage now; `app` is what start_session takes there."""

    def lines(self) -> list[str]:
        """The app in one line."""
        return [_line(self)]


class AppList(Outcome):
    """The apps in a cloud's storage, the newest first."""

    apps: list[StoredApp] = Field(default_factory=list)

    def lines(self) -> list[str]:
        """A line an app."""
        return [_line(one) for one in self.apps] or ["The storage is empty."]


class _Upload:
    """One upload under way; what a provider sees of it is `provider.Upload`."""

    def __init__(self, path: Path, custom_id: str | None, settings: Settings) -> None:
        self.path = path
        self.custom_id = custom_id
        self.settings = settings
        self.left = threading.Event()

    def tell(self, text: str) -> None:
        """Say how far it is."""
        progress.tell(text)

    def check(self) -> None:
        """Raise when nobody waits for it any more."""
        if self.left.is_set():
            raise TimedOut("The upload was cancelled.")


async def send(providers: Providers, settings: Settings, name: str, path: str, custom_id: str | None) -> UploadedApp:
    """Send a file to the storage of a provider; who leaves stops it.

    Raises:
        InvalidArgument: There is no such file, or no such provider.
        Unsupported: The provider has no storage for apps, or takes no custom id.
        ProviderAuth, ProviderFailure: The app was not taken.
    """
    provider = _storing(providers, name)
    file = there("path", path)
    if not file.is_file():
        raise InvalidArgument(f"path: {file} is a folder.", hint="Give a file, such as an .apk, .ipa or .zip.")
    upload = _Upload(file, custom_id, settings)
    try:
        stored = await _asked(lambda: provider.upload_app(upload))
    finally:
        upload.left.set()
    return UploadedApp(**dict(stored))


async def listed(providers: Providers, settings: Settings, name: str, limit: int) -> AppList:
    """The newest apps in the storage of a provider.

    Raises:
        InvalidArgument: There is no such provider.
        Unsupported: It has no storage for apps.
        ProviderAuth, ProviderFailure: They were not told.
    """
    provider = _storing(providers, name)
    return AppList(apps=await _asked(lambda: provider.list_apps(limit, settings)))


async def _asked(ask: Callable[[], FoundT]) -> FoundT:
    return await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)


def _storing(providers: Providers, name: str) -> Provider:
    provider = providers[name]
    if not provider.stores_apps:
        having = []
        for other in providers:
            with contextlib.suppress(ProviderFailure):
                having += [other] if providers[other].stores_apps else []
        raise Unsupported(
            f"Provider {name!r} has no storage for apps.", hint=f"Those that have one: {', '.join(having) or 'none'}."
        )
    return provider


def _line(one: StoredApp) -> str:
    more = one.model_dump(by_alias=True, exclude_none=True, include=set(StoredApp.model_fields) - {"app"})
    return ", ".join([f"app {one.app}", *(f"{name} {value}" for name, value in more.items())])
