"""A node of a screen, its box, and its identity from one snapshot to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from orchestrator.snapshot.answers import BoxSides

INTERACTIVE = frozenset({
    "button", "checkbox", "combobox", "generic", "link", "menuitem", "radio", "searchbox", "slider", "spinbutton",
    "switch", "tab", "textbox",
})  # fmt: skip
"""Roles that can be acted on."""
FIELDS = frozenset({"textbox", "searchbox"})
"""Roles that take typed text."""
TOGGLES = frozenset({"checkbox", "radio", "switch"})
"""Roles that are checked or not."""
READ_ONLY = frozenset({"text", "heading", "status"})
"""Roles of text that is only read; it may have a label and a value."""
NAMED_BY_CONTENT = frozenset({"button", "checkbox", "heading", "link", "menuitem", "radio", "switch", "tab"})
"""Roles whose name is what is written in them."""

_MOSTLY, _NEARLY_ALL = 0.5, 0.9
"""The share of elements that must be gone on another screen: with another title, and with the same."""


class ScreenBox(NamedTuple):
    """A rectangle in the driver's coordinates: points on iOS, pixels on Android."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def has_area(self) -> bool:
        """True if its width and height are above zero."""
        return self.right > self.left and self.bottom > self.top

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return round(self.right - self.left), round(self.bottom - self.top)

    @property
    def centre(self) -> tuple[int, int]:
        """The point in its middle."""
        return int((self.left + self.right) // 2), int((self.top + self.bottom) // 2)

    def intersection(self, other: ScreenBox) -> ScreenBox:
        """Return the common part; it has no area if there is none."""
        return ScreenBox(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def sides(self) -> BoxSides:
        """Return the box as the page engine answers it."""
        return {"left": self.left, "top": self.top, "right": self.right, "bottom": self.bottom}


NOWHERE = ScreenBox(0, 0, 0, 0)


@dataclass(slots=True, eq=False)
class Node:
    """An element of the page source; `ios.read_attributes` and `android.read_attributes` fill in most of it.

    Attributes:
        class_name: The platform's name of its class.
        index: Its place in the source; its descendants come up to but not including `end`.
        role: The role in its line; '' for a wrapper without meaning, `text` for text alone.
        label: Its own name, without that of its content.
        text: The readable text on it.
        value: Its value, unmasked.
        id: The developer's id, unless that is its label.
        accessibility_id: Its value for the strategy `accessibility id`.
        shown: True if the platform reports it as visible.
        left_out: True if it belongs to the system's bars or is a duplicate.
        invalid: True if the platform reports its value as wrong.
        visible_box: The visible part of its box, clipped by everything around it.
        contains_interactive: True if something inside can be acted on.
        lead: Its first words, or the first ones inside: they distinguish rows.
        key: Its identity in later sources, in every process: 64 bits.
    """

    class_name: str
    attributes: Mapping[str, str]
    parent: Node | None
    index: int
    end: int = 0
    children: list[Node] = field(default_factory=list)
    box: ScreenBox = NOWHERE
    visible_box: ScreenBox = NOWHERE
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
    contains_interactive: bool = False
    lead: str = ""
    key: int = 0
    name: str = ""

    @property
    def is_visible(self) -> bool:
        """True if a person sees a part of it."""
        return self.shown and not self.left_out and self.visible_box.has_area

    @property
    def is_outside(self) -> bool:
        """True if it lies beyond the screen, or beyond the edge of what scrolls around it."""
        return not self.left_out and self.box.has_area and not self.visible_box.has_area

    @property
    def is_named_by_content(self) -> bool:
        """True if the text inside is its name, so that the content has no lines of its own."""
        return self.role in NAMED_BY_CONTENT or (self.role in {"listitem", "generic"} and not self.contains_interactive)

    @property
    def is_clickable_only(self) -> bool:
        """True if nothing is known of it but that it is clickable."""
        return self.role == "generic" and self.clickable

    def within(self, other: Node) -> bool:
        """Return True if it is `other` or inside it."""
        return other.index <= self.index < other.end

    def ancestors(self) -> Iterator[Node]:
        """Yield the elements around it, the nearest first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


def identify(nodes: list[Node]) -> dict[int, Node]:
    """Give each node its key; return the nodes by key.

    The identity of an element is its id, whatever it shows; without an id, its words and its place among elements with
    the same words. A row of a list, and each of several similar wrappers, is identified by the first words in it even
    if it has an id, and so is all that it contains: a row that is reused for other content is another element.
    """
    counts: Counter[Hashable] = Counter()
    alike = Counter((node.parent.index, node.class_name) for node in nodes if node.parent is not None)
    rows = [0] * len(nodes)
    by_key: dict[int, Node] = {}
    for node in nodes:
        above, row = (0, 0) if node.parent is None else (node.parent.key, rows[node.parent.index])
        is_one_of_many = (
            bool(node.children)
            and node.parent is not None
            and alike[node.parent.index, node.class_name] > 1
            and not node.id
        )
        facts: tuple[Hashable, ...]
        if node.role == "listitem" or is_one_of_many:
            facts = (above, node.class_name, node.id, node.lead)
        elif node.id:
            facts = (row, node.class_name, node.id)
        else:
            facts = (above, node.class_name, _words(node))
        counts[facts] += 1
        node.key = digest((facts, counts[facts]))
        rows[node.index] = node.key if node.role == "listitem" or is_one_of_many else row
        by_key[node.key] = node
    return by_key


def _words(node: Node) -> str:
    """Return the words that identify a node without an id; none for wrappers, whose content comes and goes."""
    if node.role == "":
        return ""
    return node.name if node.is_named_by_content else node.label


def digest(facts: object, size: int = 8) -> int:
    """Return a number of so many bytes for these facts: the same in every process, as `hash` is not."""
    return int.from_bytes(blake2b(repr(facts).encode(), digest_size=size, usedforsecurity=False).digest(), "little")


def is_other_screen(were: AbstractSet[int], are: AbstractSet[int], *, same_title: bool) -> bool:
    """Return True if most elements, given by their keys, are gone: on a new screen every line is new."""
    if not were:
        return bool(are)
    gone = len(were - are) / len(were)
    return gone > (_NEARLY_ALL if same_title else _MOSTLY)
