"""Reads the attributes of elements in XCUITest's page source.

Source: https://appium.github.io/appium-xcuitest-driver/latest/reference/element-attributes/
"""

from __future__ import annotations

from math import isfinite

from orchestrator.snapshot.native.node import FIELDS, NOWHERE, READ_ONLY, TOGGLES, Node, ScreenBox
from orchestrator.snapshot.native.text import normalize_space

PREFIX = "XCUIElementType"
_ROLES = {
    "Alert": "dialog", "Button": "button", "Cell": "listitem", "CheckBox": "checkbox", "CollectionView": "list",
    "ActivityIndicator": "progressbar", "ComboBox": "combobox", "DatePicker": "group", "Dialog": "dialog",
    "DisclosureTriangle": "button", "Icon": "button", "Image": "img", "Key": "button", "Keyboard": "keyboard",
    "LevelIndicator": "meter", "Link": "link", "Menu": "menu", "MenuBar": "menubar", "MenuBarItem": "menuitem",
    "MenuButton": "button", "MenuItem": "menuitem", "NavigationBar": "banner", "PageIndicator": "status",
    "Picker": "group", "PickerWheel": "combobox", "PopUpButton": "combobox", "Popover": "dialog",
    "ProgressIndicator": "progressbar", "RadioButton": "radio", "RadioGroup": "radiogroup", "RatingIndicator": "meter",
    "SearchField": "searchbox", "SecureTextField": "textbox", "SegmentedControl": "radiogroup", "Sheet": "dialog",
    "Slider": "slider", "StaticText": "text", "Stepper": "group", "Switch": "switch", "Tab": "tab",
    "TabBar": "tablist", "TabGroup": "tablist", "Table": "list", "TextField": "textbox", "TextView": "textbox",
    "Toggle": "switch", "Toolbar": "toolbar", "WebView": "webview",
}  # fmt: skip
_SCROLLING = frozenset({"Table", "CollectionView", "ScrollView", "WebView", "Outline", "Browser", "TextView"})
_BY_TRAIT = {"Button": "button", "Link": "link", "Header": "heading", "Image": "img", "StaticText": "text"}
_VALUED = frozenset({"slider", "combobox", "meter", "progressbar", "textbox", "searchbox"})
_ANSWERING = frozenset({"button", "generic", "group", "link", "listitem", "tab"})
"""Roles whose line may show a value: the setting of a menu or a row."""
_ON = frozenset({"1", "true", "on"})
_BULLETS = frozenset("•●∙*")
_SIDES = ("x", "y", "width", "height")
_NEAR = 3
"""Most steps up from a button or a title to the bar that contains it."""


def read_attributes(node: Node) -> None:
    """Fill in a node from the attributes of an element of an iOS app."""
    get = node.attributes.get
    short = node.class_name.removeprefix(PREFIX)
    raw_label, name = get("label") or "", get("name") or ""
    traits = frozenset(part.strip() for part in (get("traits") or "").split(","))
    node.box = _box(node)
    node.accessibility_id = name
    # The name of a bar is its title, no id.
    node.id = name if name != raw_label and short != "NavigationBar" else ""
    node.label = "" if short in {"TabBar", "Keyboard"} else normalize_space(raw_label)
    node.shown = get("visible") != "false"
    node.enabled = get("enabled") != "false"
    node.focused = get("focused") == "true"
    node.scrolls = short in _SCROLLING
    node.role = _role(node, short, traits)
    node.left_out = (
        short == "StatusBar" or (node.parent is not None and node.parent.left_out) or _is_double(node, short)
    )
    node.modal = short in {"Alert", "Sheet"}
    value = get("value") or ""
    node.selected = node.role not in TOGGLES and (
        "Selected" in traits or get("selected") == "true" or (node.role in {"tab", "button"} and value == "1")
    )
    if node.role in TOGGLES:
        node.checked = value.lower() in _ON or "Selected" in traits or get("selected") == "true"
    elif _has_value(node, short, value):
        node.value = value
    node.busy = short == "ActivityIndicator" and value != "0"
    if node.role in FIELDS:
        _describe_field(node, short)
    elif node.role in READ_ONLY:
        node.label = node.label or normalize_space(value)
        node.value = "" if normalize_space(value) == node.label else value
    node.text = "" if node.role in FIELDS or node.role in {"img", "switch"} else node.label


def _has_value(node: Node, short: str, value: str) -> bool:
    """Return True if the attribute is a value; for a button it means selected, for a spinner spinning."""
    if node.role in _ANSWERING:
        return value not in {"0", "1", node.label}
    return node.role in _VALUED and short != "ActivityIndicator"


def _role(node: Node, short: str, traits: frozenset[str]) -> str:
    role = "button" if short == "Image" and "Button" in traits else _ROLES.get(short, "")
    if short == "Button" and (bar := _bar(node)):
        return {"TabBar": "tab", "SegmentedControl": "radio"}.get(bar, "button")
    if short == "StaticText":
        if _bar(node) == "NavigationBar":
            node.level = 1
            return "heading"
        return next((_BY_TRAIT[trait] for trait in ("Link", "Header", "Button") if trait in traits), role)
    if role == "img":
        return role if node.label and node.attributes.get("accessible") != "false" else ""
    if role or node.attributes.get("accessible") != "true" or not node.label:
        return role
    return next((_BY_TRAIT[trait] for trait in _BY_TRAIT if trait in traits), "generic" if short == "Other" else "")


def _bar(node: Node) -> str:
    """Return the class of the bar that contains the node, or '' if there is none near."""
    for distance, around in enumerate(node.ancestors(), 1):
        short = around.class_name.removeprefix(PREFIX)
        if short in {"TabBar", "SegmentedControl", "NavigationBar"}:
            return short
        if distance == _NEAR or short == "Cell":
            break
    return ""


def _is_double(node: Node, short: str) -> bool:
    """Return True for the inner one of two nested switches, which many versions write for one."""
    return short in {"Switch", "Toggle"} and node.parent is not None and node.parent.class_name == node.class_name


def _describe_field(node: Node, short: str) -> None:
    """Fill in a field; the value of an empty one is its placeholder."""
    node.hint = normalize_space(node.attributes.get("placeholderValue") or "")
    node.secret = short == "SecureTextField"
    if node.value and normalize_space(node.value) == node.hint:
        node.value = ""
    if node.secret and not _BULLETS.issuperset(node.value):
        node.hint, node.value = node.hint or normalize_space(node.value), ""
    node.label = node.label or node.hint


def _box(node: Node) -> ScreenBox:
    get = node.attributes.get
    try:
        x, y, width, height = (float(get(name) or 0) for name in _SIDES)
    except ValueError:
        return NOWHERE
    return ScreenBox(x, y, x + width, y + height) if isfinite(x + y + width + height) else NOWHERE
