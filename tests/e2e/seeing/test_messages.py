"""Messages that are gone before the answer: alerts, status lines and dialogs that came and went meanwhile."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

SHOW = """<button id=b>Go</button><p id=o>waiting</p><script>
const shown = ms => new Promise(done => requestAnimationFrame(() => setTimeout(done, ms)));
const add = html => { document.body.insertAdjacentHTML('beforeend', html); return document.body.lastChild };
b.onclick = async () => { const reply = fetch('/reply'); STEPS; await (await reply).text(); o.textContent = 'over' };
</script>"""


def passed(stage: Stage, steps: str) -> list[str]:
    """Press a button that does these steps before its reply comes; return the messages that came and went."""
    stage.site.page("/reply", "ok")
    stage.show(SHOW.replace("STEPS", steps))
    change = stage.ok("click_element", selector="#b")["stateChange"]
    assert "text: over" in change["changed"]
    return list(change.get("cameAndWent") or [])


SHADOW = """const e = add('<div></div>'); e.attachShadow({mode: 'open'}).innerHTML = '<i role=alert>Offline</i>';
await shown(120); e.shadowRoot.innerHTML = ''"""
POLITE = """const e = add('<p aria-live=polite></p>'); await shown(20); e.textContent = 'Two left'; await shown(50);
e.textContent = ''"""
KINDS = {
    "alert": (
        "const e = add('<div role=alert>Card declined</div>'); await shown(50); e.remove()",
        'alert "Card declined"',
    ),
    "status": ("const e = add('<div role=status>Copied</div>'); await shown(50); e.hidden = true", 'status "Copied"'),
    "polite": (
        POLITE,
        'status "Two left"',
    ),
    "dialog": (
        "const e = add('<dialog aria-label=\"Ends soon\">Soon</dialog>'); e.showModal(); await shown(50); e.close()",
        'dialog "Ends soon"',
    ),
    "shadow": (
        SHADOW,
        'alert "Offline"',
    ),
}


@pytest.mark.required
@pytest.mark.parametrize("kind", ["alert", "dialog"])
def test_a_message_that_is_gone_before_the_answer_is_told(stage: Stage, kind: str) -> None:
    """The answer has the role and what it said."""
    steps, line = KINDS[kind]
    assert passed(stage, steps) == [line]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"alert", "dialog"}])
def test_each_kind_of_message_is_told(stage: Stage, kind: str) -> None:
    """A status line, a live region, and one in a shadow root."""
    steps, line = KINDS[kind]
    assert passed(stage, steps) == [line]


def test_a_message_between_two_steps_of_a_sequence_is_told(stage: Stage) -> None:
    """What one step brings and the next one takes away is in the result, also where that one is observed."""
    stage.show(
        "<button id=a onclick='o.textContent = `Card declined`'>Pay</button><p id=o role=alert></p>"
        "<button id=b onmouseover='o.textContent = ``'>Again</button>"
    )
    steps = [{"action": "click_element", "selector": "#a"}, {"action": "hover", "selector": "#b"}]
    change = stage.ok("execute_sequence", actions=steps)["stateChange"]
    assert change["cameAndWent"] == ['alert "Card declined"']


def test_messages_are_told_in_order_with_repeats_counted(stage: Stage) -> None:
    """What one element said after another is told in the order in which it went."""
    steps = (
        "const e = add('<div role=status></div>'); for (const text of ['Saved', 'Sent', 'Saved', 'Seen']) {"
        "e.textContent = text; await shown(20) } e.remove()"
    )
    assert passed(stage, steps) == ['status "Saved" (2 times)', 'status "Sent"', 'status "Seen"']


def test_what_stays_what_was_there_and_what_only_waits_are_not_told(stage: Stage) -> None:
    """A message that is still shown appears as any other line; one of before disappears; "Loading…" says nothing."""
    stage.show(
        "<div id=old role=status>Ready</div><button id=b>Go</button><script>b.onclick = () => { old.remove();"
        "document.body.insertAdjacentHTML('beforeend', '<p role=alert>Failed</p>') }</script>"
    )
    change = stage.ok("click_element", selector="#b")["stateChange"]
    assert change.get("cameAndWent") is None
    assert passed(stage, "const e = add('<div role=status>Loading…</div>'); await shown(50); e.remove()") == []


def test_ten_messages_at_most_are_told_each_cut(stage: Stage) -> None:
    """A page that writes ever new messages does not fill the answer."""
    steps = (
        "for (let n = 0; n < 14; n++) { const e = add(`<p role=alert>${'x'.repeat(500)} ${n}</p>`);"
        "e.textContent = `${String.fromCharCode(97 + n)}${e.textContent}`; await shown(0); e.remove() }"
    )
    told = passed(stage, steps)
    assert len(told) == 10
    assert all(len(line) < 220 for line in told)
