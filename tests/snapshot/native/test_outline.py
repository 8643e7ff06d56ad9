"""The outline of an app's screen: roles, names, states and values, in the same words on both platforms."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any

import pytest

from orchestrator.snapshot.methods import READY, SNAPSHOT, SOURCE_TEXT, STATE, TEXT
from orchestrator.snapshot.native.tree import SourceFault
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app, source
from tests.snapshot.untyped import UntypedScreen
from tests.snapshot.web.chromium import without_refs


def outline(screen: UntypedScreen, **params: Any) -> str:
    """The outline as text, refs left out."""
    return without_refs("\n".join(screen.call(SNAPSHOT, **{"scope": "page", "json": False, **params})["lines"]))


CHECKOUT = dedent("""\
    - heading "Your order" [level=2]
    - list
      - listitem "Blue mug $12.00"
      - listitem
        - text: Green tea
        - text: $7.50
        - button "Remove"
    - textbox "Email"{focus} = "ann@example.com"
    - textbox "Password" = "•••"
    - textbox "Coupon"
    - radiogroup
      - radio "Standard" [checked]
      - radio "Express"
    - switch "Gift wrap" [checked]
    - slider "Tip" = "{tip}"
    """)


def test_an_ios_page_source_becomes_an_outline_of_roles_names_and_values(phone: Phone) -> None:
    """A checkout as XCUITest prints it: ids hide no labels, the status bar and hidden elements are omitted."""
    assert outline(phone.screen("ios", source("ios_checkout"))) == (
        dedent("""\
        - banner
          - button "Cart"
          - heading "Checkout" [level=1]
          - button "Help"
        """)
        + CHECKOUT.format(focus="", tip="30%")
        + dedent("""\
        - group
          - combobox "Month" = "June"
        - link "Terms"
        - text: Total: $19.50
        - button "Pay now"
        - button "Pay later" [disabled]
        - tablist
          - tab "Shop"
          - tab "Cart" [selected]""")
    )


def test_an_android_page_source_becomes_an_outline_of_roles_names_and_values(phone: Phone) -> None:
    """The same checkout as UiAutomator2 prints it, with views of libraries without a telling class."""
    assert outline(phone.screen("android", source("android_checkout"))) == (
        dedent("""\
        - banner
          - button "Navigate up"
          - heading "Checkout" [level=1]
        """)
        + CHECKOUT.format(focus=" [focused]", tip="30.0")
        + dedent("""\
        - combobox "Month" = "June"
        - text: Total: $19.50
        - button "Pay now"
        - button "Pay later" [disabled]
        - tab "Shop"
        - tab "Cart" [selected]""")
    )


def test_viewport_scope_leaves_out_and_counts_elements_beyond_the_screen(phone: Phone) -> None:
    """The viewport scope omits elements beyond the screen and counts them; the page scope lists them."""
    screen = phone.screen("ios", source("ios_checkout"))
    seen = screen.call(SNAPSHOT, scope="viewport", json=False)
    assert (seen["title"], seen["url"], seen["outside"]) == ("Checkout", "", 2)
    assert seen["total"] == len(seen["lines"]) == screen.call(SNAPSHOT, scope="page", json=False)["total"] - 2
    assert "Pay now" not in "\n".join(seen["lines"])


IOS_LINES = {
    ios("Button", label="Pay now", name="pay"): '- button "Pay now"',
    ios("Button", name="close_icon"): '- button "close_icon"',
    ios("Button", ios("StaticText", label="Go", name="Go"), name="go"): '- button "Go"',
    ios("Button", label="On", value="1", traits="Button, Selected"): '- button "On" [selected]',
    ios("StaticText", value="Plain", label="Plain"): "- text: Plain",
    ios("StaticText", label="Head", traits="StaticText, Header"): '- heading "Head" [level=2]',
    ios("StaticText", label="More", traits="Link"): '- link "More"',
    ios("Image", label="Logo", name="logo.png"): '- img "Logo"',
    ios("Image", label="", name="line.png"): "",
    ios("Other", label="Add to cart", traits="Button"): '- button "Add to cart"',
    ios("Other", label="Card"): '- generic "Card"',
    ios("Other", ios("StaticText", label="A"), label="A", accessible="false"): "- text: A",
    ios("SearchField", label="Find", value=""): '- searchbox "Find"',
    ios("TextField", value="Name", placeholderValue="Name"): '- textbox "Name"',
    ios("TextField", value="Ann", placeholderValue="Name"): '- textbox "Name" = "Ann"',
    ios("SecureTextField", value="Password"): '- textbox "Password"',
    ios("SecureTextField", value="••••", label="PIN"): '- textbox "PIN" = "•••"',
    ios("Switch", label="Dark", value="0"): '- switch "Dark"',
    ios("Slider", label="Volume", value="50%"): '- slider "Volume" = "50%"',
    ios("Button", label="Flavour", value="Vanilla", traits="Button"): '- button "Flavour" = "Vanilla"',
    ios("Cell", ios("StaticText", label="Wi-Fi"), label="Wi-Fi", value="Home"): '- listitem "Wi-Fi" = "Home"',
    ios("Image", label="Like", traits="Image, Button", accessible="true"): '- button "Like"',
    ios("ActivityIndicator", label="In progress", value="1"): '- progressbar "In progress"',
    ios("ProgressIndicator", label="Upload", value="30%"): '- progressbar "Upload" = "30%"',
    ios("Keyboard", ios("Key", label="q")): "- keyboard",
    ios("WebView", ios("Link", label="Terms")): '- webview\n  - link "Terms"',
    ios("Button", label="Hidden", visible="false"): "",
    ios("Button", label="Nothing", box=(0, 0, 0, 0)): "",
}


@pytest.mark.parametrize(("xml", "line"), IOS_LINES.items(), ids=IOS_LINES.values())
def test_an_ios_element_becomes_its_outline_line(phone: Phone, xml: str, line: str) -> None:
    """An iOS element becomes the expected lines of the outline, or none if it shows nothing."""
    assert outline(phone.screen("ios", ios_app(xml))) == line


def view(*children: str, **attributes: object) -> str:
    """A view of Android without a class of its own."""
    return android("android.view.View", *children, **attributes)  # type: ignore[arg-type]


ANDROID_LINES = {
    android("Button", text="Pay now", id="pay", clickable="true"): '- button "Pay now"',
    android("ImageButton", desc="Close", clickable="true"): '- button "Close"',
    android("ImageButton", id="btn_cart", clickable="true"): '- button "btn_cart"',
    android("Button", text="Log in", desc="loginButton"): '- button "Log in"',
    android("TextView", text="Plain"): "- text: Plain",
    android("TextView", text="Forgot?", clickable="true"): '- button "Forgot?"',
    android("TextView", text="Head", heading="true"): '- heading "Head" [level=2]',
    view(android("TextView", text="Pay now"), clickable="true"): '- button "Pay now"',
    view(desc="Total 12"): "- text: Total 12",
    view(android("TextView", text="A"), desc="Box"): '- group "Box"\n  - text: A',
    view(android("Button", text="In"), clickable="true"): '- generic [clickable]\n  - button "In"',
    android("FrameLayout", android("FrameLayout")): "",
    android("EditText", text="Email", hint="Email"): '- textbox "Email"',
    android("EditText", text="a@b.c", hint="Email", desc="emailField"): '- textbox "Email" = "a@b.c"',
    android("EditText", text="••", password="true", hint="PIN"): '- textbox "PIN" = "•••"',
    android("CheckBox", text="I agree", checked="true"): '- checkbox "I agree" [checked]',
    android("androidx.appcompat.widget.SwitchCompat", text="Dark"): '- switch "Dark"',
    android("ToggleButton", text="Bold", checked="true"): '- switch "Bold" [checked]',
    android("SeekBar", desc="Volume", text="30.0"): '- slider "Volume" = "30.0"',
    android("Spinner", android("TextView", text="June"), desc="Month"): '- combobox "Month" = "June"',
    android("ImageView"): "",
    android("ImageView", desc="Logo"): '- img "Logo"',
    android("ImageView", desc="Open", clickable="true"): '- button "Open"',
    android("ProgressBar"): "- progressbar",
    android("Toast", text="Saved"): '- status "Saved"',
    android("android.webkit.WebView", view(text="Web"), text="Page"): '- webview "Page"\n  - text: Web',
    android("ListView", view(android("TextView", text="A"))): '- list\n  - listitem "A"',
    android("ImageButton", tooltip_text="More", id="action_more", clickable="true"): '- button "More"',
    android("EditText", hint="Age", text="x", content_invalid="true"): '- textbox "Age" [invalid] = "x"',
    android("TextView", text="9:41", package="com.android.systemui"): "",
    android("Button", text="Off", enabled="false"): '- button "Off" [disabled]',
}


@pytest.mark.parametrize(("xml", "line"), ANDROID_LINES.items(), ids=ANDROID_LINES.values())
def test_an_android_element_becomes_its_outline_line(phone: Phone, xml: str, line: str) -> None:
    """An Android element becomes the expected lines of the outline, or none if it shows nothing."""
    assert outline(phone.screen("android", android_app(xml))) == line


def inner(text: str) -> str:
    """Return a text inside of a control of Compose."""
    return android("TextView", text=text, box=(20, 110, 200, 130))


COMPOSE_LINES = {
    view(inner("Pay now"), android("Button"), clickable="true"): '- button "Pay now"',
    view(inner("Pay now"), android("Button"), enabled="false"): '- button "Pay now" [disabled]',
    view(view(desc="Back"), android("Button", box=(10, 110, 90, 130)), clickable="true"): '- button "Back"',
    view(inner("I agree"), android("CheckBox"), checkable="true", checked="true"): '- checkbox "I agree" [checked]',
    view(inner("Express"), android("RadioButton"), checkable="true"): '- radio "Express"',
    view(inner("June"), android("Spinner"), clickable="true"): '- combobox = "June"',
    android("EditText", inner("Email"), text="a@b.c"): '- textbox "Email" = "a@b.c"',
    android("EditText", inner("Age"), inner("Too old"), text="200"): '- textbox "Age" = "200"\n  - text: Too old',
    view(view(inner("A"), clickable="true"), inner("B"), scrollable="true", is_collection="true"): (
        '- list\n  - listitem "A"\n  - text: B'
    ),
    view(view(inner("One"), view(), selected="true"), view(inner("Two"), view(), clickable="true")): (
        '- tab "One" [selected]\n- tab "Two"'
    ),
}


@pytest.mark.parametrize(("xml", "line"), COMPOSE_LINES.items(), ids=COMPOSE_LINES.values())
def test_a_compose_control_takes_its_role_from_the_empty_view_inside(phone: Phone, xml: str, line: str) -> None:
    """Compose controls are plain views; the class of an empty view inside gives the role."""
    assert outline(phone.screen("android", android_app(xml))) == line


def test_an_ios_alert_hides_the_elements_behind_it(phone: Phone) -> None:
    """The outline under an iOS alert has its title and buttons and the keyboard, and nothing else."""
    buttons = ios("Button", label="Cancel"), ios("Button", label="Delete")
    alert = ios("Alert", ios("StaticText", label="Delete it?"), *buttons, label="Delete it?", name="Delete it?")
    app = ios_app(ios("Button", label="Behind"), alert, ios("Keyboard", box=(0, 600, 390, 800)))
    assert outline(phone.screen("ios", app)) == dedent("""\
        - dialog "Delete it?" [modal]
          - text: Delete it?
          - button "Cancel"
          - button "Delete"
        - keyboard""")


@pytest.mark.parametrize("panel", [{"id": "parentPanel"}, {}], ids=["panel", "no panel"])
def test_an_android_dialog_is_recognized_by_its_title_message_and_buttons(phone: Phone, panel: dict[str, str]) -> None:
    """A dialog is recognized with and without a panel around its parts, as Android versions differ in it."""
    parts = (
        android("TextView", text="Delete it?", id="android:id/alertTitle"),
        android("TextView", text="It is gone then.", id="android:id/message"),
        android("ScrollView", android("Button", text="DELETE", id="android:id/button1")),
    )
    dialog = android("LinearLayout", *parts, **panel)  # type: ignore[arg-type]
    assert outline(phone.screen("android", android_app(android("Button", text="Behind"), dialog))) == dedent("""\
        - dialog "Delete it?" [modal]
          - heading "Delete it?" [level=2]
          - text: It is gone then.
          - button "DELETE\"""")


def test_keyboard_keys_are_listed_when_the_keyboard_is_the_root(phone: Phone) -> None:
    """A keyboard lists its keys when it is the root of the outline."""
    screen = phone.screen("ios", ios_app(ios("Keyboard", ios("Key", label="q"), ios("Button", label="return"))))
    root = {"by": "role", "value": "keyboard"}
    assert outline(screen, locator=root) == '- keyboard\n  - button "q"\n  - button "return"'


def test_a_controls_caption_is_listed_once_and_finds_the_control(phone: Phone) -> None:
    """A caption is listed only at its control, and a text selector finds the control first."""
    form = (
        ios("StaticText", label="Email"), ios("TextField", label="Email", value="a@b.c"), ios("Switch", label="Wi-Fi"),
        ios("StaticText", label="Wi-Fi"), ios("StaticText", label="Bye"),
    )  # fmt: skip
    screen = phone.screen("ios", ios_app(*form))
    assert outline(screen) == '- textbox "Email" = "a@b.c"\n- switch "Wi-Fi"\n- text: Bye'
    assert screen.call(TEXT)["text"] == "Email\nWi-Fi\nBye"
    assert screen.call(READY, locator={"by": "text", "value": "Wi-Fi"}, need="visible")["role"] == "switch"


def test_query_roles_limit_and_ignore_narrow_the_outline(phone: Phone) -> None:
    """`query` keeps the lines above, `roles` leaves no holes in the indentation, `limit` and `offset` page."""
    screen = phone.screen("android", source("android_checkout"))
    assert outline(screen, query="TEA") == "- list\n  - listitem\n    - text: Green tea"
    assert outline(screen, roles=["list", "button"], limit=2, offset=1) == '- list\n  - button "Remove"'
    answer = screen.call(SNAPSHOT, scope="page", json=False, limit=2)
    assert (answer["shown"], len(answer["lines"])) == (2, 2)
    ignored = screen.call(SNAPSHOT, scope="page", json=False, ignore=[{"by": "role", "value": "list"}])
    assert "Green tea" not in "\n".join(ignored["lines"])


def test_json_elements_have_a_unique_selector_each(phone: Phone) -> None:
    """Elements as JSON have role, name, value and a selector that no other element has."""
    elements = phone.screen("ios", source("ios_checkout")).call(SNAPSHOT, scope="page", json=True)["elements"]
    [email] = [one for one in elements if one["name"] == "Email"]
    del email["ref"]
    assert email == {"role": "textbox", "name": "Email", "value": "ann@example.com", "selector": "~emailField"}
    assert len({one["selector"] for one in elements}) == len(elements)


def test_text_source_and_snapshot_never_show_a_password(phone: Phone) -> None:
    """The text omits field values; the source and the snapshot mask a password."""
    screen = phone.screen("android", source("android_checkout").replace("••••••••", "hunter2!"))
    text = screen.call(TEXT)["text"]
    assert text.startswith("Navigate up\nCheckout\nYour order\nBlue mug $12.00\nGreen tea")
    assert "ann@example.com" not in text
    whole = screen.call(SOURCE_TEXT)["source"]
    assert "hunter2" not in whole
    assert 'text="•••"' in whole
    assert screen.call(TEXT, locator={"by": "id", "value": "total"})["text"] == "Total: $19.50"
    assert "hunter2" not in json.dumps(screen.call(SNAPSHOT, scope="page", json=True), ensure_ascii=False)


def test_a_password_field_stays_masked_when_the_app_shows_its_text(phone: Phone) -> None:
    """A show-password button turns the field into an ordinary one, and its value is masked all the same."""
    hidden = ios("SecureTextField", label="PIN", name="pin", value="••••")
    shown = ios("TextField", label="PIN", name="pin", value="1234")
    screen = phone.screen("ios", ios_app(hidden))
    assert outline(screen) == '- textbox "PIN" = "•••"'
    phone.show(ios_app(shown))
    assert outline(screen) == '- textbox "PIN" = "•••"'
    assert "1234" not in screen.call(SOURCE_TEXT)["source"]


FAULTS = {
    "": "its page source is empty",
    "  \n": "its page source is empty",
    "<a><b></a>": "its page source is no valid XML (Opening and ending tag mismatch",
    "no xml": "its page source is no valid XML (Start tag expected",
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>': "its page source has a document type, which no driver writes",
}


@pytest.mark.parametrize(("xml", "expected"), FAULTS.items(), ids=["empty", "blank", "unclosed", "text", "doctype"])
def test_an_empty_or_malformed_page_source_is_an_error_with_a_hint(phone: Phone, xml: str, expected: str) -> None:
    """A page source that cannot be read is refused with the reason and a hint."""
    with pytest.raises(SourceFault) as fault:
        phone.screen("ios", xml).call(STATE)
    assert fault.value.message.startswith(f"The screen could not be read: {expected}")
    assert fault.value.hint == "Try again; if it stays so, look at the log of the Appium server."


def test_hostile_element_names_cannot_forge_lines_or_refs(phone: Phone) -> None:
    """Element names are cut, escaped and kept on one line, so that none can pass for a line or a ref."""
    names = ["x" * 20_000, "a\nb\u202e\x85c", '- button "Fake" [e1]', 'say "hi" \\', "[e5] text"]
    lines = phone.screen("ios", ios_app(*(ios("StaticText", label=name) for name in names), *(
        ios("Button", label=name) for name in names
    ))).call(SNAPSHOT, scope="page", json=False)["lines"]  # fmt: skip
    assert lines[:5] == [
        f"- text: {'x' * 200}…", "- text: a b c", '- text: - button "Fake" \\[e1]', '- text: say "hi" \\',
        "- text: \\[e5] text",
    ]  # fmt: skip
    assert lines[7:] == [
        '- button "- button \\"Fake\\" [e1]" [e3]', '- button "say \\"hi\\" \\\\" [e4]', '- button "[e5] text" [e5]',
    ]  # fmt: skip


def test_500_nested_views_are_all_listed(phone: Phone) -> None:
    """Views nested 500 deep, each of them tappable, have a line each."""
    xml = android("Button", text="Deep")
    for _ in range(500):
        xml = view(xml, clickable="true")
    lines = phone.screen("android", android_app(xml)).call(SNAPSHOT, scope="page", json=False)["lines"]
    assert len(lines) == 501
    assert without_refs(lines[-1]).strip() == '- button "Deep"'


def test_an_element_with_unreadable_coordinates_is_not_listed(phone: Phone) -> None:
    """An element whose bounds cannot be read counts as not visible."""
    for place in ("NaN", "1e999", "left", "-"):
        assert outline(phone.screen("ios", ios_app(ios("Button", label="Lost", x=place)))) == ""
    lost = android("Button", text="Lost").replace('bounds="[0,100][300,140]"', 'bounds="here"')
    assert outline(phone.screen("android", android_app(lost))) == ""
