"""What actions answer: typed values, each of which says the same as data and as text."""

from __future__ import annotations

import json
import reprlib
from typing import Any, Literal, Self

from pydantic import Field
from pydantic.alias_generators import to_camel

from orchestrator.models import SessionType, Wire
from orchestrator.policies import Policies

Observe = Literal["none", "change", "outline"]
_SHORT = reprlib.Repr()
"""How much of each field a result shows in a debugger or a REPL."""
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlist = 80, 200, 4


class SessionLabel(Wire):
    """The session that was chosen for the caller."""

    session_id: str
    session_type: SessionType


class Outcome(Wire):
    """What every result can say besides its own: fields without anything to say are left out of the data."""

    matches: int | None = Field(default=None, description="How many elements the selector found, if more than one.")
    warnings: list[str] = Field(default_factory=list)
    events: list[str] = Field(
        default_factory=list, description="What happened on the session that nobody asked for, oldest first."
    )
    restored: bool | None = Field(default=None, description="Whether the session, which was parked, is as it was.")
    next: str | None = Field(default=None, description="How to get what was cut.")
    session: SessionLabel | None = Field(default=None, description="The session, where it was chosen for you.")

    def data(self) -> dict[str, Any]:
        """The result as JSON data in wire names."""
        found = self.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {name: value for name, value in found.items() if value != [] or name not in {"warnings", "events"}}

    def render(self) -> str:
        """The result for a reader who sees no data."""
        return "\n".join([*self.lines(), *self._common()])

    def lines(self) -> list[str]:
        """The result's own lines of text."""
        return ["Done."]

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={_SHORT.repr(value)}" for name, value in self.__repr_args__())
        return f"{type(self).__name__}({told})"

    def _common(self) -> list[str]:
        lines = [] if self.restored is None else [f"Restored: {'yes' if self.restored else 'no'}."]
        lines += [f"Warning: {warning}" for warning in self.warnings]
        lines += [f"Event: {event}" for event in self.events]
        if self.matches is not None:
            lines.append(f"The selector found {self.matches} elements; the first that can be acted on was taken.")
        if self.next:
            lines.append(self.next)
        if self.session:
            lines.append(f"Session: {self.session.session_id} ({self.session.session_type}).")
        return lines


class Move(Wire):
    """A value before and after."""

    from_: str = Field(alias="from")
    to: str


class StateChange(Wire):
    """What differs between two snapshots; `appeared` and `changed` are outline lines with refs."""

    url: Move | None = None
    title: Move | None = None
    appeared: list[str] = Field(default_factory=list)
    disappeared: list[str] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list)
    more: int | None = Field(default=None, description="How many further lines there are.")

    def lines(self) -> list[str]:
        """The change as text."""
        lines = []
        if self.url:
            lines.append(f"URL: {self.url.from_} -> {self.url.to}")
        if self.title:
            lines.append(f"Title: {self.title.from_!r} -> {self.title.to!r}")
        for name in ("appeared", "disappeared", "changed"):
            found: list[str] = getattr(self, name)
            if found:
                lines += [f"{name.capitalize()}:", *(f"- {line}" for line in found)]
        if self.more:
            lines.append(f"… {self.more} more lines; get_visible_elements shows them.")
        return lines or ["Nothing visible changed."]

    @property
    def empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.url or self.title or self.appeared or self.disappeared or self.changed)


class Settled(Outcome):
    """A result that may report how the page changed and settled."""

    state_change: StateChange | None = None
    stable: bool | None = None
    stability_wait_ms: int | None = Field(
        default=None, description="From the end of the last step to the moment the page counted as settled."
    )
    unstable_reason: str | None = None

    def change_lines(self) -> list[str]:
        """Change and stability as text."""
        if self.stable is None:
            return []
        lines = self.state_change.lines() if self.state_change else ["Nothing visible changed."]
        if not self.stable:
            lines.append(f"Not settled after {self.stability_wait_ms} ms: {self.unstable_reason}.")
        else:
            lines.append(f"Settled after {self.stability_wait_ms} ms.")
        return lines


def _where(url: str | None, title: str | None) -> str:
    """Where a session is, as text; an app's screen has a title at most."""
    return f"{title!r} at {url}" if url else f"{title!r}" if title else ""


class Acted(Settled):
    """The result of an action that acts on the page."""

    url: str | None = None
    title: str | None = None
    outline: str | None = None

    def lines(self) -> list[str]:
        """Where the page is now, and what changed."""
        where = f"Done. {_where(self.url, self.title)}".strip()
        return [where, *self.change_lines(), *([self.outline] if self.outline else [])]


class Value(Outcome):
    """What a script returned."""

    value: Any = None

    def data(self) -> dict[str, Any]:
        """The result as data; `value` is there even when it is null."""
        return {"value": None, **super().data()}

    def lines(self) -> list[str]:
        """The value as JSON."""
        return [json.dumps(self.value, ensure_ascii=False)]


class ScriptResult(Value):
    """What a script of actions returned, and what it printed."""

    console: list[str] | None = None

    def lines(self) -> list[str]:
        """The value as JSON, then what was printed."""
        return [*super().lines(), *(["Console:", *self.console] if self.console else [])]


class PageText(Outcome):
    """The visible text of a page or an element."""

    text: str

    def lines(self) -> list[str]:
        """The text itself."""
        return [self.text]


class PageSource(Outcome):
    """The HTML of a page or an element."""

    source: str

    def lines(self) -> list[str]:
        """The HTML itself."""
        return [self.source]


class Element(Wire):
    """One element of a page."""

    ref: str
    role: str
    name: str
    value: str | None = None
    states: list[str] | None = None
    selector: str
    css_selector: str | None = None


class Elements(Outcome):
    """The elements that a page shows, as an outline or as data."""

    url: str
    title: str
    outline: str | None = None
    elements: list[Element] | None = None
    total: int
    shown: int

    def lines(self) -> list[str]:
        """Where the page is, then the outline, or the elements as JSON lines."""
        head = f"{_where(self.url, self.title)} ({self.shown} of {self.total})".strip()
        if self.outline is not None:
            return [head, self.outline]
        found = [element.model_dump(by_alias=True, exclude_none=True) for element in self.elements or []]
        return [head, *(json.dumps(element, ensure_ascii=False) for element in found)]


class Met(Outcome):
    """A condition that holds."""

    url: str | None = None
    title: str | None = None
    waited_ms: int

    def lines(self) -> list[str]:
        """That it holds, and after what time."""
        return [f"It holds (after {self.waited_ms} ms). {_where(self.url, self.title)}".strip()]


class Screenshot(Outcome):
    """A picture of what the session shows; saved as a file and handed over as an image, never as text.

    `size` is that of the image, `file_size` that of the file, both in pixels; `scale` says how many image pixels a
    `unit` of tap coordinates is, `origin` the tap coordinates of the image's upper left corner.
    """

    path: str
    size: tuple[int, int]
    file_size: tuple[int, int]
    scale: float
    origin: tuple[int, int] | None = None
    unit: str = Field(default="CSS pixel", exclude=True)
    media_type: str
    image: bytes = Field(exclude=True, repr=False)

    def lines(self) -> list[str]:
        """Where it is, how large, and how its pixels relate to coordinates of taps."""
        width, height = self.size
        full = "" if self.file_size == self.size else f", shown here with {width} x {height} px"
        lines = [
            f"Screenshot saved: {self.path} ({self.file_size[0]} x {self.file_size[1]} px{full}).",
            f"One {self.unit} (tap coordinate) is {self.scale:g} image pixels.",
        ]
        if self.origin:
            lines.append(
                f"Tap coordinates are image pixels / {self.scale:g} + {self.origin}; "
                "what lies outside the viewport must be scrolled to first."
            )
        return lines


class InForce(Outcome):
    """The policies of a session, as they are now."""

    dialogs: str
    permissions: str
    notifications: str
    file_pickers: str
    downloads: str
    new_tabs: str

    @classmethod
    def of(cls, policies: Policies) -> Self:
        """As the record has them."""
        return cls(**dict(policies))

    def lines(self) -> list[str]:
        """The policies, one a line."""
        return [f"{to_camel(name)}: {getattr(self, name)}" for name in Policies.model_fields]
