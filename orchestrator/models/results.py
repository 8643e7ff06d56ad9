"""Results of actions as data and as text, in which what pages wrote is quoted."""

from __future__ import annotations

import json
import re
import reprlib
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from pydantic import Field
from pydantic.alias_generators import to_camel

from orchestrator.models.policies import Policies, PolicyValues
from orchestrator.models.session import SessionType, Wire

Observe = Literal["none", "change", "outline"]
_SHORT = reprlib.Repr()
"""Shortens fields in the repr of results."""
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlist = 80, 200, 4


_NAME_LENGTH = 5
_NAME_LETTERS = string.ascii_lowercase + string.digits


@dataclass(frozen=True)
class Quote:
    """Lines that a page wrote; `heading` is ours, and says of which session or step they are, if that is not clear."""

    lines: tuple[str, ...]
    heading: str = ""


@dataclass(frozen=True)
class Fence:
    """The lines around what a page wrote: `<page-NAME>` and `</page-NAME>`.

    A page does not know the name, which is drawn anew for each connection, and cannot end its own quote. An empty name
    stands for no lines around, for readers that are not told apart by text.
    """

    name: str

    @classmethod
    def draw(cls) -> Self:
        """Make a fence of a random name."""
        return cls("page-" + "".join(secrets.choice(_NAME_LETTERS) for _ in range(_NAME_LENGTH)))

    @property
    def closing(self) -> str:
        """The line after a quote."""
        return f"</{self.name}>"

    def around(self, quote: Quote) -> list[str]:
        """Return the lines of a quote with its heading, between the lines of the fence."""
        heading = [quote.heading] if quote.heading else []
        if not self.name:
            return [*heading, *quote.lines]
        return [*heading, f"<{self.name}>", *quote.lines, self.closing]


OPEN = Fence("")
"""No lines around."""


_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, such as those that begin commands to a terminal, and those that turn what follows around."""


def own_line(text: str) -> str:
    """Return a text as one line: what a page put into one of our lines must neither begin another nor disguise it."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], "\\n".join(text.splitlines()))


def quote_lines(lines: Sequence[str]) -> list[Quote]:
    """Return these lines as a quote, none if there are none."""
    return [Quote(tuple(lines))] if lines else []


class SessionLabel(Wire):
    """The session that an omitted `sessionId` stood for."""

    session_id: str
    session_type: SessionType


class Outcome(Wire):
    """The fields that every result may have; unset and empty ones are omitted from the data."""

    internal: ClassVar[bool] = False
    """True if it reaches no caller as it is: this program goes on with its values."""

    matches: int | None = Field(default=None, description="Number of elements the selector found, if several.")
    warnings: list[str] = Field(default_factory=list)
    events: list[str] = Field(default_factory=list, description="Unrequested events of the session, oldest first.")
    restored: bool | None = Field(default=None, description="True if the parked session is intact.")
    recovered: Literal["storage"] | None = Field(default=None, description="What a fresh browser got of a lost one.")
    next: str | None = Field(default=None, description="How to get the part that was cut.")
    session: SessionLabel | None = Field(default=None, description="The session, if sessionId was omitted.")

    def data(self) -> dict[str, Any]:
        """Return the result as JSON data with wire names."""
        dumped = self.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {name: value for name, value in dumped.items() if value != [] or name not in {"warnings", "events"}}

    def render(self, fence: Fence = OPEN) -> str:
        """Return the result as text, for readers who do not see the data: our lines, then what the page wrote."""
        return "\n".join([*self.own_lines(), *(line for quote in self.quotes() for line in fence.around(quote))])

    def own_lines(self) -> list[str]:
        """Return the lines that this program says: of this result, and those that every result may have."""
        return [own_line(line) for line in (*self.lines(), *self._common())]

    def lines(self) -> list[str]:
        """Return the lines that this program says of this result."""
        return ["Done."]

    def page_lines(self) -> list[str]:
        """Return the lines that the page or app wrote, outlines included."""
        return []

    def quotes(self) -> list[Quote]:
        """Return what pages wrote, apart by session or step where there are several."""
        return quote_lines(self.page_lines())

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_SHORT.repr(value)}" for name, value in self.__repr_args__())
        return f"{type(self).__name__}({fields})"

    def _common(self) -> list[str]:
        # Not `restored` and `recovered`: the first event says both in a sentence.
        lines = [f"Warning: {warning}" for warning in self.warnings]
        lines += [f"Event: {event}" for event in self.events]
        if self.matches is not None:
            lines.append(f"The selector found {self.matches} elements; the first actionable one was used.")
        if self.next:
            lines.append(self.next)
        if self.session:
            lines.append(f"Session: {self.session.session_id} ({self.session.session_type}).")
        return lines


class ValueChange(Wire):
    """A value before and after."""

    from_: str = Field(alias="from")
    to: str


class InvalidField(Wire):
    """A field for which the browser refused a form, and the browser's own sentence."""

    field: str
    message: str


class StateChange(Wire):
    """The difference between two snapshots; `appeared` and `changed` are outline lines with refs.

    `invalid` are the fields because of which the browser did not submit a form; `came_and_went` are alerts, status
    lines and dialogs that were shown meanwhile and are gone, in order.
    """

    url: ValueChange | None = None
    title: ValueChange | None = None
    invalid: list[InvalidField] | None = None
    appeared: list[str] = Field(default_factory=list)
    disappeared: list[str] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list)
    came_and_went: list[str] | None = None
    more: int | None = Field(default=None, description="Number of further lines.")

    def lines(self) -> list[str]:
        """Return the page's address and title, and how much is not shown."""
        lines = []
        if self.url:
            lines.append(f"Now {_page(self.url.to, self.title.to) if self.title else f'at {self.url.to}'}")
        elif self.title:
            lines.append(f"Title: {self.title.to!r}")
        if self.more:
            lines.append(f"… {self.more} more lines; get_visible_elements shows them.")
        return ["Nothing visible changed."] if self.empty else lines

    def page_lines(self) -> list[str]:
        """Return the change as the page wrote it."""
        lines = []
        if self.invalid:
            lines += ["Invalid:", *(f"- {one.field}: {one.message}" for one in self.invalid)]
        for name in ("came_and_went", "appeared", "disappeared", "changed"):
            changes: list[str] | None = getattr(self, name)
            if changes:
                lines += [f"{name.capitalize().replace('_', ' ')}:", *(f"- {line}" for line in changes)]
        return lines

    @property
    def empty(self) -> bool:
        """True if nothing differs."""
        told = (self.appeared, self.disappeared, self.changed, self.came_and_went)
        return not (self.url or self.title or self.invalid or any(told))


class Settled(Outcome):
    """A result that may report how the page changed and settled."""

    state_change: StateChange | None = None
    stable: bool | None = None
    stability_wait_ms: int | None = Field(
        default=None, description="Time from the end of the last step until the page settled."
    )
    unstable_reason: str | None = None

    def change_lines(self) -> list[str]:
        """Return what this program says of change and stability."""
        if self.stable is None:
            return []
        lines = self.state_change.lines() if self.state_change else ["Nothing visible changed."]
        if not self.stable:
            lines.append(f"Not settled after {self.stability_wait_ms} ms: {self.unstable_reason}.")
        else:
            lines.append(f"Settled after {self.stability_wait_ms} ms.")
        return lines

    def page_lines(self) -> list[str]:
        """Return the change as the page wrote it."""
        return self.state_change.page_lines() if self.state_change and self.stable is not None else []


def _page(url: str | None, title: str | None) -> str:
    """Name the page that a session shows; an app's screen has at most a title."""
    return f"{title!r} at {url}" if url else f"{title!r}" if title else ""


class Acted(Settled):
    """The result of an action that acts on the page."""

    url: str | None = None
    title: str | None = None
    outline: str | None = None
    target: str | None = Field(default=None, description="Role and name of what a ref named.")

    def lines(self) -> list[str]:
        """Return what was acted on by a ref, the page, its address and whether it settled."""
        is_told = self.state_change is not None and self.state_change.url is not None
        page = "" if is_told else _page(self.url, self.title)
        done = f"Done: {self.target}." if self.target else "Done."
        return [f"{done} {page}".strip(), *self.change_lines()]

    def page_lines(self) -> list[str]:
        """Return the changes and the outline."""
        return [*super().page_lines(), *(self.outline or "").splitlines()]


class ScriptValue(Outcome):
    """The value that a script returned."""

    value: Any = None

    def data(self) -> dict[str, Any]:
        """Return the result as data; `value` is present even if it is null."""
        return {"value": None, **super().data()}

    def lines(self) -> list[str]:
        """Return a value without words as JSON: true, false, null or a number."""
        return [json.dumps(self.value)] if self._is_wordless() else []

    def page_lines(self) -> list[str]:
        """Return any other value as JSON."""
        return [] if self._is_wordless() else [json.dumps(self.value, ensure_ascii=False)]

    def _is_wordless(self) -> bool:
        return self.value is None or isinstance(self.value, bool | int | float)


class ScriptResult(ScriptValue):
    """The value that a script of actions returned, and the lines that it printed."""

    console: list[str] | None = None

    def page_lines(self) -> list[str]:
        """Return the value as JSON, then the printed lines."""
        return [*super().page_lines(), *(["Console:", *self.console] if self.console else [])]


class PageText(Outcome):
    """The visible text of a page or an element."""

    text: str

    def lines(self) -> list[str]:
        """Return a sentence if there is no text."""
        return [] if self.text else ["No text."]

    def page_lines(self) -> list[str]:
        """Return the text itself."""
        return self.text.split("\n") if self.text else []


class PageSource(Outcome):
    """The HTML of a page or an element."""

    source: str

    def lines(self) -> list[str]:
        """Return nothing: all of it is the page's."""
        return []

    def page_lines(self) -> list[str]:
        """Return the HTML itself."""
        return self.source.split("\n")


class Element(Wire):
    """An element of a page."""

    ref: str
    role: str
    name: str
    value: str | None = None
    states: list[str] | None = None
    selector: str
    css_selector: str | None = None


class Elements(Outcome):
    """The visible elements of a page, as an outline or as data."""

    url: str
    title: str
    outline: str | None = None
    elements: list[Element] | None = None
    total: int
    shown: int

    def lines(self) -> list[str]:
        """Return the page, and how much of it is shown."""
        return [f"{_page(self.url, self.title)} ({self.shown} of {self.total})".strip()]

    def page_lines(self) -> list[str]:
        """Return the outline, or the elements as JSON lines."""
        if self.outline is not None:
            return self.outline.splitlines()
        elements = [element.model_dump(by_alias=True, exclude_none=True) for element in self.elements or []]
        return [json.dumps(element, ensure_ascii=False) for element in elements]


class ConditionMet(Outcome):
    """A condition that was met, and the time that it took."""

    url: str | None = None
    title: str | None = None
    waited_ms: int

    def lines(self) -> list[str]:
        """Return the time that the condition took, and the page."""
        return [f"Passed after {self.waited_ms} ms. {_page(self.url, self.title)}".strip()]


class Screenshot(Outcome):
    """A screenshot, saved as a file and returned as an image, never as text.

    `size` is that of the image, `file_size` that of the file, both in pixels. `scale` is the number of image pixels per
    `unit` of tap coordinates, `origin` the tap coordinates of the image's upper left corner.
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
        """Return the file's path and size, and the relation of its pixels to tap coordinates."""
        width, height = self.size
        shown = "" if self.file_size == self.size else f", shown as {width} x {height} px"
        pixels = "1 image pixel" if self.scale == 1 else f"{self.scale:g} image pixels"
        lines = [
            f"Screenshot saved: {self.path} ({self.file_size[0]} x {self.file_size[1]} px{shown}).",
            f"One {self.unit} (tap coordinate) is {pixels}.",
        ]
        if self.origin:
            lines.append(
                f"Tap coordinates are image pixels / {self.scale:g} + {self.origin}; "
                "scroll to points outside the viewport first."
            )
        return lines


class PolicyList(PolicyValues, Outcome):
    """The current policies of a session."""

    @classmethod
    def from_policies(cls, policies: Policies) -> Self:
        """Make the result of a record's policies."""
        return cls(**dict(policies))

    def lines(self) -> list[str]:
        """Return one line per policy."""
        return [f"{to_camel(name)}: {getattr(self, name)}" for name in Policies.model_fields]
