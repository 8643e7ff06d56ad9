"""The widgets of component libraries that the tests act on: what each shows, how it is read, what is done to it.

The libraries are unmodified; `tests/data/widgets` says which, and has the pages that show one widget each. The success
of an action is read from the application's own state, `state()` in the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Step = tuple[str, Mapping[str, Any]]
"""A call of a tool: its name and its arguments."""


@dataclass(frozen=True)
class Widget:
    """A widget of a library.

    Attributes:
        kind: What people call it.
        library: The library that it is of.
        page: The page that shows it, `file?name`.
        lines: Beginnings of lines that the outline must have, in this order.
        steps: What is done to it.
        state: What the application itself holds afterwards.
        read: The arguments of `expect` that read it from the page afterwards; without any, nothing is left to be read.
    """

    kind: str
    library: str
    page: str
    lines: tuple[str, ...]
    steps: tuple[Step, ...]
    state: Any
    read: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name of the widget in tables and tests."""
        return f"{self.kind}, {self.library}"


class Nth(NamedTuple):
    """The ref in the nth line of the outline with this beginning, as a model takes it from there."""

    number: int
    beginning: str


def click(selector: str | Nth) -> Step:
    """A click."""
    return "click_element", {"selector": selector}


def fill(selector: str, value: str) -> Step:
    """A value that is set."""
    return "set_value", {"selector": selector, "value": value}


def press(selector: str | Nth, keys: str) -> Step:
    """Keys that are pressed in an element."""
    return "press_keys", {"selector": selector, "keys": keys}


FILE = "notes.txt"
"""The name of a file that the test makes, in the arguments of a step."""

SHOELACE, JQUERY, ELEMENT, MUI = "Shoelace 2", "jQuery UI 1.14", "Element Plus 2", "MUI 5"
ON, OFF = True, False
REACT_SELECT, HEADLESS, RADIX = "react-select 5", "Headless UI 2", "Radix Select 2"

WIDGETS = (
    # Toggles and choices
    Widget("switch", SHOELACE, "shoelace?switch", ('switch "Wifi"',), (fill('switch "Wifi"', "true"),), ON,
           {"selector": 'switch "Wifi"', "checked": True}),
    Widget("switch", ELEMENT, "element?switch", ('switch "Dark mode"',), (fill('switch "Dark mode"', "true"),), ON,
           {"selector": 'switch "Dark mode"', "checked": True}),
    Widget("checkbox", SHOELACE, "shoelace?checkbox", ('checkbox "Agree"',), (click('checkbox "Agree"'),), ON,
           {"selector": 'checkbox "Agree"', "checked": True}),
    Widget("checkboxes as buttons", JQUERY, "jquery?buttons", ('checkbox "Bold"', 'checkbox "Italic"'),
           (fill('checkbox "Italic"', "true"),), [False, True], {"selector": 'checkbox "Italic"', "checked": True}),
    Widget("radio group", SHOELACE, "shoelace?radio", ('radiogroup "Size"', 'radio "Small"'),
           (fill('radio "Large"', "true"),), "l", {"selector": 'radio "Large"', "checked": True}),
    Widget("toggle buttons", MUI, "react?toggles", ('group "Alignment"', 'button "Left"'), (click('button "Right"'),),
           "right", {"selector": 'button "Right"', "checked": True}),
    # Comboboxes
    Widget("select", SHOELACE, "shoelace?select", ('combobox "Planet"',), (fill('combobox "Planet"', "Earth"),),
           "earth", {"selector": 'combobox "Planet"', "value": "Earth"}),
    Widget("select of several", SHOELACE, "shoelace?several", ('combobox "Planets"',),
           (("select_option", {"selector": 'combobox "Planets"', "values": ["Venus", "Mars"]}),), ["venus", "mars"],
           {"selector": 'combobox "Planets"', "value": "2 options selected"}),
    Widget("select", ELEMENT, "element?select", ('combobox "Fruit"',), (fill('combobox "Fruit"', "Cherry"),), "cherry",
           {"selector": "main", "containsText": "Cherry"}),
    Widget("select with a filter", ELEMENT, "element?filtered", ('combobox "Fruit"',),
           (fill('combobox "Fruit"', "Cherry"),), "cherry", {"selector": "main", "containsText": "Cherry"}),
    Widget("virtual list of a select", ELEMENT, "element?virtual", ('combobox "Row"',),
           (fill('combobox "Row"', "Row 321"),), 321, {"selector": "main", "containsText": "Row 321"}),
    Widget("select", MUI, "react?select", ('combobox "Fruit"',), (fill('combobox "Fruit"', "Cherry"),), "cherry",
           {"selector": 'combobox "Fruit"', "text": "Cherry"}),
    Widget("autocomplete", MUI, "react?autocomplete", ('combobox "Fruit"',), (fill('combobox "Fruit"', "Cherry"),),
           "Cherry", {"selector": 'combobox "Fruit"', "value": "Cherry"}),
    Widget("autocomplete, 300 options", MUI, "react?long", ('combobox "Row"',), (fill('combobox "Row"', "Row 123"),),
           "Row 123", {"selector": 'combobox "Row"', "value": "Row 123"}),
    Widget("autocomplete with tags", MUI, "react?tags", ('combobox "Fruits"',),
           (fill('combobox "Fruits"', "Date"), fill('combobox "Fruits"', "Apple")), ["Date", "Apple"],
           {"selector": 'button "Date"', "visible": True}),
    Widget("select", REACT_SELECT, "react?reactselect", ('combobox "Fruit"',), (fill('combobox "Fruit"', "Banana"),),
           "banana", {"selector": "main", "containsText": "Banana"}),
    Widget("select of several", REACT_SELECT, "react?reactselectmany", ('combobox "Fruits"',),
           (fill('combobox "Fruits"', "Date"), fill('combobox "Fruits"', "Apple")), ["date", "apple"],
           {"selector": 'button "Remove Date"', "visible": True}),
    Widget("list box behind a button", HEADLESS, "react?listbox", ('button "Fruit',), (fill("label=Fruit", "Date"),),
           "Date", {"selector": "label=Fruit", "text": "Date"}),
    Widget("combobox", HEADLESS, "react?combobox", ('combobox "Fruit"',), (fill('combobox "Fruit"', "Date"),), "Date",
           {"selector": 'combobox "Fruit"', "value": "Date"}),
    Widget("select", RADIX, "react?radix", ('combobox "Fruit"',), (fill('combobox "Fruit"', "Elderberry"),),
           "elderberry", {"selector": 'combobox "Fruit"', "text": "Elderberry"}),
    Widget("autocomplete", JQUERY, "jquery?autocomplete", ('textbox "City"',),
           (fill('textbox "City"', "Lis"), click("text=Lisbon")), ["Lisbon"],
           {"selector": 'textbox "City"', "value": "Lisbon"}),
    Widget("select menu", JQUERY, "jquery?selectmenu", ("combobox",), (fill("role=combobox", "Fast"),), "Fast",
           {"selector": "role=combobox", "text": "Fast"}),
    Widget("cascader", ELEMENT, "element?cascader", ('textbox "Select"',),
           (click('textbox "Select"'), click('menuitem "Germany"'), click('menuitem "Hamburg"')), ["de", "hh"],
           {"selector": "role=textbox", "value": "Germany / Hamburg"}),
    # Numbers, dates, colours
    Widget("range", SHOELACE, "shoelace?range", ('slider "Volume"',), (fill('slider "Volume"', "70"),), 70,
           {"selector": 'slider "Volume"', "value": "70"}),
    Widget("slider", MUI, "react?slider", ('slider "Volume"',), (fill('slider "Volume"', "70"),), 70,
           {"selector": 'slider "Volume"', "value": "70"}),
    Widget("slider", ELEMENT, "element?slider", ('slider "Volume"',), (fill('slider "Volume"', "70"),), 70,
           {"selector": 'slider "Volume"', "value": "70"}),
    Widget("slider without ARIA", JQUERY, "jquery?slider", ("slider",), (press(Nth(1, "generic"), "End"),), 100,
           {"selector": "role=slider", "value": "100"}),
    Widget("rating", SHOELACE, "shoelace?rating", ('slider "Rating"',), (fill('slider "Rating"', "4"),), 4,
           {"selector": 'slider "Rating"', "value": "4"}),
    Widget("rating", ELEMENT, "element?rate", ('slider "Stars"',), (fill('slider "Stars"', "4"),), 4,
           {"selector": 'slider "Stars"', "value": "4"}),
    Widget("number field", ELEMENT, "element?number", ('spinbutton "Seats"',), (click('button "increase number"'),), 2,
           {"selector": 'spinbutton "Seats"', "value": "2"}),
    Widget("spinner", JQUERY, "jquery?spinner", ('spinbutton "Amount"',), (fill('spinbutton "Amount"', "7"),), 7,
           {"selector": 'spinbutton "Amount"', "value": "7"}),
    Widget("date picker", JQUERY, "jquery?datepicker", ('textbox "Day"',),
           (click('textbox "Day"'), click("text=Next"), click('link "17"')), "2030-06-17",
           {"selector": 'textbox "Day"', "value": "06/17/2030"}),
    Widget("date picker", ELEMENT, "element?datepicker", ('combobox "Day"',),
           (click('combobox "Day"'), click('button "Next Month"'), click('gridcell "17"')), "2030-06-17",
           {"selector": 'combobox "Day"', "value": "2030-06-17"}),
    Widget("list of times", ELEMENT, "element?timepicker", ('combobox "Time"',), (fill('combobox "Time"', "16:30"),),
           "16:30", {"selector": "main", "containsText": "16:30"}),
    # Menus, trees, grids
    Widget("menu", SHOELACE, "shoelace?menu", ('button "Edit"',), (click('button "Edit"'), click('menuitem "Copy"')),
           ["copy"]),
    Widget("menu", MUI, "react?menu", ('button "Account"',), (click('button "Account"'), click('menuitem "Sign out"')),
           "Sign out", {"selector": "main", "containsText": "Sign out"}),
    Widget("menu with a submenu", JQUERY, "jquery?menu", ('menuitem "File"', 'menuitem "Help"'),
           (("hover", {"selector": 'menuitem "File"'}), click('menuitem "Print"')), ["Print"]),
    Widget("tree", SHOELACE, "shoelace?tree", ('treeitem "Fruit"', 'treeitem "Bread"'),
           (press('treeitem "Fruit"', "ArrowRight"), click('treeitem "Pear"')), ["Pear"],
           {"selector": 'treeitem "Pear"', "visible": True}),
    Widget("tree with checkboxes", ELEMENT, "element?tree", ('treeitem "Germany"', 'treeitem "Portugal"'),
           (click(Nth(2, "checkbox")),), ["pt", "l"]),
    Widget("grid of rows", ELEMENT, "element?table", ('columnheader "Name', 'cell "Ann"'),
           (click('button "Sort by Age"'), click(Nth(1, 'checkbox "Select this row"'))), ["Cleo"]),
    Widget("pages", ELEMENT, "element?pages", ('listitem "page 2"',), (click('listitem "page 3"'),), 3),
    # Panels
    Widget("tabs", SHOELACE, "shoelace?tabs", ('tab "General"', 'tab "Advanced"'), (click('tab "Advanced"'),), ["b"],
           {"selector": 'tabpanel "Advanced"', "text": "Second panel"}),
    Widget("tabs", JQUERY, "jquery?tabs", ('tab "Alpha"', 'tab "Beta"'), (click('tab "Beta"'),), 1,
           {"selector": 'tabpanel "Beta"', "text": "Bb"}),
    Widget("accordion", JQUERY, "jquery?accordion", ('tab "First"', 'tab "Second"'), (click('tab "Second"'),), 1,
           {"selector": 'tabpanel "Second"', "text": "Two"}),
    Widget("accordion", MUI, "react?accordion", ('button "Shipping"',), (click('button "Shipping"'),), ON,
           {"selector": "text=Two days", "visible": True}),
    Widget("details", SHOELACE, "shoelace?details", ('button "More about it"',), (click('button "More about it"'),),
           ON, {"selector": "text=Hidden words", "visible": True}),
    Widget("dialog", SHOELACE, "shoelace?dialog", ('button "Open"',),
           (click('button "Open"'), click('button "Delete"')), ["deleted"]),
    Widget("dialog", JQUERY, "jquery?dialog", ('dialog "Your name"', 'textbox "Name"', 'button "Save"'),
           (fill('textbox "Name"', "Ann"), click('button "Save"')), OFF),
    Widget("question at a button", ELEMENT, "element?message", ('button "Delete"',),
           (click('button "Delete"'), click('button "Yes"')), ["deleted"]),
    Widget("carousel", SHOELACE, "shoelace?carousel", ('region "Carousel"', 'button "Next slide"'),
           (click('button "Next slide"'),), 1, {"selector": 'tab "Slide 2"', "visible": True}),
    Widget("tooltip", JQUERY, "jquery?tooltip", ('button "Save"',), (("hover", {"selector": 'button "Save"'}),),
           ["open"], {"selector": "role=tooltip", "text": "Saves the file"}),
    # Chips, drag and drop, lists, files
    Widget("chips", SHOELACE, "shoelace?chips", ("text: Red", 'button "Remove"'), (click('button "Remove"'),),
           ["Green"]),
    Widget("chips", MUI, "react?chips", ('button "Apple"',), (press('button "Banana"', "Delete"),),
           ["Apple", "Cherry", "Date", "Elderberry"], {"selector": 'button "Banana"', "visible": True, "not": True}),
    Widget("drag handle of a split view", SHOELACE, "shoelace?split", ('separator "Resize"',),
           (press('separator "Resize"', "End"),), 100, {"selector": 'separator "Resize"', "value": "100"}),
    Widget("list sorted by dragging", JQUERY, "jquery?sortable", ("list", "listitem"),
           (("drag_and_drop", {"source": "text=One", "target": "text=Three"}),), ["Two", "Three", "One"],
           {"selector": "role=list", "containsText": "Two"}),
    Widget("card dragged into a column", JQUERY, "jquery?droppable", ("text: Card", "text: Done column"),
           (("drag_and_drop", {"source": "text=Card", "target": "text=Done column"}),), ["dropped"]),
    Widget("drop zone", ELEMENT, "element?upload", ('button "Drop files here',),
           (("upload_files", {"selector": "role=button", "paths": [FILE]}),), ["notes.txt"],
           {"selector": "text=notes.txt", "visible": True}),
    Widget("endless list", ELEMENT, "element?infinite", ('list "News"',),
           (("scroll", {"selector": 'list "News"', "direction": "down", "pixels": 5000}),), 40,
           {"selector": "text=News 40", "visible": True}),
    # Rich text and drawings
    Widget("rich text", "Quill 2", "editors?quill", ('button "bold"', "textbox"),
           (fill("role=textbox", "New words"), press("role=textbox", "Control+A"), click('button "bold"')),
           [["New words", True], ["\n", False]], {"selector": "role=textbox", "value": "New words"}),
    Widget("rich text", "Tiptap 2 (ProseMirror)", "editors?tiptap", ("textbox",), (fill("role=textbox", "New words"),),
           "New words", {"selector": "role=textbox", "value": "New words"}),
    Widget("rich text", "Lexical", "editors?lexical", ('textbox "Story"',), (fill('textbox "Story"', "New words"),),
           "New words", {"selector": 'textbox "Story"', "value": "New words"}),
    Widget("canvas with ARIA", "HTML", "plain?canvas", ('group "Seats"', 'button "Seat 2"'),
           (press('button "Seat 2"', "Enter"),), ["Seat 2"]),
)  # fmt: skip
"""All widgets, in the order of the table in docs/support.md."""

Column = Literal["outline", "read", "act"]
COLUMNS: tuple[Column, ...] = ("outline", "read", "act")
BROWSERS = {"local": "Chromium", "webkitgtk": "WebKitGTK", "firefox": "Firefox"}
"""The browsers of the table, by their names in `--on`."""

_NO_ARIA = "the library gives its handle no role, name or value"

KNOWN_WRONG: dict[tuple[str, Column, str], str] = {
    ("slider without ARIA, jQuery UI 1.14", column, browser): _NO_ARIA
    for column in ("outline", "read")
    for browser in BROWSERS
}
"""What does not work, by the widget's title, the column and the browser; each with the reason."""
