"""Finds the elements of a screen that match a locator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from orchestrator.snapshot.answers import RefusedAnswer
from orchestrator.snapshot.native.node import INTERACTIVE, TOGGLES, Node
from orchestrator.snapshot.native.refs import Refs
from orchestrator.snapshot.native.remote_locators import locator_strategies
from orchestrator.snapshot.native.text import likeness, normalize_space, quoted, shorten, value_of
from orchestrator.snapshot.native.tree import Tree

_CSS = "CSS works in web pages and web views; in a screen of an app use ~id, id=…, text=… or role=…"
_FRAMES = "there are no frames in a screen of an app; leave out what is before >>"
_OF_ANDROID = "android= is for Android apps (UiAutomator)"
_OF_IOS = "is for iOS apps (XCUITest)"
_REMOTE = {"android": "ANDROID_UIAUTOMATOR", "ios": "IOS_PREDICATE", "chain": "IOS_CLASS_CHAIN"}
"""Appium's constants (`AppiumBy`) for the strategies of one platform."""
_OWNERS = frozenset({"button", "link", "tab"}) | TOGGLES
"""Roles of controls that a text inside them stands for: a caller who names the text means the control."""
_CONTROLS = (INTERACTIVE - {"generic", "link", "menuitem", "tab"}) | {"group", "meter", "progressbar", "status"}
_AFTER_TEXT = 3
"""The rank of a nameless field that comes right after a text."""

_BY_WORDS = frozenset({"text", "label", "role", "attribute"})
"""Locators by words that a person reads, which a regular expression can stand for."""

Sought = str | re.Pattern[str]
"""The text that a locator looks for, normalised, or a regular expression."""

FindRemotely = Callable[[str, str], list[Node]]
"""Finds nodes at the remote end, by strategy and value."""


class Refusal(Exception):
    """Ends a call with a reason for the caller, such as a stale ref, an invalid selector or several matches."""

    def __init__(self, reason: str, detail: str, *, matches: int = 0, candidates: list[str] | None = None) -> None:
        super().__init__(detail)
        self.answer: RefusedAnswer = {"ok": False, "reason": reason, "matches": matches, "detail": detail}
        if candidates:
            self.answer["candidates"] = candidates


class NodeFinder:
    """Finds the matches of locators in one snapshot."""

    def __init__(self, tree: Tree, platform: str, refs: Refs, find_remotely: FindRemotely) -> None:
        self._tree = tree
        self._platform = platform
        self._refs = refs
        self._find_remotely = find_remotely

    def find(self, locator: Mapping[str, Any]) -> list[Node]:
        """Return the elements that match best; only visible ones if there are any.

        Raises:
            Refusal: The locator cannot be used on this screen, or its ref is stale.
        """
        if locator.get("frames"):
            raise Refusal("invalid", _FRAMES)
        by, value = str(locator["by"]), str(locator["value"])
        if by in _REMOTE:
            return self._by_remote(by, value)
        if by in _BY_WORDS:
            return self._by_words(by, value, locator)
        searches: dict[str, Callable[[str, Any], Iterable[Node]]] = {
            "ref": self._by_ref, "document": self._everything, "line": self._by_line, "css": self._by_css,
            "css_with_text": self._by_css, "xpath": self._by_xpath, "accessibility_id": self._by_accessibility_id,
            "testid": self._by_accessibility_id, "id": self._by_id,
        }  # fmt: skip
        if by not in searches:
            raise Refusal("invalid", f"there are no locators by {quoted(by)}")
        return list(searches[by](value, locator.get("name")))

    def _by_words(self, by: str, value: str, locator: Mapping[str, Any]) -> list[Node]:
        """Find by words that a person reads; with `exact` only what reads just so."""
        given = locator.get("name") if by == "role" else value
        wanted = None if given is None else _sought(str(given), locator.get("flags"))
        if by == "role":
            ranked = self._rank_by_role(value, wanted)
        elif not wanted:
            return []
        elif by == "text":
            ranked = self._rank_by_text(wanted)
        elif by == "label":
            ranked = self._rank_by_label(wanted)
        else:
            ranked = self._rank_by_attribute(str(locator.get("name")), wanted)
        found = _best([(node, rank) for node, rank in ranked if not (locator.get("exact") and rank)])
        return _with_owners(found) if by == "text" else found

    def _by_ref(self, value: str, _: Any) -> list[Node]:
        node = self._refs.node(value, self._tree)
        if node is None:
            raise Refusal("stale", f"{value} is no longer on the screen")
        return [node]

    def _everything(self, _: str, __: Any) -> list[Node]:
        return self._tree.nodes[:1]

    def _by_css(self, _: str, __: Any) -> list[Node]:
        raise Refusal("invalid", _CSS)

    def _by_xpath(self, value: str, _: Any) -> list[Node]:
        try:
            return self._tree.xpath(value)
        except ValueError as error:
            raise Refusal("invalid", f"{quoted(value)} is not a valid xpath selector ({error})") from None

    def _by_accessibility_id(self, value: str, _: Any) -> list[Node]:
        """Find by the platform's accessibility id; on Android also by the resource id if that finds nothing."""
        found = [node for node in self._tree.nodes if node.accessibility_id == value]
        return found or self._by_id(value, None)

    def _by_id(self, value: str, _: Any) -> list[Node]:
        if self._platform == "ios":
            return [node for node in self._tree.nodes if node.accessibility_id == value]
        return [node for node in self._tree.nodes if node.id and value in {node.id, node.id.rpartition("/")[2]}]

    def _by_line(self, value: str, name: Any) -> list[Node]:
        wanted = shorten(str(name or ""))
        return _best([(node, 0) for node in self._of_role(value) if shorten(node.name) == wanted])

    def _rank_by_role(self, role: str, wanted: Sought | None) -> list[tuple[Node, int]]:
        if wanted is None:
            return [(node, 0) for node in self._of_role(role)]
        return _ranked(self._of_role(role), lambda node: [node.name], wanted)

    def _of_role(self, role: str) -> Iterator[Node]:
        return (node for node in self._shown_nodes() if node.role == role)

    def _shown_nodes(self) -> Iterator[Node]:
        return (node for node in self._tree.nodes if not node.left_out)

    def _rank_by_text(self, wanted: Sought) -> list[tuple[Node, int]]:
        """Find by label, text or value: the deepest elements that have it."""
        ranked = _ranked(
            self._shown_nodes(), lambda node: [node.label, node.text, normalize_space(value_of(node))], wanted
        )
        return [(node, rank) for index, (node, rank) in enumerate(ranked) if not _has_inside(ranked, index)]

    def _rank_by_label(self, wanted: Sought) -> list[tuple[Node, int]]:
        controls = [node for node in self._shown_nodes() if node.role in _CONTROLS]
        ranked = _ranked(controls, lambda node: [node.name, node.hint], wanted)
        return ranked or [(node, _AFTER_TEXT) for node in controls if self._follows(node, wanted)]

    def _rank_by_attribute(self, name: str, wanted: Sought) -> list[tuple[Node, int]]:
        if name != "placeholder":
            raise Refusal("invalid", f"elements of an app have no {name}; use ~id, id=…, text=… or role=…")
        return _ranked(self._shown_nodes(), lambda node: [node.hint], wanted)

    def _follows(self, node: Node, wanted: Sought) -> bool:
        """True if a control without a label comes right after the text, as in many forms."""
        if node.label:
            return False
        before = next((each for each in reversed(self._tree.nodes[: node.index]) if each.label), None)
        return before is not None and before.role == "text" and likeness(before.label, wanted) is not None

    def _by_remote(self, by: str, value: str) -> list[Node]:
        if (by == "android") != (self._platform == "android"):
            strategy = _OF_ANDROID if by == "android" else f"{by}= {_OF_IOS}"
            advice = "an iOS app: use ios=, chain=" if self._platform == "ios" else "an Android app: use android="
            raise Refusal("invalid", f"{strategy}, and this is {advice}, ~id, text=… or role=…")
        return self._find_remotely(getattr(locator_strategies(), _REMOTE[by]), value)


def _sought(text: str, flags: str | None) -> Sought:
    if flags is None:
        return normalize_space(text)
    try:
        return re.compile(text, re.IGNORECASE if "i" in flags else 0)
    except re.error as error:
        raise Refusal("invalid", f"{quoted(text)} is not a valid regular expression ({error})") from None


def _ranked(nodes: Iterable[Node], texts: Callable[[Node], list[str]], wanted: Sought) -> list[tuple[Node, int]]:
    """Return the nodes with a text like the wanted one, each with its rank."""
    found = []
    for node in nodes:
        ranks = [rank for text in texts(node) if text and (rank := likeness(text, wanted)) is not None]
        if ranks:
            found.append((node, min(ranks)))
    return found


def _best(ranked: list[tuple[Node, int]]) -> list[Node]:
    """Return the nodes of the best rank, in the order given; only visible ones if there are any."""
    pool = [pair for pair in ranked if pair[0].is_visible] or ranked
    top = min((rank for _, rank in pool), default=0)
    return [node for node, rank in pool if rank == top]


def _with_owners(found: list[Node]) -> list[Node]:
    """Return the controls that the texts name; a control comes before a text beside it that reads the same."""
    return sorted(dict.fromkeys(map(_owner, found)), key=lambda node: node.role not in INTERACTIVE)


def _has_inside(ranked: list[tuple[Node, int]], index: int) -> bool:
    """True if a match contains another one that matches as well or better."""
    node, rank = ranked[index]
    for inner, its_rank in ranked[index + 1 :]:
        if inner.index >= node.end:
            return False
        if its_rank <= rank:
            return True
    return False


def _owner(node: Node) -> Node:
    """Return the control whose name a text belongs to, else the text itself."""
    if node.role in INTERACTIVE:
        return node
    owner = next((around for around in node.ancestors() if around.role in INTERACTIVE or around.role == "dialog"), None)
    if owner is None or owner.role not in _OWNERS or owner.is_visible != node.is_visible:
        return node
    return owner


def describe_locator(locator: Mapping[str, Any]) -> str:
    """Return a locator in words."""
    by, value, name = locator["by"], str(locator["value"]), locator.get("name")
    if by == "ref":
        return value
    return f"{by} {quoted(value)}" if name is None else f"{value} {quoted(str(name))}"
