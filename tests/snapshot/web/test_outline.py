"""The outline: roles, names, states and values of a page's visible content."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from orchestrator.snapshot.methods import MARK, READY, SNAPSHOT, TEXT, VERIFY, WAIT
from tests.snapshot.web.chromium import Browser, without_refs

Outline = Callable[..., str]

LINES = {
    '<a href="#">Home</a>': '- link "Home"',
    "<a>Home</a>": "- text: Home",
    "<button>Add “Mug”</button>": '- button "Add “Mug”"',
    '<button>Say "hi" \\ bye</button>': '- button "Say \\"hi\\" \\\\ bye"',
    "<button disabled>Off</button>": '- button "Off" [disabled]',
    "<button aria-pressed=true>Bold</button>": '- button "Bold" [pressed]',
    "<button aria-expanded=false>More</button>": '- button "More" [collapsed]',
    "<button aria-label=Close>x</button>": '- button "Close"',
    "<button><img alt=Cart> 3</button>": '- button "Cart 3"',
    "<button title=Help></button>": '- button "Help"',
    "<input type=submit>": '- button "Submit"',
    '<input type=button value="Go">': '- button "Go"',
    '<label>Email <input value="a@b.c"></label>': '- textbox "Email" = "a@b.c"',
    "<label for=a>Name</label><input id=a required>": '- textbox "Name" [required]',
    "<input placeholder=Search type=search>": '- searchbox "Search"',
    "<input aria-label=N type=number value=3>": '- spinbutton "N" = "3"',
    "<input aria-label=V type=range value=30>": '- slider "V" = "30"',
    "<input aria-label=R readonly value=x>": '- textbox "R" [readonly] = "x"',
    "<input type=checkbox id=c checked><label for=c>I agree</label>": '- checkbox "I agree" [checked]',
    "<input type=radio aria-label=Red>": '- radio "Red"',
    "<label><input type=checkbox style='display:none' checked>Agree</label>": '- checkbox "Agree" [checked]',
    "<label>Dark<input type=checkbox role=switch hidden></label>": '- switch "Dark"',
    "<label for=d>A</label><label for=d>B</label><input id=d type=radio hidden disabled>": '- radio "A B" [disabled]',
    "<label for=u>Upload</label><input id=u type=file hidden>": '- generic "Upload" [clickable]',
    "<p style='width: 9px; height: 9px'>"
    "<input type=checkbox role=switch aria-label=Dark style='position: absolute; width: 0; height: 0'></p>": (
        '- switch "Dark"'
    ),
    "<div role=treeitem><p>Fruit</p><div role=group><div role=treeitem><b>Pear</b></div></div></div>": (
        '- treeitem "Fruit"\n  - treeitem "Pear"'
    ),
    "<div role=treeitem><p><label><input type=checkbox hidden>Bread</label></p></div>": (
        '- treeitem "Bread"\n  - checkbox "Bread"'
    ),
    "<canvas aria-label=Seats role=group><button>A1</button><p>A2</p></canvas>": '- group "Seats"\n  - button "A1"',
    "<div role=checkbox aria-checked=mixed>All</div>": '- checkbox "All" [mixed]',
    "<div role=switch aria-checked=true>Dark</div>": '- switch "Dark" [checked]',
    "<div role=tab aria-selected=true>One</div>": '- tab "One" [selected]',
    "<textarea aria-label=T>two\nlines</textarea>": '- textbox "T" = "two lines"',
    "<div contenteditable aria-label=Note>Hello</div>": '- textbox "Note" = "Hello"',
    "<h2>Shop</h2>": '- heading "Shop" [level=2]',
    "<div role=heading aria-level=4>Deep</div>": '- heading "Deep" [level=4]',
    "<nav aria-label=Main>x</nav>": '- navigation "Main"\n  - text: x',
    "<section>plain</section>": "- text: plain",
    "<section aria-label=News>x</section>": '- region "News"\n  - text: x',
    "<article><header>h</header></article>": "- article\n  - text: h",
    "<ul><li>One</ul>": "- list\n  - listitem\n    - text: One",
    "<img alt=Logo src=x width=9 height=9>": '- img "Logo"',
    "<img alt='' src=x width=9 height=9>": "",
    "<svg width=9 height=9><title>Star</title></svg>": '- img "Star"',
    "<svg><path d='M0 0h9v9z' /></svg>": "",
    "<svg><text y=9>Jan</text><text y=29>Feb</text><defs><text>no</text></defs></svg>": "- text: Jan Feb",
    "<svg><a href=/x><rect width=9 height=9 /><text y=9>Go</text></a></svg>": '- link "Go"',
    "<svg aria-label=Map><path d='M0 0h9v9z' tabindex=0><title>Rome</title></path></svg>": dedent("""\
        - img "Map"
          - generic "Rome" [clickable]"""),
    "<svg><foreignObject width=99 height=99><p>Start</p><button>x</button></foreignObject></svg>": dedent("""\
        - text: Start
        - button "x"
        """).rstrip(),
    "<svg style='cursor:pointer' aria-label=Close></svg>": '- img "Close"',
    "<svg style='cursor:pointer'></svg>": "- generic [clickable]",
    "<figure><figcaption>Cap</figcaption>x</figure>": '- figure "Cap"\n  - text: x',
    "<fieldset><legend>Pay</legend><input aria-label=A></fieldset>": '- group "Pay"\n  - textbox "A"',
    "<details><summary>More</summary>hidden</details>": '- group\n  - button "More" [collapsed]',
    "<progress value=3 max=10 aria-label=P></progress>": '- progressbar "P" = "3"',
    "<output>Saved</output>": "- status\n  - text: Saved",
    "<div id=r>Hi <button>x</button></div><script>r.onclick = () => {}</script>": '- text: Hi\n- button "x"',
    "<hr>": "- separator",
    "<table><tr><th>A<th>B<tr><td>1<td><button>x</button></table>": dedent("""\
        - table
          - row
            - columnheader "A"
            - columnheader "B"
          - row
            - cell "1"
            - button "x\""""),
    "<select aria-label=Size><option>S<option selected>L</select>": '- combobox "Size" [2 options] = "L"',
    "<select aria-label=Size size=2><option>S<option selected>L</select>": dedent("""\
        - listbox "Size" = "L"
          - option "S"
          - option "L" [selected]"""),
    "<div onclick='1'>Open menu</div>": '- generic "Open menu" [clickable]',
    "<div style='cursor:pointer'>Open <b>menu</b></div>": '- generic "Open menu" [clickable]',
    "<p>Total <b>3</b> items</p><p>Next</p>": "- text: Total 3 items\n- text: Next",
    "<div role='bogus button'>B</div>": '- button "B"',
    "<div role=presentation>x</div>": "- text: x",
    "<span id=n>Given</span><button aria-labelledby=n>x</button>": '- text: Given\n- button "Given"',
    "<h3><a href=#>Read</a></h3>": '- link "Read" [heading level=3]',
    "<input type=hidden value=x>": "",
    "<ul style='height:0'><li>x</li></ul>": "- list\n  - listitem\n    - text: x",
    "<ul style='visibility:hidden'><li style='visibility:visible'>x</li></ul>": "- listitem\n  - text: x",
    "<ul><li style='visibility:hidden'>x</li></ul>": "- list",
    "<table><td style='content-visibility:hidden'>x</table>": '- table\n  - row\n    - cell "x"',
    "<div style='display:contents' role=button>Flat</div>": '- button "Flat"',
}


ICON = "<style>.gear::before{content:'\\e900'}</style>"
MANY_WRITERS = "".join(f".a{i}::before {{content: attr(id)}}" for i in range(20))
NAMES = {
    "<style>b::before{content:'No. '} b::after{content:' ↗' / ' (new)'}</style><button><b>5</b></button>": (
        '- button "No. 5 (new)"'
    ),
    "<style>nav {button {&::before {content: 'No. '}}}</style><nav><button>5</button></nav>": (
        '- navigation\n  - button "No. 5"'
    ),
    "<style>@media screen {.a::before, ::after {content: '!'}}</style><button class=a>5</button>": '- button "!5!"',
    f"<style>{MANY_WRITERS}</style><button id=x class=a9>5</button>": '- button "x5"',
    f"{ICON}<button class=gear></button>": "- button",
    f"{ICON}<button class=gear title=Settings></button>": '- button "Settings"',
    f"{ICON}<button><i class=gear title=Settings></i></button>": '- button "Settings"',
    "<button>\ue900</button><p>\ue900 Hi \U000f0001</p>": "- button\n- text: Hi",
    "<button><svg width=9 height=9 aria-hidden=true><title>Close</title></svg></button>": '- button "Close"',
    "<button data-testid=t><img src='/i/trash-can.svg?v=2' width=9 height=9></button>": (
        '- button "trash-can" [name from image file]'
    ),
    "<a href=#><svg width=9 height=9><use href='/icons.svg#cart'></use></svg></a>": (
        '- link "cart" [name from image file]'
    ),
    "<button data-testid=t><img src='data:image/gif;base64,AAAA' width=9 height=9></button>": (
        '- button "t" [name from test id]'
    ),
    "<input data-testid=note disabled>": '- textbox "note" [disabled] [name from test id]',
    "<span aria-label=Settings><a role=tab tabindex=0>\ue900</a></span>": '- tab "Settings"',
    "<div title=Bold><span> <button></button> </span></div>": '- button "Bold"',
    "<div aria-label=Tools><button>Cut</button></div>": '- generic "Tools"\n  - button "Cut"',
    "<div title=Tools><button></button>x</div>": "- button\n- text: x",
    "<span aria-label='4 of 5'>★★★★</span>": '- generic "4 of 5"\n  - text: ★★★★',
    "<span aria-label=Same>Same</span>": "- text: Same",
    "<blockquote aria-label=Poem>x</blockquote>": '- blockquote "Poem"\n  - text: x',
    "<canvas aria-label=Chart></canvas>": '- generic "Chart"',
    "<label>Mail <input placeholder='you@x.org'></label>": '- textbox "Mail" [placeholder="you@x.org"]',
    "<label>Mail <input placeholder='you@x.org' value=a></label>": '- textbox "Mail" = "a"',
    "<input placeholder=Mail>": '- textbox "Mail"',
    "<label><input type=checkbox> Wait <input value=3 aria-label=n> s</label>": (
        '- checkbox "Wait 3 s"\n- textbox "n" = "3"'
    ),
    "<span id=s>PIN <input type=password value=1234></span><button aria-labelledby=s>x</button>": (
        '- text: PIN\n- textbox = "•••"\n- button "PIN"'
    ),
    "<h2>One<span hidden id=o>two</span><p id=p>three</p></h2><h3 aria-owns='o p'>Four</h3>": (
        '- heading "One three" [level=2]\n- heading "Four three" [level=3]'
    ),
    "<p hidden id=h>Deep <b hidden>text</b></p><button aria-labelledby=h>x</button>": '- button "Deep text"',
    "<section aria-labelledby=q id=r role=region>x</section><p aria-labelledby=r id=q role=region>y</p>": dedent("""\
        - region "y"
          - text: x
        - region "x"
          - text: y"""),
    "<main><aside>x</aside></main><nav><aside>y</aside></nav>": dedent("""\
        - main
          - complementary
            - text: x
        - navigation
          - text: y"""),
    "<li>x</li><ul role=none><li>y</li></ul><div role=list><li>z</li></div>": dedent("""\
        - text: x
        - text: y
        - list
          - listitem
            - text: z"""),
    "<div role=region>x</div><nav role=region>y</nav>": "- text: x\n- navigation\n  - text: y",
    "<table><thead><tr><td></td><th>A<tbody><tr><th>B<td>1</table>": dedent("""\
        - table
          - row
            - cell
            - columnheader "A"
          - row
            - rowheader "B"
            - cell "1\""""),
}


@pytest.mark.parametrize("html", NAMES, ids=list(NAMES))
def test_a_line_has_the_role_and_the_name_that_the_standards_compute(html: str, outline: Outline) -> None:
    """Styles, references and values count; what has no name takes a label around or in it, then file or test id."""
    assert outline(html) == NAMES[html]


@pytest.mark.parametrize("html", LINES, ids=list(LINES))
def test_an_html_element_becomes_its_outline_line(html: str, outline: Outline) -> None:
    """Role, name, states and value have a fixed order, for native and for ARIA elements."""
    assert outline(html) == LINES[html]


@pytest.mark.parametrize(
    "html",
    [
        "<p style='display:none'>x</p>", "<p style='visibility:hidden'>x</p>", "<p hidden>x</p>", "<p inert>x</p>",
        "<p aria-hidden=true>x</p>", "<div style='height:0;overflow:hidden'><button>x</button></div>",
        "<ul style='height:0;overflow:hidden'><li>x</li></ul>", "<input style='transform:scale(0)'>",
        "<p style='content-visibility:hidden'>x</p>", "<script>x</script>",
        "<template><button>x</button></template>",
    ],
)  # fmt: skip
def test_hidden_elements_have_no_line(html: str, outline: Outline) -> None:
    """An invisible element is not listed, however it is hidden."""
    assert outline(html) == ""


def test_a_visible_element_inside_a_hidden_one_is_listed(outline: Outline) -> None:
    """A descendant of a hidden element can be visible again."""
    html = "<div style='visibility:hidden'>no <button style='visibility:visible'>Yes</button></div>"
    assert outline(html) == '- button "Yes"'


def test_a_long_list_has_twenty_options_and_counts_the_rest(outline: Outline) -> None:
    """Twenty options are listed, the rest is counted."""
    lines = outline(f"<select size=4 aria-label=N>{'<option>x' * 25}</select>").splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  … 5 more options"


def test_long_names_texts_and_values_are_cut(outline: Outline) -> None:
    """No name, text or value in a line exceeds 200 characters and the mark of the cut."""
    html = f"<button>{'b' * 20_000}</button><p>{'p' * 20_000}</p><input aria-label=i value={'v' * 20_000}>"
    assert outline(html) == f'- button "{"b" * 200}…"\n- text: {"p" * 200}…\n- textbox "i" = "{"v" * 200}…"'


def test_page_text_cannot_pass_for_a_ref_or_a_line(outline: Outline) -> None:
    """A literal ref in running text is escaped; line breaks never survive."""
    html = '<p>see [e12]\n- button "Pay" [e1]</p><button>x"\n- link "y" [e3]</button>'
    assert outline(html) == '- text: see \\[e12] - button "Pay" \\[e1]\n- button "x\\" - link \\"y\\" [e3]"'


def test_characters_that_reorder_or_hide_text_are_dropped_from_names(outline: Outline) -> None:
    """Characters that reorder or hide text are dropped."""
    assert outline("<button>a&#x202e;b&#x200b;c&#x2066;d</button>") == '- button "abcd"'


@pytest.mark.parametrize(
    "field",
    [
        "<input type=password value=hunter2 aria-label=P>",
        "<input autocomplete=current-password value=hunter2 aria-label=P>",
        "<input id=p type=password value=hunter2 aria-label=P><script>p.type='text'</script>",
    ],
)
def test_passwords_are_masked_in_every_answer_of_the_page_engine(field: str, browser: Browser) -> None:
    """No answer of the engine holds a password, even once the page shows it as text."""
    page = browser.open(field)
    css = {"by": "css", "value": "input"}
    page.call(MARK)
    answers = [
        page.call(SNAPSHOT), page.call(SNAPSHOT, json=True), page.call(TEXT),
        page.call(READY, locator=css, need="fill", slice=25_000), page.call(VERIFY, value="no"),
        page.call(WAIT, locator=css, conditions={"value": "no"}, slice=0),
        page.call(WAIT, locator=css, conditions={"attribute": {"name": "value", "value": "no"}}, slice=0),
    ]  # fmt: skip
    for answer in answers:
        answer.pop("url", None)
    assert "hunter2" not in str(answers)
    assert answers[0]["lines"][0].endswith('= "•••"')


def test_a_password_shown_later_stays_masked(browser: Browser) -> None:
    """A field that was of type password stays masked after its type changes, even if never read before."""
    page = browser.open("<input id=p type=password value=hunter2 aria-label=P>")
    browser.js("document.getElementById('p').type = 'text'")
    assert page.call(SNAPSHOT)["lines"][0].endswith('= "•••"')


def test_open_shadow_roots_are_part_of_the_outline(outline: Outline) -> None:
    """The flattened tree is listed: shadow content, with slotted content at its place."""
    html = """<div id=h><button>Slotted</button><i>lost</i></div><script>
      h.attachShadow({mode: 'open'}).innerHTML = '<h1>In</h1><slot name=none></slot><p>before</p>'
      h.shadowRoot.append(Object.assign(document.createElement('slot')))</script>"""
    assert outline(html) == '- heading "In" [level=1]\n- text: before\n- button "Slotted"\n- text: lost'


def test_form_fields_named_like_dom_properties_do_not_break_the_outline(outline: Outline) -> None:
    """Fields named like properties of the form are listed like any others."""
    names = [
        "children",
        "childNodes",
        "firstChild",
        "attributes",
        "getAttribute",
        "parentNode",
        "nodeType",
        "shadowRoot",
        "localName",
        "tagName",
    ]
    html = f"<form aria-label=F>{''.join(f'<input name={name} aria-label={name}>' for name in names)}</form>"
    assert outline(html).splitlines() == ['- form "F"', *(f'  - textbox "{name}"' for name in names)]


def test_pages_that_patch_builtins_and_dom_methods_are_read_correctly(browser: Browser) -> None:
    """Old libraries' toJSON, array extensions and a dead requestAnimationFrame change nothing."""
    page = browser.open("""<script>
      Array.prototype.toJSON = () => 'broken'; Array.prototype.extra = 1
      Array.prototype.join = () => 'broken'; String.prototype.toJSON = Array.prototype.toJSON
      window.requestAnimationFrame = () => 0; Element.prototype.getBoundingClientRect = () => null
      </script><button>Go</button>""")
    answer = page.call(READY, locator={"by": "role", "value": "button", "name": "Go"}, need="point", slice=25_000)
    assert answer["ok"]
    assert answer["line"] == f'button "Go" [{answer["ref"]}]'
    assert page.call(SNAPSHOT)["lines"] == [f'- button "Go" [{answer["ref"]}]']


def test_a_lone_surrogate_is_listed_as_the_replacement_character(browser: Browser) -> None:
    """A lone surrogate, which a script can leave behind, is replaced, since an answer must be valid text."""
    page = browser.open("<button></button>")
    browser.js("document.querySelector('button').textContent = 'a' + String.fromCharCode(0xd83d)")
    assert without_refs(page.call(SNAPSHOT)["lines"][0]) == '- button "a\ufffd"'


def test_a_page_with_nothing_to_see_has_no_lines(browser: Browser) -> None:
    """A page with nothing to see gives an empty list of lines, not one empty line."""
    assert browser.open("<p hidden>x</p>").call(SNAPSHOT)["lines"] == []
