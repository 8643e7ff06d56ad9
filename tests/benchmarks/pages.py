"""The pages that both ways work on."""

from __future__ import annotations

from tests.site import Site

BUTTON = "/button"
FIELD = "/field"
LOGIN = "/login"
TINY = "/tiny"

_STYLE = "<style>body{font:16px sans-serif;margin:2em}label{display:block;margin:1em 0}</style>"


def rows(count: int) -> str:
    """The path of a page with so many rows."""
    return f"/rows/{count}"


def put(site: Site, lengths: tuple[int, ...]) -> None:
    """Put all of them on the site."""
    site.page(TINY, "<title>Tiny</title><p>A few words.</p>")
    site.page(
        BUTTON,
        f"<title>Button</title>{_STYLE}<h1>Send it</h1><button id=send onclick='sent++'>Send</button>"
        "<script>let sent = 0</script>",
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
        f"<title>Welcome</title>{_STYLE}<h1 id=welcome>Welcome, alice</h1><p>You have 3 orders.</p>"
        "<nav><a href=/orders>Orders</a> <a href=/basket>Basket</a></nav>",
    )
    for count in lengths:
        site.page(rows(count), _rows(count))


def _rows(count: int) -> str:
    row = "<tr><td>Order {0}</td><td><a href=/orders/{0}>Details of {0}</a></td><td><button>Cancel</button></td></tr>"
    return f"<title>Orders</title>{_STYLE}<h1>Orders</h1><table>{''.join(map(row.format, range(1, count + 1)))}</table>"
