"""Chooses a unique locator by which the remote end finds an element."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.snapshot.native import ios
from orchestrator.snapshot.native.node import FIELDS, Node
from orchestrator.snapshot.native.text import normalize_space, value_of

if TYPE_CHECKING:
    from appium.webdriver.common.appiumby import AppiumBy

_QUALIFIED = re.compile(r"[a-zA-Z_][\w.]*:[^/]+/\S+", re.ASCII)
"""A resource id that UiAutomator2 takes unchanged; before others, such as React Native's, it puts a package."""
_LONGEST = 100
"""Most characters of a text that a locator quotes."""


@cache
def locator_strategies() -> type[AppiumBy]:
    """Return Appium's names of locator strategies."""
    from appium.webdriver.common.appiumby import AppiumBy  # noqa: PLC0415 — the client loads with the first screen

    return AppiumBy


class RemoteLocator(NamedTuple):
    """A locator of Find Element, and the same as a selector of ours.

    A positional locator counts elements: after a change before its element it finds another one.
    """

    using: str
    value: str
    selector: str
    is_positional: bool = False


class RemoteLocators:
    """The locators of one source's elements."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._by = locator_strategies()
        self._names: Counter[str] = Counter()
        self._ids: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        self._of_kind: Counter[tuple[str, str]] = Counter()
        self._indexes: dict[int, int] = {}
        kinds: dict[str, int] = defaultdict(int)
        for node in nodes:
            get = node.attributes.get
            self._names[node.accessibility_id] += 1
            self._ids[get("resource-id") or ""] += 1
            # text= finds an element by its label and another by its value.
            for text in {_text(node), node.label, node.text, normalize_space(value_of(node))}:
                self._texts[text] += 1
            self._of_kind[node.class_name, _text(node)] += 1
            self._indexes[node.index] = kinds[node.class_name]
            kinds[node.class_name] += 1

    def locator_for(self, node: Node) -> RemoteLocator:
        """Return the accessibility id, id or text of a node, or if none is unique its index in its class."""
        name, resource, text = node.accessibility_id, node.attributes.get("resource-id") or "", _text(node)
        if name and self._names[name] == 1 and _is_quotable(name):
            return RemoteLocator(self._by.ACCESSIBILITY_ID, name, f"~{name}")
        if resource and self._ids[resource] == 1 and _is_quotable(resource):
            if _QUALIFIED.fullmatch(resource):
                return RemoteLocator(self._by.ID, resource, f"id={resource}")
            return RemoteLocator(
                self._by.ANDROID_UIAUTOMATOR, f'new UiSelector().resourceId("{resource}")', f"id={resource}"
            )
        by_text = self._by_text(node, text) if text and _is_quotable(text) else None
        return by_text or self._by_index(node)

    def _by_text(self, node: Node, text: str) -> RemoteLocator | None:
        """Return a locator by text, alone or with the class; None if others of the class have the same text."""
        is_ios = node.class_name.startswith(ios.PREFIX)
        if self._texts[normalize_space(text)] == 1 and normalize_space(text) == text:
            alone = (
                (self._by.IOS_PREDICATE, f'label == "{text}"')
                if is_ios
                else (self._by.ANDROID_UIAUTOMATOR, f'new UiSelector().text("{text}")')
            )
            return RemoteLocator(*alone, f"text={text}")
        if self._of_kind[node.class_name, text] > 1:
            return None
        if is_ios:
            found = f'type == "{node.class_name}" AND label == "{text}"'
            return RemoteLocator(self._by.IOS_PREDICATE, found, f"ios={found}")
        found = f'new UiSelector().className("{node.class_name}").text("{text}")'
        return RemoteLocator(self._by.ANDROID_UIAUTOMATOR, found, f"android={found}")

    def _by_index(self, node: Node) -> RemoteLocator:
        index, is_ios = self._indexes[node.index], node.class_name.startswith(ios.PREFIX)
        if node.parent is None or (is_ios and node.class_name == f"{ios.PREFIX}Application"):
            path = f"(//{node.class_name})[{index + 1}]" if node.parent is not None else "/*"
            return RemoteLocator(self._by.XPATH, path, f"xpath={path}", is_positional=True)
        if is_ios:
            chain = f"**/{node.class_name}[{index + 1}]"
            return RemoteLocator(self._by.IOS_CLASS_CHAIN, chain, f"chain={chain}", is_positional=True)
        found = f'new UiSelector().className("{node.class_name}").instance({index})'
        return RemoteLocator(self._by.ANDROID_UIAUTOMATOR, found, f"android={found}", is_positional=True)


def _text(node: Node) -> str:
    """Return its text for the platform's own strategies; never its value, which changes and may be a secret."""
    if node.role in FIELDS or node.value:
        return ""
    return node.attributes.get("label" if node.class_name.startswith(ios.PREFIX) else "text") or ""


def _is_quotable(text: str) -> bool:
    """Return True if it needs no escapes in any selector grammar, ours included."""
    return (
        len(text) <= _LONGEST and text.isprintable() and text == text.strip()
        and not any(char in text for char in "\"'`\\") and ">>" not in text
    )  # fmt: skip
