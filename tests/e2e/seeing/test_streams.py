"""Replies that are written bit by bit: a page has not settled before they are complete."""

from __future__ import annotations

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


@pytest.mark.clock
@pytest.mark.parametrize("kind", REPLIES)
def test_a_page_has_settled_when_the_reply_is_complete(stage: Stage, kind: str) -> None:
    """Growing live regions, "Loading", busy parts and a disabled field are waited for, and the whole reply is told."""
    _check_that_the_reply_is_complete(stage, REPLIES[kind])


@pytest.mark.parametrize("kind", ["loading", "button", "busy", "field"])
def test_what_says_that_a_reply_is_to_come_is_waited_for(stage: Stage, kind: str) -> None:
    """It is shown for longer than nothing may change, and the reply comes well within that time after it."""
    _check_that_the_reply_is_complete(stage, REPLIES[kind].replace("800", "4000"), stabilityMs=2_000)


def _check_that_the_reply_is_complete(stage: Stage, send: str, **waits: int) -> None:
    """Send a question to a chat with this script; check that the whole reply is told, and that the page is stable."""
    stage.show(CHAT.replace("SEND", send))
    steps = [
        {"action": "set_value", "selector": "#q", "value": "What is it?"},
        {"action": "click_element", "selector": "#b"},
    ]
    answer = stage.ok("execute_sequence", actions=steps, stabilityTimeoutMs=60_000, **waits)
    assert answer["stable"] is True
    assert "forty two complete" in str(answer["stateChange"])


@pytest.mark.parametrize(
    ("send", "reason"),
    [
        pytest.param("log.append(q.value); write(log, 200, send)", 'log "Chat" is growing', marks=pytest.mark.clock),
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
    click = [{"action": "click_element", "selector": "#b"}]
    assert stage.ok("execute_sequence", actions=click, stabilityTimeoutMs=400)["stable"] is False
    assert stage.ok("execute_sequence", actions=click, stabilityTimeoutMs=60_000)["stable"] is True


@pytest.mark.clock
def test_a_message_of_one_piece_is_complete_as_it_comes(stage: Stage) -> None:
    """A status message does not make the page wait for more of it."""
    stage.show(CHAT.replace("SEND", "note.textContent = 'Saved'; setTimeout(() => log.append('later'), 700)"))
    change = stage.ok("click_element", selector="#b")["stateChange"]
    assert "text: Saved" in change["appeared"]
    assert "later" not in str(change)


@pytest.mark.clock
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
    # The page's own timer may be late, but not by nearly three seconds.
    answer = stage.ok("wait_for", quietMs=3_000, timeout=60_000)
    assert answer["waitedMs"] >= 3_000
    assert "forty two complete" in stage.ok("get_text")["text"]
    assert stage.ok("wait_for", quietMs=200, selector="#log", text="complete", timeout=60_000)["waitedMs"] >= 200


def test_wait_for_quiet_reports_what_keeps_changing(stage: Stage) -> None:
    """Without quiet in time, the error names the part of the page that changed last."""
    stage.show("<p id=t>0</p><script>setInterval(() => { t.textContent += 1 }, 20)</script>")
    text = refused(stage.call("wait_for", quietMs=2_000, timeout=3_000), "timeout")
    assert "no 2000 ms passed without a change: the page keeps changing (#t)" in text
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
    stage.ok("wait_for", quietMs=3_000, timeout=60_000)
    assert stage.ok("get_text", selector="#t")["text"] == "6"
