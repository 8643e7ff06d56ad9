"""run_script: JavaScript that acts, in a world of the session's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from tests.e2e.harness import Home, answered
from tests.e2e.stage import Stage, opened, refused
from tests.servers.mcp import Served
from tests.servers.site import Reply, Visit
from tests.waiting import until

pytestmark = pytest.mark.full

FORM = "<input id=i aria-label=Name><button onclick=\"p.textContent = 'Hello, ' + i.value\">Go</button><p id=p></p>"
NEW = "The script world is a new one: globals of earlier scripts are not in it; vars are."


@pytest.fixture(scope="module")
def pair() -> Iterator[Stage]:
    """Two sessions on a server with small limits of memory and time for script worlds, and a short default wait."""
    with opened("auto", "one", "two", script_idle="1s", script_memory="16", default_timeout="2s") as stage:
        yield stage


def echo(visit: Visit) -> Reply:
    """Answer with the request's content, and set a cookie."""
    if visit.path == "/none":
        return Reply("nothing", 404)
    headers = {name.lower(): value for name, value in visit.headers.items()}
    seen: dict[str, Any] = {"query": dict(visit.query), "cookies": dict(visit.cookies), "body": visit.body.decode()}
    seen |= {"own": headers.get("x-own"), "type": headers.get("content-type")}
    return Reply(json.dumps(seen), headers={"Set-Cookie": "got=1"})


def run(stage: Stage | Served, script: str, **arguments: Any) -> Any:
    """Run a script that must succeed; return its value."""
    return stage.ok("run_script", script=script, **arguments)["value"]


def test_run_script_acts_in_the_session_and_returns_value_and_console(stage: Stage) -> None:
    """A script's return value and console output are in text and data of the answer."""
    stage.show(FORM)
    script = """
        await page.setValue({selector: "label=Name", value: "Ann"});
        await page.clickElement({selector: "text=Go"});
        console.log("clicked", {once: true});
        return [await page.title(), (await get_text({selector: "#p"})).text];
    """
    answer = stage.call("run_script", script=script)
    assert (answer.data["value"], answer.data["console"]) == (["Page", "Hello, Ann"], ['clicked {"once":true}'])
    assert answer.text.endswith('["Page", "Hello, Ann"]\nConsole:\nclicked {"once":true}')


def test_every_action_is_a_function_in_run_script(stage: Stage) -> None:
    """Actions are functions by their tool's name, and methods of page, context or browser."""
    script = "return [page, context, browser].map(one => Object.keys(one))"
    page, context, browser = run(stage, script)
    actions = {tool.name for tool in stage.server.tools()} & set(CATALOGUE) - {"run_script"}
    named = run(stage, "return Object.keys(globalThis).filter(name => typeof globalThis[name] === 'function')")
    assert actions - set(named) == set()
    methods = {name.split("_")[0] + "".join(word.title() for word in name.split("_")[1:]) for name in actions}
    assert methods - {*page, *context, *browser} == set()
    assert {"clickElement", "getText"} < set(page)
    assert ("cookies" in context, "tabs" in browser) == (True, True)


def test_globals_of_run_script_live_on_between_calls(stage: Stage) -> None:  # F3 F14 F15 F16 F18
    """Globals and functions that act persist from script to script, even with other calls in between."""
    stage.show(FORM)
    run(stage, "var greeted = []; async function write(value) { return page.setValue({selector: '#i', value}) }")
    run(stage, "async function greet(name) { greeted.push(name); return write(name) }")
    stage.ok("get_text")
    run(stage, "await greet('Ann'); globalThis.last = 'Ann'")
    assert run(stage, "await greet('Ben'); return [greeted, last]") == [["Ann", "Ben"], "Ann"]
    assert stage.js("i.value") == "Ben"


def test_sessions_share_no_script_globals_or_vars(pair: Stage) -> None:  # F11 F43
    """Each session has a script world and vars of its own."""
    run(pair, "globalThis.mine = 1; vars.set('mine', '1')", sessionId="one")
    assert run(pair, "return [typeof mine, vars.keys()]", sessionId="two") == ["undefined", []]


def test_calls_wait_until_a_running_script_is_over(stage: Stage) -> None:  # F12
    """Calls that come between the actions of a script wait for its end."""
    stage.show("<p id=p>0</p>")
    step = "execute_script({script: 'return ++p.textContent'})"
    running = stage.begin("run_script", script=f"for (let n = 0; n < 20; n++) await {step}; return 'done'")
    then = stage.begin("execute_script", script="return p.textContent")
    assert (answered(running).data["value"], answered(then).data["value"]) == ("done", "20")


def test_run_script_is_a_sequence_step(stage: Stage) -> None:
    """A sequence may contain scripts, but a script cannot run another one."""
    stage.show(FORM)
    steps = [
        {"action": "run_script", "script": "globalThis.name = 'Ann'"},
        {"action": "run_script", "script": "await page.setValue({selector: '#i', value: name})"},
        {"action": "click_element", "selector": "text=Go"},
    ]
    assert stage.ok("execute_sequence", actions=steps)["completed"] == 3
    assert stage.js("p.textContent") == "Hello, Ann"
    assert run(stage, "return typeof run_script") == "undefined"


def test_a_failing_action_in_a_script_gives_the_call_its_error_code(stage: Stage) -> None:
    """The error has the action's code, the line of the script and the earlier console output."""
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
    ("script", "expected"),
    [
        ("var a = ;", "The script is invalid: SyntaxError: Unexpected token ';' (line 1). Nothing was run."),
        ("\nnull.x", "The script threw TypeError: Cannot read properties of null (reading 'x') (line 2)."),
        ("await page.clickElement({selectr: '#i'})", "Did you mean 'selector'"),
        ("await page.navigate({url: 'https://example.org', sessionId: 'other'})", "'sessionId'"),
    ],
)
def test_a_faulty_script_is_refused_with_an_explanation(stage: Stage, script: str, expected: str) -> None:
    """Syntax errors, exceptions and wrong arguments in a script are reported with an explanation."""
    assert expected in refused(stage.call("run_script", script=script), "invalid_argument")


def test_an_action_in_a_script_waits_no_longer_than_the_scripts_timeout(stage: Stage) -> None:
    """The timeout of the script bounds its actions too."""
    stage.show("")
    answer = stage.call("run_script", script="await page.waitFor({text: 'Never', timeout: 60000})", timeout=300)
    assert refused(answer, "timeout")


def test_page_in_a_script_is_always_the_current_tab(stage: Stage) -> None:  # F39 F40
    """The object `page` stands for the current tab, even in functions defined earlier."""
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


def test_a_new_tab_has_the_default_wait_of_the_setting(pair: Stage) -> None:  # O18
    """`default_timeout` is how long an action without a timeout waits, in tabs that are opened later, too."""
    pair.ok("tabs", action="new", sessionId="one")
    text = refused(pair.call("click_element", selector="#none", sessionId="one"), "element_not_found")
    assert 2000 <= int(text.partition("waited ")[2].partition(" ms")[0]) < 5000, text
    pair.ok("tabs", action="close", sessionId="one")


def test_request_in_a_script_has_the_sessions_cookies(stage: Stage) -> None:  # F39
    """Requests carry the session's cookies, and the session gets the cookies of the responses."""
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


def test_an_action_result_inside_a_script_is_not_cut(stage: Stage) -> None:
    """Only the answer of the call itself is cut."""
    stage.show("<p>" + "x" * 50_000)
    assert run(stage, "return (await page.getText()).text.length") >= 50_000
    answer = stage.call("run_script", script="return (await page.getText()).text")
    assert "Return less" in answer.data["next"]
    assert len(answer.text) <= 20_000
    assert len(answer.data_json) <= 20_000


def test_run_script_never_reveals_a_typed_password(stage: Stage) -> None:
    """Value, console and error of a script are masked, even where they are cut."""
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
    answer = stage.call("run_script", script="return 'x'.repeat(17_990) + 'opensesame'")  # cut within the secret
    assert "opens" not in f"{answer.text}{answer.data}"


def test_a_dialog_during_a_script_is_answered_and_reported(stage: Stage) -> None:
    """A dialog is dismissed by the policy as in any other call."""
    stage.show("<button id=b onclick=\"document.title = confirm('Sure?')\">Ask</button>")
    answer = stage.call("run_script", script="await page.clickElement({selector: '#b'}); return page.title()")
    assert answer.data["value"] == "false"
    assert "A dialog was dismissed: 'Sure?'." in answer.data["events"][0]


def test_script_vars_are_kept_even_when_the_script_fails(pair: Stage) -> None:  # F14 F19 F20 F21 F22 F23 F24 F25
    """Vars are strings by name, set without await and kept when the script fails after that."""
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
def test_a_script_beyond_its_time_or_memory_limit_is_ended(
    stage: Stage, script: str, limit: int, code: str, why: str
) -> None:  # F26 F27 F31 F38 F32
    """A new script world replaces the old one, the next result reports it, and vars are kept."""
    run(stage, "globalThis.kept = 1; vars.set('kept', '1')")
    text = refused(stage.call("run_script", script=f"vars.set('late', '2'); {script}", timeout=limit), code)
    assert "Its world was reset; vars are still there." in text
    (told,) = stage.ok("get_text")["events"]
    assert told.startswith("The script world was reset: ")
    assert why in told
    answer = stage.ok("run_script", script="return [typeof kept, vars.get('kept'), vars.get('late')]")
    assert answer["value"] == ["undefined", "1", "2"]
    assert "events" not in answer


def test_an_idle_script_world_is_reset(pair: Stage) -> None:  # F30 F31 F32
    """A script world is reset after script_idle without a script; other calls do not prevent that."""
    run(pair, "globalThis.kept = 1; vars.set('kept', '1')", sessionId="one")
    told = until(lambda: pair.ok("get_text", sessionId="one").get("events"), "the reset of an idle world")
    assert told == ["The script world was reset: no script used it for 1 s. Globals are gone; vars are still there."]
    assert run(pair, "return [typeof kept, vars.get('kept')]", sessionId="one") == ["undefined", "1"]


def test_two_servers_on_one_session_share_vars_but_not_the_script_world(
    modern: Served, shared_home: Home
) -> None:  # F28 F32
    """Vars are shared and outlive the server that set them; a new browser under the same name is reported."""
    with shared_home.serve(park_ttl="100") as other:
        other.ok("start_browser", sessionId="both")
        run(other, "globalThis.here = 1; vars.set('here', '1')", sessionId="both")
        answer = modern.ok("run_script", script="return [typeof here, vars.get('here')]", sessionId="both")
        assert (answer["value"], answer["events"]) == (["undefined", "1"], [NEW])
        answer = other.ok("run_script", script="return here", sessionId="both")
        assert answer == {"value": 1, "events": ["mcp called run_script here meanwhile."]}

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
