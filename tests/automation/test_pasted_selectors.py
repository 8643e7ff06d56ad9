"""Selectors of other tools, as people paste them."""

from __future__ import annotations

import pytest

from orchestrator.automation.browser.locator import Locator
from orchestrator.automation.browser.selector import parse_selector
from orchestrator.errors import InvalidArgument

SAVE = Locator("role", "button", "Save")


@pytest.mark.parametrize(
    ("given", "locator"),
    [
        ("getByRole('button', {name: 'Save'})", SAVE),
        ("getByRole('button', { name: 'Save' });", SAVE),
        ("page.getByRole('button', { name: 'Save' })", SAVE),
        ("await page.getByRole('button', { 'name': `Save`, })", SAVE),
        ("await this.page.getByRole('button', {name: 'Save'})", SAVE),
        ("screen.getByRole('button', {name: 'Save'})", SAVE),
        ('page.get_by_role("button", name="Save")', SAVE),
        ("await self.page.get_by_role('button', name='Save')", SAVE),
        ("getByRole('Button')", Locator("role", "button")),
        ("getByRole('button', {name: 'Save', exact: true})", Locator("role", "button", "Save", exact=True)),
        ('get_by_role("button", name="Save", exact=True)', Locator("role", "button", "Save", exact=True)),
        ("getByRole('button', {name: 'Save', exact: false})", SAVE),
        ("getByRole('button', {name: 'It\\'s (1) >> {2}, ok'})", Locator("role", "button", "It's (1) >> {2}, ok")),
        ("getByRole('button', {name: /save/i})", Locator("role", "button", "save", flags="i")),
        ("getByRole('button', {name: /^a\\/b (c)'$/g})", Locator("role", "button", "^a\\/b (c)'$", flags="")),
        (
            'get_by_role("button", name=re.compile(r"sav\\w", re.IGNORECASE))',
            Locator("role", "button", "sav\\w", flags="i"),
        ),
        ('get_by_text(re.compile("save"))', Locator("text", "save", flags="")),
        ("getByText('Sign in')", Locator("text", "Sign in")),
        ("getByText('Sign in', { exact: true })", Locator("text", "Sign in", exact=True)),
        ("page.getByText(/sign in|log in/i)", Locator("text", "sign in|log in", flags="i")),
        ('get_by_text("a >> b")', Locator("text", "a >> b")),
        ("getByText('a >> b')", Locator("text", "a >> b")),
        ("getByLabel('E-mail')", Locator("label", "E-mail")),
        ('get_by_label("E-mail", exact=True)', Locator("label", "E-mail", exact=True)),
        ("getByPlaceholder('Search')", Locator("attribute", "Search", "placeholder")),
        ("get_by_placeholder('Search')", Locator("attribute", "Search", "placeholder")),
        ("getByTestId('cart')", Locator("testid", "cart")),
        ("get_by_test_id('cart')", Locator("testid", "cart")),
        ("getByTestId(/^cart-/)", Locator("attribute", "^cart-", "data-testid", flags="")),
        ("getByAltText('Logo')", Locator("attribute", "Logo", "alt")),
        ("get_by_alt_text('Logo', exact=True)", Locator("attribute", "Logo", "alt", exact=True)),
        ("getByTitle('Close')", Locator("attribute", "Close", "title")),
        ("get_by_title('Close')", Locator("attribute", "Close", "title")),
        ("page.locator('#save')", Locator("css", "#save")),
        ('page.locator("text=Save")', Locator("text", "Save")),
        ('button:has-text("Save")', Locator("css_with_text", "button", "Save")),
        ("button.primary:has-text('Save')", Locator("css_with_text", "button.primary", "Save")),
        ("css=tr:has-text('Ann')", Locator("css_with_text", "tr", "Ann")),
        (":is(a, button):has-text('Save')", Locator("css_with_text", ":is(a, button)", "Save")),
        ("button:text-is('Save')", Locator("css_with_text", "button", "Save", exact=True)),
        ("button:text-matches('^s', 'i')", Locator("css_with_text", "button", "^s", flags="i")),
        ("a:contains(Terms)", Locator("css_with_text", "a", "Terms")),
        (':text("Save")', Locator("text", "Save")),
        ("@e4", Locator("ref", "e4")),
        ('By.ID, "save"', Locator("id", "save")),
        ("(By.ID, 'save')", Locator("id", "save")),
        ('driver.find_element(By.ID, "save")', Locator("id", "save")),
        ('driver.find_element("css selector", ".x")', Locator("css", ".x")),
        ('driver.findElement(By.id("save"));', Locator("id", "save")),
        ('By.cssSelector(".x > a")', Locator("css", ".x > a")),
        ('By.CSS_SELECTOR, ".x"', Locator("css", ".x")),
        ("By.XPATH, \"//a[@id='x']\"", Locator("xpath", "//a[@id='x']")),
        ('By.NAME, "q"', Locator("css", '[name="q"]')),
        ('By.CLASS_NAME, "big"', Locator("css", '[class~="big"]')),
        ('By.TAG_NAME, "button"', Locator("css", "button")),
        ('By.LINK_TEXT, "Terms"', Locator("css_with_text", "a", "Terms", exact=True)),
        ('By.PARTIAL_LINK_TEXT, "Ter"', Locator("css_with_text", "a", "Ter")),
        ('AppiumBy.ACCESSIBILITY_ID, "login"', Locator("accessibility_id", "login")),
        ("name=q", Locator("css", '[name="q"]')),
        ("class name=big", Locator("css", '[class~="big"]')),
        ("class name=android.widget.Button", Locator("xpath", "//android.widget.Button")),
        ("tag name=button", Locator("css", "button")),
        ("link text=Terms", Locator("css_with_text", "a", "Terms", exact=True)),
        ("partial link text=Ter", Locator("css_with_text", "a", "Ter")),
        ("css selector=.x", Locator("css", ".x")),
        ("accessibility id=login", Locator("accessibility_id", "login")),
    ],
)
def test_a_selector_of_another_tool_is_understood(given: str, locator: Locator) -> None:
    """Calls of Playwright in JavaScript and Python, `:has-text`, and Selenium's `By` names are locators."""
    selector = parse_selector(given)
    assert (selector.locator, selector.frames, selector.given) == (locator, (), given)


@pytest.mark.parametrize(
    ("given", "frames", "locator"),
    [
        ("page.frameLocator('#pay').getByLabel('Card')", ["#pay"], Locator("label", "Card")),
        ('page.frame_locator("#a").frame_locator("#b").get_by_text("x")', ["#a", "#b"], Locator("text", "x")),
        ("page.locator('#pay').contentFrame().getByLabel('Card')", ["#pay"], Locator("label", "Card")),
        ("#pay >> getByLabel('Card')", ["#pay"], Locator("label", "Card")),
    ],
)
def test_a_pasted_selector_may_lead_into_frames(given: str, frames: list[str], locator: Locator) -> None:
    """Frame locators are the frames of the selector."""
    selector = parse_selector(given)
    assert selector.frames == tuple(Locator("css", frame) for frame in frames)
    assert selector.locator == locator


@pytest.mark.parametrize(
    "css",
    [
        ".md\\:visible",
        ".sm\\:first",
        '[title=":has-text(x)"]',
        "[title=':visible']",
        "li:first-child",
        "p:first-of-type > a:last-child",
        "p::first-line",
        "div:has(> a)",
        "a, b",
        "By.ID",
        "locator",
        "page.getByRole",
    ],
)
def test_css_that_resembles_other_tools_stays_css(css: str) -> None:
    """What a browser understands as CSS is given to it unchanged."""
    assert parse_selector(css).locator == Locator("css", css)


NTH = (
    "Of several matches the first that can be acted on is taken; for another one, use XPath such as (//button)[2], "
    "or a ref from get_visible_elements."
)
FIRST = (
    "Leave it out: the first match that can be acted on is taken; for another one, use XPath such as (//button)[2], "
    "or a ref from get_visible_elements."
)
EXAMPLES = "Write for example role=button[name=Save], text=Save, label=Email, [placeholder=Search], CSS or a ref."
ONE = "Give one selector for the element itself, XPath such as //li[contains(., 'Ann')]//button, or a ref."
INSIDE = 'Write for example li:has-text("Ann"), or XPath such as //li[contains(., "Ann")]//button.'


@pytest.mark.parametrize(
    ("given", "what", "hint"),
    [
        ("locator('li').first()", ".first(…) is not understood", f"What stands before it is written li here. {FIRST}"),
        ("page.locator('li').first", ".first is not understood", f"What stands before it is written li here. {FIRST}"),
        (
            "getByRole('button', {name: 'Save'}).nth(2)",
            ".nth(…) is not understood",
            f'What stands before it is written role=button[name="Save"] here. {NTH}',
        ),
        (
            "page.getByRole('listitem').filter({ hasText: 'Ann' })",
            ".filter(…) is not understood",
            f"What stands before it is written role=listitem here. {INSIDE}",
        ),
        (
            "await page.getByLabel('E-mail').fill('ann@example.com');",
            ".fill(…) is not understood",
            "Write label=E-mail alone: the tool acts on it.",
        ),
        (
            "getByRole('list').getByText('x')",
            ".getByText(…) is not understood",
            f"What stands before it is written role=list here. {ONE}",
        ),
        ("button >> nth=0", None, NTH),
        ("button >> visible=true", None, "Leave it out: visible elements are taken before hidden ones."),
        (":nth-match(button, 2)", ":nth-match is not understood", NTH),
        (
            "button:visible",
            ":visible is not understood",
            "Leave it out: visible elements are taken before hidden ones.",
        ),
        ("button:right-of(#a)", ":right-of is not understood", "Use a ref from get_visible_elements."),
        (
            "tr:has-text('Ann') >> button:has-text('x') b",
            ":has-text(…) can only stand at the end of one selector",
            INSIDE,
        ),
        ("tr:has-text('Ann') button", ":has-text(…) can only stand at the end of one selector", INSIDE),
        ("a, b:has-text('x')", ":has-text(…) can only stand at the end of one selector", INSIDE),
        (
            "getByRole('heading', {level: 2})",
            "the option level is not understood",
            "Leave it out, or use a ref from get_visible_elements, which shows the states.",
        ),
        ("page.locator('li', { hasText: 'x' })", "the option hasText is not understood", INSIDE),
        ("locator('#f').contentFrame()", None, EXAMPLES),
        ("frameLocator('#f')", None, EXAMPLES),
        ("getByText(label)", None, EXAMPLES),
        ("getByText('a' + b)", None, EXAMPLES),
        ("getByRole(AriaRole.BUTTON)", None, EXAMPLES),
        ("getByRole('button', {name: name})", None, EXAMPLES),
        ("getByText('a", None, EXAMPLES),
        ("getByMood('good')", None, EXAMPLES),
        ('By.MOOD, "good"', None, EXAMPLES),
    ],
)
def test_what_is_not_understood_says_how_it_is_written_here(given: str, what: str | None, hint: str) -> None:
    """A call without a counterpart is `invalid_argument`, and the hint says what to write instead."""
    with pytest.raises(InvalidArgument) as refused:
        parse_selector(given)
    part = given.rpartition(" >> ")[2]
    assert refused.value.message == f"'{part}' is not a selector here{f': {what}' if what else ''}."
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("locator", "written"),
    [
        (Locator("role", "button"), "role=button"),
        (Locator("role", "button", 'Say "hi"'), 'role=button[name="Say \\"hi\\""]'),
        (Locator("attribute", "Search", "placeholder"), '[placeholder="Search"]'),
        (Locator("text", "Save", exact=True), 'text="Save"'),
        (Locator("css_with_text", "a", "x"), 'a:has-text("x")'),
        (Locator("accessibility_id", "login"), "~login"),
        (Locator("testid", "cart"), "testid=cart"),
        (Locator("xpath", "//a"), "//a"),
    ],
)
def test_a_locator_is_written_in_the_grammar(locator: Locator, written: str) -> None:
    """What a hint says to write is understood as the same locator, but for an attribute, which is CSS."""
    assert locator.written() == written
    if locator.by != "attribute":
        assert parse_selector(written).locator == locator
