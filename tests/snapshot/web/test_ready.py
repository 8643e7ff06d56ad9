"""Waiting until an element can be acted on, and the reasons given if it cannot."""

from __future__ import annotations

import re
from typing import Any

import pytest

from orchestrator.snapshot.methods import READY, STATE, VERIFY
from tests.snapshot.web.chromium import Browser

BUTTON = {"by": "css", "value": "button"}
FIELD = {"by": "css", "value": "input,textarea,select,[contenteditable],label"}


def ready(browser: Browser, html: str, need: str = "point", **params: Any) -> dict[str, Any]:
    """Ask `ready` on a page of its own; what becomes ready does so long before the slice is over."""
    asked = {"locator": BUTTON, "need": need, "slice": 25_000, **params}
    answer: dict[str, Any] = browser.open(html).call(READY, **asked)
    return answer


def refuse(browser: Browser, html: str, need: str = "point", **params: Any) -> dict[str, Any]:
    """Ask `ready` on a page of its own, where nothing becomes ready."""
    answer = ready(browser, html, need, slice=150, **params)
    assert not answer["ok"]
    return answer


def test_a_click_at_the_reported_point_hits_the_element(browser: Browser) -> None:
    """The coordinates are valid for trusted pointer actions, after scrolling if needed."""
    answer = ready(
        browser, "<div style='height:3000px'></div><button onclick='document.title=event.isTrusted'>Go</button>"
    )
    browser.click(answer)
    assert browser.page.call(STATE)["title"] == "true"


def test_an_element_in_view_is_not_scrolled(browser: Browser) -> None:
    """An element in view is left where it is."""
    ready(browser, "<button style='margin-top:600px'>Go</button><div style='height:3000px'></div>")
    assert browser.js("return scrollY") == 0


REFUSALS = {
    "<p>x</p>": ("not_found", 'nothing matches css "button"'),
    "<button hidden>Go</button>": ("hidden", 'button "Go" is not visible'),
    "<button disabled>Go</button>": ("disabled", 'button "Go" [disabled] is disabled'),
    "<fieldset disabled><button>Go</button></fieldset>": ("disabled", 'button "Go" [disabled] is disabled'),
    "<button>Go</button><dialog open aria-label=Cookies style='position:fixed;top:0;width:100%;height:100%'></dialog>":
        ("covered", 'covered by dialog "Cookies"'),
    "<button>Go</button><div class=backdrop style='position:fixed;inset:0'></div>":
        ("covered", "covered by generic (div.backdrop)"),
    "<button>Go</button><div style='position:fixed;inset:0'><div role=dialog aria-label=News>x</div></div>":
        ("covered", 'covered by dialog "News"'),
    # By frames and by a timer: a busy machine may draw no frame for longer than we wait for one.
    "<button id=b style='position:relative'>Go</button><script>let x=0;const f=()=>{b.style.left=(x=(x+1)%200)+'px'};"
    "(function g(){f();requestAnimationFrame(g)})();setInterval(f,5)</script>": ("moving", 'button "Go" is moving'),
    "<button style='position:fixed;left:-500px'>Go</button>":
        ("hidden", 'button "Go" is outside the viewport and cannot be scrolled into it'),
}  # fmt: skip


@pytest.mark.parametrize("html", REFUSALS, ids=[reason for reason, _ in REFUSALS.values()])
def test_an_element_that_cannot_be_clicked_is_refused_with_its_reason(html: str, browser: Browser) -> None:
    """The reason is one word, the detail a plain sentence that names the element."""
    answer = refuse(browser, html)
    reason, detail = REFUSALS[html]
    assert (answer["ok"], answer["reason"], re.sub(r" \[e\d+\]", "", answer["detail"])) == (False, reason, detail)


@pytest.mark.parametrize(
    ("html", "cure"),
    [
        ("<p>x</p>", "document.body.append(Object.assign(document.createElement('button'), {textContent: 'Go'}))"),
        ("<button hidden>Go</button>", "b.hidden = false"),
        ("<button disabled>Go</button>", "b.disabled = false"),
        ("<button>Go</button><div id=c style='position:fixed;inset:0'></div>", "c.remove()"),
    ],
)
def test_ready_waits_until_the_element_can_be_clicked(html: str, cure: str, browser: Browser) -> None:
    """A call continues as soon as the element exists, is visible, enabled or uncovered."""
    script = f"<script>setTimeout(() => {{const b = document.querySelector('button'); {cure}}}, 100)</script>"
    assert ready(browser, html + script)["ok"]


def test_the_first_actionable_match_is_taken_unless_the_locator_is_strict(browser: Browser) -> None:
    """Hidden and disabled matches are skipped; a strict locator refuses several matches."""
    html = "<button hidden>A</button><button disabled>B</button><button>C</button>"
    answer = ready(browser, html)
    assert (answer["name"], answer["matches"]) == ("C", 3)
    strict = refuse(browser, html, locator={"by": "css", "value": "button", "strict": True})
    assert (strict["reason"], strict["detail"], len(strict["candidates"])) == ("ambiguous", "3 elements match", 3)


def test_an_element_that_is_not_found_is_answered_with_similar_candidates(browser: Browser) -> None:
    """Candidates are lines of the same role, first those with a word in common."""
    locator = {"by": "role", "value": "button", "name": "Pay order"}
    answer = refuse(browser, "<button>Cancel</button><button>Pay now</button><a href=#>Help</a>", locator=locator)
    assert [line.split(" [")[0] for line in answer["candidates"]] == ['button "Pay now"', 'button "Cancel"']


def test_a_link_wrapped_over_two_lines_is_clicked_on_its_text(browser: Browser) -> None:
    """The middle of the bounding box may be beside the text, so a part of the text is clicked."""
    html = """<div style='width:300px;font:20px monospace'>aaaaaaaaaaaaaaaaaaaa
      <a href='#' onclick="document.title='hit'"
      >bb ccc</a> dddddddddddddddddddd</div>"""
    answer = ready(browser, html, locator={"by": "css", "value": "a"})
    browser.click(answer)
    assert browser.page.call(STATE)["title"] == "hit"


def test_a_visually_hidden_checkbox_is_clicked_through_its_label(browser: Browser) -> None:
    """Styled checkboxes hide the input; a click on the label checks it."""
    html = "<input type=checkbox id=c style='position:absolute;left:-999px'><label for=c>I agree</label>"
    browser.click(ready(browser, html, locator={"by": "label", "value": "i agree"}))
    assert browser.js("return document.getElementById('c').checked")


KINDS = {
    "<input>": "text", "<input type=email value=a@b.c>": "text", "<input type=number value=3>": "text",
    "<input type=password>": "password", "<textarea>x</textarea>": "textarea", "<select><option>a</select>": "select",
    "<input type=checkbox>": "checkbox", "<input type=radio>": "radio",
    "<input type=range>": "range", "<input type=date>": "date", "<input type=color>": "color",
    "<div contenteditable>x</div>": "contenteditable", "<label>N <textarea></textarea></label>": "textarea",
}  # fmt: skip
FITTING = {"select": "a", "checkbox": "true", "radio": "true", "range": "5", "date": "2024-02-29", "color": "#ffffff"}


@pytest.mark.parametrize("html", KINDS)
def test_ready_for_fill_reports_the_kind_of_control(html: str, browser: Browser) -> None:
    """The kind tells how to set a value; a label stands for its control."""
    answer = ready(browser, html, "fill", locator=FIELD, value=FITTING.get(KINDS[html], "x"))
    assert (answer["ok"], answer["kind"]) == (True, KINDS[html])


@pytest.mark.parametrize(
    "html",
    ["<input value=old>", "<input type=email value=a@b.c>", "<input type=number value=3>", "<textarea>o\nl</textarea>",
     "<div contenteditable>old <b>x</b></div>"],
)  # fmt: skip
def test_text_typed_after_ready_for_fill_replaces_the_fields_content(html: str, browser: Browser) -> None:
    """The field has the focus and its whole content is selected; the value is then verified."""
    assert not ready(browser, html, "fill", locator=FIELD)["empty"]
    browser.cdp("Input.insertText", text="42")
    answer = browser.page.call(VERIFY, value="42")
    assert (answer["same"], answer["value"]) == (True, "42")


@pytest.mark.parametrize(
    ("html", "reason"),
    [("<input readonly>", "readonly"), ("<input disabled>", "disabled"), ("<input hidden>", "hidden"),
     ("<label>Just text</label>", "no_field")],
)  # fmt: skip
def test_a_field_that_cannot_be_filled_is_refused_with_its_reason(html: str, reason: str, browser: Browser) -> None:
    """Readonly, disabled, hidden and valueless elements are refused with different reasons."""
    assert refuse(browser, html, "fill", locator=FIELD)["reason"] == reason


def test_select_options_are_found_by_value_then_label(browser: Browser) -> None:
    """The index of the option is returned; for a missing one the existing labels are listed."""
    html = "<select aria-label=S><option value=1>One<option value=2>Two</select>"
    assert ready(browser, html, "fill", locator=FIELD, value="2")["optionIndex"] == 1
    assert ready(browser, html, "fill", locator=FIELD, value="One")["optionIndex"] == 0
    answer = refuse(browser, html, "fill", locator=FIELD, value="0")
    assert answer["reason"] == "no_option"
    assert answer["detail"].endswith('has no option "0". Available: "One", "Two"')


def test_the_webelement_of_a_ready_element_can_be_fetched(browser: Browser) -> None:
    """A handle asked for with `ready` is a W3C WebElement reference."""
    ready(browser, "<input type=file>", "files", locator=FIELD, files=1, handle=True)
    assert list(browser.page.handle()) == ["element-6066-11e4-a52e-4f735466cecf"]
