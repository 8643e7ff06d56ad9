"""get_text: lines, indentation, columns and values as a reader sees them."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

PYTHON = "def total(prices):\n    if not prices:\n        return 0\n\n    return sum(prices)"

CODEMIRROR_5 = """<div class=CodeMirror><div style='overflow:hidden;position:relative;width:3px;height:0'>
<textarea style='position:absolute;bottom:-1em;padding:0;width:1px;height:1em'>typed here</textarea></div>
<div class=CodeMirror-code role=presentation>%s</div></div>
<style>.CodeMirror-line { white-space: pre; margin: 0 }</style>"""
CODEMIRROR_6 = """<div class=cm-scroller><div class=cm-content contenteditable role=textbox>%s</div></div>
<style>.cm-content { white-space: pre } .cm-line { display: block }</style>"""
MONACO = """<div class=monaco-editor style='position:relative;height:200px'><textarea
style='position:absolute;width:1px;height:1px;border:0;padding:0'>typed here</textarea>
<div class=view-lines role=presentation>%s</div></div>
<style>.view-lines { white-space: nowrap } .view-line { position: absolute; left: 0; width: 100%%; height: 19px }
</style>"""
ACE = """<div class=ace_editor style='position:relative;height:200px'>
<textarea class=ace_text-input style='position:absolute;opacity:0;width:6px;height:14px'>typed here</textarea>
<div class='ace_layer ace_marker-layer'><div class=ace_active-line></div></div>
<div class='ace_layer ace_text-layer'>%s</div></div><style>
.ace_layer { position: absolute; white-space: pre; height: 100%%; width: 100%%; top: 0 }
.ace_line { position: absolute; left: 0; right: 0; height: 14px } .ace_active-line { position: absolute; height: 14px }
</style>"""


def _rows(line: str, empty: str) -> str:
    return "".join(line % row if row else empty for row in PYTHON.split("\n"))


def _placed(line: str, height: int, space: str) -> str:
    """Write lines that are placed by their top, the last of them first, as an editor adds lines that come into view."""
    rows = [line % (height * n, row.replace(" ", space)) for n, row in enumerate(PYTHON.split("\n"))]
    return "".join([rows[-1], *rows[:-1]])


EDITORS = {
    "CodeMirror 5": CODEMIRROR_5 % _rows("<div><pre class=CodeMirror-line><span>%s</span></pre></div>",
        "<div><pre class=CodeMirror-line><span>\u200b</span></pre></div>"),
    "CodeMirror 6": CODEMIRROR_6 % _rows("<div class=cm-line><span>%s</span></div>", "<div class=cm-line><br></div>"),
    "Monaco": MONACO % _placed("<div class=view-line style='top:%dpx'><span>%s</span></div>", 19, "&nbsp;"),
    "Ace": ACE % _placed("<div class=ace_line style='top:%dpx'>%s</div>", 14, " "),
}  # fmt: skip

ROW = "<div role=row style='display:flex'><div role=gridcell>%s</div><div role=gridcell>%d</div></div>"
GRID = f"<div role=grid>{ROW % ('Mug', 4)}{ROW % ('Tea', 2)}</div>"
COLUMN = "<span style='display:table-cell'>%s</span>"


@pytest.mark.parametrize("editor", EDITORS)
def test_code_in_an_editor_keeps_its_lines_and_indentation(editor: str, stage: Stage) -> None:
    """Lines come from top to bottom, with empty ones; the hidden field that takes the input is no part of the text."""
    stage.show(f"<p>Before</p><div id=editor>{EDITORS[editor]}</div><p>After</p>")
    assert stage.ok("get_text", selector="#editor")["text"] == PYTHON
    assert stage.ok("get_text")["text"] == f"Before\n{PYTHON}\nAfter"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>a:\n  - b\n\n\tc  d</pre>", "a:\n  - b\n\n\tc  d"),
        ("<p>Run</p><pre><code>  x = 1\n  y = 2\n</code></pre><p>twice.</p>", "Run\n  x = 1\n  y = 2\ntwice."),
        ("<div style='white-space:pre-wrap'>Dear Ann,\n\n  thank you</div>", "Dear Ann,\n\n  thank you"),
        ("<div style='white-space:pre-line'>one   word\n  two</div>", "one word\ntwo"),
        ("<p>one   word\n  two</p>", "one word two"),
        ("if x:<br>&nbsp; &nbsp; return x", "if x:\n    return x"),
        ("<p>one</p><br><p>two<br><br><br>three</p>", "one\n\ntwo\n\nthree"),
        ("<div style='white-space:pre;display:flex'>\n\n<b>a</b>\n\n<b>b</b>\n</div>", "a\nb"),
    ],
)
def test_text_keeps_the_white_space_that_css_keeps(html: str, text: str, stage: Stage) -> None:
    """Other white space stays one space, and what only separates elements is none."""
    stage.show(f"<main>{html}</main>")
    assert stage.ok("get_text", selector="main")["text"] == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<table><tr><th>Item<th>Price<tr><td>Mug<td>4,00</table>after", "Item\tPrice\nMug\t4,00\nafter"),
        ("<table><tr><td>Mug<td><td>4,00<td><tr><td><br><td>a<br>b<td>c</table>", "Mug\t\t4,00\n\ta\nb\tc"),
        ("<table><tr><td><p>Mug</p><td><div>big</div><td> <b>4</b> </table>", "Mug\tbig\t4"),
        (GRID, "Mug\t4\nTea\t2"),
        (f"<div style='display:table'>{COLUMN % 'a'}{COLUMN % 'b'}</div>c", "a\tb\nc"),
    ],
)
def test_the_cells_of_a_row_are_on_one_line_with_tabs_between(html: str, text: str, stage: Stage) -> None:
    """An empty cell keeps its column, and blocks inside a cell do not end the row."""
    stage.show(f"<main>{html}</main>")
    assert stage.ok("get_text", selector="main")["text"] == text


def test_text_holds_the_values_of_fields_as_they_are_shown(stage: Stage) -> None:
    """A textarea keeps its lines, a password is masked, a closed select shows its choice and a list all options."""
    stage.show(
        "<main>Name <input value=Ann> <input type=password value=open-sesame> <input type=checkbox value=yes>"
        "<textarea>no\n  hurry</textarea><select><option>S<option selected>M</select>"
        "<select size=3><option>red<option>blue</select><input type=submit value=Send>"
        "<input value=tracked style='opacity:0'></main>"
    )
    assert stage.ok("get_text", selector="main")["text"] == "Name Ann ••• no\n  hurry M red\nblue Send"
    assert stage.ok("get_text", selector="textarea")["text"] == "no\n  hurry"
    stage.ok("set_value", selector="textarea", value="later")
    assert stage.ok("get_text", selector="textarea")["text"] == "later"


def test_the_value_of_a_field_is_no_text_that_is_looked_for(stage: Stage) -> None:
    """A wait for a message does not end while the message is only in the field it is typed into."""
    stage.show("<input value='Hello there'><button onclick=\"log.textContent = 'Hello there'\">Send</button><p id=log>")
    waiting = {"text": "Hello there", "timeout": 200}
    assert stage.call("wait_for", **waiting).code == "timeout"
    stage.ok("click_element", selector="button")
    assert stage.ok("wait_for", **waiting)
