"""A session's script world alone: what persists between scripts, what is reported, and the limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psutil
import pytest

from orchestrator.automation.scripting.vars import ROOM, Vars
from orchestrator.errors import InvalidArgument, SessionLost
from tests.automation.scripting.conftest import Scripts
from tests.waiting import PATIENCE

NONE = "undefined"
GREEDY = "const a = []; for (;;) a.push(new Array(1e4).fill(1).map(String))"


def engines() -> list[psutil.Process]:
    """The processes of all existing worlds."""
    return [one for one in psutil.Process().children() if any("isolate.py" in word for word in one.cmdline())]


@pytest.fixture(scope="module")
def lasting() -> Iterator[Scripts]:
    """A world shared by several tests, none of which affects another one."""
    scripts = Scripts()
    yield scripts
    scripts.world.shut_down("the tests are over")


@pytest.mark.parametrize(("script", "evaluations"), [("return 1", 3), ("await page.clickElement({})", 5)])
def test_a_script_takes_a_fixed_number_of_engine_evaluations(
    lasting: Scripts, monkeypatch: pytest.MonkeyPatch, script: str, evaluations: int
) -> None:
    """A script takes three evaluations of the engine, and two more for an action."""
    engine, asked = lasting.world.engine, list[str]()
    evaluate = engine.evaluate

    def noted(code: str, *given: Any) -> Any:
        asked.append(code)
        return evaluate(code, *given)

    monkeypatch.setattr(engine, "evaluate", noted)
    lasting.value(script)
    assert len(asked) == evaluations


@pytest.mark.parametrize(
    ("script", "read", "value"),
    [
        ("globalThis.a = [1]", "a", [1]),
        ("a = 1", "a", 1),
        ("var a = 1, b", "[a, b === undefined]", [1, True]),
        ("var {a, b: [c = 3, ...d], ...e} = {a: 1, b: [undefined, 4], f: 5}", "[a, c, d, e]", [1, 3, [4], {"f": 5}]),
        ("let a = 1; const b = a + 1; let c; let [d] = [4]", "[a, b, c === undefined, d]", [1, 2, True, 4]),
        ("function a() { return b() }\nfunction b() { return 1 }", "a()", 1),
        ("async function a() { await null; return 1 }", "await a()", 1),
        ("function* a() { yield 1 }", "[...a()]", [1]),
        ("class A { static #n = 1; static n() { return A.#n } }", "A.n()", 1),
        ("var a = function () {}, b = () => 1, C = class {}", "[a.name, b.name, C.name]", ["a", "b", "C"]),
        ("for (var i = 0, n = 3; i < n; i++) { var last = i }", "[i, n, last]", [3, 3, 2]),
        ("for (var a of [1, 2]) ; for (var [b] of [[3]]) ; for (var async of [4]) ;", "[a, b, async]", [2, 3, 4]),
        ("for (var key in {one: 1}) ; for await (var late of [Promise.resolve(2)]) ;", "[key, late]", ["one", 2]),
        ("if (true) var a = 1\nelse var b = 2\ntry { var c = 3 } catch { var d }", "[a, typeof b, c]", [1, NONE, 3]),
        ("switch (1) { case 1: var a = 1 }\nwhile (true) { var b = 2; break }", "[a, b]", [1, 2]),
        ("label: for (;;) { var a = 1; break label }", "a", 1),
        ("var a = 1\nvar b = a\n;[2].forEach(n => b += n)", "b", 3),
        ("var a = `var b ${'}'} ${(() => { var b = 2; return b })()}`", "[a, typeof b]", ["var b } 2", NONE]),
        ("var a = /[/var b]/.test('/'), b = 4 / 2 / 1 // var c\n/* var c */", "[a, b, typeof c]", [True, 2, NONE]),
        ("const inner = () => { var hidden = 1; return hidden }", "[inner(), typeof hidden]", [1, NONE]),
        ("{ let a = 1; { function b() {} } }", "[typeof a, typeof b]", [NONE, NONE]),
        ("'use strict'\nvar a = 1\nfunction b() { return this === undefined }", "[a, b()]", [1, True]),
        ("var ü = 'ü', $ = 1, _ = 2", "[ü, $, _]", ["ü", 1, 2]),
        ("try { throw 1 } catch (e) { var e = 2 }", "typeof e", NONE),
        ("var x\n(1, 2)", "typeof x", NONE),
    ],
)  # fmt: skip
def test_top_level_declarations_live_on_in_later_scripts(
    scripts: Scripts, script: str, read: str, value: Any
) -> None:  # F15 F16 F17
    """Top-level declarations are visible to every later script of the session; inner ones are not."""
    scripts.value(script)
    assert scripts.value(f"return {read}") == value


def test_a_top_level_name_is_the_same_binding_in_every_script(scripts: Scripts) -> None:  # F16 F17
    """A function sees later changes of a var or of another function; `var a` alone keeps the value."""
    scripts.value("var rate = 2; const base = 10; function extra() { return 1 }")
    scripts.value("function price() { return base * rate + extra() }")
    assert scripts.value("var rate; return [rate, price()]") == [2, 21]
    assert scripts.value("rate = 3; const base = 20; function extra() { return 5 }\nreturn price()") == 65


def test_function_declarations_of_a_script_are_hoisted(scripts: Scripts) -> None:
    """Functions can be called before their line, and no declaration runs into the next statement."""
    assert scripts.value("const first = twice(2)\nfunction twice(n) { return 2 * n }\n;(() => 1)()\nreturn first") == 4


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("const a = 1\nvar b = ;", "Unexpected token ';' (line 2)"),
        ("foo bar", "Unexpected identifier 'bar' (line 1)"),
        ("let a; let a", "'a' has already been declared (line 1)"),
        ("const a = 1; { var a }", "'a' has already been declared (line 1)"),
        ("}); globalThis.escaped = 1; (async function () {", "closes a brace"),
        ("var page = 1", "declares page, which is a built-in object"),
        ("function vars() {}", "declares vars, which is a built-in object"),
    ],
)
def test_a_script_with_a_syntax_error_is_not_run_at_all(lasting: Scripts, script: str, expected: str) -> None:
    """The error gives the position; no part of the script has run, and the script world is unchanged."""
    lasting.value("var kept = 1")
    assert expected in lasting.error(f"globalThis.ran = 1; {script}" if "import" not in script else script).message
    assert lasting.value("return [typeof ran, typeof escaped, kept]") == [NONE, NONE, 1]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("\nnull.x", "TypeError: Cannot read properties of null (reading 'x') (line 2)"),
        ("await null\n\nthrow new RangeError('far')", "RangeError: far (line 3)"),
        ("function f() {\n  return none\n}\nf()", "ReferenceError: none is not defined (line 2)"),
        ("throw 'a string'", "The script threw a string."),
        ("throw {a: 1}", '{"a":1}'),
        ("(function f() { f() })()", "Maximum call stack size exceeded"),
        ("page.click({selector: '#a'})", "page has no click; it has clickElement"),
        ("await page.clickElement('#a')", "page.clickElement takes one object of parameters, such as {selector:"),
        ("page = 1", "page is a built-in object"),
        ("vars.set('a', 1)", "the value is a string, and this is a number"),
        ("vars.set('', 'a')", "the name of a var is a string"),
        ("vars.set('a', '\\ud800')", "half of a surrogate pair"),
        (f"vars.set('a', 'x'.repeat({ROOM}))", f"have at most {ROOM} characters"),
        ("await new Promise(() => {})", "waits for a promise that nothing will ever settle"),
        ("setTimeout(() => {}, Infinity); await new Promise(() => {})", "waits for a promise that nothing"),
        ("return new Map([[Symbol('a'), 1]])", "TypeError: Cannot convert a Symbol value to a string"),
        ("return new Proxy({}, {ownKeys() { throw new Error('no keys') }})", "Error: no keys (line 1)"),
        ("throw Object.defineProperty(new Error(), 'message', {get() { throw 1 }})", "something that cannot be read"),
    ],
)  # fmt: skip
def test_a_script_error_is_reported_with_its_line_and_no_engine_internals(
    lasting: Scripts, script: str, expected: str
) -> None:
    """An error names the caller's own line and nothing of the engine; the script world lives on."""
    error = lasting.error(script)
    assert error.code == "invalid_argument"
    assert expected in error.message
    assert not any(word in f"{error}{error.details}" for word in ("kernel", "script-", "<anonymous>", "    at "))
    assert lasting.value("return 1") == 1


def test_an_error_in_an_earlier_scripts_function_names_the_line_of_that_script(scripts: Scripts) -> None:
    """The line of an error is marked as one of an earlier script."""
    scripts.value("\nfunction broken() { null.x }")
    assert "(line 2 of an earlier script)" in scripts.error("broken()").message


def test_a_failed_action_can_be_caught_in_a_script(scripts: Scripts) -> None:
    """A caught error has code, message and hint; uncaught, the call fails with the action's own code."""
    caught = scripts.value(
        "try { await fail({}) } catch (e) { return [e.name, e.code, e.message, e.hint, e.retryable] }"
    )
    assert caught == ["ActionError", "element_not_found", "No element matches '#x'.", "Look again.", True]
    error = scripts.error("\n\nawait page.fail()")
    assert (error.code, error.details["script"]) == ("element_not_found", "line 3")


def test_script_actions_are_done_in_the_order_of_their_calls(scripts: Scripts) -> None:
    """Actions run one after the other, even if awaited together, and each resolves its own call."""
    script = (
        "return (await Promise.all([tabs({a: 1}), context.cookies(), page.clickElement({b: 2})])).map(r => r.number)"
    )
    assert scripts.value(script) == [1, 2, 3]
    assert scripts.session.done == [("tabs", {"a": 1}), ("cookies", {}), ("click_element", {"b": 2})]


def test_script_actions_that_were_not_awaited_are_done_before_the_call_ends(scripts: Scripts) -> None:
    """An action that was not awaited is done before the call ends; its failure becomes a warning."""
    done = scripts.run("page.clickElement(); page.fail(); return 1")
    assert (done.value, len(scripts.session.done)) == (1, 2)
    assert done.warnings == ["page.fail was not awaited, and failed: No element matches '#x'."]


def test_a_script_may_shadow_an_actions_name_for_itself_only(scripts: Scripts) -> None:
    """A constant named like an action hides it in that script; the next script finds the action again."""
    assert scripts.value("const tabs = await browser.tabs(); return tabs.verb") == "tabs"
    assert scripts.value("return (await tabs()).verb") == "tabs"


def test_timers_run_only_while_their_script_does(scripts: Scripts) -> None:
    """Timers fire in order while the script runs; those still pending at its end are dropped."""
    script = """
        globalThis.heard = [];
        setTimeout(() => heard.push('late'), 60_000);
        setTimeout((word) => heard.push(word), 20, 'second');
        const first = setInterval(() => { heard.push('first'); clearInterval(first) }, 1);
        setTimeout(() => { throw new Error('in a timer') }, 1);
        await new Promise(go => setTimeout(go, 30));
        return heard;
    """
    done = scripts.run(script)
    assert (done.value, done.console) == (["first", "second"], ["error: Uncaught in a timer: Error: in a timer"])
    assert scripts.value("return heard.length") == 2


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        ("undefined", None),
        ("NaN", None),
        ("10n ** 20n", "100000000000000000000"),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("new Map([['a', new Set([1])]])", {"a": [1]}),
        ("/a/g", "/a/g"),
        ("new TypeError('t')", {"name": "TypeError", "message": "t"}),
        ("[function f() {}, Symbol('s'), new Uint8Array([1])]", ["[function f]", "Symbol(s)", [1]]),
        ("(() => { const a = []; a.push(a); return a })()", ["[circular]"]),
    ],
)
def test_script_world_values_are_serialized_like_those_of_execute_script(
    lasting: Scripts, returned: str, value: Any
) -> None:
    """Values that are not JSON are made JSON."""
    assert lasting.value(f"return {returned}") == value


def test_console_output_of_a_script_is_returned_up_to_a_bound(scripts: Scripts) -> None:
    """Each console call is one line, also of a script that fails, and each script has only its own lines."""
    assert scripts.run("console.log('a', {b: [1]}, undefined, null, 3n); console.warn(new Error('e'))").console == [
        'a {"b":[1]} undefined null 3',
        "warn: Error: e",
    ]
    assert scripts.error("console.log('before'); null.x").details["console"] == ["before"]
    lines = scripts.run("for (let n = 0; n < 1000; n++) console.log('x'.repeat(5000))").console
    assert (len(lines), len(lines[0]), lines[-1]) == (201, 2001, "… 800 more lines")
    assert scripts.run("return 1").console == []


def test_scripts_read_and_write_vars_without_await(scripts: Scripts) -> None:  # F19 F20 F21 F22 F23 F24
    """`get`, `set`, `has`, `delete` and `keys`, without `await`."""
    script = """
        vars.set('a', '1'); vars.set('b', '2');
        const before = [vars.get('a'), vars.has('b'), vars.keys(), vars.get('none') === undefined, vars.has('none')];
        return [...before, vars.delete('a'), vars.delete('a'), vars.keys()];
    """
    assert scripts.value(script) == ["1", True, ["a", "b"], True, False, True, False, ["b"]]
    assert scripts.session.vars.all() == {"b": "2"}


@pytest.mark.parametrize(
    ("after", "seconds"), [("throw new Error('no')", 60), ("await fail()", 60), ("for (;;) ;", 3), (GREEDY, 60)]
)
def test_vars_are_kept_when_the_script_fails(scripts: Scripts, after: str, seconds: float) -> None:  # F25
    """Vars that a script set are kept when it throws, times out or takes too much memory."""
    scripts.error(f"vars.set('order', '17'); {after}", seconds)
    assert scripts.session.vars.all() == {"order": "17"}


@pytest.mark.parametrize(
    "script", ["for (;;) ;", "await null; for (;;) await null", "/(a+)+$/.test('a'.repeat(50) + 'b')"]
)
def test_a_script_that_does_not_end_is_ended_at_its_time_limit(scripts: Scripts, script: str) -> None:  # F26
    """A script is ended at its time limit whatever it does, and its script world goes with it."""
    error = scripts.error(script, 0.3)
    assert (error.code, error.message) == ("timeout", "The script was not done after 0.3 s.")
    assert "vars are still there" in error.hint
    assert scripts.world.lost_reason == "a script took too long"


@pytest.mark.parametrize(
    "script",
    [
        GREEDY,
        f"await null; {GREEDY}",
        "const a = []; for (let n = 0; ; n++) a.push(new Uint8Array(2e7).fill(1))",
        "const a = []; for (;;) { a.push(new Uint8Array(5e6).fill(1)); await tabs() }",
    ],
)
def test_a_script_that_takes_too_much_memory_is_ended(scripts: Scripts, script: str) -> None:  # F27
    """The engine's heap and the buffers beside it both count; the script world goes with the script."""
    error = scripts.error(script)
    assert (error.code, error.message) == (
        "invalid_argument",
        "The script exceeded its memory limit of 64 MB.",
    )
    assert scripts.world.lost_reason == "a script took too much memory"


def test_a_script_whose_session_ends_is_ended(scripts: Scripts) -> None:
    """A script is ended with its session even while it computes, with the session's error."""
    scripts.session.lost = True
    with pytest.raises(SessionLost):
        scripts.run("for (;;) ;")
    assert scripts.world.lost_reason == "a script was interrupted"


def test_a_script_world_is_closed_only_after_its_running_script_has_stopped(scripts: Scripts) -> None:
    """A session closed while a script computes does not take the engine from under the script."""

    def close() -> None:
        scripts.world.shut_down("its session is closed")
        raise SessionLost("a", "it was closed")

    scripts.session.check = close  # type: ignore[method-assign]
    with pytest.raises(SessionLost):
        scripts.run("vars.set('a', '1'); for (;;) ;")
    assert not scripts.world.busy


def test_names_such_as_proto_are_plain_keys_in_parameters_and_vars(scripts: Scripts) -> None:
    """Names such as `__proto__` are passed on unchanged, and undefined parameters are omitted."""
    scripts.value("vars.set('__proto__', 'kept'); await tabs(JSON.parse('{\"__proto__\": {\"a\": 1}}'))")
    assert scripts.session.done == [("tabs", {"__proto__": {"a": 1}})]
    assert scripts.value("return [vars.keys(), vars.get('__proto__'), {get a() { throw 1 }}]") == [
        ["__proto__"],
        "kept",
        {"a": None},
    ]
    scripts.value("await tabs({a: undefined, b: null})")
    assert scripts.session.done[-1] == ("tabs", {"b": None})


@pytest.mark.parametrize(
    "script",
    [
        "Array.prototype.map = Map.prototype.set = null; click_element({a: [1]})",
        "Object.prototype.toJSON = () => 5",
        "Object.prototype.toJSON = () => ({vars: 5, value: 1})",
        "Object.prototype.toJSON = () => ({act: {number: 1, verb: 'tabs', parameters: {}, more: 1}, value: 1})",
        "Array.prototype.toJSON = () => 'theirs'; page.fail()",
        "const top = {}; for (let o = top, n = 0; n < 12000; n++) o = o.a = {}; tabs(top)",
    ],
)
def test_a_script_that_breaks_builtins_breaks_only_its_own_script_world(scripts: Scripts, script: str) -> None:  # F42
    """A script that breaks the engine's builtins is reported and loses its script world; the server continues."""
    said = scripts.error(script).message
    assert "broke its world" in (said if scripts.world.lost_reason else scripts.error("return 1").message)
    assert scripts.world.lost_reason == "a script broke it"


def test_a_script_engine_whose_process_dies_loses_its_script_world_but_no_vars(scripts: Scripts) -> None:
    """V8 ends its process at a fatal error: only the script world is lost, and the error gives the reason."""
    scripts.value("vars.set('kept', '1')")
    newest = max(engines(), key=lambda process: process.create_time())

    def end() -> None:
        with suppress(psutil.NoSuchProcess):
            newest.kill()

    scripts.session.check = end  # type: ignore[method-assign]
    error = scripts.error("for (;;) ;")
    assert "memory limit of 64 MB" in error.message
    assert scripts.world.lost_reason == "a script took too much memory"
    assert scripts.session.vars.all() == {"kept": "1"}


def test_a_script_that_cannot_be_interrupted_ends_with_its_engine_process(scripts: Scripts) -> None:
    """A script that is inside one long copy of V8 times out, and its process is ended."""
    own = max(engines(), key=lambda process: process.create_time())
    assert scripts.error("return Array(2 ** 28).fill(0).length", 0.2).code == "timeout"
    own.wait(PATIENCE)


def test_a_lone_surrogate_is_refused_in_the_name_or_value_of_a_var() -> None:
    """A lone surrogate is refused, since the session's record could not be written with it."""
    kept = Vars({}, lambda _: None)
    for name, value in (("a", "\ud800"), ("\ud800", "a")):
        with pytest.raises(InvalidArgument, match="surrogate"):
            kept.replace({name: value})
    assert kept.all() == {}


def test_scripts_see_no_globals_of_the_engine(scripts: Scripts) -> None:
    """No global of a script is the engine's, and none reaches beyond the limits."""
    hidden = "/kernel|Atomics|SharedArray|WebAssembly|require|process/"
    assert scripts.value(f"return Reflect.ownKeys(globalThis).map(String).filter(n => {hidden}.test(n))") == []
