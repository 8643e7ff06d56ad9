"""The pages that both ways use."""

from __future__ import annotations

from typing import Any

from tests.servers.site import Site

BUTTON = "/button"
FIELD = "/field"
LOGIN = "/login"
TINY = "/tiny"
FORM = "/form/1"
"""The first of four steps, each a page of its own: two fields, then a link to the next step."""
STEPS = 4
DONE = "Thank you"
WELCOME = "Welcome, alice"
SIGN_IN: list[dict[str, Any]] = [
    {"action": "set_value", "selector": "#name", "value": "alice"},
    {"action": "set_value", "selector": "#password", "value": "correct horse"},
    {"action": "click_element", "selector": "#go"},
    {"action": "expect", "selector": "#welcome", "text": WELCOME},
]
"""The steps that sign in on the page."""

_STYLE = "<style>body{font:16px sans-serif;margin:2em}label{display:block;margin:1em 0}</style>"


def rows(count: int) -> str:
    """Return the path of a page with this number of rows."""
    return f"/rows/{count}"


def put(site: Site, lengths: tuple[int, ...]) -> None:
    """Put all pages on the site."""
    site.page(TINY, "<title>Tiny</title><p>A few words.</p>")
    site.page(
        BUTTON,
        f"<title>Button</title>{_STYLE}<h1>Send it</h1><button id=send onclick='sent++'>Send</button>"
        "<script>var sent = 0</script>",
    )
    site.page(FIELD, f"<title>Field</title>{_STYLE}<h1>Order</h1><label>Address <input id=address value=old></label>")
    site.page(
        LOGIN,
        f"<title>Sign in</title>{_STYLE}<h1>Sign in</h1><form method=post action=/welcome>"
        "<label>Name <input id=name name=name></label>"
        "<label>Password <input id=password name=password type=password></label><button id=go>Sign in</button></form>",
    )
    site.page(
        "/welcome",
        f"<title>Welcome</title>{_STYLE}<h1 id=welcome>{WELCOME}</h1><p>You have 3 orders.</p>"
        "<nav><a href=/orders>Orders</a> <a href=/basket>Basket</a></nav>",
    )
    for step in range(1, STEPS + 1):
        site.page(f"/form/{step}", _form(step))
    site.page(f"/form/{STEPS + 1}", f"<title>Done</title>{_STYLE}<h1>{DONE}</h1><p>We have your application.</p>")
    for count in lengths:
        site.page(rows(count), _rows(count))


def _form(step: int) -> str:
    return (
        f"<title>Step {step}</title>{_STYLE}<h1>Step {step} of {STEPS}</h1><form method=post action=/form/{step + 1}>"
        "<label>Answer <input id=answer name=answer></label>"
        "<label>Kind <select id=kind name=kind><option>None<option>Some<option>Many</select></label>"
        "<button id=next>Next</button></form>"
    )


def _rows(count: int) -> str:
    row = "<tr><td>Order {0}</td><td><a href=/orders/{0}>Details of {0}</a></td><td><button>Cancel</button></td></tr>"
    return f"<title>Orders</title>{_STYLE}<h1>Orders</h1><table>{''.join(map(row.format, range(1, count + 1)))}</table>"
