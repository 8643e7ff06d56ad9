"""Presses in pages that open windows: what is Done has arrived, once."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

OPENS = {
    "on click": "b.onclick = () => { said.push(b.id); open(THERE) }",
    "on the press": "b.onclick = () => said.push(b.id); b.onmousedown = () => open(THERE)",
    "later": "b.onclick = () => { said.push(b.id); setTimeout(() => open(THERE), 30) }",
    "that close": "b.onclick = () => { said.push(b.id); const w = open(THERE); setTimeout(() => w.close(), 60) }",
    "all the time": "b.onclick = () => said.push(b.id);"
    "if (b.id === 'b1') setInterval(() => { const w = open(THERE); setTimeout(() => w && w.close(), 60) }, 150)",
}


@pytest.mark.parametrize(
    "opens", [pytest.param(each, marks=pytest.mark.required) if each == "on click" else each for each in OPENS]
)
def test_a_click_that_is_done_has_arrived_once(stage: Stage, opens: str) -> None:
    """Of clicks in a page that opens windows each one that is Done was heard once, and the others say what happened."""
    there = stage.page("another window", title="Other")
    buttons = "".join(f"<button id=b{n}>Item {n}</button>" for n in range(1, 7))
    stage.show(
        f"{buttons}<script>const said = []; for (const b of document.querySelectorAll('button')) {{"
        f"{OPENS[opens].replace('THERE', repr(there))} }}</script>"
    )
    done: list[str] = []
    refusals: list[str] = []
    for n in range(1, 7):
        answer = stage.call("click_element", selector=f"#b{n}")
        (refusals if answer.failed else done).append(answer.text if answer.failed else f"b{n}")
    said = stage.js("said")
    assert [name for name in said if name in done] == done
    assert len(said) == len(set(said))
    assert all("The pointer did not reach button" in text for text in refusals)
    for tab in stage.ok("tabs", action="list")["tabs"]:
        if not tab["current"]:
            stage.call("tabs", action="close", tab=tab["tab"])
