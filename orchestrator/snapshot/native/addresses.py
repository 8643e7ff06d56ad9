"""Says how the remote end finds an element: one unique locator each, chosen from counts taken once a screen."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from orchestrator.snapshot.native import ios
from orchestrator.snapshot.native.lines import value_of
from orchestrator.snapshot.native.node import FIELDS, Node
from orchestrator.snapshot.native.words import normal

ACCESSIBILITY_ID, ID, XPATH = "accessibility id", "id", "xpath"
UI_AUTOMATOR, PREDICATE, CLASS_CHAIN = "-android uiautomator", "-ios predicate string", "-ios class chain"
_QUALIFIED = re.compile(r"[a-zA-Z_][\w.]*:[^/]+/\S+", re.ASCII)
"""A resource id that UiAutomator2 takes as it is; others, such as React Native gives, it puts a package before."""
_LONGEST = 100
"""Characters of a text that a locator quotes."""


class Address(NamedTuple):
    """A locator of Find Element, and the same as a selector in our grammar.

    `counted` says that it counts elements: one that appears before it makes it mean another.
    """

    using: str
    value: str
    selector: str
    counted: bool = False


class Addresses:
    """The addresses of one source's elements."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._names: Counter[str] = Counter()
        self._ids: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        self._of_kind: Counter[tuple[str, str]] = Counter()
        self._places: dict[int, int] = {}
        kinds: dict[str, int] = defaultdict(int)
        for node in nodes:
            get = node.attributes.get
            self._names[node.accessibility_id] += 1
            self._ids[get("resource-id") or ""] += 1
            # A text that is an element's label and another one's value is found twice by text=.
            for text in {_text(node), node.label, node.text, normal(value_of(node))}:
                self._texts[text] += 1
            self._of_kind[node.kind, _text(node)] += 1
            self._places[node.index] = kinds[node.kind]
            kinds[node.kind] += 1

    def of(self, node: Node) -> Address:
        """Its address: accessibility id, id, text, or where nothing of that is unique its place among its class."""
        name, resource, text = node.accessibility_id, node.attributes.get("resource-id") or "", _text(node)
        if name and self._names[name] == 1 and _is_speakable(name):
            return Address(ACCESSIBILITY_ID, name, f"~{name}")
        if resource and self._ids[resource] == 1 and _is_speakable(resource):
            if _QUALIFIED.fullmatch(resource):
                return Address(ID, resource, f"id={resource}")
            return Address(UI_AUTOMATOR, f'new UiSelector().resourceId("{resource}")', f"id={resource}")
        by_text = self._by_text(node, text) if text and _is_speakable(text) else None
        return by_text or self._by_place(node)

    def _by_text(self, node: Node, text: str) -> Address | None:
        """By its text alone, or together with its class; None where others of its class have it, too."""
        is_ios = node.kind.startswith(ios.PREFIX)
        if self._texts[normal(text)] == 1 and normal(text) == text:
            alone = (PREDICATE, f'label == "{text}"') if is_ios else (UI_AUTOMATOR, f'new UiSelector().text("{text}")')
            return Address(*alone, f"text={text}")
        if self._of_kind[node.kind, text] > 1:
            return None
        if is_ios:
            found = f'type == "{node.kind}" AND label == "{text}"'
            return Address(PREDICATE, found, f"ios={found}")
        found = f'new UiSelector().className("{node.kind}").text("{text}")'
        return Address(UI_AUTOMATOR, found, f"android={found}")

    def _by_place(self, node: Node) -> Address:
        place, is_ios = self._places[node.index], node.kind.startswith(ios.PREFIX)
        if node.parent is None or (is_ios and node.kind == f"{ios.PREFIX}Application"):
            path = f"(//{node.kind})[{place + 1}]" if node.parent is not None else "/*"
            return Address(XPATH, path, f"xpath={path}", counted=True)
        if is_ios:
            chain = f"**/{node.kind}[{place + 1}]"
            return Address(CLASS_CHAIN, chain, f"chain={chain}", counted=True)
        found = f'new UiSelector().className("{node.kind}").instance({place})'
        return Address(UI_AUTOMATOR, found, f"android={found}", counted=True)


def _text(node: Node) -> str:
    """What the platform's own strategies know as its text; not what it holds: that changes, and may be a secret."""
    if node.role in FIELDS or node.value:
        return ""
    return node.attributes.get("label" if node.kind.startswith(ios.PREFIX) else "text") or ""


def _is_speakable(text: str) -> bool:
    """Whether it means the same in every grammar that it is written in, ours included."""
    return (
        len(text) <= _LONGEST and text.isprintable() and text == text.strip()
        and not any(char in text for char in "\"'`\\") and ">>" not in text
    )  # fmt: skip
