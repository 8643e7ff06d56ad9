"""Replies that are written bit by bit: a page has not settled before they are complete."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

CHAT = """<div id=log role=log aria-label=Chat style='min-height: 50px'>Welcome</div>
<div id=note role=status style='min-height: 20px'></div>
<input id=q aria-label=Question><button id=b onclick='send()'>Send</button><script>
const words = 'The answer is forty two complete'.split(' ');
const write = (into, each, done = () => {}) => {
  const next = n => { into.append(words[n] + ' '); n + 1 < words.length ? setTimeout(next, each, n + 1) : done() };
  setTimeout(next, each, 0);
};
const send = () => { SEND };
</script>"""

REPLIES = {
    "log": "log.append(q.value); write(log, 280)",
    "live-region": "const p = document.createElement('p'); p.ariaLive = 'polite'; p.textContent = 'Bot: ';"
    "document.body.append(p); write(p, 280)",
    "loading": "note.textContent = 'Loading…'; setTimeout(() => { note.hidden = true; write(log, 10) }, 800)",
    "loading-pause": "const late = () => setTimeout(() => write(log, 10), 40);"
    "note.textContent = 'Loading…'; setTimeout(() => { note.hidden = true; late() }, 800)",
    "button": "b.textContent = 'Sending...'; setTimeout(() => { b.textContent = 'Send'; write(log, 10) }, 800)",
    "busy": "log.ariaBusy = 'true'; setTimeout(() => write(log, 10, () => { log.ariaBusy = null }), 800)",
    "field": "q.disabled = true; setTimeout(() => write(log, 10, () => { q.disabled = false }), 800)",
}


@pytest.mark.parametrize("kind", REPLIES)
def test_a_page_has_settled_when_the_reply_is_complete(stage: Stage, kind: str) -> None:
    """Growing live regions, "Loading", busy parts and a disabled field are waited for, and the whole reply is told."""
    stage.show(CHAT.replace("SEND", REPLIES[kind]))
    steps = [
        {"action": "set_value", "selector": "#q", "value": "What is it?"},
        {"action": "click_element", "selector": "#b"},
    ]
    answer = stage.ok("execute_sequence", actions=steps, stabilityTimeoutMs=20_000)
    assert answer["stable"] is True
    assert "forty two complete" in str(answer["stateChange"])


@pytest.mark.parametrize(
    ("send", "reason"),
    [
        ("log.append(q.value); write(log, 200, send)", 'log "Chat" is growing'),
        ("note.textContent = 'Please wait...'", '"Please wait..." is shown'),
        ("q.disabled = true", 'textbox "Question" is disabled'),
    ],
    ids=["log", "loading", "field"],
)
def test_a_reply_without_an_end_is_the_unstable_reason(stage: Stage, send: str, reason: str) -> None:
    """The limit of settling bounds the wait, and the reason says what goes on; the next call is not held by a field."""
    stage.show(CHAT.replace("SEND", send))
    stage.ok("set_value", selector="#q", value="What is it?")
    answer = stage.ok(
        "execute_sequence", actions=[{"action": "click_element", "selector": "#b"}], stabilityTimeoutMs=900
    )
    assert answer["stable"] is False
    assert answer["unstableReason"] == reason


def test_a_field_that_stays_disabled_holds_one_call_only(stage: Stage) -> None:
    """A form that is closed for good after it was sent does not delay what follows."""
    stage.show(CHAT.replace("SEND", "q.disabled = true"))
    stage.ok("set_value", selector="#q", value="What is it?")
    click: dict[str, Any] = {"actions": [{"action": "click_element", "selector": "#b"}], "stabilityTimeoutMs": 400}
    assert stage.ok("execute_sequence", **click)["stable"] is False
    assert stage.ok("execute_sequence", **click)["stable"] is True


def test_a_message_of_one_piece_is_complete_as_it_comes(stage: Stage) -> None:
    """A status message does not make the page wait for more of it."""
    stage.show(CHAT.replace("SEND", "note.textContent = 'Saved'; setTimeout(() => log.append('later'), 700)"))
    change = stage.ok("click_element", selector="#b")["stateChange"]
    assert "text: Saved" in change["appeared"]
    assert "later" not in str(change)


def test_a_message_that_replaces_another_is_no_growth(stage: Stage) -> None:
    """A status that says "Writing it" and then "Thank you, Ann" says two things, and is not waited for further."""
    says = "note.textContent = 'Writing it'; setTimeout(() => { note.textContent = 'Thank you, dear Ann' }, 60);"
    stage.show(CHAT.replace("SEND", f"{says} setTimeout(() => log.append('later'), 900)"))
    change = stage.ok("click_element", selector="#b")["stateChange"]
    assert "text: Thank you, dear Ann" in change["appeared"]
    assert "later" not in str(change)


def test_wait_for_quiet_waits_until_nothing_has_changed_for_so_long(stage: Stage) -> None:
    """`quietMs` alone waits for the end of a reply in a part of the page that says nothing of itself."""
    page = CHAT.replace("role=log", "").replace("SEND", "write(log, 300)")
    stage.show(page)
    stage.ok("click_element", selector="#b", observe="none")
    answer = stage.ok("wait_for", quietMs=900)
    assert answer["waitedMs"] >= 900
    assert "forty two complete" in stage.ok("get_text")["text"]
    assert stage.ok("wait_for", quietMs=200, selector="#log", text="complete", timeout=5000)["waitedMs"] >= 200


def test_wait_for_quiet_reports_what_keeps_changing(stage: Stage) -> None:
    """Without quiet in time, the error names the part of the page that changed last."""
    stage.show("<p id=t>0</p><script>setInterval(() => { t.textContent += 1 }, 20)</script>")
    text = refused(stage.call("wait_for", quietMs=300, timeout=600), "timeout")
    assert "no 300 ms passed without a change: the page keeps changing (#t)" in text
    text = refused(stage.call("wait_for", quietMs=300, timeout=200), "invalid_argument")
    assert "timeout must be longer than quietMs" in text


def test_wait_for_quiet_works_in_a_frame_of_another_origin(stage: Stage) -> None:
    """In the frame that the session has switched to, quiet is that of the frame."""
    inner = stage.page(
        "<p id=t>0</p><script>let n = 0; const i = setInterval(() => { t.textContent = n += 1;"
        "if (n > 5) clearInterval(i) }, 150)</script>"
    ).replace("127.0.0.1", "localhost")
    stage.show(f"<iframe src='{inner}'></iframe>")
    stage.ok("switch_frame", selector="iframe")
    stage.ok("wait_for", quietMs=500, timeout=8000)
    assert stage.ok("get_text", selector="#t")["text"] == "6"
