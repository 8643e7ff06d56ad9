"""A screen's page source as nodes: parsed without trusting it, described by its platform, looked over in few passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from orchestrator.errors import RemoteFailure
from orchestrator.snapshot.native import android, ios
from orchestrator.snapshot.native.identity import identify
from orchestrator.snapshot.native.node import FIELDS, INTERACTIVE, Box, Node

if TYPE_CHECKING:
    from lxml.etree import _Element

_DESCRIBE: dict[str, Callable[[Node], None]] = {"ios": ios.describe, "android": android.describe}
_DOCTYPE = "<!DOCTYPE"
_LONGEST_NAME = 1_000
"""Characters of a name that is put together from what is inside."""
_MESSAGE = 200
_MOST_TABS = 6


class SourceFault(RemoteFailure):
    """The remote end's page source is no XML that can be trusted or read."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The screen could not be read: {why}.",
            hint="Try again; if it stays so, look at the log of the Appium server.",
            error="page source",
        )


class Tree:
    """All that one page source tells.

    Attributes:
        source: As it came.
        nodes: Every element, in the order of the source; the first is the root.
        window: What the screen shows, in the driver's coordinates.
        modal: The dialog that is in front of everything else.
        keyboard: The keyboard on the screen, where the platform tells of it.
        title: What the bar at the top calls the screen, or ''.
    """

    def __init__(self, source: str, document: _Element, nodes: list[Node]) -> None:
        self.source = source
        self.nodes = nodes
        self._document = document
        self.window = _window(nodes)
        _look_inside(nodes)
        if not any(node.kind.startswith(ios.PREFIX) for node in nodes[:2]):
            android.find_dialog(nodes)
        _cut_off(nodes, self.window)
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
        # By hand: a source may be nested deeper than Python's stack.
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
        """The node and all that is in it."""
        return self.nodes[node.index : node.end]

    def xpath(self, path: str) -> list[Node]:
        """The elements that an XPath finds.

        Raises:
            ValueError: It cannot be read, or finds no elements but a text or a number.
        """
        from lxml import etree  # noqa: PLC0415 — loads with the first screen, not with the server

        places = dict(zip(self._document.iter(), self.nodes, strict=True))
        try:
            found = self._document.getroottree().xpath(path)
        except etree.XPathError as error:
            raise ValueError(str(error)) from None
        if not isinstance(found, list):
            raise ValueError("it finds no elements")  # noqa: TRY004 (what is wrong is the path, not our call)
        return [places[each] for each in found if each in places]

    def element(self, node: Node) -> _Element:
        """A node's element in the source."""
        return next(islice(self._document.iter(), node.index, None))


def _parsed(source: str) -> _Element:
    from lxml import etree  # noqa: PLC0415 — see xpath

    if not source.strip():
        raise SourceFault("its page source is empty")
    # A '<' stands in no attribute: this is a document type, and the entities of one can fill a memory.
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
    """Clock and battery are not the app's; unless there is nothing else, as when notifications are open."""
    ours = [node.attributes.get("package", android.SYSTEM_BARS) != android.SYSTEM_BARS for node in nodes]
    if any(ours):
        for node, is_ours in zip(nodes, ours, strict=True):
            node.left_out |= not is_ours and "package" in node.attributes


def _window(nodes: list[Node]) -> Box:
    """The first rectangle that there is: that of the root, or of the application or window in it."""
    attributes = nodes[0].attributes
    if (width := attributes.get("width", "")).isdecimal() and (height := attributes.get("height", "")).isdecimal():
        return Box(0, 0, float(width), float(height))
    return next((node.box for node in nodes if node.box.has_area), nodes[0].box)


def _look_inside(nodes: list[Node]) -> None:
    """What depends on what is inside, from the last node to the first: first words, roles of what is clickable."""
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.index + 1
        inside = [child for child in node.children if not child.left_out]
        node.holds = any(child.holds or child.role in INTERACTIVE for child in inside)
        node.lead = node.label or next((child.lead for child in inside if child.lead), "")
        if node.role == "combobox" and not node.value:
            node.value = next((child.lead for child in inside if child.lead), "")
        if node.role in {"", "group", "img", "text"} and not node.kind.startswith(ios.PREFIX):
            node.role = _role_of_view(node)
        if node.role == "heading" and not node.level:
            node.level = 2


def _role_of_view(node: Node) -> str:
    """What a view of Android without a class to be known by is, by what it can do and where it stands."""
    if node.parent is not None and node.parent.role == "list":
        return "listitem" if node.clickable or node.role == "" else node.role
    if node.role in {"", "group"} and _words(node) and _is_tab(node):
        return "tab"
    if node.clickable:
        return "generic" if node.holds else "button"
    return "text" if node.role == "group" and not node.children else node.role


def _is_tab(node: Node) -> bool:
    """Whether it is in a bar of tabs, which has no class of its own: of some views alike one alone is selected."""
    peers = [] if node.parent is None else node.parent.children
    if not 1 < len(peers) <= _MOST_TABS or any(peer.kind != node.kind or not _words(peer) for peer in peers):
        return False
    return sum(peer.selected for peer in peers) == 1 and all(peer.selected or peer.clickable for peer in peers)


def _words(node: Node) -> str:
    """Its label, or that of something right in it."""
    return node.label or next((child.label for child in node.children if child.label), "")


def _cut_off(nodes: list[Node], window: Box) -> None:
    """What of each node can be seen: what scrolls cuts off what is in it, and the screen everything."""
    clips = [window] * len(nodes)
    for node in nodes:
        around = node.parent
        if around is not None:
            clips[node.index] = clips[around.index]
            if around.scrolls and around.box.has_area:
                clips[node.index] = clips[around.index].meet(around.box)
        node.part = node.box.meet(clips[node.index])


def _name(tree: Tree, node: Node) -> str:
    """The label, else what is written inside, else for what can be acted on the developer's id."""
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
        # Compose has it there.
        return next((child.label for child in node.children if child.attributes.get("text")), "") or _developers(node)
    return _developers(node) if node.role in INTERACTIVE and node.role != "generic" else ""


def _developers(node: Node) -> str:
    """What its developer calls it."""
    return (node.id or node.accessibility_id).rpartition("/")[2]


def _texts(tree: Tree, node: Node) -> Iterator[str]:
    for each in tree.nodes[node.index + 1 : node.end]:
        if each.label and each.role in {"text", "heading", "img", ""} and not each.children and not each.left_out:
            yield each.label


def _title(nodes: list[Node]) -> str:
    heading = next((node for node in nodes if node.role == "heading" and node.level == 1 and node.is_visible), None)
    if heading is not None:
        return heading.label
    bar = next((node for node in nodes if node.role == "banner" and node.is_visible), None)
    return "" if bar is None else bar.label or bar.accessibility_id
