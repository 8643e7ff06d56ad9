"""click_element: real pointer events where they should land, and waiting until they can."""

from __future__ import annotations

import re

import pytest

from tests.e2e.stage import HEAR, Stage, refused

pytestmark = pytest.mark.full

CLICKS = f"{HEAR}<script>hear('mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu')</script>"


@pytest.mark.smoke
@pytest.mark.core
def test_a_click_fires_trusted_mouse_events_in_order(stage: Stage) -> None:
    """The page sees trusted events, in the order in which a mouse makes them."""
    stage.show(f"<button id=b>Go</button>{CLICKS}")
    stage.ok("click_element", selector="#b")
    heard = stage.heard()
    assert [event["type"] for event in heard] == ["mousedown", "mouseup", "click"]
    assert all(event["trusted"] and event["id"] == "b" and event["button"] == 0 for event in heard)


@pytest.mark.parametrize(("button", "number", "ends"), [("middle", 1, "auxclick"), ("right", 2, "contextmenu")])
def test_middle_and_right_clicks_fire_auxclick_and_contextmenu(
    stage: Stage, button: str, number: int, ends: str
) -> None:
    """A middle click is no left click, and a right click asks for the context menu."""
    stage.show(
        f"<button id=b>Go</button>{CLICKS}<script>addEventListener('contextmenu', e => e.preventDefault())</script>"
    )
    stage.ok("click_element", selector="#b", button=button)
    assert {event["button"] for event in stage.heard("mousedown")} == {number}
    assert ends in {event["type"] for event in stage.heard()}
    assert not stage.heard("click")


def test_count_2_makes_a_double_click(stage: Stage) -> None:
    """`count: 2` makes two clicks that count as a double click; two calls do not."""
    stage.show(f"<button id=b>Go</button>{CLICKS}")
    stage.ok("click_element", selector="#b", count=2)
    assert len(stage.heard("dblclick")) == 1
    assert len(stage.heard("click")) == 2


def test_modifiers_are_held_during_a_click_and_released_after_it(stage: Stage) -> None:
    """Control and Shift are down during the click and up again after it."""
    stage.show(f"<button id=b>Go</button><button id=c>Then</button>{CLICKS}")
    stage.ok("click_element", selector="#b", modifiers=["Control", "Shift"])
    stage.ok("click_element", selector="#c")
    first, second = stage.heard("click")
    assert (first["ctrl"], first["shift"]) == (True, True)
    assert (second["ctrl"], second["shift"]) == (False, False)


@pytest.mark.parametrize(
    "selector",
    [
        "#save",
        "css=#save",
        "id=save",
        "//button[@id='save']",
        "text=Save all",
        "text=save",
        "label=Save all",
        "~save",
        "testid=save-button",
        "role=button[name=Save all]",
        'role=button[name="Save all"]',
        "role=button[name='Save']",
        'button "Save all"',
        '- button "Save all"',
    ],
)
def test_every_form_of_selector_finds_the_button(stage: Stage, selector: str) -> None:  # W50
    """Every selector form of the contract leads the click to its button."""
    stage.show(f"<button id=save data-testid=save-button>Save all</button><p>other</p>{CLICKS}")
    stage.ok("click_element", selector=selector)
    assert [event["id"] for event in stage.heard("click")] == ["save"]


@pytest.mark.parametrize("name", ["ref", "target", "uid"])
def test_ref_target_and_uid_are_accepted_for_selector(stage: Stage, name: str) -> None:
    """`ref`, `target` and `uid` are taken for `selector`."""
    stage.show(f"<button id=b>Go</button>{CLICKS}")
    stage.ok("click_element", **{name: stage.ref("button")})
    assert len(stage.heard("click")) == 1


def test_a_whole_line_of_the_outline_is_a_selector(stage: Stage) -> None:
    """An outline line, copied unchanged with its ref, selects its element."""
    stage.show(f"<button id=b>Go</button>{CLICKS}")
    [line] = stage.outline()
    stage.ok("click_element", selector=line)
    assert len(stage.heard("click")) == 1


@pytest.mark.core
def test_of_several_matches_the_first_that_can_be_clicked_is_taken(stage: Stage) -> None:
    """Hidden and disabled matches are skipped; `matches` is the number of all matches."""
    stage.show(f"<button hidden>Go</button><button disabled>Go</button><button id=c>Go</button>{CLICKS}")
    answer = stage.call("click_element", selector="button")
    assert answer.data["matches"] == 3
    assert "3 elements" in answer.text
    assert [event["id"] for event in stage.heard("click")] == ["c"]


def test_matches_is_left_out_of_the_answer_when_one_element_matches(stage: Stage) -> None:
    """The answer has `matches` only where several elements match."""
    stage.show("<button>Go</button>")
    assert "matches" not in stage.ok("click_element", selector="button")


NOT_YET = {
    "absent": "<script>let b; free = () => { document.body.innerHTML = '<button id=b>Go</button>' }</script>",
    "disabled": "<button id=b disabled>Go</button><script>free = () => { b.disabled = false }</script>",
    "hidden": "<button id=b hidden>Go</button><script>free = () => { b.hidden = false }</script>",
    "covered": "<button id=b>Go</button><div id=cover style='position:fixed;inset:0'>wait</div>"
    "<script>free = () => cover.remove()</script>",
    "animated": "<style>@keyframes k { to { margin-left: 9999px } }</style>"
    "<button id=b style='animation: k 60s linear'>Go</button><script>free = () => { b.style.animation = '' }</script>",
}


@pytest.mark.parametrize("why", NOT_YET)
def test_a_click_waits_until_its_element_can_be_clicked(stage: Stage, why: str) -> None:
    """Absent, disabled, hidden, covered, animated: the click comes as soon as that is over, and lands."""
    stage.show(
        f"{NOT_YET[why]}<script>freed = false; setTimeout(() => {{ freed = true; free() }}, 400);"
        "addEventListener('click', e => { clicked = [e.target.id, freed] }, true)</script>"
    )
    stage.ok("click_element", selector="#b", timeout=20_000)
    assert stage.js("clicked") == ["b", True]


IN_THE_WAY = {
    "is disabled": "<button id=b disabled>Go</button>",
    "is not visible": "<button id=b hidden>Go</button>",
    'covered by dialog "Cookies" [e': "<button id=b>Go</button>"
    "<div role=dialog aria-label=Cookies style='position:fixed;inset:0'></div>",
    "lets the pointer through": "<button id=b style='pointer-events:none'>Go</button>",
    "is moving": "<style>@keyframes k { to { margin-left: 9999px } } #b { animation: k 60s linear }</style>"
    "<button id=b>Go</button>",
}


@pytest.mark.parametrize("reason", IN_THE_WAY)
def test_a_click_that_cannot_land_names_the_obstacle(stage: Stage, reason: str) -> None:
    """`not_actionable` names the obstacle, quotes the selector, and hints at the next step."""
    stage.show(IN_THE_WAY[reason])
    text = refused(stage.call("click_element", selector="#b", timeout=200), "not_actionable")
    assert "'#b' cannot be acted on" in text
    assert reason in text


def test_a_missing_element_is_reported_with_similar_candidates(stage: Stage) -> None:
    """`element_not_found` quotes the selector and offers the nearest lines with their refs."""
    stage.show("<button>Pay later</button><button>Cancel</button><p>text</p>")
    answer = stage.call("click_element", selector='role=button[name="Pay now"]', timeout=200)
    text = refused(answer, "element_not_found")
    assert "'role=button[name=\"Pay now\"]'" in text
    assert answer.data["error"]["candidates"][0].startswith('button "Pay later" [e')
    assert f"- {answer.data['error']['candidates'][0]}" in text


@pytest.mark.parametrize("selector", ["#a\\:b", "[title='it\\'s']", 'text=it\'s "so"', "//*[text()='größer']"])
def test_errors_quote_the_selector_as_it_was_given(stage: Stage, selector: str) -> None:
    """The error repeats the selector unchanged, with its backslashes and quotes."""
    stage.show("nothing")
    assert selector in stage.call("click_element", selector=selector, timeout=50).data["error"]["message"]


def test_the_frame_operator_after_an_element_that_is_no_frame_is_explained(stage: Stage) -> None:
    """A selector with `>>` after anything but a frame is refused with the reason."""
    stage.show("<table><tr><td>Ann<td><button>Edit</button></table>")
    text = refused(stage.call("click_element", selector="tr >> text=Edit", timeout=50), "element_not_found")
    assert re.search(r"row \[e\d+\] is not a frame, and >> leads into frames only", text)


@pytest.mark.parametrize("selector", ["##", "//[", "button[", ""])
def test_an_invalid_selector_is_an_invalid_argument_at_once(stage: Stage, selector: str) -> None:
    """An invalid selector is refused at once, not after the timeout."""
    stage.show("nothing")
    answer = stage.call("click_element", selector=selector, timeout=60_000)
    assert "selector" in refused(answer, "invalid_argument")


def test_a_ref_of_another_document_is_stale(stage: Stage) -> None:  # W50 X42
    """A ref of a former document is refused with a hint, and its number is not used again."""
    stage.show("<button>One</button>")
    ref = stage.ref("button")
    stage.show("<button>Two</button>")
    again = stage.ref("button")
    assert again != ref
    text = refused(stage.call("click_element", selector=ref, timeout=60_000), "stale_ref")
    assert f"Ref {ref!r} no longer names an element of this page." in text
    assert "get_visible_elements" in text


def test_a_ref_that_was_never_given_is_distinguished_from_a_stale_one(stage: Stage) -> None:
    """The error for a ref that was never given differs from the one for an element that went away."""
    stage.show("<button>One</button>")
    text = refused(stage.call("click_element", selector="e999999"), "stale_ref")
    assert "'e999999' was never given in this session" in text


@pytest.mark.core
def test_a_ref_stays_while_its_element_lives(stage: Stage) -> None:
    """An element keeps its ref when its text or its place in the page changes."""
    stage.show(f"<div id=a><button id=b>One</button></div><div id=z></div>{CLICKS}")
    ref = stage.ref("button")
    stage.js("(b.textContent = 'Two', z.append(b))")
    assert stage.ref('button "Two"') == ref
    stage.ok("click_element", selector=ref)
    assert [event["id"] for event in stage.heard("click")] == ["b"]


@pytest.mark.core
def test_each_of_several_equal_elements_is_clicked_by_its_own_ref(stage: Stage) -> None:
    """A ref names one element, whatever stands before and after it."""
    stage.show(f"<button id=a>Go</button><button id=b>Go</button><button id=c>Go</button>{CLICKS}")
    refs = re.findall(r"\[(e\d+)", "".join(stage.outline()))
    assert len(refs) == 3
    for ref in reversed(refs):
        stage.ok("click_element", selector=ref)
    assert [event["id"] for event in stage.heard("click")] == ["c", "b", "a"]


@pytest.mark.core
def test_a_click_scrolls_its_element_into_view(stage: Stage) -> None:
    """An element out of sight, in the page and in a scrolling part of it, is scrolled to and clicked."""
    stage.show(
        "<div style='height:3000px'></div><div style='height:100px;overflow:auto'><div style='height:900px'></div>"
        f"<button id=b>Go</button></div><div style='height:3000px'></div>{CLICKS}"
    )
    stage.ok("click_element", selector="#b")
    assert [event["id"] for event in stage.heard("click")] == ["b"]


def test_a_click_without_scroll_to_view_takes_what_can_be_seen_alone(stage: Stage) -> None:  # W52
    """`scrollToView: false` leaves the page where it is: an element outside the viewport is refused, others clicked."""
    stage.show(f"<button id=a>Here</button><div style='height:3000px'></div><button id=b>There</button>{CLICKS}")
    text = refused(stage.call("click_element", selector="#b", scrollToView=False, timeout=100), "not_actionable")
    assert "is outside the viewport. Scroll to it first, or omit scrollToView." in text
    stage.ok("click_element", selector="#a", scrollToView=False)
    stage.ok("click_element", selector="#b", scrollToView=True)
    assert [event["id"] for event in stage.heard("click")] == ["a", "b"]


def test_a_click_on_a_checkbox_covered_by_its_label_checks_it(stage: Stage) -> None:
    """A styled checkbox lies under its label: the click goes through it to the box."""
    stage.show(
        "<label style='position:relative'><input type=checkbox id=b style='opacity:0;position:absolute'>"
        "<span style='position:absolute;left:0;top:0;width:30px;height:30px;background:#09f'></span>Agree</label>"
    )
    stage.ok("click_element", selector="#b")
    assert stage.js("b.checked") is True


def test_a_link_wrapped_over_two_lines_is_clicked_on_its_text(stage: Stage) -> None:
    """The middle of a wrapped link's box is beside it; the click lands on the words."""
    stage.show(
        "<p style='width:200px'>long words before the link <a id=b href='#there'>which breaks over</a> after it</p>"
    )
    assert stage.ok("click_element", selector="#b")["url"].endswith("#there")


def test_a_click_reports_what_it_changed_by_default(stage: Stage) -> None:
    """The answer comes when the page has settled, and lists what appeared, disappeared and changed, with refs."""
    stage.show(
        "<button onclick=\"this.textContent='Added';out.textContent='1 in cart';gone.remove()\">Add</button>"
        "<p id=gone>nothing yet</p><output id=out></output>"
    )
    answer = stage.call("click_element", selector="button")
    change = answer.data["stateChange"]
    assert [line.partition(" [")[0] for line in change["changed"]] == ['button "Added"']
    assert change["disappeared"] == ["text: nothing yet"]
    assert "text: 1 in cart" in change["appeared"]
    assert answer.data["stable"] is True
    for line in [*change["changed"], *change["disappeared"], *change["appeared"]]:
        assert line in answer.text


@pytest.mark.smoke
@pytest.mark.core
def test_a_click_that_navigates_reports_the_new_page(stage: Stage) -> None:
    """The answer comes when the new page has settled, with its URL, title and outline with refs."""
    there = stage.page("<h1>Welcome</h1><button>Next</button>", title="There")
    here = stage.show(f"<a href='{there}'>go</a>", title="Here")
    answer = stage.ok("click_element", selector="text=go")
    assert (answer["url"], answer["title"]) == (there, "There")
    assert answer["stateChange"]["url"] == {"from": here, "to": there}
    assert answer["stateChange"]["title"] == {"from": "Here", "to": "There"}
    appeared = answer["stateChange"]["appeared"]
    assert appeared[0].startswith('heading "Welcome"')
    stage.ok("click_element", selector=appeared[1])


def test_observe_none_reports_only_url_and_title(stage: Stage) -> None:
    """An answer without observation comes at once and has only URL and title."""
    url = stage.show("<button onclick='later = setInterval(() => { this.textContent += 1 }, 20)'>Go</button>")
    answer = stage.ok("click_element", selector="button", observe="none")
    assert set(answer) - {"session"} == {"url", "title"}
    assert answer["url"] == url


def test_observe_outline_adds_the_outline_to_the_answer(stage: Stage) -> None:
    """The outline of the page is in the data and in the text of the answer."""
    stage.show("<button onclick='document.body.append(`done`)'>Go</button>")
    answer = stage.call("click_element", selector="button", observe="outline")
    assert answer.data["outline"].splitlines()[-1] == "- text: done"
    assert answer.data["outline"] in answer.text


def test_a_click_that_removes_its_button_succeeds(stage: Stage) -> None:
    """The removal of the clicked element is a result like any other."""
    stage.show("<button onclick='this.remove()'>Go</button>")
    change = stage.ok("click_element", selector="button")["stateChange"]
    assert change["disappeared"] == ['button "Go"']


@pytest.mark.core
def test_elements_in_open_shadow_roots_are_clicked(stage: Stage) -> None:
    """Elements in nested open shadow roots are clicked by CSS, by text and by ref."""
    stage.show(
        "<x-a></x-a><script>clicks = 0; const make = host => host.attachShadow({mode: 'open'});"
        "const inner = make(document.querySelector('x-a')); inner.innerHTML = '<x-b></x-b>';"
        "make(inner.firstChild).innerHTML = '<button id=deep>Deep</button>';"
        "inner.firstChild.shadowRoot.querySelector('button').onclick = e => { clicks += e.isTrusted }</script>"
    )
    for selector in ("#deep", "text=Deep", stage.ref('button "Deep"')):
        stage.ok("click_element", selector=selector)
    assert stage.js("clicks") == 3


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"count": 4}, "'count'"),
        ({"button": "fourth"}, "'button' must be 'left', 'middle' or 'right'"),
        ({"modifiers": ["Hyper"]}, "'modifiers[0]'"),
        ({"timeout": -1}, "'timeout'"),
        ({"observe": "all"}, "'observe' must be 'none', 'change' or 'outline'"),
    ],
)
def test_wrong_click_arguments_are_refused_by_name(stage: Stage, arguments: dict[str, object], expected: str) -> None:
    """The error names the wrong argument and valid ones."""
    assert expected in refused(stage.call("click_element", selector="button", **arguments), "invalid_argument")
