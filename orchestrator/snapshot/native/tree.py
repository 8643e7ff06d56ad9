"""Parses a screen's page source into a tree of nodes, without trusting it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from orchestrator.errors import RemoteFailure
from orchestrator.snapshot.native import android, ios
from orchestrator.snapshot.native.node import FIELDS, INTERACTIVE, READ_ONLY, Node, ScreenBox, identify
from orchestrator.snapshot.native.text import normalize_space

if TYPE_CHECKING:
    from lxml.etree import _Element

_DESCRIBE: dict[str, Callable[[Node], None]] = {"ios": ios.read_attributes, "android": android.read_attributes}
_DOCTYPE = "<!DOCTYPE"
_LONGEST_NAME = 1_000
"""Characters of a name that is put together from what is inside."""
_MESSAGE = 200
_MOST_TABS = 6


class SourceFault(RemoteFailure):
    """The remote end's page source is no XML, or none that can be trusted."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The screen could not be read: {why}.",
            hint="Try again; if it stays so, look at the log of the Appium server.",
            error="page source",
        )


class Tree:
    """The elements of one page source.

    Attributes:
        source: The page source itself.
        nodes: Every element, in the order of the source; the first is the root.
        window: The area of the screen, in the driver's coordinates.
        modal: The dialog in front of everything else.
        keyboard: The keyboard on the screen, if the platform reports it.
        title: The screen's title in the bar at the top, or ''.
    """

    def __init__(self, source: str, document: _Element, nodes: list[Node]) -> None:
        self.source = source
        self.nodes = nodes
        self._document = document
        self.window = _window(nodes)
        _read_descendants(nodes)
        if not any(node.class_name.startswith(ios.PREFIX) for node in nodes[:2]):
            android.find_dialog(nodes)
        _clip(nodes, self.window)
        for node in nodes:
            node.name = _name(self, node)
        self.by_key = identify(nodes)
        self.modal = next((node for node in reversed(nodes) if node.modal and node.is_visible), None)
        self.keyboard = next((node for node in nodes if node.role == "keyboard" and node.is_visible), None)
        self.title = _title(nodes)

    @classmethod
    def read(cls, source: str, platform: str) -> Tree:
        """Parse a page source of `ios` or `android`.

        Raises:
            SourceFault: It is empty, no XML, or has a document type.
        """
        describe = _DESCRIBE[platform]
        document = _parsed(source)
        nodes: list[Node] = []
        # Without recursion: a source may be nested deeper than Python's stack.
        waiting: list[tuple[Any, Node | None]] = [(document, None)]
        while waiting:
            element, parent = waiting.pop()
            attributes = dict(element.attrib)
            kind = attributes.get("type" if platform == "ios" else "class") or str(element.tag)
            node = Node(kind, attributes, parent, len(nodes))
            describe(node)
            nodes.append(node)
            if parent is not None:
                parent.children.append(node)
            waiting += [(child, node) for child in reversed(element)]
        if platform == "android":
            _leave_out_system_bars(nodes)
        return cls(source, document, nodes)

    def inside(self, node: Node) -> list[Node]:
        """Return the node and its descendants."""
        return self.nodes[node.index : node.end]

    def xpath(self, path: str) -> list[Node]:
        """Return the elements that an XPath finds.

        Raises:
            ValueError: It is invalid, or finds a text or a number.
        """
        from lxml import etree  # noqa: PLC0415 — loads with the first screen, not with the server

        nodes = dict(zip(self._document.iter(), self.nodes, strict=True))
        try:
            found = self._document.getroottree().xpath(path)
        except etree.XPathError as error:
            raise ValueError(str(error)) from None
        if not isinstance(found, list):
            raise ValueError("it finds no elements")  # noqa: TRY004 (what is wrong is the path, not our call)
        return [nodes[each] for each in found if each in nodes]

    def element(self, node: Node) -> _Element:
        """Return a node's element in the source."""
        return next(islice(self._document.iter(), node.index, None))


def _parsed(source: str) -> _Element:
    from lxml import etree  # noqa: PLC0415 — see xpath

    if not source.strip():
        raise SourceFault("its page source is empty")
    # No attribute contains a '<', so this is a document type; its entities could fill the memory.
    if _DOCTYPE in source:
        raise SourceFault("its page source has a document type, which no driver writes")
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        return etree.fromstring(source.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise SourceFault(f"its page source is no valid XML ({str(error)[:_MESSAGE]})") from None


def _leave_out_system_bars(nodes: list[Node]) -> None:
    """Leave out clock and battery, unless there is nothing else, as with open notifications."""
    ours = [node.attributes.get("package", android.SYSTEM_BARS) != android.SYSTEM_BARS for node in nodes]
    if any(ours):
        for node, is_ours in zip(nodes, ours, strict=True):
            node.left_out |= not is_ours and "package" in node.attributes


def _window(nodes: list[Node]) -> ScreenBox:
    """Return the first rectangle in the source: that of the root, or of the application or window in it."""
    attributes = nodes[0].attributes
    if (width := attributes.get("width", "")).isdecimal() and (height := attributes.get("height", "")).isdecimal():
        return ScreenBox(0, 0, float(width), float(height))
    return next((node.box for node in nodes if node.box.has_area), nodes[0].box)


def _read_descendants(nodes: list[Node]) -> None:
    """Set what depends on descendants, from the last node to the first: first words, roles of clickable views."""
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.index + 1
        inside = [child for child in node.children if not child.left_out]
        node.contains_interactive = any(child.contains_interactive or child.role in INTERACTIVE for child in inside)
        node.lead = node.label or next((child.lead for child in inside if child.lead), "")
        if node.role == "combobox" and not node.value:
            node.value = next((child.lead for child in inside if child.lead), "")
        if node.role in {"", "group", "img", "text"} and not node.class_name.startswith(ios.PREFIX):
            node.role = _role_of_view(node)
        if node.role == "heading" and not node.level:
            node.level = 2


def _role_of_view(node: Node) -> str:
    """Return the role of an Android view whose class has none, by its abilities and its place."""
    if node.parent is not None and node.parent.role == "list":
        return "listitem" if node.clickable or node.role == "" else node.role
    if node.role in {"", "group"} and _words(node) and _is_tab(node):
        return "tab"
    if node.clickable:
        return "generic" if node.contains_interactive else "button"
    return "text" if node.role == "group" and not node.children else node.role


def _is_tab(node: Node) -> bool:
    """True if it is in a bar of tabs, which has no class of its own: one of several similar views is selected."""
    peers = [] if node.parent is None else node.parent.children
    if not 1 < len(peers) <= _MOST_TABS or any(
        peer.class_name != node.class_name or not _words(peer) for peer in peers
    ):
        return False
    return sum(peer.selected for peer in peers) == 1 and all(peer.selected or peer.clickable for peer in peers)


def _words(node: Node) -> str:
    """Return its label, or that of a child."""
    return node.label or next((child.label for child in node.children if child.label), "")


def _clip(nodes: list[Node], window: ScreenBox) -> None:
    """Set the visible part of each node: clipped by what scrolls around it, and by the screen."""
    clips = [window] * len(nodes)
    for node in nodes:
        around = node.parent
        if around is not None:
            clips[node.index] = clips[around.index]
            if around.scrolls and around.box.has_area:
                clips[node.index] = clips[around.index].intersection(around.box)
        node.visible_box = node.box.intersection(clips[node.index])


def _name(tree: Tree, node: Node) -> str:
    """Return the label, else the text inside, else for interactive elements the developer's id."""
    if node.label or not node.role:
        return node.label
    if node.is_named_by_content:
        parts: list[str] = []
        room = _LONGEST_NAME
        for text in _texts(tree, node):
            if not parts or parts[-1] != text:
                parts.append(text)
                room -= len(text)
            if room <= 0:
                break
        if parts:
            return " ".join(parts)
    if node.role == "dialog":
        return node.lead
    if node.role in FIELDS:
        # Compose puts the name there.
        return next((child.label for child in node.children if child.attributes.get("text")), "") or _developer_id(node)
    return _developer_id(node) if node.role in INTERACTIVE and node.role != "generic" else ""


def _developer_id(node: Node) -> str:
    """Return the developer's id of a node."""
    return (node.id or node.accessibility_id).rpartition("/")[2]


def _texts(tree: Tree, node: Node) -> Iterator[str]:
    for each in tree.nodes[node.index + 1 : node.end]:
        if each.label and each.role in {"text", "heading", "img", ""} and not each.children and not each.left_out:
            yield each.label
            if each.value and each.role in READ_ONLY:
                yield normalize_space(each.value)


def _title(nodes: list[Node]) -> str:
    heading = next((node for node in nodes if node.role == "heading" and node.level == 1 and node.is_visible), None)
    if heading is not None:
        return heading.label
    bar = next((node for node in nodes if node.role == "banner" and node.is_visible), None)
    return "" if bar is None else bar.label or bar.accessibility_id
