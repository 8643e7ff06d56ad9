"""Argument sets made from the tools' own input schemas, like a model's: right, nearly right and wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.execution.sequence import SYNC
from orchestrator.mcp_server.tools import TOOLS

SESSION = "fuzz"
_SELECTORS = (
    "#go", "button", "text=Go", "label=Name", 'role=textbox[name="Name"]', "input", "select", "#box", "//a",
    "testid=go", "iframe >> p", "e1", "e2", "e7",
)  # fmt: skip
_BROKEN_SELECTORS = (
    "",
    " ",
    "a[",
    "//[",
    ">>",
    "p >> ",
    "role=",
    "text=",
    "::",
    "e99999",
)
_NOWHERE = ("#nowhere", "e0", "#\\", "\x00", "\ufffe")
_ODD_TEXT = (
    "", " ", "0", "true", "Ann", "a\nb", "a\tb", "ä€😀", "\x00", "\ufffe", "</script>", "'\"`", "{{}}", "%s%n",
    "x" * 3000, "../../etc/passwd", "e12", "-1", "null", "2026-11-21",
)  # fmt: skip
_ADDRESSES = (
    "about:blank", "data:text/html,<p>x", "", "http://", "http://[", "javascript:alert(1)", "file:///nowhere",
    "chrome://version", "http://127.0.0.1:1/", "ftp://x", "x", "ht!tp://a b",
)  # fmt: skip
_SCRIPTS = (
    "return 1", "return document.title", "return", "throw new Error('x')", "return {", "return arguments[0]", "1 +",
    "return document.body", "return new Promise(() => {})", "return window", "return '\\ud800'", "return 1n",
    "const a = {}; a.a = a; return a", "alert(1)", "return NaN",
)  # fmt: skip
_NUMBERS = (-1, 0, 1, 2, 5, 10, 100, 10_000, 2**31, 2**63, 2**70)
_MILLISECONDS = st.sampled_from((0, 1, 20, 50))
_QUICK = ("timeout", "stabilityMs", "stabilityTimeoutMs")
"""Limits of waiting, so that the sets are many and the run is short."""
_ANY = st.sampled_from((None, True, False, 0, -1, 1.5, "", "x", [], ["x"], {}, {"a": 1}, float(10**20)))

_BY_NAME = {
    "script": st.sampled_from(_SCRIPTS),
    "remoteUrl": st.sampled_from(("", "x", "http://127.0.0.1:1", "ftp://x", "http://[", "http://u:p@127.0.0.1:1/x?y")),
    "keys": st.sampled_from(("Enter", "Tab", "Control+A", "", "Nonsense", "a b c", "Control+", "Escape " * 50)),
    "holdMs": st.sampled_from((-1, 0, 1, 50, 10_001, 2**70)),
    "path": st.sampled_from(("", "/", "/nowhere/x.png", "x.txt", "\x00")),
}
_PLAIN = {
    "boolean": st.booleans(),
    "integer": st.sampled_from(_NUMBERS),
    "number": st.sampled_from(_NUMBERS),
}
_OFTEN = 4
"""Weight of a tool, compared with one that closes sessions, after which a browser has to be started."""
OPENING = ("start", "attach", "close")
"""Beginnings of the names of tools that open and close sessions."""


def argument_sets(tools: dict[str, dict[str, Any]], home: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Return a strategy of tool names with arguments; `home` is an address that can be opened."""
    often = [name for name in sorted(tools) for _ in range(1 if name.startswith("close") else _OFTEN)]
    return st.sampled_from(often).flatmap(lambda name: st.tuples(st.just(name), _arguments(name, tools[name], home)))


def _arguments(tool: str, schema: dict[str, Any], home: str) -> st.SearchStrategy[dict[str, Any]]:
    properties = schema["properties"]
    required = set(schema.get("required", ()))
    patient = "timeout" not in properties
    fixed = {name: _value(tool, name, properties[name], home, patient=patient) for name in required}
    fixed |= {name: _MILLISECONDS for name in _QUICK if name in properties}
    rest = {
        name: _value(tool, name, part, home, patient=patient) for name, part in properties.items() if name not in fixed
    }
    # No `detach`: a detached browser would outlive the run.
    rest.pop("detach", None)
    if "sessionId" in properties:
        rest.pop("sessionId", None)
        fixed["sessionId"] = _sessions(tool)
    right = st.fixed_dictionaries(fixed, optional=rest)
    return st.one_of(right, right, right, _mutated(right, sorted(properties)))


def _mutated(right: st.SearchStrategy[dict[str, Any]], names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy of arguments with one fault: another type, an unknown name, or a missing parameter."""
    names = [name for name in names if name != "detach"]
    wrong = st.tuples(right, st.sampled_from([*names, "nonsense", "Selector", "session_id"]), _ANY)
    return wrong.map(lambda made: {**made[0], made[1]: made[2]})


def _sessions(tool: str) -> st.SearchStrategy[str]:
    others = ("other", "", "../x", "FUZZ", "fuzz:a", "x" * 65)
    if tool.startswith("close"):
        return st.sampled_from(others)
    return st.sampled_from((*[SESSION] * 30, *others))


def _value(tool: str, name: str, schema: dict[str, Any], home: str, *, patient: bool) -> st.SearchStrategy[Any]:
    named = _named(tool, name, home, patient=patient)
    if named is not None:
        return named
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = str(schema.get("type"))
    if kind == "array":
        return st.lists(_item(tool, name, schema["items"], home), max_size=3)
    if kind == "object":
        parts = schema.get("properties", {}).items()
        inner = {key: _value(tool, key, part, home, patient=patient) for key, part in parts}
        odd = st.dictionaries(st.sampled_from(_ODD_TEXT), _ANY, max_size=2)
        return st.one_of(st.fixed_dictionaries({}, optional=inner), odd)
    return _PLAIN.get(kind, st.sampled_from(_ODD_TEXT))


def _item(tool: str, name: str, schema: dict[str, Any], home: str) -> st.SearchStrategy[Any]:
    if name == "actions":
        return _steps(home)
    if name == "sequences":
        part = {
            "sessionId": _sessions(tool),
            "actions": st.lists(_steps(home), max_size=3),
        }
        return st.fixed_dictionaries(part)
    return _value(tool, name, schema, home, patient=False)


def _steps(home: str) -> st.SearchStrategy[Any]:
    """Return a strategy of steps with bounded waiting; those without a timeout seek existing elements."""
    properties = TOOLS["execute_sequence"].mcp_tool.input_schema["properties"]["actions"]["items"]["properties"]
    common = {name: _value("step", name, part, home, patient=True) for name, part in properties.items()}
    fixed = {"action": st.sampled_from((*CATALOGUE, SYNC)), "timeout": _MILLISECONDS}
    rest = {name: value for name, value in common.items() if name not in fixed}
    return st.one_of(st.fixed_dictionaries(fixed, optional=rest), _ANY)


def _named(tool: str, name: str, home: str, *, patient: bool) -> st.SearchStrategy[Any] | None:
    """Return a strategy of values for a parameter whose name gives its meaning; None for others."""
    if name in {"sessionId", "prefix"}:
        return st.sampled_from(("other", "", "../x", "x" * 65)) if tool.startswith(OPENING) else None
    if name in {"url", "navigationUrl"}:
        return st.sampled_from((home, home, *_ADDRESSES))
    if name in {"selector", "root", "source", "target"}:
        # A call without a timeout would wait the default time for a missing element.
        known = (*_SELECTORS[:3], *_BROKEN_SELECTORS) if patient else (*_SELECTORS, *_BROKEN_SELECTORS, *_NOWHERE)
        return st.sampled_from(known)
    return _MILLISECONDS if name in _QUICK else _BY_NAME.get(name)
