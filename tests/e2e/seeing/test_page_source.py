"""get_page_source: the HTML of a page or an element, without its passwords."""

from __future__ import annotations

import json

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full


@pytest.mark.core
def test_get_page_source_returns_the_current_html_with_its_doctype(stage: Stage) -> None:
    """The HTML is that of the page's current state; text and data are the same."""
    stage.show("<p id=x>one</p>", title="T")
    stage.js("void (x.textContent = 'two & three')")
    answer = stage.call("get_page_source")
    source = answer.data["source"]
    assert source == (
        '<!DOCTYPE html>\n<html><head><title>T</title></head><body><p id="x">two &amp; three</p></body></html>'
    )
    assert source in answer.text


def test_get_page_source_of_a_selector_returns_the_first_match(stage: Stage) -> None:
    """The HTML of the first match includes the element itself, and the number of matches is given."""
    stage.show("<ul><li>a<li>b</ul>")
    answer = stage.ok("get_page_source", selector="li")
    assert (answer["source"], answer["matches"]) == ("<li>a</li>", 2)
    refused(stage.call("get_page_source", selector="#none"), "element_not_found")
    refused(stage.call("get_page_source", selector="e99999"), "stale_ref")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_get_page_source_finds_elements_in_a_frame(stage: Stage, host: str) -> None:
    """An element in a same-origin or cross-origin frame is returned as HTML by its selector."""
    there = stage.page("<p id=in>inner</p>").replace("127.0.0.1", host)
    stage.show(f"<iframe id=f src='{there}'></iframe>")
    stage.ok("wait_for", selector="#in")
    assert stage.ok("get_page_source", selector="#f >> #in")["source"] == '<p id="in">inner</p>'


def test_passwords_are_masked_in_the_page_source(stage: Stage) -> None:
    """Password values are masked when shown in clear and in templates too, and the page itself keeps them."""
    stage.show(
        "<form><input id=p type=password value=first-secret><input id=q type=password value=second-secret>"
        "<input value=plain></form><template><input type=password value=third-secret></template>"
    )
    stage.js("void (q.type = 'text')")
    for arguments in ({}, {"selector": "form"}, {"selector": "#p"}, {"selector": "template"}):
        answer = stage.call("get_page_source", **arguments)
        assert "-secret" not in answer.text
        assert 'value="•••"' in answer.data["source"]
    assert 'value="plain"' in stage.ok("get_page_source")["source"]
    assert stage.js("p.getAttribute('value') + q.value") == "first-secretsecond-secret"


def test_reading_the_page_source_constructs_no_custom_elements(stage: Stage) -> None:
    """Custom elements of the page are not constructed once more when its HTML is read."""
    stage.show(
        "<script>made = 0; class A extends HTMLElement { constructor() { super(); made++ } }"
        "customElements.define('x-a', A)</script><x-a></x-a><input type=password value=hidden-one>"
    )
    assert "hidden-one" not in stage.ok("get_page_source")["source"]
    assert stage.js("made") == 1


def test_long_html_is_cut_and_says_how_to_go_on(stage: Stage) -> None:
    """Text and data stay within max_output, and both name the next step."""
    stage.show('<p class="a">"quoted"</p>' * 3000)
    answer = stage.call("get_page_source")
    assert len(answer.text) <= 20_000
    assert len(json.dumps(answer.data, ensure_ascii=False)) <= 20_000
    assert answer.data["next"].startswith("Cut: ")
    assert answer.data["next"] in answer.text


def test_cut_text_and_html_show_no_part_of_a_password(stage: Stage) -> None:
    """A typed password is masked before the text is cut."""
    stage.show("<input id=pw type=password><p id=echo></p>")
    stage.ok("set_value", selector="#pw", value="staple-the-battery")
    stage.js("echo.textContent = `${pw.value} `.repeat(9000)")
    for tool in ("get_text", "get_page_source"):
        answer = stage.call(tool)
        assert answer.data["next"].startswith("Cut: ")
        assert "staple" not in answer.text
