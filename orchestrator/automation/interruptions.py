"""Handles what interrupts a scene's commands: dialogs, closed windows, hung pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.automation import dialogs
from orchestrator.automation.browser import shared_browser
from orchestrator.automation.scene import Scene
from orchestrator.models.session import NATIVE, SessionType
from orchestrator.webdriver.events.navigations import PendingNavigation

_STATUS = 2.0
"""Seconds in which a driver that lives answers for itself, whatever its sessions are doing."""
_PARTLY_READ = "The page is so large that only a part of it was read; refs and CSS selectors reach all of it."


class InterruptionHandler:
    """Listens to a scene's commands and page (`webdriver.remote.CommandListener`, `snapshot.web.page.PageListener`)."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.deferred = scene.web_page.queued_calls

    def check_place(self) -> None:
        """Raise if another process drives the session now."""
        self._scene.check_place()

    def await_document(self) -> None:
        """Wait for the answer to a navigation of the current tab, at most a few seconds from its begin."""
        self._scene.navigations.await_document()

    def check_navigation(self) -> None:
        """Raise once a navigation of the current tab takes too long."""
        self._scene.navigations.check()

    def pending_navigation(self) -> PendingNavigation | None:
        """Return the navigation of the current tab that its server has not answered yet."""
        return self._scene.navigations.pending

    def run_deferred(self) -> None:
        """Send the queries that were deferred until the next command."""
        self._scene.run_deferred_queries()

    def answer_dialog(self, text: str) -> bool:
        """Answer the open dialog by the policy; False leaves it open."""
        return dialogs.answer_dialog(self._scene, text)

    def replace_window(self) -> str:
        """Make another tab current, or the app's own screen, since the current one is gone; a clause that names it."""
        if self._scene.record.type is SessionType.BROWSER:
            return self._scene.tabs.replace_gone_tab()
        self._scene.switch_context(NATIVE)
        self._scene.event("The web view is gone; the session is on the app's own screens again.")
        return "the app's own screen is current now"

    def outlasts_command(self) -> bool:
        """Return True if the driver and the browser of a session live while a command is not answered."""
        scene = self._scene
        if scene.record.type is not SessionType.BROWSER or not scene.remote.status(_STATUS):
            return False
        is_shared = scene.record.instance is not None and shared_browser.is_blocked_by_other_page(scene.record)
        return not is_shared and scene.tabs.is_browser_alive()

    def replace_page(self) -> str:
        """Replace the tab of a hung page; a clause that names the new one, empty where that is impossible."""
        return self._scene.tabs.replace_hung_tab() if self._scene.record.type is SessionType.BROWSER else ""

    def report_external_url(self, url: str) -> None:
        """Report a URL of another program that the page wanted to open."""
        self._scene.event(f"The page wanted another program to open {url!r}; that was stopped.")

    def report_permission_requests(self, names: list[str]) -> None:
        """Report the permissions that the page asked for."""
        self._scene.permissions.report_requests(names)

    def report_partial_reading(self) -> None:
        """Report, once a call, that the page was too large to be read whole."""
        if _PARTLY_READ not in self._scene.events:
            self._scene.event(_PARTLY_READ)


@contextmanager
def handle_interruptions(scene: Scene) -> Iterator[None]:
    """Handle what interrupts the commands that a scene sends inside the block."""
    handler = InterruptionHandler(scene)
    with scene.remote.listening(handler), scene.web_page.listening(handler):
        yield
