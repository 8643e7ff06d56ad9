"""set_value and select_option on comboboxes and list boxes that a page made of its own elements."""

from __future__ import annotations

import json
from html import escape

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

FRUITS = ["Apple", "Banana", "Cherry", "Date"]

SCRIPT = """<script>
const fruits = FRUITS; state = { chosen: [], trusted: [] };
const make = (html) => {
  const holder = document.createElement('template');
  holder.innerHTML = html;
  return holder.content.firstChild;
};
const lister = (box, { among = () => fruits, into = document.body, pick, name = 'lb' }) => {
  const close = () => { document.getElementById(name)?.remove(); box.setAttribute('aria-expanded', false) };
  const open = () => {
    close();
    const list = make(`<ul id=${name} role=listbox style="position: absolute; top: 200px">`);
    list.onmousedown = event => event.stopPropagation();
    for (const each of among()) { const item = make(`<li role=option data-value="${each.toLowerCase()}">${each}</li>`);
      item.onmousedown = event => event.preventDefault();
      item.onclick = event => { state.chosen.push(each); state.trusted.push(event.isTrusted); close(); pick(each) };
      list.append(item) }
    into.append(list); box.setAttribute('aria-expanded', true) };
  return { open, close };
};
</script>""".replace("FRUITS", json.dumps(FRUITS))

BUTTON = f"""{SCRIPT}<span id=l>Fruit</span><button id=f role=combobox aria-labelledby=l aria-expanded=false
aria-controls=lb><span>Choose</span></button><script>{{
const {{ open, close }} = lister(f, {{ pick: value => f.textContent = value }});
f.onclick = () => f.getAttribute('aria-expanded') === 'true' ? close() : open() }}</script>"""
"""A button that opens a list at the end of the body, as Radix does."""

MENU_BUTTON = BUTTON.replace("role=combobox", "aria-haspopup=listbox")
"""The same without a role of its own, as Headless UI does."""

FILTERED = f"""{SCRIPT}<label>Fruit <input id=f role=combobox aria-expanded=false></label><script>{{
const among = () => fruits.filter(each => each.toLowerCase().includes(f.value.toLowerCase()));
const {{ open, close }} = lister(f, {{ among, pick: value => f.value = value }});
f.oninput = () => {{ open(); f.setAttribute('aria-controls', 'lb') }}; f.onblur = close }}</script>"""
"""A field that filters its list by what is typed, as MUI does."""

EMPTIED = f"""{SCRIPT}<div id=around style="border: 1px solid; width: 200px"><div id=shown>Select…</div><input id=f
aria-label=Fruit role=combobox style="width: 2px; border: 0; outline: 0; padding: 0; opacity: 0"></div><script>{{
const among = () => fruits.filter(each => each.includes(f.value));
const {{ open }} = lister(f, {{ among, into: around, pick: value => {{ f.value = ''; shown.textContent = value }} }});
around.onmousedown = open; f.oninput = open }}</script>"""
"""A field of two pixels that is emptied once something is chosen, as in react-select."""

READONLY = f"""{SCRIPT}<div id=around style="position: relative; width: 200px; height: 30px"><input id=f role=combobox
readonly aria-label=Fruit><div style="position: absolute; inset: 0; background: white" id=shown>None</div></div>
<script>{{
const {{ open }} = lister(f, {{ pick: value => shown.textContent = value }}); around.onclick = open }}</script>"""
"""A field that takes no typing and is covered by its value, as in Element Plus and Ant Design."""

WRAPPED = f"""{SCRIPT}<div id=f role=combobox aria-haspopup=listbox aria-label=Fruit aria-owns=lb><input id=in></div>
<script>{{
const among = () => fruits.filter(each => each.includes(document.getElementById('in').value));
const field = document.getElementById('in');
const {{ open }} = lister(f, {{ among, pick: value => field.value = value }}); field.oninput = open }}</script>"""
"""The combobox of ARIA 1.1, around its field."""

LISTED = f"""{SCRIPT}<label>Fruit <input id=f role=listbox aria-controls=lb aria-expanded=false></label><script>{{
const {{ open, close }} = lister(f, {{ pick: value => f.value = value }});
f.onfocus = open; f.onblur = close }}</script>"""
"""A field with the role of its list, as in Gradio."""

KINDS = {
    "button": BUTTON, "menu button": MENU_BUTTON, "filtered": FILTERED, "emptied": EMPTIED, "readonly": READONLY,
    "wrapped": WRAPPED, "listed": LISTED,
}  # fmt: skip


@pytest.mark.parametrize("html", KINDS.values(), ids=KINDS.keys())
def test_set_value_chooses_the_option_of_that_name(stage: Stage, html: str) -> None:
    """The list is opened, and the option of the name clicked, whatever the combobox is made of."""
    stage.show(html)
    assert "warnings" not in stage.ok("set_value", selector="#f", value="Cherry")
    assert stage.js("state") == {"chosen": ["Cherry"], "trusted": [True]}


@pytest.mark.parametrize("html", [BUTTON, FILTERED, EMPTIED], ids=["button", "filtered", "emptied"])
@pytest.mark.parametrize("given", ["Date", "date"], ids=["name", "value"])
def test_select_option_chooses_in_a_combobox(stage: Stage, html: str, given: str) -> None:
    """An option of a combobox is chosen by its name or its value."""
    stage.show(html)
    assert "warnings" not in stage.ok("select_option", selector="#f", values=[given])
    assert stage.js("state.chosen") == ["Date"]


COMES = "let moves = 0; addEventListener('pointermove', () => { if (list() && moves++ < 2) move() }, true);"
MOVES = {
    "lines before it": """const list = () => document.querySelector('li');
const move = () => list().before(make('<li>Ad</li>'));""",
    "the list slides": """const list = () => document.getElementById('lb');
const move = () => list().style.top = `${220 + 30 * moves}px`;""",
    "the same elements": """const list = () => document.getElementById('lb');
const move = () => {
  fruits.unshift(fruits.pop());
  [...list().children].forEach((each, at) => {
    each.textContent = fruits[at];
    each.onclick = () => { state.chosen.push(fruits[at]); list().remove(); f.textContent = fruits[at] } }) };""",
}
"""Lists that move twice when the pointer has come to one of their options."""


def moving(moves: str) -> str:
    """Return the page of a button whose list moves."""
    return BUTTON.replace("const { open", f"{MOVES[moves]} {COMES} const {{ open")


@pytest.mark.parametrize("moves", MOVES)
def test_no_other_option_is_chosen_in_a_list_that_moves_as_the_pointer_comes(stage: Stage, moves: str) -> None:
    """A click that would meet another option of the list is kept from it; the named one is clicked where it is then."""
    stage.show(moving(moves))
    assert "warnings" not in stage.ok("set_value", selector="#f", value="Cherry")
    assert stage.js("state.chosen") == ["Cherry"]


@pytest.mark.required
def test_no_other_option_is_chosen_in_a_list_that_moves_in_a_frame(stage: Stage) -> None:
    """The page of the list is another one than that which is looked at first."""
    stage.show(f'<iframe width=400 height=400 srcdoc="{escape(moving("the same elements"))}"></iframe>')
    assert "warnings" not in stage.ok("set_value", selector="iframe >> #f", value="Cherry")
    assert stage.js("document.querySelector('iframe').contentWindow.state.chosen") == ["Cherry"]


def test_an_option_that_never_rests_is_a_miss(stage: Stage) -> None:
    """A list that moves whenever the pointer comes is given up, and nothing of it was chosen."""
    stage.show(
        moving("the list slides").replace("moves++ < 2", "moves++ < 200").replace("30 * moves", "30 * (moves % 9)")
    )
    text = refused(stage.call("set_value", selector="#f", value="Cherry"), "not_actionable")
    assert 'The pointer did not reach option "Cherry"' in text
    assert stage.js("state.chosen") == []


def test_a_combobox_that_shows_another_option_than_was_clicked_is_an_error(stage: Stage) -> None:
    """The name of another option tells that another one was taken."""
    stage.show(BUTTON.replace("pick: value => f.textContent = value", "pick: value => f.textContent = 'Date'"))
    text = refused(stage.call("set_value", selector="#f", value="Cherry"), "not_actionable")
    assert "The option 'Cherry' was clicked, and the combobox shows another one: 'Date'." in text


def test_a_combobox_may_show_a_code_of_what_was_chosen(stage: Stage) -> None:
    """What is the name of no option, such as a code or a count, says nothing against the choice."""
    stage.show(BUTTON.replace("pick: value => f.textContent = value", "pick: value => f.textContent = '1 selected'"))
    assert "warnings" not in stage.ok("set_value", selector="#f", value="Cherry")
    assert stage.js("state.chosen") == ["Cherry"]


@pytest.mark.core
def test_a_combobox_is_found_by_its_label_and_read_back(stage: Stage) -> None:
    """A choice by label is reported as the combobox shows it, and can be made again."""
    stage.show(BUTTON)
    for value in ("Banana", "Apple"):
        stage.ok("set_value", selector='role=combobox[name="Fruit"]', value=value)
        assert stage.js("f.textContent") == value


def test_what_is_typed_and_not_chosen_is_said_with_the_open_list(stage: Stage) -> None:
    """Text that names no option stays typed; the warning lists what the open list has, to be clicked."""
    stage.show(FILTERED)
    [warning] = stage.ok("set_value", selector="#f", value="an")["warnings"]
    assert warning.startswith(
        "'an' was typed and not chosen: no option has that name; the open list has option \"Banana\" [e"
    )
    ref = warning.partition('"Banana" [')[2].partition("]")[0]
    stage.ok("click_element", selector=ref)
    assert stage.js("[f.value, state.chosen]") == ["Banana", ["Banana"]]


def test_a_list_that_opens_only_with_key_events_is_opened(stage: Stage) -> None:
    """A combobox that listens for keys alone gets the text by keystrokes."""
    stage.show(FILTERED.replace("f.oninput =", "f.onkeyup ="))
    assert "warnings" not in stage.ok("set_value", selector="#f", value="Cherry")
    assert stage.js("[f.value, state]") == ["Cherry", {"chosen": ["Cherry"], "trusted": [True]}]


def test_a_combobox_that_opens_no_list_holds_what_was_typed(stage: Stage) -> None:
    """Without a list the text stays typed, and a warning says that nothing was chosen."""
    stage.show("<input id=f role=combobox aria-expanded=false>")
    [warning] = stage.ok("set_value", selector="#f", value="Ann")["warnings"]
    assert warning == "'Ann' was typed and not chosen: no option has that name; no list of options opened."
    assert stage.js("f.value") == "Ann"


@pytest.mark.parametrize(("tool", "given"), [("set_value", {"value": "Kiwi"}), ("select_option", {"values": ["Kiwi"]})])
def test_an_option_that_the_list_lacks_is_refused_with_the_open_list(
    stage: Stage, tool: str, given: dict[str, object]
) -> None:
    """The error lists the options of the list, which stays open, with their refs."""
    stage.show(BUTTON)
    text = refused(stage.call(tool, selector="#f", **given), "not_actionable")
    assert "'#f' cannot be set: no option is named 'Kiwi'; the open list has option \"Apple\" [e" in text
    assert "Give the name of one of its options, or click one." in text
    stage.ok("click_element", selector="text=Date")
    assert stage.js("state.chosen") == ["Date"]


def test_an_option_that_the_page_does_not_take_gives_a_warning(stage: Stage) -> None:
    """What the combobox shows after the click is read back, and a warning quotes it."""
    stage.show(BUTTON.replace("f.textContent = value", "1"))
    [warning] = stage.ok("set_value", selector="#f", value="Date")["warnings"]
    assert warning == "The option 'Date' was clicked, and the combobox shows 'Choose'."


def test_a_disabled_option_of_a_combobox_is_refused(stage: Stage) -> None:
    """A disabled option is named, and not clicked."""
    stage.show(BUTTON + "<script>f.addEventListener('click', () => lb.children[1].ariaDisabled = 'true')</script>")
    text = refused(stage.call("set_value", selector="#f", value="Banana"), "not_actionable")
    assert 'option "Banana"' in text
    assert "[disabled] is disabled" in text
    assert stage.js("state.chosen") == []


def test_options_that_are_loaded_late_are_waited_for(stage: Stage) -> None:
    """A list that shows nothing fitting while a request is in flight is waited for."""
    names = stage.site.page("/names", json.dumps(FRUITS))
    stage.show(
        f"{SCRIPT}<input id=f role=combobox aria-label=Fruit><script>let among = ['Loading…'];"
        "const { open } = lister(f, { among: () => among, pick: value => f.value = value });"
        "f.oninput = () => { open(); setTimeout(async () => { const reply = await fetch('"
        f"{names}'); setTimeout(async () => {{ among = await reply.json(); open() }}, 100) }}, 300) }}</script>"
    )
    assert "warnings" not in stage.ok("set_value", selector="#f", value="Cherry")
    assert stage.js("[f.value, state.chosen]") == ["Cherry", ["Cherry"]]


VIRTUAL = """<button id=f role=combobox aria-expanded=false aria-controls=lb aria-label=Row>None</button><script>
f.onclick = () => { f.setAttribute('aria-expanded', true); const list = document.createElement('div');
  list.id = 'lb'; list.setAttribute('role', 'listbox'); list.style = 'height: 100px; overflow: auto';
  const room = document.createElement('div'); room.style = `height: ${COUNT * 20}px; position: relative`;
  list.append(room);
  const draw = () => { const first = Math.floor(list.scrollTop / 20); room.replaceChildren();
    for (let n = first; n < Math.min(first + 8, COUNT); n += 1) { const option = document.createElement('div');
      option.setAttribute('role', 'option'); option.textContent = `Row ${n}`;
      option.style = `position: absolute; top: ${n * 20}px; height: 20px`;
      option.onclick = () => { f.textContent = `Row ${n}`; list.remove(); f.setAttribute('aria-expanded', false) };
      room.append(option) } };
  list.onscroll = () => requestAnimationFrame(draw); draw(); document.body.append(list); list.scrollTop = 400 };
</script>"""


@pytest.mark.parametrize("row", ["Row 3", "Row 197"])
def test_a_list_that_draws_only_what_is_in_view_is_scrolled(stage: Stage, row: str) -> None:
    """An option that is drawn only once its list is scrolled is found, before and after the present position."""
    stage.show(VIRTUAL.replace("COUNT", "200"))
    assert "warnings" not in stage.ok("set_value", selector="#f", value=row)
    assert stage.js("f.textContent") == row


LISTBOX = """<ul id=f role=listbox aria-label=Fruits ATTRIBUTES>OPTIONS</ul><script>
f.onclick = event => { const option = event.target.closest('[role=option]'); if (!option) return;
  const many = f.getAttribute('aria-multiselectable') === 'true';
  const was = option.getAttribute('aria-selected') === 'true';
  if (!many) for (const each of f.children) each.setAttribute('aria-selected', false);
  option.setAttribute('aria-selected', many ? !was : true) }</script>""".replace(
    "OPTIONS", "".join(f"<li role=option aria-selected=false>{each}</li>" for each in FRUITS)
)
SELECTED = "[...f.querySelectorAll('[aria-selected=true]')].map(each => each.textContent)"


def test_a_list_box_is_chosen_in_without_being_opened(stage: Stage) -> None:
    """In a list box of ARIA the option of the name is clicked; in one of several choices exactly the given ones are."""
    stage.show(LISTBOX.replace("ATTRIBUTES", ""))
    stage.ok("set_value", selector="#f", value="Banana")
    stage.ok("select_option", selector="#f", values=["Cherry"])
    assert stage.js(SELECTED) == ["Cherry"]
    stage.show(LISTBOX.replace("ATTRIBUTES", "aria-multiselectable=true"))
    for values in (["Apple", "Date"], ["Apple", "Date"], ["Banana", "Date"], []):
        stage.ok("select_option", selector="#f", values=values)
        assert stage.js(SELECTED) == values


def test_suggestions_of_a_search_field_are_not_chosen(stage: Stage) -> None:
    """A search field with suggestions is only typed in: to choose one would search at once."""
    stage.show(FILTERED.replace("<label>", "<search><label>").replace("</label>", "</label></search>"))
    assert "warnings" not in stage.ok("set_value", selector="#f", value="Cherry")
    assert stage.js("[f.value, state.chosen]") == ["Cherry", []]


def test_a_combobox_can_be_cleared(stage: Stage) -> None:
    """An empty value empties the field of a combobox, and chooses nothing."""
    stage.show(FILTERED)
    stage.ok("set_value", selector="#f", value="Cherry")
    assert "warnings" not in stage.ok("set_value", selector="#f", value="")
    assert stage.js("[f.value, state.chosen]") == ["", ["Cherry"]]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_a_combobox_in_a_frame_is_set(stage: Stage, host: str) -> None:
    """The list opens in the combobox's own frame, and the click is converted to the page."""
    told = "<p id=out></p><script>setInterval(() => out.textContent = state.chosen.join())</script>"
    inner = stage.page(BUTTON + told).replace("127.0.0.1", host)
    stage.show(f"<div style='height: 120px'></div><iframe src='{inner}' width=500 height=400></iframe>")
    stage.ok("set_value", selector="iframe >> #f", value="Cherry")
    stage.ok("wait_for", selector="#out", text="Cherry")


NEVER_FIELDS = {
    "<button id=f>Save</button>": 'button "Save"',
    "<p id=f>Some text</p>": "generic",
    "<a id=f href=#>More</a>": 'link "More"',
    "<h2 id=f>Title</h2>": 'heading "Title"',
    "<div id=f onclick='1'>Edit</div>": "generic",
}
"""What never takes a value, and its line in the outline."""


@pytest.mark.clock
@pytest.mark.parametrize("html", NEVER_FIELDS)
def test_what_never_becomes_a_field_is_refused_at_once(stage: Stage, html: str) -> None:
    """Refuses without waiting for the timeout."""
    stage.show(html)
    began = stage.js("performance.now()")
    refused(stage.call("set_value", selector="#f", value="2", timeout=20_000), "not_actionable")
    assert stage.js("performance.now()") - began < 10_000


@pytest.mark.parametrize(("html", "line"), NEVER_FIELDS.items())
def test_what_never_becomes_a_field_is_refused_with_what_to_do(stage: Stage, html: str, line: str) -> None:
    """The refusal names what it is, and says what to do instead."""
    stage.show(html)
    text = refused(stage.call("set_value", selector="#f", value="2", timeout=20_000), "not_actionable")
    assert f"'#f' cannot be acted on: {line}" in text
    assert "takes no value. Click it with click_element; if that opens a field, fill that one" in text


def test_an_empty_element_may_still_become_a_field(stage: Stage) -> None:
    """The place where an editor is mounted later is waited for."""
    stage.show("<div id=f style='height: 20px'></div><script>setTimeout(() => f.contentEditable = true, 400)</script>")
    stage.ok("set_value", selector="#f", value="Ann")
    assert stage.js("f.textContent") == "Ann"
