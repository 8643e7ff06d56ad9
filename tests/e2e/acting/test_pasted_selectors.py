"""Selectors of other tools, pasted as they are: they act, look and wait like those of our own grammar."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

PAGE = """
<button id=saveas>Save as</button><button id=save>Save</button>
<button id=fix aria-label='Fix it'><img alt=Wrench id=wrench width=20 height=20></button>
<form><label>Full name <input id=full></label><label>Name <input id=name name=nick class='big field'></label>
<input id=shop placeholder='Search the shop'><input id=find placeholder=Search></form>
<a id=terms href=#t>Terms</a> <a id=use href=#u>Terms of use</a> <span title='More info' id=info>i</span>
<table><tr id=ann data-testid=row-7><td>Ann<td>3<tr id=anna><td>Anna<td>4</table>
<p id=deep>Some <b id=bold>bold</b> words</p>
<iframe id=pay srcdoc="<label>Card <input id=card></label>"></iframe>
"""


@pytest.fixture(scope="module")
def shown(stage: Stage) -> Stage:
    """The page, in the browser."""
    stage.show(PAGE)
    return stage


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("page.getByRole('button', { name: 'save' })", "save"),
        ("await page.getByRole('button', { name: 'Save', exact: true });", "save"),
        ("getByRole('button', {name: /^save a/i})", "saveas"),
        ('page.get_by_role("button", name="Save as")', "saveas"),
        ("getByText('Some', {exact: false})", "deep"),
        ("getByText(/^b.ld$/)", "bold"),
        ("getByLabel('Name')", "name"),
        ("getByPlaceholder('search')", "find"),
        ("getByPlaceholder('search the')", "shop"),
        ("getByTestId('row-7')", "ann"),
        ("getByTestId(/^row/)", "ann"),
        ("getByAltText('wrench')", "wrench"),
        ("getByTitle('more')", "info"),
        ("button:has-text('as')", "saveas"),
        ('text="Terms"', "terms"),
        ("tr:has-text('Anna')", "anna"),
        ("By.ID, 'save'", "save"),
        ('driver.find_element(By.CSS_SELECTOR, "#save")', "save"),
        ('By.NAME, "nick"', "name"),
        ("name=nick", "name"),
        ("class name=big", "name"),
        ("link text=Terms", "terms"),
        ("partial link text=of use", "use"),
        ("css=#save", "save"),
        ("xpath=//button[2]", "save"),
        ("//button[2]", "save"),
        ("page.locator('#save')", "save"),
        ("page.frameLocator('#pay').getByLabel('Card')", "card"),
    ],
)
def test_a_pasted_selector_finds_what_it_finds_elsewhere(shown: Stage, selector: str, found: str) -> None:
    """Playwright's calls, `:has-text` and Selenium's names find their element, exact matches first."""
    script = "return arguments[0].id"
    assert shown.ok("execute_script", script=script, args=[{"selector": selector}])["value"] == found


def test_a_pasted_selector_is_acted_on(stage: Stage) -> None:
    """Clicking, filling, waiting and looking take it; a ref may have an at sign."""
    stage.show(
        PAGE + "<script>save.onclick = () => out.value = name_.value; name_ = document.all.name</script><output id=out>"
    )
    stage.ok("set_value", selector="page.getByLabel('Name', { exact: true })", value="Ann")
    stage.ok("click_element", selector="@" + stage.ref('button "Save" '))
    stage.ok("expect", selector="page.locator('#out')", containsText="Ann")
    assert stage.ok("get_text", selector="tr:has-text('Anna')")["text"].split() == ["Anna", "4"]


def test_an_exact_text_does_not_match_a_part(shown: Stage) -> None:
    """Quotes and `exact` leave out what only contains the text or differs in case; the error names what is near."""
    for selector in (
        'text="terms"',
        "getByText('Term', {exact: true})",
        "getByRole('link', {name: 'Use', exact: true})",
    ):
        text = refused(shown.call("click_element", selector=selector, timeout=0), "element_not_found")
        assert f"No element matches '{selector}'" in text


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("page.getByRole('button').first()", "What stands before it is written role=button here. Leave it out"),
        ("button >> nth=0", "Of several matches the first that can be acted on is taken"),
        ("page.getByText('Save').click()", "Write text=Save alone: the tool acts on it."),
        ("getByText(label)", "Write for example role=button[name=Save], text=Save"),
        ("getByText(/a(/)", "Use a ref, CSS, XPath, text=…"),
    ],
)
def test_a_selector_that_is_not_understood_is_refused_at_once(shown: Stage, selector: str, hint: str) -> None:
    """It is `invalid_argument`, and the hint says how it is written here."""
    assert hint in refused(shown.call("click_element", selector=selector), "invalid_argument")
