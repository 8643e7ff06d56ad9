"""One element of a screen, in words that are the same on both platforms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

INTERACTIVE = frozenset({
    "button", "checkbox", "combobox", "generic", "link", "menuitem", "radio", "searchbox", "slider", "spinbutton",
    "switch", "tab", "textbox",
})  # fmt: skip
"""Roles that can be acted on."""
FIELDS = frozenset({"textbox", "searchbox"})
"""Roles that take typed text."""
TOGGLES = frozenset({"checkbox", "radio", "switch"})
"""Roles that are checked or not."""
NAMED_BY_CONTENT = frozenset({"button", "checkbox", "heading", "link", "menuitem", "radio", "switch", "tab"})
"""Roles whose name is what is written in them."""


class Box(NamedTuple):
    """A rectangle in the driver's coordinates: points on iOS, pixels on Android."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def has_area(self) -> bool:
        """Whether anything of it can be seen."""
        return self.right > self.left and self.bottom > self.top

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return round(self.right - self.left), round(self.bottom - self.top)

    @property
    def centre(self) -> tuple[int, int]:
        """The point in its middle."""
        return int((self.left + self.right) // 2), int((self.top + self.bottom) // 2)

    def meet(self, other: Box) -> Box:
        """What both have in common; without area where that is nothing."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def data(self) -> dict[str, float]:
        """The box as the page engine answers it."""
        return self._asdict()


NOWHERE = Box(0, 0, 0, 0)


@dataclass(slots=True, eq=False)
class Node:
    """One element of the page source. What a platform says of it is filled in by `ios.describe`, `android.describe`.

    Attributes:
        kind: Its class as the platform names it.
        index: Its place in the source; its descendants are those up to but not including `end`.
        role: What a line calls it; '' for a wrapper without meaning, `text` for what is only read.
        label: What it is called by itself, without what is inside.
        text: What is written on it, for reading.
        value: What it holds, unmasked.
        id: The developer's id, where it has one that is no label.
        accessibility_id: What the strategy `accessibility id` knows it by.
        shown: Whether the platform says that it can be seen.
        left_out: It is part of the system's bars, or of what is there twice.
        invalid: Whether the platform says that what it holds is wrong.
        part: What of it can be seen, once everything around it has cut off its share.
        holds: Whether something inside can be acted on.
        lead: Its first words, or the first ones inside: they tell rows from each other.
        key: What makes it the same element in a later source.
    """

    kind: str
    attributes: Mapping[str, str]
    parent: Node | None
    index: int
    end: int = 0
    children: list[Node] = field(default_factory=list)
    box: Box = NOWHERE
    part: Box = NOWHERE
    role: str = ""
    label: str = ""
    text: str = ""
    value: str = ""
    hint: str = ""
    id: str = ""
    accessibility_id: str = ""
    level: int = 0
    checked: bool | None = None
    enabled: bool = True
    selected: bool = False
    invalid: bool = False
    focused: bool = False
    secret: bool = False
    clickable: bool = False
    scrolls: bool = False
    modal: bool = False
    busy: bool = False
    shown: bool = True
    left_out: bool = False
    holds: bool = False
    lead: str = ""
    key: int = 0
    name: str = ""

    @property
    def is_visible(self) -> bool:
        """Whether a person sees something of it."""
        return self.shown and not self.left_out and self.part.has_area

    @property
    def is_outside(self) -> bool:
        """Whether it is there, but beyond the screen or the edge of what scrolls around it."""
        return not self.left_out and self.box.has_area and not self.part.has_area

    @property
    def is_named_by_content(self) -> bool:
        """Whether what is written inside is its name, so that it has no lines of its own there."""
        return self.role in NAMED_BY_CONTENT or (self.role in {"listitem", "generic"} and not self.holds)

    @property
    def is_clickable_only(self) -> bool:
        """Whether being clickable is all that is known of it."""
        return self.role == "generic" and self.clickable

    def within(self, other: Node) -> bool:
        """Whether it is `other` or inside it."""
        return other.index <= self.index < other.end

    def around(self) -> Iterator[Node]:
        """What it stands in, the nearest first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent
