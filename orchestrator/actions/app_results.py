"""What actions on an app's device answer."""

from __future__ import annotations

from pydantic import Field

from orchestrator.actions.results import Acted, Outcome


class AppManaged(Acted):
    """What became of an app, or what was asked of it."""

    app: str | None = Field(default=None, description="Bundle id or package.")
    state: str | None = Field(default=None, description="not installed, not running, background or foreground.")
    apps: list[str] | None = Field(default=None, description="Those that are installed.")

    def lines(self) -> list[str]:
        """The answer, or what changed."""
        if self.state is not None:
            return [f"{self.app}: {self.state}."]
        return [*self.apps] if self.apps is not None else super().lines()


class DeviceManaged(Acted):
    """What became of the device; `value` is what it has or is now."""

    value: str | None = Field(
        default=None, description="What it is now: the orientation, the place, the clipboard's text."
    )

    def lines(self) -> list[str]:
        """The value, and what changed."""
        first, *rest = super().lines()
        return [f"{first} {self.value}" if self.value is not None else first, *rest]


class Contexts(Outcome):
    """The contexts of an app, and which is current."""

    contexts: list[str] = Field(description="NATIVE_APP, and the web views that there are.")
    context: str = Field(description="The current one.")
    url: str | None = None
    title: str | None = None

    def lines(self) -> list[str]:
        """One line a context."""
        where = f": {self.title!r} at {self.url}" if self.url else ""
        return [f"{one} (current){where}" if one == self.context else one for one in self.contexts]
