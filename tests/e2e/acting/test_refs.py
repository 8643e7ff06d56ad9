"""Refs: an element by the role and name that its caller was told; another thing in its place is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

PRESSED = "<script>pressed = []; addEventListener('click', event => pressed.push(event.target.textContent))</script>"

QUEUE = (
    "<h1>Queue</h1><div id=q></div><script>draw = (...names) => { while (q.children.length < names.length) "
    "q.append(document.createElement('button')); [...q.children].forEach((one, n) => { one.hidden = n >= names.length; "
    "one.textContent = names[n] ?? ''; }); }</script>" + PRESSED
)
"""A list that is drawn into the same buttons each time."""

PLAYER = (
    "<div role=toolbar><button id=p>Play</button><button id=m>Mute</button><button id=f>Follow</button></div><script>"
    "const turn = (one, ...names) => { one.onclick = () => { one.textContent = names[+(one.textContent === names[0])]; "
    "done.push(one.textContent); }; }; done = []; turn(p, 'Play', 'Pause'); turn(m, 'Mute', 'Unmute'); "
    "f.onclick = () => setTimeout(() => { f.textContent = 'Following'; }, 40);</script>"
)
"""A toolbar whose buttons say what the next click does."""


def draw(stage: Stage, *names: str) -> None:
    """Draw the list anew, without an answer that tells of it."""
    stage.js(f"draw(...{list(names)!r})")


def click_steps(stage: Stage, *refs: str) -> Any:
    """Click one after the other in one sequence."""
    return stage.call("execute_sequence", actions=[{"action": "click_element", "selector": ref} for ref in refs])


@pytest.mark.required
def test_a_ref_whose_element_has_another_name_is_refused_with_the_ref_of_the_one_that_has_it(stage: Stage) -> None:
    """The list is sorted anew in the same buttons: nothing is pressed, the ref in the error presses the right one."""
    stage.show(QUEUE)
    draw(stage, "Call Ann", "Call Bob", "Call Cleo")
    bob = stage.ref('button "Call Bob"')
    draw(stage, "Call Cleo", "Call Ann", "Call Bob")
    text = refused(stage.call("click_element", selector=bob), "stale_ref")
    assert f'{bob} was button "Call Bob" and is "Call Ann" now.' in text
    instead = text.partition("It is ")[2].partition(" now")[0]
    assert stage.js("pressed") == []
    assert stage.ok("click_element", selector=instead)["target"] == 'button "Call Bob"'
    assert stage.js("pressed") == ["Call Bob"]


def test_a_ref_that_was_refused_is_refused_again_until_the_page_is_looked_at(stage: Stage) -> None:
    """An error is no outline: the same call again presses nothing, either."""
    stage.show(QUEUE)
    draw(stage, "Open Mars", "Open Venus")
    mars = stage.ref('button "Open Mars"')
    draw(stage, "Open Venus")
    for _ in range(2):
        text = refused(stage.call("click_element", selector=mars), "stale_ref")
        assert "No other element has that name now, or several have it: look with get_visible_elements." in text
    assert stage.ref('button "Open Venus"') == mars
    stage.ok("click_element", selector=mars)
    assert stage.js("pressed") == ["Open Venus"]


def test_rows_that_are_used_again_while_their_table_scrolls_are_other_rows(stage: Stage) -> None:
    """A table draws other rows into the same elements: checkbox and button of a row are refused, as is an option."""
    stage.show(
        "<table><tbody id=t></tbody></table><script>fill = from => { t.innerHTML || (t.innerHTML = "
        "'<tr><td><input type=checkbox><td><button></button></tr>'.repeat(3)); [...t.rows].forEach((row, n) => { "
        "const name = ['Fig', 'Kiwi', 'Lime', 'Pear', 'Plum', 'Quince'][from + n]; "
        "row.cells[0].firstChild.ariaLabel = 'Take ' + name; row.cells[1].firstChild.textContent = 'Eat ' + name; "
        "}); };"
        f"fill(0)</script>{PRESSED}"
    )
    take, eat = stage.ref('checkbox "Take Kiwi"'), stage.ref('button "Eat Kiwi"')
    stage.js("fill(2)")
    assert "Take Pear" in refused(stage.call("set_value", selector=take, value="true"), "stale_ref")
    assert "Eat Pear" in refused(stage.call("hover", selector=eat), "stale_ref")
    assert not stage.js("t.querySelector(':checked')")
    stage.js("fill(0)")
    stage.ok("set_value", selector=take, value="true")


def test_a_change_that_an_answer_told_is_known(stage: Stage) -> None:
    """The result of a click tells that another button changed; its ref presses what it says now."""
    stage.show("<button id=a onclick=\"b.textContent = 'Leave'\">Join</button><button id=b>Knock</button>" + PRESSED)
    join, knock = stage.ref('button "Join"'), stage.ref('button "Knock"')
    assert stage.ok("click_element", selector=join)["stateChange"]["changed"] == [f'button "Leave" [{knock}]']
    stage.ok("click_element", selector=knock)
    assert stage.js("pressed") == ["Join", "Leave"]


def test_a_step_cannot_know_what_the_step_before_has_changed_elsewhere(stage: Stage) -> None:
    """A sequence was written before its first step: a button that this renames is not pressed by the second."""
    stage.show("<button id=a onclick=\"b.textContent = 'Delete'\">Edit</button><button id=b>Save</button>" + PRESSED)
    answer = click_steps(stage, stage.ref('button "Edit"'), stage.ref('button "Save"'))
    assert 'was button "Save" and is "Delete" now' in refused(answer, "stale_ref")
    assert stage.js("pressed") == ["Edit"]


def test_a_look_among_the_steps_of_a_sequence_is_not_read_before_its_end(stage: Stage) -> None:
    """An outline between two steps does not make the second one mean another row."""
    stage.show(QUEUE)
    draw(stage, "Feed cat", "Feed dog")
    cat = stage.ref('button "Feed cat"')
    draw(stage, "Feed dog", "Feed cat")
    steps = [{"action": "get_visible_elements"}, {"action": "click_element", "selector": cat}]
    refused(stage.call("execute_sequence", actions=steps), "stale_ref")
    stage.ok("click_element", selector=cat)
    assert stage.js("pressed") == ["Feed dog"]


@pytest.mark.required
def test_a_toggle_is_the_same_button_in_every_step_of_a_sequence(stage: Stage) -> None:
    """Play becomes Pause by the caller's own click, and its ref presses it again, also after another was pressed."""
    stage.show(PLAYER)
    play, mute = stage.ref('button "Play"'), stage.ref('button "Mute"')
    answer = click_steps(stage, play, mute, play, mute, play)
    assert not answer.failed, answer.text
    assert stage.js("done") == ["Pause", "Unmute", "Play", "Mute", "Pause"]


def test_a_button_that_the_own_click_renames_later_is_the_same_button(stage: Stage) -> None:
    """Follow becomes Following a moment after the click, which no answer tells: its ref is good for a hover."""
    stage.show(PLAYER)
    follow = stage.ref('button "Follow"')
    stage.ok("click_element", selector=follow, observe="none")
    stage.ok("wait_for", selector="#f", text="Following")
    stage.ok("hover", selector=follow)


def test_one_of_many_equal_buttons_is_the_same_when_the_own_click_renamed_it(stage: Stage) -> None:
    """The others are called Follow as before: that name never said which one was meant."""
    follow = "<li><button onclick=\"this.textContent = this.textContent === 'Follow' ? 'Following' : 'Follow'\">Follow"
    stage.show(f"<ul>{follow * 4}</ul>{PRESSED}")
    second = [line for line in stage.outline() if 'button "Follow"' in line][1].partition("[")[2].partition("]")[0]
    assert not click_steps(stage, second, second).failed
    assert stage.js("[...document.querySelectorAll('button')].map(one => one.textContent)") == ["Follow"] * 4


def test_a_row_that_the_own_click_moved_is_not_the_element_where_it_was(stage: Stage) -> None:
    """A click puts its row on top, in the same elements: the second click of the sequence would press another row."""
    stage.show(
        f"{QUEUE}<script>names = ['Chat Ida', 'Chat Leo', 'Chat Mia']; draw(...names); q.onclick = ({{target}}) => {{ "
        "const name = target.textContent; names = [name, ...names.filter(one => one !== name)]; draw(...names); }"
        "</script>"
    )
    mia, ida = stage.ref('button "Chat Mia"'), stage.ref('button "Chat Ida"')
    assert f"It is {ida} now" in refused(click_steps(stage, mia, mia), "stale_ref")


def test_a_row_that_was_clicked_once_is_another_when_its_list_is_filled_anew(stage: Stage) -> None:
    """All rows have other names, and none has the old one: a click of before does not make them the same."""
    stage.show(QUEUE)
    draw(stage, "Pick oak", "Pick elm", "Pick fir")
    oak = stage.ref('button "Pick oak"')
    stage.ok("click_element", selector=oak)
    draw(stage, "Pick yew", "Pick ash", "Pick box")
    refused(stage.call("click_element", selector=oak), "stale_ref")
    assert stage.js("pressed") == ["Pick oak"]


@pytest.mark.parametrize(("before", "after"), [("Inbox 3", "Inbox 4"), ("Cart (9)", "Cart (10)"), ("3:59", "4:00")])
def test_a_number_in_a_name_may_change(stage: Stage, before: str, after: str) -> None:
    """A counter or a clock is the same element with the next number."""
    stage.show(f"<button id=b>{before}</button><button>Help 24</button>{PRESSED}")
    counter = stage.ref(f'button "{before}"')
    stage.js(f"b.textContent = '{after}'")
    assert stage.ok("click_element", selector=counter)["target"] == f'button "{after}"'


def test_a_number_that_the_own_click_changes_is_no_other_element(stage: Stage) -> None:
    """A counter among others like it counts the caller's own clicks, in one sequence."""
    like = "<li><button onclick=\"this.textContent = 'Like ' + (1 + +this.textContent.split(' ')[1])\">Like "
    stage.show(f"<ul>{like}2</button>{like}5</button>{like}9</button></ul>")
    fifth = stage.ref('button "Like 5"')
    assert not click_steps(stage, fifth, fifth, fifth).failed
    assert stage.ref('button "Like 8"') == fifth


def test_a_number_that_tells_one_row_from_another_may_not_change(stage: Stage) -> None:
    """Other rows have the same name but for the number, now or when it was told: the number is the name."""
    stage.show(QUEUE)
    draw(stage, "Row 1", "Row 2", "Row 3")
    third = stage.ref('button "Row 3"')
    draw(stage, "Row 2", "Row 3", "Row 4")
    assert 'was button "Row 3" and is "Row 4" now' in refused(stage.call("click_element", selector=third), "stale_ref")
    first = stage.ref('button "Row 2"')
    draw(stage, "Row 8")
    assert 'was button "Row 2" and is "Row 8" now' in refused(stage.call("click_element", selector=first), "stale_ref")
    assert stage.js("pressed") == []


def test_state_and_value_may_differ(stage: Stage) -> None:
    """A field that was filled and a tab that was chosen meanwhile are what they were told to be."""
    stage.show("<label>City <input id=c></label><button role=tab id=t aria-selected=false>Map</button>")
    city, tab = stage.ref('textbox "City"'), stage.ref('tab "Map"')
    stage.js("c.value = 'Rome', t.ariaSelected = 'true'")
    stage.ok("set_value", selector=city, value="Oslo")
    stage.ok("click_element", selector=tab)


def test_another_role_is_another_thing(stage: Stage) -> None:
    """The error names both roles where they differ."""
    stage.show("<div role=button id=b tabindex=0>Terms</div>")
    ref = stage.ref('button "Terms"')
    stage.js("b.setAttribute('role', 'link')")
    text = refused(stage.call("click_element", selector=ref), "stale_ref")
    assert f'{ref} was button "Terms" and is link "Terms" now.' in text


@pytest.mark.parametrize("host", ["frame", "other origin", "shadow root"])
def test_refs_in_frames_and_shadow_roots_are_what_they_were_told_to_be(stage: Stage, host: str) -> None:
    """The list is in a frame of the same or of another origin, or in a shadow root."""
    inner = f"{QUEUE}<script>draw('Send Ada', 'Send Max'); onmessage = () => draw('Send Max', 'Send Ada')</script>"
    if host == "shadow root":
        stage.show(
            "<div id=h></div><script>h.attachShadow({mode: 'open'}).innerHTML = "
            "'<button>Send Ada</button><button>Send Max</button>'</script>"
        )
        swap = "(([a, b]) => [a.textContent, b.textContent] = [b.textContent, a.textContent])(h.shadowRoot.children)"
    else:
        url = stage.page(inner)
        url = url.replace("127.0.0.1", "localhost") if host == "other origin" else url
        stage.show(f'<iframe id=f src="{url}" width=500 height=200></iframe>')
        swap = "f.contentWindow.postMessage('swap', '*')"
    stage.ok("wait_for", selector="text=Send Ada")
    ada, other = stage.ref('button "Send Ada"'), stage.ref('button "Send Max"')
    stage.js(swap)
    stage.ok("execute_script", script="await new Promise(done => setTimeout(done))")
    text = refused(stage.call("click_element", selector=ada), "stale_ref")
    assert f"It is {other} now" in text


def test_reading_a_control_by_ref_is_refused_once_another_one_is_what_was_told(stage: Stage) -> None:
    """The text of another row is no answer; of a heading the ref reads what it says now."""
    stage.show(QUEUE)
    draw(stage, "Post x", "Post y")
    post, heading = stage.ref('button "Post x"'), stage.ref('heading "Queue"')
    draw(stage, "Post y", "Post x")
    refused(stage.call("get_text", selector=post), "stale_ref")
    stage.js("document.querySelector('h1').textContent = 'Empty'")
    assert stage.ok("get_text", selector=heading)["text"] == "Empty"


def test_a_script_knows_what_it_has_read(stage: Stage) -> None:
    """A script looks again and goes on with the same ref: it has read the second outline."""
    stage.show(QUEUE)
    draw(stage, "Lift A", "Lift B")
    script = """
        const look = async () => (await page.getVisibleElements()).outline;
        const first = (await look()).match(/Lift A" \\[(e\\d+)/)[1];
        await page.executeScript({script: 'draw("Lift C", "Lift B")'});
        await look();
        await page.clickElement({selector: first});
    """
    answer = stage.call("run_script", script=script)
    assert not answer.failed, answer.text
    assert stage.js("pressed") == ["Lift C"]


def test_the_result_of_an_act_by_ref_names_what_was_pressed(stage: Stage) -> None:
    """In text and data; an act by another selector names nothing."""
    stage.show("<button>Print</button>")
    answer = stage.call("click_element", selector=stage.ref('button "Print"'))
    assert answer.text.startswith('Done: button "Print". ')
    assert answer.data["target"] == 'button "Print"'
    assert "target" not in stage.ok("click_element", selector="text=Print")
