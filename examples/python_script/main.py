"""A guest signs the guest book, and two guests sign it side by side; with `await`, and without it in `blocking.py`.

Serve the page with `python3 -m http.server 8000 --directory examples/guest_book`, then run it with
`.venv/bin/python examples/python_script/main.py http://localhost:8000/`.
"""

from __future__ import annotations

import asyncio
import sys

from orchestrator import Orchestrator
from orchestrator.actions.pointer import ClickElement
from orchestrator.errors import ElementNotFound


async def sign(url: str) -> None:
    """One guest, step by step."""
    async with Orchestrator() as orchestrator:
        ann = await orchestrator.start_browser("ann", navigation_url=url)
        await ann.set_value("label=Name", "Ann")
        await ann.set_value("label=Message", "Lovely tea.")
        signed = await ann.click_element("role=button[name=Sign]")
        if signed.state_change:
            print(signed.state_change.appeared)
        book = await ann.get_text("role=list")
        print(book.text)


async def sign_in_one_turn(url: str) -> None:
    """The same steps in one turn of the session: nobody else's call comes between them."""
    async with Orchestrator() as orchestrator, await orchestrator.start_browser(navigation_url=url) as session:
        result = await session.execute_sequence(
            [
                {"action": "set_value", "selector": "label=Name", "value": "Ann"},
                {"action": "set_value", "selector": "label=Message", "value": "Lovely tea."},
                ClickElement(selector="role=button[name=Sign]"),
            ]
        )
        print(result.completed, result.stable)


async def tear_out(url: str) -> None:
    """What cannot be done is an exception, and its message says what to do next."""
    async with Orchestrator() as orchestrator:
        session = await orchestrator.start_browser(navigation_url=url)
        try:
            await session.click_element("role=button[name=Burn]", timeout=200)
        except ElementNotFound as error:
            print(error.code, error.retryable)
            print(error.hint)


async def sign_together(url: str) -> None:
    """Two guests in two browsers, at the same time; both wait until both are ready to sign."""
    async with Orchestrator() as orchestrator:
        for name in ("ann", "ben"):
            await orchestrator.start_browser(name, navigation_url=url)
        both = await orchestrator.execute_parallel(
            [
                {
                    "session_id": name,
                    "actions": [
                        {"action": "set_value", "selector": "label=Name", "value": name},
                        {"action": "sync", "name": "both are ready"},
                        {"action": "click_element", "selector": "role=button[name=Sign]"},
                    ],
                }
                for name in ("ann", "ben")
            ]
        )
        print({name: result["completed"] for name, result in both.results.items()})


async def main(url: str) -> None:
    """All of them, one after the other."""
    await sign(url)
    await sign_in_one_turn(url)
    await tear_out(url)
    await sign_together(url)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
