"""Reads the attributes of elements in UiAutomator2's page source.

Source: https://github.com/appium/appium-uiautomator2-driver#element-attributes
"""

from __future__ import annotations

import re

from orchestrator.snapshot.native.node import FIELDS, NOWHERE, READ_ONLY, TOGGLES, Node, ScreenBox
from orchestrator.snapshot.native.text import normalize_space

SYSTEM_BARS = "com.android.systemui"
_ROLES = {
    "ActionBar": "banner", "AutoCompleteTextView": "textbox", "BottomNavigationView": "tablist", "Button": "button",
    "CheckBox": "checkbox", "CheckedTextView": "checkbox", "Chip": "button", "Chronometer": "text",
    "DatePicker": "group", "EditText": "textbox", "ExpandableListView": "list",
    "ExtendedFloatingActionButton": "button",
    "FloatingActionButton": "button", "GridView": "list", "Image": "img", "ImageButton": "button", "ImageView": "img",
    "ListView": "list", "MaterialButton": "button", "MaterialCheckBox": "checkbox", "MaterialRadioButton": "radio",
    "MaterialToolbar": "banner", "MultiAutoCompleteTextView": "textbox", "NumberPicker": "group",
    "ProgressBar": "progressbar", "RadioButton": "radio", "RadioGroup": "radiogroup", "RatingBar": "slider",
    "RecyclerView": "list", "SearchAutoComplete": "searchbox", "SeekBar": "slider", "Slider": "slider",
    "Spinner": "combobox", "Switch": "switch", "SwitchCompat": "switch", "SwitchMaterial": "switch", "Tab": "tab",
    "TabLayout": "tablist", "TabWidget": "tablist", "TextClock": "text", "TextInputEditText": "textbox",
    "TextView": "text", "TimePicker": "group", "Toast": "status", "ToggleButton": "switch", "Toolbar": "banner",
    "VideoView": "video", "WebView": "webview",
}  # fmt: skip
_SCROLLING = frozenset({
    "GridView", "HorizontalScrollView", "ListView", "NestedScrollView", "RecyclerView", "ScrollView", "ViewPager",
    "ViewPager2",
})  # fmt: skip
_BARS = frozenset({"android:id/statusBarBackground", "android:id/navigationBarBackground"})
_PANELS = frozenset({"parentPanel", "grant_dialog"})
_DIALOG_TITLES = ("alertTitle", "permission_message", "message")
"""The platform's ids for the parts of its dialogs; libraries put the app's package before them."""
_DIALOG_BUTTONS = re.compile(r"button[123]|permission_\w+_button")
_TOP_BARS = frozenset({"toolbar", "action_bar", "topAppBar", "top_app_bar"})
"""Conventional ids of bars at the top, which have no class of their own."""
_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_IDENTIFIER = re.compile(r"[a-z][A-Za-z0-9]*(?:[_.:/-][A-Za-z0-9]+)*")
"""A developer's id such as `payButton` or `pay-now`; words for people have spaces or a capital first letter."""
_PLAIN = "android.view.View"
_ROLE_ALONE = frozenset({"Button", "CheckBox", "RadioButton", "Spinner", "Switch"})
"""Classes of the empty views that Compose puts into its controls to give them a role."""
_SILENT = ("text", "content-desc", "resource-id")
_ABLE = ("clickable", "checkable", "focusable")
_VALUED = frozenset({"combobox", "slider", "progressbar", "textbox", "searchbox"})


def read_attributes(node: Node) -> None:
    """Fill in a node from the attributes of an element of an Android app."""
    get = node.attributes.get
    short = node.class_name.rpartition(".")[2].rpartition("$")[2]
    resource, written = get("resource-id") or "", get("text") or ""
    description = get("content-desc") or ""
    node.box = _box(node)
    node.id = resource
    node.accessibility_id = description
    node.shown = get("displayed") != "false"
    node.enabled = get("enabled") != "false"
    node.focused = get("focused") == "true"
    node.invalid = get("content-invalid") == "true"
    node.selected = get("selected") == "true"
    node.clickable = get("clickable") == "true" or get("long-clickable") == "true"
    node.secret = get("password") == "true"
    node.scrolls = get("scrollable") == "true" or short in _SCROLLING
    node.left_out = resource in _BARS or (node.parent is not None and node.parent.left_out)
    node.hint = normalize_space(get("hint") or "")
    node.role = _role(node, short)
    node.label = _label(node, description, written)
    node.text = normalize_space(written) or (node.label if node.role in {"text", "group"} else "")
    if node.role in READ_ONLY and node.label != node.text:
        node.value = written
    if node.role in TOGGLES:
        node.checked = get("checked") == "true"
    if node.role in _VALUED:
        node.value, node.text = written, ""
        node.label = _label(node, description, node.hint)
    if node.role in FIELDS and (get("showing-hint") == "true" or normalize_space(written) == node.hint):
        node.value = ""
    node.busy = short == "ProgressBar" and not written
    if node.parent is not None and _is_role_alone(node, short, node.parent):
        _give_role(node, node.parent)


def _is_role_alone(node: Node, short: str, around: Node) -> bool:
    get = node.attributes.get
    if short not in _ROLE_ALONE or around.class_name != _PLAIN or around.scrolls:
        return False
    return not any(get(name) for name in _SILENT) and all(get(name) != "true" for name in _ABLE)


def _give_role(node: Node, control: Node) -> None:
    control.role = node.role
    if control.role in TOGGLES:
        control.checked = control.attributes.get("checked") == "true"
    node.role, node.left_out = "", True


def _label(node: Node, description: str, written: str) -> str:
    """Return the description, unless it is only for tests; what a text shows beside it is its value."""
    if written and _IDENTIFIER.fullmatch(description) is not None:
        return normalize_space(written)
    return (
        normalize_space(description)
        or normalize_space(written)
        or normalize_space(node.attributes.get("tooltip-text") or "")
    )


def _role(node: Node, short: str) -> str:
    get = node.attributes.get
    role = _ROLES.get(short, "")
    if not role and get("checkable") == "true":
        return "checkbox"
    if not role and node.scrolls and get("is-collection") == "true":
        return "list"
    if not role and (get("resource-id") or "").rpartition("/")[2] in _TOP_BARS:
        return "banner"
    if role == "checkbox" and short == "CheckedTextView" and get("checkable") != "true":
        role = "text"
    if role in {"", "text"}:
        return _role_of_text(node, short)
    if role == "img" and not node.clickable and not get("content-desc"):
        return ""
    return role


def _role_of_text(node: Node, short: str) -> str:
    """Return the role of a text, or of a view whose class has none."""
    get = node.attributes.get
    described, written = get("content-desc"), get("text")
    if get("heading") == "true" and (described or written):
        return "heading"
    if node.parent is not None and node.parent.role == "banner" and short == "TextView" and not node.clickable:
        node.level = 1
        return "heading"
    if short == "TextView" or written:
        return "text"
    return "" if node.clickable or not described else "group"


def find_dialog(nodes: list[Node]) -> None:
    """Mark the platform's dialog, which has no class: its panel, else the element around all of its parts."""
    parts = {node.id.rpartition("/")[2]: node for node in nodes if "/" in node.id and not node.left_out}
    titles = [parts[name] for name in _DIALOG_TITLES if name in parts]
    buttons = [node for name, node in parts.items() if _DIALOG_BUTTONS.fullmatch(name)]
    if not titles or not buttons:
        return
    dialog = next((parts[name] for name in _PANELS if name in parts), None)
    if dialog is None:
        inside = (*titles, *buttons)
        around = titles[0].ancestors()
        dialog = next((each for each in around if all(part.within(each) for part in inside)), None)
    if dialog is None:
        return
    dialog.role, dialog.modal = "dialog", True
    dialog.label = titles[0].label
    if titles[0] is parts.get("alertTitle"):
        titles[0].role, titles[0].level = "heading", 2


def _box(node: Node) -> ScreenBox:
    match = _BOUNDS.fullmatch(node.attributes.get("bounds") or "")
    if match is None:
        return NOWHERE
    left, top, right, bottom = map(float, match.groups())
    return ScreenBox(left, top, right, bottom)
