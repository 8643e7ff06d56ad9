"""get_page_source: the HTML of a page or an element, without its passwords."""

from __future__ import annotations

import json

import pytest

from tests.e2e.stage import Stage, refused


@pytest.mark.core
def test_the_html_of_the_page(stage: Stage) -> None:
    """As it is now, with its doctype; text and data say the same."""
    stage.show("<p id=x>one</p>", title="T")
    stage.js("void (x.textContent = 'two & three')")
    answer = stage.call("get_page_source")
    source = answer.data["source"]
    assert source == (
        '<!DOCTYPE html>\n<html><head><title>T</title></head><body><p id="x">two &amp; three</p></body></html>'
    )
    assert source in answer.text


def test_the_html_of_an_element(stage: Stage) -> None:
    """Itself included; of several the first."""
    stage.show("<ul><li>a<li>b</ul>")
    answer = stage.ok("get_page_source", selector="li")
    assert (answer["source"], answer["matches"]) == ("<li>a</li>", 2)
    refused(stage.call("get_page_source", selector="#none"), "element_not_found")
    refused(stage.call("get_page_source", selector="e99999"), "stale_ref")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_html_of_what_is_in_a_frame(stage: Stage, host: str) -> None:
    """By the selectors that find it."""
    there = stage.page("<p id=in>inner</p>").replace("127.0.0.1", host)
    stage.show(f"<iframe id=f src='{there}'></iframe>")
    stage.ok("wait_for", selector="#in")
    assert stage.ok("get_page_source", selector="#f >> #in")["source"] == '<p id="in">inner</p>'


def test_passwords_are_masked(stage: Stage) -> None:
    """Also those shown in clear, and those in templates; the page itself keeps them."""
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


def test_a_copy_runs_nothing(stage: Stage) -> None:
    """Elements of the page's own making are not made once more."""
    stage.show(
        "<script>made = 0; class A extends HTMLElement { constructor() { super(); made++ } }"
        "customElements.define('x-a', A)</script><x-a></x-a><input type=password value=hidden-one>"
    )
    assert "hidden-one" not in stage.ok("get_page_source")["source"]
    assert stage.js("made") == 1


def test_long_html_is_cut_with_a_way_on(stage: Stage) -> None:
    """Within `max_output`, as JSON too."""
    stage.show('<p class="a">"quoted"</p>' * 3000)
    answer = stage.call("get_page_source")
    assert len(answer.text) <= 20_000
    assert len(json.dumps(answer.data, ensure_ascii=False)) <= 20_000
    assert answer.data["next"].startswith("Cut: ")
    assert answer.data["next"] in answer.text


def test_what_is_cut_shows_no_half_of_a_password(stage: Stage) -> None:
    """Wherever the text ends: a typed password is struck out before that."""
    stage.show("<input id=pw type=password><p id=echo></p>")
    stage.ok("set_value", selector="#pw", value="staple-the-battery")
    stage.js("echo.textContent = `${pw.value} `.repeat(9000)")
    for tool in ("get_text", "get_page_source"):
        answer = stage.call(tool)
        assert answer.data["next"].startswith("Cut: ")
        assert "staple" not in answer.text
