"""run_script: JavaScript that acts, in a world of the session's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.harness import Home, answered, until
from tests.e2e.stage import Stage, opened, refused
from tests.served import Served
from tests.site import Reply, Visit

FORM = "<input id=i aria-label=Name><button onclick=\"p.textContent = 'Hello, ' + i.value\">Go</button><p id=p></p>"
NEW = "The script world is a new one: globals of earlier scripts are not in it; vars are."


@pytest.fixture(scope="module")
def pair() -> Iterator[Stage]:
    """Two sessions on a server whose script worlds are soon given up, and small."""
    with opened("auto", "one", "two", script_idle="1s", script_memory="16") as stage:
        yield stage


def echo(visit: Visit) -> Reply:
    """What a request has brought, and a cookie for it."""
    if visit.path == "/none":
        return Reply("nothing", 404)
    headers = {name.lower(): value for name, value in visit.headers.items()}
    seen: dict[str, Any] = {"query": dict(visit.query), "cookies": dict(visit.cookies), "body": visit.body.decode()}
    seen |= {"own": headers.get("x-own"), "type": headers.get("content-type")}
    return Reply(json.dumps(seen), headers={"Set-Cookie": "got=1"})


def run(stage: Stage | Served, script: str, **arguments: Any) -> Any:
    """Run a script that must succeed; its value."""
    return stage.ok("run_script", script=script, **arguments)["value"]


def test_a_script_acts_and_reads(stage: Stage) -> None:  # F3 F14
    """Its actions are those of the session, and `return` is what the call answers, as text and as data."""
    stage.show(FORM)
    script = """
        await page.setValue({selector: "label=Name", value: "Ann"});
        await page.clickElement({selector: "text=Go"});
        console.log("clicked", {once: true});
        return [await page.title(), (await get_text({selector: "#p"})).text];
    """
    answer = stage.call("run_script", script=script)
    assert (answer.data["value"], answer.data["console"]) == (["Page", "Hello, Ann"], ['clicked {"once":true}'])
    assert answer.text.startswith('["Page", "Hello, Ann"]\nConsole:\nclicked {"once":true}\n')


def test_every_action_is_a_function(stage: Stage) -> None:  # F14 F38
    """By its tool's name, and as a method of page, context or browser: whatever is declared is there."""
    script = "return [page, context, browser].map(one => Object.keys(one))"
    page, context, browser = run(stage, script)
    listed = {tool.name for tool in stage.server.tools() if "sessionId" in tool.input_schema["properties"]}
    of_sessions = {"start_browser", "start_app_session", "start_session", "attach_session", "set_current_session"}
    actions = listed - of_sessions - {"close_session", "execute_sequence", "run_script"}
    named = run(stage, "return Object.keys(globalThis).filter(name => typeof globalThis[name] === 'function')")
    assert actions - set(named) == set()
    methods = {name.split("_")[0] + "".join(word.title() for word in name.split("_")[1:]) for name in actions}
    assert methods - {*page, *context, *browser} == set()
    assert {"clickElement", "getText"} < set(page)
    assert ("cookies" in context, "tabs" in browser) == (True, True)


def test_globals_live_on(stage: Stage) -> None:  # F4 F15 F16
    """From call to call, with functions that act; other calls in between change nothing."""
    stage.show(FORM)
    run(stage, "var greeted = []; async function write(value) { return page.setValue({selector: '#i', value}) }")
    run(stage, "async function greet(name) { greeted.push(name); return write(name) }")
    stage.ok("get_text")
    run(stage, "await greet('Ann'); globalThis.last = 'Ann'")
    assert run(stage, "await greet('Ben'); return [greeted, last]") == [["Ann", "Ben"], "Ann"]
    assert stage.js("i.value") == "Ben"


def test_sessions_never_share(pair: Stage) -> None:  # F17 F52
    """Each has a world and vars of its own."""
    run(pair, "globalThis.mine = 1; vars.set('mine', '1')", sessionId="one")
    assert run(pair, "return [typeof mine, vars.keys()]", sessionId="two") == ["undefined", []]


def test_a_script_is_one_turn(stage: Stage) -> None:  # F18
    """Calls that come while it runs wait for its end, also between its actions."""
    stage.show("<p id=p>0</p>")
    step = "execute_script({script: 'return ++p.textContent'})"
    running = stage.begin("run_script", script=f"for (let n = 0; n < 20; n++) await {step}; return 'done'")
    then = stage.begin("execute_script", script="return p.textContent")
    assert (answered(running).data["value"], answered(then).data["value"]) == ("done", "20")


def test_a_script_is_a_step(stage: Stage) -> None:
    """A sequence can have one; in a script there is none."""
    stage.show(FORM)
    steps = [
        {"action": "run_script", "script": "globalThis.name = 'Ann'"},
        {"action": "run_script", "script": "await page.setValue({selector: '#i', value: name})"},
        {"action": "click_element", "selector": "text=Go"},
    ]
    assert stage.ok("execute_sequence", actions=steps)["completed"] == 3
    assert stage.js("p.textContent") == "Hello, Ann"
    assert run(stage, "return typeof run_script") == "undefined"


def test_an_error_of_an_action_is_the_calls(stage: Stage) -> None:  # F41 F43
    """With its own code, and the line of the script; what was printed is told, too."""
    stage.show(FORM)
    script = "console.log('before');\n\nawait page.clickElement({selector: '#none', timeout: 50});"
    answer = stage.call("run_script", script=script)
    text = refused(answer, "element_not_found")
    assert (answer.data["error"]["script"], answer.data["error"]["console"]) == ("line 3", ["before"])
    assert "Script: line 3" in text
    assert "before" in text
    assert (
        run(stage, "try { await page.clickElement({selector: '#none', timeout: 0}) } catch (e) { return e.code }")
        == "element_not_found"
    )


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("var a = ;", "The script cannot be read: SyntaxError: Unexpected token ';' (line 1). Nothing was run."),
        ("\nnull.x", "The script threw TypeError: Cannot read properties of null (reading 'x') (line 2)."),
        ("await page.clickElement({selectr: '#i'})", "Did you mean 'selector'"),
        ("await page.navigate({url: 'https://example.org', sessionId: 'other'})", "'sessionId'"),
    ],
)
def test_a_mistake_is_told(stage: Stage, script: str, said: str) -> None:  # F41
    """Where it is, in words that help."""
    assert said in refused(stage.call("run_script", script=script), "invalid_argument")


def test_actions_wait_no_longer_than_the_script(stage: Stage) -> None:
    """Its timeout bounds them, too."""
    stage.show("")
    answer = stage.call("run_script", script="await page.waitFor({text: 'Never', timeout: 60000})", timeout=300)
    assert refused(answer, "timeout")


def test_page_means_what_is_current(stage: Stage) -> None:  # F38 F39 F40
    """The tab and the document that are current now, whatever was when the script began or a function was made."""
    first, second = stage.page("first", title="First"), stage.page("second", title="Second")
    stage.ok("navigate", url=first)
    run(stage, "async function where() { return [await page.title(), await page.url()] }; const kept = page")
    run(stage, f"await browser.tabs({{action: 'new', url: '{second}'}})")
    assert run(stage, "return [await where(), await kept.title()]") == [["Second", second], "Second"]
    stage.ok("tabs", action="close")
    assert run(stage, "return where()") == ["First", first]
    assert run(stage, "return [browser.sessionId(), browser.type(), browser.capabilities().browserName]")[:2] == [
        "browser",
        "browser",
    ]


def test_request_has_the_sessions_cookies(stage: Stage) -> None:  # F40 O19
    """It asks from the page: with its cookies, and what the answer sets the session has."""
    for path in ("/echo", "/none"):
        stage.site.page(path, echo)
    stage.show("")
    run(stage, "await context.cookies({action: 'set', name: 'tea', value: 'mint'})")
    script = """
        const got = await request.get('/echo', {params: {a: 'b c'}, headers: {'x-own': '1'}});
        const posted = await request.post('/echo', {data: {n: 1}});
        const sent = await request.post('/echo', {form: {name: 'Ann'}});
        const none = await request.get('/none');
        return [got.json(), posted.json(), sent.json(), got.status, got.ok, none.status, none.ok, none.text()];
    """
    got, posted, sent, *answered = run(stage, script)
    assert got == {"query": {"a": "b c"}, "cookies": {"tea": "mint"}, "own": "1", "type": None, "body": ""}
    assert (posted["type"], posted["body"]) == ("application/json", '{"n":1}')
    assert sent["body"] == "name=Ann"
    assert answered == [200, True, 404, False, "nothing"]
    assert "got=1" in stage.js("document.cookie")
    stage.ok("cookies", action="clear")


def test_what_an_action_answers_a_script_is_not_cut(stage: Stage) -> None:
    """Only what the call itself answers is."""
    stage.show("<p>" + "x" * 50_000)
    assert run(stage, "return (await page.getText()).text.length") >= 50_000
    answer = stage.call("run_script", script="return (await page.getText()).text")
    assert "Return less" in answer.data["next"]
    assert len(answer.text) <= 20_000
    assert len(json.dumps(answer.data)) <= 20_000


def test_a_password_is_not_told(stage: Stage) -> None:
    """Neither by the value, nor by the console, nor by an error."""
    stage.show("<input type=password id=w>")
    script = (
        "await page.setValue({selector: '#w', value: 'opensesame'}); console.log('opensesame'); return ['opensesame']"
    )
    answer = stage.call("run_script", script=script)
    assert "opensesame" not in f"{answer.text}{answer.data}"
    assert answer.data["value"] == ["•••"]
    answer = stage.call("run_script", script="console.log('opensesame'); throw new Error('opensesame')")
    assert "opensesame" not in f"{answer.text}{answer.data}"
    assert "•••" in refused(answer, "invalid_argument")
    answer = stage.call("run_script", script="return 'x'.repeat(17_990) + 'opensesame'")  # it is cut there
    assert "opens" not in f"{answer.text}{answer.data}"


def test_a_dialog_is_answered_and_told(stage: Stage) -> None:
    """As in any other call."""
    stage.show("<button id=b onclick=\"document.title = confirm('Sure?')\">Ask</button>")
    answer = stage.call("run_script", script="await page.clickElement({selector: '#b'}); return page.title()")
    assert answer.data["value"] == "false"
    assert "A dialog was dismissed: 'Sure?'." in answer.data["events"][0]


def test_vars_stand_in_the_record(pair: Stage) -> None:  # F19 F20 F21 F22 F23 F24 F25
    """Strings by name, without await; also when the script fails after that."""
    run(
        pair,
        "for (const name of vars.keys()) vars.delete(name); vars.set('a', '1'); vars.set('b', 'ü')",
        sessionId="two",
    )
    refused(
        pair.call("run_script", script="vars.set('c', '3'); vars.delete('a'); null.x", sessionId="two"),
        "invalid_argument",
    )
    script = "return [vars.keys(), vars.get('b'), vars.has('a'), vars.get('a') === undefined]"
    assert run(pair, script, sessionId="two") == [["b", "c"], "ü", False, True]


@pytest.mark.parametrize(
    ("script", "limit", "code", "why"),
    [
        ("for (;;) ;", 300, "timeout", "a script took too long"),
        (
            "const a = []; for (;;) a.push(new Array(1e4).fill(1).map(String))",
            60_000,
            "invalid_argument",
            "too much memory",
        ),
    ],
)
def test_a_script_beyond_its_limits_is_ended(
    stage: Stage, script: str, limit: int, code: str, why: str
) -> None:  # F26 F27 F31
    """The session is free at once, its world is a new one, the next result says so, and vars are still there."""
    run(stage, "globalThis.kept = 1; vars.set('kept', '1')")
    text = refused(stage.call("run_script", script=f"vars.set('late', '2'); {script}", timeout=limit), code)
    assert "Its world was reset; vars are still there." in text
    (told,) = stage.ok("get_text")["events"]
    assert told.startswith("The script world was reset: ")
    assert why in told
    answer = stage.ok("run_script", script="return [typeof kept, vars.get('kept'), vars.get('late')]")
    assert answer["value"] == ["undefined", "1", "2"]
    assert "events" not in answer


def test_an_idle_world_is_given_up(pair: Stage) -> None:  # F30 F31
    """After the setting `script_idle`; other calls do not keep it, and the next result says so."""
    run(pair, "globalThis.kept = 1; vars.set('kept', '1')", sessionId="one")
    told = until(lambda: pair.ok("get_text", sessionId="one").get("events"), "the reset of an idle world")
    assert told == ["The script world was reset: no script used it for 1 s. Globals are gone; vars are still there."]
    assert run(pair, "return [typeof kept, vars.get('kept')]", sessionId="one") == ["undefined", "1"]


def test_two_servers_have_a_world_each(modern: Served, shared_home: Home) -> None:  # F28 F29 F32 F42 O18
    """They share a session and its vars; a new browser under its name is told; vars outlive whoever set them."""
    with shared_home.serve(park_ttl="100") as other:
        other.ok("start_browser", sessionId="both")
        run(other, "globalThis.here = 1; vars.set('here', '1')", sessionId="both")
        answer = modern.ok("run_script", script="return [typeof here, vars.get('here')]", sessionId="both")
        assert (answer["value"], answer["events"]) == (["undefined", "1"], [NEW])
        assert other.ok("run_script", script="return here", sessionId="both") == {"value": 1}

        modern.ok("close_session", sessionId="both")
        modern.ok("start_browser", sessionId="both")
        answer = other.ok("run_script", script="return typeof here", sessionId="both")
        assert answer["value"] == "undefined"
        assert "the session's browser is a new one" in answer["events"][0]

        other.ok("start_browser", sessionId="left")
        run(other, "globalThis.kept = 1; vars.set('kept', '1')", sessionId="left")
    answer = modern.ok("run_script", script="return [typeof kept, vars.get('kept')]", sessionId="left")
    assert answer["value"] == ["undefined", "1"]
    assert answer["events"][-1] == NEW
