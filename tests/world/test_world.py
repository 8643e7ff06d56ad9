"""A session's script world by itself: what lives on between scripts, what is told, and where the limits are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import psutil
import pytest

from orchestrator.errors import ElementNotFound, InvalidArgument, OrchestratorError, SessionLost
from orchestrator.world.kernel import Function
from orchestrator.world.run import Finished
from orchestrator.world.vars import ROOM, Vars
from orchestrator.world.world import World

MEGABYTE = 1024 * 1024
NONE = "undefined"
GREEDY = "const a = []; for (;;) a.push(new Array(1e4).fill(1).map(String))"
FUNCTIONS = [
    Function("click_element", "page"),
    Function("fail", "page"),
    Function("get_visible_elements", "page"),
    Function("cookies", "context"),
    Function("tabs", "browser"),
]


class Session:
    """Whoever does the actions: it notes them, and one of them always fails."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Mapping[str, Any]]] = []
        self.vars = Vars({}, lambda _: None)
        self.lost = False

    def act(self, verb: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Note it."""
        self.done.append((verb, fields))
        if verb == "fail":
            raise ElementNotFound("No element matches '#x'.", hint="Look again.")
        return {"verb": verb, "number": len(self.done)}

    def check(self) -> None:
        """Whether the session is there."""
        if self.lost:
            raise SessionLost("a", "it was closed")


class Scripts:
    """A world and its session."""

    def __init__(self) -> None:
        self.session = Session()
        self.world = World(FUNCTIONS, 64 * MEGABYTE)

    def run(self, script: str, seconds: float = 20) -> Finished:
        """Run a script."""
        facts = {"sessionId": "a", "type": "browser", "capabilities": {"browserName": "chrome"}}
        return self.world.run(script, seconds, self.session, self.session.vars, facts)

    def value(self, script: str) -> Any:
        """What a script returns that must succeed."""
        done = self.run(script)
        assert done.error is None, done.error
        return done.value

    def error(self, script: str, seconds: float = 20) -> OrchestratorError:
        """The error of a script that must fail."""
        try:
            error = self.run(script, seconds).error
        except InvalidArgument as refused:
            return refused
        assert error is not None
        return error


@pytest.fixture
def scripts() -> Iterator[Scripts]:
    """A world of the test's own."""
    scripts = Scripts()
    yield scripts
    scripts.world.lose("the test is over")


def engines() -> list[psutil.Process]:
    """The processes of all worlds that there are."""
    return [one for one in psutil.Process().children() if any("isolate.py" in word for word in one.cmdline())]


@pytest.fixture(scope="module")
def lasting() -> Iterator[Scripts]:
    """A world that several tests use, none of which changes what the next one finds."""
    scripts = Scripts()
    yield scripts
    scripts.world.lose("the tests are over")


@pytest.mark.parametrize(("script", "evaluations"), [("return 1", 3), ("await page.clickElement({})", 5)])
def test_its_process_is_asked_no_more_than_it_takes(
    lasting: Scripts, monkeypatch: pytest.MonkeyPatch, script: str, evaluations: int
) -> None:
    """To read the script, to run it, what it wants; then its answer and what it wants, for each action."""
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
def test_what_is_declared_at_the_top_lives_on(scripts: Scripts, script: str, read: str, value: Any) -> None:  # F15 F16
    """In every later script of the session; what is declared further inside does not."""
    scripts.value(script)
    assert scripts.value(f"return {read}") == value


def test_a_name_is_the_same_thing_in_every_script(scripts: Scripts) -> None:  # F15 F16
    """A function sees what later scripts make of a var or of another function; `var a` alone keeps what it is."""
    scripts.value("var rate = 2; const base = 10; function extra() { return 1 }")
    scripts.value("function price() { return base * rate + extra() }")
    assert scripts.value("var rate; return [rate, price()]") == [2, 21]
    assert scripts.value("rate = 3; const base = 20; function extra() { return 5 }\nreturn price()") == 65


def test_functions_are_there_before_their_lines(scripts: Scripts) -> None:
    """As in any script, and what follows a declaration does not run into what stands before it."""
    assert scripts.value("const first = twice(2)\nfunction twice(n) { return 2 * n }\n;(() => 1)()\nreturn first") == 4


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("const a = 1\nvar b = ;", "Unexpected token ';' (line 2)"),
        ("foo bar", "Unexpected identifier 'bar' (line 1)"),
        ("let a; let a", "'a' has already been declared (line 1)"),
        ("const a = 1; { var a }", "'a' has already been declared (line 1)"),
        ("}); globalThis.escaped = 1; (async function () {", "closes a brace"),
        ("import fs from 'fs'", "Cannot use import statement outside a module (line 1)"),
        ("var page = 1", "declares page, which is the session's own"),
        ("function vars() {}", "declares vars, which is the session's own"),
    ],
)
def test_what_cannot_be_read_is_not_run(lasting: Scripts, script: str, said: str) -> None:
    """The error says where; nothing of the script has run, and the world is as it was."""
    lasting.value("var kept = 1")
    assert said in lasting.error(f"globalThis.ran = 1; {script}" if "import" not in script else script).message
    assert lasting.value("return [typeof ran, typeof escaped, kept]") == [NONE, NONE, 1]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("\nnull.x", "TypeError: Cannot read properties of null (reading 'x') (line 2)"),
        ("await null\n\nthrow new RangeError('far')", "RangeError: far (line 3)"),
        ("function f() {\n  return none\n}\nf()", "ReferenceError: none is not defined (line 2)"),
        ("throw 'a string'", "The script threw a string."),
        ("throw {a: 1}", '{"a":1}'),
        ("(function f() { f() })()", "Maximum call stack size exceeded"),
        ("page.click({selector: '#a'})", "page has no click; it has clickElement"),
        ("await page.clickElement('#a')", "page.clickElement takes one object of parameters, such as {selector:"),
        ("page = 1", "page is the session's own"),
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
def test_what_a_script_throws_is_told_with_its_line(lasting: Scripts, script: str, said: str) -> None:  # F41
    """In the caller's own lines, without anything of the engine; the world lives on."""
    error = lasting.error(script)
    assert error.code == "invalid_argument"
    assert said in error.message
    assert not any(word in f"{error}{error.details}" for word in ("kernel", "script-", "<anonymous>", "    at "))
    assert lasting.value("return 1") == 1


def test_an_error_in_an_earlier_scripts_function_says_so(scripts: Scripts) -> None:
    """Its line is not one of the script that called it."""
    scripts.value("\nfunction broken() { null.x }")
    assert "(line 2 of an earlier script)" in scripts.error("broken()").message


def test_an_action_that_fails_can_be_caught(scripts: Scripts) -> None:  # F43
    """With code, message and hint; uncaught, the call fails with the action's own code."""
    caught = scripts.value(
        "try { await fail({}) } catch (e) { return [e.name, e.code, e.message, e.hint, e.retryable] }"
    )
    assert caught == ["ActionError", "element_not_found", "No element matches '#x'.", "Look again.", True]
    error = scripts.error("\n\nawait page.fail()")
    assert (error.code, error.details["script"]) == ("element_not_found", "line 3")


def test_actions_are_done_in_the_order_of_their_calls(scripts: Scripts) -> None:  # F14
    """One after the other, also those that are awaited together; each answers its own call."""
    script = (
        "return (await Promise.all([tabs({a: 1}), context.cookies(), page.clickElement({b: 2})])).map(r => r.number)"
    )
    assert scripts.value(script) == [1, 2, 3]
    assert scripts.session.done == [("tabs", {"a": 1}), ("cookies", {}), ("click_element", {"b": 2})]


def test_what_was_not_awaited_is_done_all_the_same(scripts: Scripts) -> None:
    """Before the call ends; a failure that nobody looked at is a warning."""
    done = scripts.run("page.clickElement(); page.fail(); return 1")
    assert (done.value, len(scripts.session.done)) == (1, 2)
    assert done.warnings == ["page.fail was not awaited, and failed: No element matches '#x'."]


def test_a_name_of_an_action_can_be_taken_for_one_script(scripts: Scripts) -> None:
    """The next one finds the action again."""
    assert scripts.value("const tabs = await browser.tabs(); return tabs.verb") == "tabs"
    assert scripts.value("return (await tabs()).verb") == "tabs"


def test_timers_run_while_the_script_does(scripts: Scripts) -> None:
    """In order, and no longer: what still waits at its end is given up."""
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
def test_values_come_back_as_those_of_execute_script(lasting: Scripts, returned: str, value: Any) -> None:
    """Whatever is no JSON is made such."""
    assert lasting.value(f"return {returned}") == value


def test_what_is_printed_is_told(scripts: Scripts) -> None:
    """A line a call, up to a bound, also of a script that fails; each script's own."""
    assert scripts.run("console.log('a', {b: [1]}, undefined, null, 3n); console.warn(new Error('e'))").console == [
        'a {"b":[1]} undefined null 3',
        "warn: Error: e",
    ]
    assert scripts.error("console.log('before'); null.x").details["console"] == ["before"]
    lines = scripts.run("for (let n = 0; n < 1000; n++) console.log('x'.repeat(5000))").console
    assert (len(lines), len(lines[0]), lines[-1]) == (201, 2001, "… 800 more lines")
    assert scripts.run("return 1").console == []


def test_vars_are_read_and_written_at_once(scripts: Scripts) -> None:  # F19 F20 F21 F22 F23
    """`get`, `set`, `has`, `delete` and `keys`, without `await`."""
    script = """
        vars.set('a', '1'); vars.set('b', '2');
        const before = [vars.get('a'), vars.has('b'), vars.keys(), vars.get('none') === undefined, vars.has('none')];
        return [...before, vars.delete('a'), vars.delete('a'), vars.keys()];
    """
    assert scripts.value(script) == ["1", True, ["a", "b"], True, False, True, False, ["b"]]
    assert scripts.session.vars.all() == {"b": "2"}


@pytest.mark.parametrize("after", ["throw new Error('no')", "await fail()", "for (;;) ;", GREEDY])
def test_vars_are_kept_also_when_the_script_fails(scripts: Scripts, after: str) -> None:  # F24 F25
    """Whatever it fails of."""
    scripts.error(f"vars.set('order', '17'); {after}", 0.5)
    assert scripts.session.vars.all() == {"order": "17"}


@pytest.mark.parametrize(
    "script", ["for (;;) ;", "await null; for (;;) await null", "/(a+)+$/.test('a'.repeat(50) + 'b')"]
)
def test_a_script_that_does_not_end_is_ended(scripts: Scripts, script: str) -> None:  # F26
    """At its time, whatever it does; the world goes with it."""
    error = scripts.error(script, 0.3)
    assert (error.code, error.message) == ("timeout", "The script was not done after 0.3 s.")
    assert "vars are still there" in error.hint
    assert scripts.world.lost == "a script took too long"


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
    """The engine's heap, and what lies beside it; the world goes with it."""
    error = scripts.error(script)
    assert (error.code, error.message) == (
        "invalid_argument",
        "The script took more memory than the 64 MB that it may.",
    )
    assert scripts.world.lost == "a script took too much memory"


def test_a_script_whose_session_ends_is_ended(scripts: Scripts) -> None:
    """While it computes, too; the reason is the session's."""
    scripts.session.lost = True
    with pytest.raises(SessionLost):
        scripts.run("for (;;) ;")
    assert scripts.world.lost == "a script was cut short"


def test_a_world_is_closed_once_its_script_has_noticed(scripts: Scripts) -> None:
    """Whoever closes the session while a script computes does not take the engine from under it."""

    def close() -> None:
        scripts.world.lose("its session is closed")
        raise SessionLost("a", "it was closed")

    scripts.session.check = close  # type: ignore[method-assign]
    with pytest.raises(SessionLost):
        scripts.run("vars.set('a', '1'); for (;;) ;")
    assert not scripts.world.busy


def test_names_mean_nothing_else_on_their_way(scripts: Scripts) -> None:
    """Such as that of a prototype, in values, parameters and vars; what is undefined is left out of parameters."""
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
def test_a_script_that_breaks_what_we_use_breaks_its_own_world(scripts: Scripts, script: str) -> None:
    """It is told, and the world is given up, not the server."""
    said = scripts.error(script).message
    assert "broke its world" in (said if scripts.world.lost else scripts.error("return 1").message)
    assert scripts.world.lost == "a script broke it"


def test_an_engine_that_ends_takes_nothing_with_it(scripts: Scripts) -> None:
    """V8 ends its process where it cannot go on: that is the world's own, and the script is told why."""
    scripts.value("vars.set('kept', '1')")
    newest = max(engines(), key=lambda process: process.create_time())

    def end() -> None:
        with suppress(psutil.NoSuchProcess):
            newest.kill()

    scripts.session.check = end  # type: ignore[method-assign]
    error = scripts.error("for (;;) ;")
    assert "more memory than the 64 MB" in error.message
    assert scripts.world.lost == "a script took too much memory"
    assert scripts.session.vars.all() == {"kept": "1"}


def test_what_cannot_be_interrupted_ends_with_its_world(scripts: Scripts) -> None:
    """A copy that V8 makes in one go is not gone on with."""
    own = max(engines(), key=lambda process: process.create_time())
    assert scripts.error("return Array(2 ** 28).fill(0).length", 0.2).code == "timeout"
    own.wait(20)


def test_half_a_character_is_no_var() -> None:
    """The record could not be written."""
    kept = Vars({}, lambda _: None)
    for name, value in (("a", "\ud800"), ("\ud800", "a")):
        with pytest.raises(InvalidArgument, match="surrogate"):
            kept.set(name, value)
    assert kept.all() == {}


def test_nothing_of_ours_is_in_sight(scripts: Scripts) -> None:
    """No global of a script is the engine's, and none reaches beyond the limits."""
    hidden = "/kernel|Atomics|SharedArray|WebAssembly|require|process/"
    assert scripts.value(f"return Reflect.ownKeys(globalThis).map(String).filter(n => {hidden}.test(n))") == []
