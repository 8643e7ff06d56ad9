"""Five flows through applications of others, as an agent does them: by what the last answers showed."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tests.servers.applications import CHANNEL, PASSWORD, USERS, Chat, Notebooks, Shop, chat, notebooks, shop
from tests.servers.mcp import Served
from tests.waiting import until

BOOK = "Bread Without Haste"
EMAIL = "guest@example.com"
PRICE = "19.50"
ADDRESS = {
    'textbox "First name': "Ada",
    'textbox "Last name': "Byron",
    'textbox "First line of address': "12 Long Acre",
    'textbox "City': "London",
    'textbox "Post/Zip-code': "WC2E 9LH",
    'combobox "Country': "United Kingdom",
}
TOTAL = "The total is 5050"
SUM = "total = sum(range(101))\nprint('The total is', total)"
PATIENCE = 60_000
"""Milliseconds for what a server does."""
_TIME, _ANY_TIME = re.compile(r"\b\d+ ms\b"), "999 ms"
"""A time, which depends on the machine."""
QUESTION, REPLY = "Lunch at noon?", "Noon it is."


class Agent:
    """A caller who knows only what the texts of answers say, and counts what they cost.

    Attributes:
        read: The texts of all answers, the last one at the end.
        size: The bytes of all answers' texts as they stand on the wire, with times of three digits.
    """

    def __init__(self, server: Served) -> None:
        self._server = server
        self.read: list[str] = []
        self.size = 0

    @property
    def calls(self) -> int:
        """The number of calls."""
        return len(self.read)

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must succeed; return the text of its answer."""
        answer = self._server.call(tool, **arguments)
        assert not answer.failed, answer.text
        self.read.append(answer.text)
        self.size += len(_TIME.sub(_ANY_TIME, answer.fenced_text).encode())
        return answer.text

    def find(self, line: str, *, after: str = "") -> str:
        """Return the first line with this text, behind another text, from the last answer; look again if need be."""
        if found := _line(self.read[-1], line, after):
            return found
        for scope in ("viewport", "page"):
            if found := _line(self.call("get_visible_elements", scope=scope), line, after):
                return found
        raise AssertionError(f"nowhere: {line}")

    def target(self, line: str, *, after: str = "") -> str:
        """Return a selector of what has this line: its ref, or role and name where it is only said to be as before."""
        if shown := _line(self.read[-1], line, after):
            return _ref(shown)
        known = "" if after else next((found for text in self.read if (found := _line(text, line))), "")
        return _by_name(known) if known else _ref(self.find(line, after=after))

    def fill(self, values: dict[str, str], button: str) -> None:
        """Fill in fields and press a button, all of them known, in one sequence."""
        steps = [_step(line, self.target(line), value) for line, value in values.items()]
        self.call("execute_sequence", actions=[*steps, {"action": "click_element", "selector": self.target(button)}])

    def click(self, line: str, *, after: str = "") -> None:
        """Click what has this line."""
        self.call("click_element", selector=self.target(line, after=after))


def sign_in(agent: Agent, at: Shop) -> None:
    """Sign in to the shop, whose page has a form for new customers, too."""
    agent.call("navigate", url=f"{at.url}/catalogue/", observe="change")
    agent.click('link "Login or register"')
    agent.fill({'textbox "Email address': "ada@example.com", 'textbox "Password': PASSWORD}, 'button "Log In"')
    agent.find("Welcome back")


def check_out(agent: Agent, at: Shop) -> None:
    """Buy a book as a guest."""
    agent.call("navigate", url=f"{at.url}/catalogue/", observe="change")
    agent.click('button "Add to basket"', after=BOOK)
    agent.find(f"{BOOK} has been added to your basket")
    agent.click('link "Checkout now"')
    agent.fill({'textbox "My email address is': EMAIL}, 'button "Continue"')
    agent.fill(ADDRESS, 'button "Continue"')
    agent.click('link "Continue"')
    agent.click('button "Place order"')
    agent.find("Your order has been placed")


def change_price(agent: Agent, at: Shop) -> None:
    """Sign in to the administration and change the price of a book."""
    agent.call("navigate", url=f"{at.url}/admin/partner/stockrecord/", observe="change")
    agent.fill({'textbox "Username': "root", 'textbox "Password': PASSWORD}, 'button "Log in"')
    agent.click(f'link "{BOOK}"')
    agent.fill({'spinbutton "Price': PRICE}, 'button "Save"')
    agent.find("was changed successfully")


def run_cell(agent: Agent, at: Notebooks) -> None:
    """Write code into a cell of a notebook, run it, and save the notebook."""
    agent.call("navigate", url=at.url)
    # Enabled once the kernel has answered: until then the notebook drops what is run, and says nothing.
    agent.call("wait_for", selector='role=button[name="Enable Debugger"]', timeout=PATIENCE)
    steps = [
        {"action": "click_element", "selector": agent.target("textbox", after='"Code Cell Content"')},
        {"action": "press_keys", "text": SUM},
        {"action": "press_keys", "keys": "Shift+Enter"},
        {"action": "wait_for", "selector": f"text={TOTAL}", "timeout": PATIENCE},
        {"action": "press_keys", "keys": "Control+s"},
    ]
    agent.call("execute_sequence", actions=steps)
    agent.find(TOTAL)


def talk(agent: Agent, at: Chat) -> None:
    """Two users sign in to the chat and go to a channel; one asks, the other replies."""
    alice, bob = USERS
    for user in USERS:
        agent.call("start_browser", sessionId=user, navigationUrl=at.url)
    agent.call("get_visible_elements", sessionId=alice)
    fields = [_by_name(agent.find(line)) for line in ('textbox "Username"', 'textbox "Password"', 'button "Sign in"')]
    agent.call("execute_parallel", sequences=[{"sessionId": user, "actions": _enter(user, *fields)} for user in USERS])
    line = _by_name(agent.find(f'textbox "Write to {CHANNEL}"'))
    for speaker, hearer, text in ((alice, bob, QUESTION), (bob, alice, REPLY)):
        say = [
            {"action": "set_value", "selector": line, "value": text},
            {"action": "press_keys", "keys": "Enter"},
        ]
        agent.call("execute_sequence", sessionId=speaker, actions=say)
        agent.call("wait_for", sessionId=hearer, selector=f"text={text}", timeout=PATIENCE)


def _is_signed_in(at: Shop) -> bool:
    return at.rows("SELECT count(*) FROM auth_user WHERE username = 'ada' AND last_login IS NOT NULL") == [(1,)]


def _is_ordered(at: Shop) -> bool:
    lines = at.rows(
        "SELECT guest_email, title, quantity FROM order_order JOIN order_line ON order_line.order_id = order_order.id"
    )
    return lines == [(EMAIL, BOOK, 1)]


def _has_price(at: Shop) -> bool:
    return at.rows("SELECT partner_sku FROM partner_stockrecord WHERE price = 19.5") == [
        (BOOK.upper().replace(" ", "-"),)
    ]


def _has_run(at: Notebooks) -> bool:
    cell = at.cells()[1]
    return "".join(cell["source"]) == SUM and [one["text"] for one in cell["outputs"]] == [[f"{TOTAL}\n"]]


def _have_talked(at: Chat) -> bool:
    alice, bob = USERS
    heard = [at.said(user) for user in USERS]
    return all(f"<{alice}> {QUESTION}" in log and f"<{bob}> {REPLY}" in log for log in heard)


@dataclass(frozen=True)
class Flow:
    """A flow through an application.

    Attributes:
        name: What is done.
        application: Runs the application for a block.
        act: Does it.
        is_done: True if the application's own data say that it is done.
        calls: The most calls that it may take.
        size: The most bytes of text that the answers may have together.
    """

    name: str
    application: Callable[[], AbstractContextManager[Any]]
    act: Callable[[Agent, Any], None]
    is_done: Callable[[Any], bool]
    calls: int
    size: int

    def run(self, server: Served) -> Agent:
        """Do it in an application of its own; return the agent, who has counted."""
        agent = Agent(server)
        with self.application() as application:
            assert not self.is_done(application)
            self.act(agent, application)
            until(lambda: self.is_done(application), self.name, patience=10)
        return agent


FLOWS = (
    Flow("sign in", shop, sign_in, _is_signed_in, 3, 3_200),
    Flow("guest checkout", shop, check_out, _is_ordered, 7, 7_200),
    Flow("an administrator changes a price", shop, change_price, _has_price, 4, 6_900),
    Flow("a cell of a notebook", notebooks, run_cell, _has_run, 4, 4_200),
    Flow("two users chat", chat, talk, _have_talked, 8, 3_500),
)


def _enter(user: str, name: str, password: str, button: str) -> list[dict[str, Any]]:
    return [
        {"action": "set_value", "selector": name, "value": user},
        {"action": "set_value", "selector": password, "value": PASSWORD},
        {"action": "click_element", "selector": button},
        {"action": "click_element", "selector": f"text={CHANNEL}", "timeout": PATIENCE},
    ]


def _step(line: str, selector: str, value: str) -> dict[str, Any]:
    if line.startswith("combobox"):
        return {"action": "select_option", "selector": selector, "values": [value]}
    return {"action": "set_value", "selector": selector, "value": value}


def _line(text: str, line: str, after: str = "") -> str:
    """Return the first line of a text that has another text, behind the first place of a third; '' if none has."""
    if after not in text:
        return ""
    rest = text[text.index(after) + len(after) :]
    return next((one for one in rest.splitlines() if line in one), "")


def _ref(line: str) -> str:
    return line.partition("[")[2].partition("]")[0]


def _by_name(line: str) -> str:
    """Return a selector by the role and name of a line."""
    role, name = line.strip(" -").partition(" [")[0].split(" ", 1)
    return f"role={role}[name={name}]"
