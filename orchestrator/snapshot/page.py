"""Speaks to the engine inside the page: one script command a call, the engine sent along only where it is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Protocol

PARTS = (
    "native", "words", "cluster", "box", "refs", "role", "name", "state", "outline", "line", "text", "locate",
    "patience", "point", "ready", "snapshot", "selector", "requests", "settle", "delta", "conditions", "scroll",
    "values", "engine",
)  # fmt: skip
"""The engine's files in the order in which they build on each other."""


def _joined() -> str:
    folder = files("orchestrator.snapshot").joinpath("page")
    body = "\n".join(folder.joinpath(f"{part}.js").read_text("utf-8") for part in PARTS)
    return f"(() => {{\n'use strict';\nif (window[Symbol.for('webdriver-orchestrator')]) return;\n{body}\n}})();\n"


SOURCE: str = _joined()
"""The engine as one script, for `Page.addScriptToEvaluateOnNewDocument` or for sending along."""

_FIND = "const engine = window[Symbol.for('webdriver-orchestrator')];\nif (!engine) return '!';\n"
_CALL = f"{_FIND}return engine.call(arguments[0], arguments[1]);"
_MISSING = "!"

_HANDLE = """
for (let view = window; ; view = view.parent) {
  let engine;
  try { engine = view[Symbol.for('webdriver-orchestrator')]; } catch { return null; }
  const element = engine ? engine.handle() : null;
  if (element || view === view.parent) return element;
}
"""
"""Fetches the element kept by `ready(handle=true)`, run in the element's own frame."""


class RefRange(Protocol):
    """The numbers that this session may give to elements, `next` up to but not including `end`."""

    next: int
    end: int

    def more(self, n: int) -> None:
        """Reserve at least `n` numbers beyond `next`."""


class Interrupted(Exception):
    """The page gave no answer: a dialog opened in mid-script, or the document went away."""


class EngineFault(RuntimeError):
    """The engine itself failed; the message is its own, `stack` says where."""

    def __init__(self, message: str, stack: str) -> None:
        super().__init__(message)
        self.stack = stack


class Page:
    """The engine of one session's current page, called through one script command a call.

    Args:
        run: Executes a script with arguments synchronously in the current browsing context and returns its JSON value.
        refs: Where the numbers of new refs come from.
    """

    def __init__(self, run: Callable[[str, list[Any]], Any], refs: RefRange) -> None:
        self._run = run
        self._refs = refs

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the engine and return its answer.

        Raises:
            Interrupted: The answer was null. The caller decides whether to ask again.
            EngineFault: The engine failed.
        """
        while self._lacks(answer := self._send(_CALL, [method, self._with_refs(params)])):
            pass
        return answer

    def evaluate(self, body: str, args: list[Any]) -> dict[str, Any]:
        """Run `body` as the body of an async function; `{"value": …}` of what it returns, elements as refs.

        An argument that is no element of the page answers like `call`, with `given`: the script does not run.
        """
        script = (
            f"{_FIND}const args = engine.args(arguments[0], arguments[1]);\n"
            "if (typeof args === 'string') return args;\n"
            f"return (async function () {{\n{body}\n}}).apply(null, args).then(engine.serialize);"
        )
        answer = self._send(script, [json.dumps(args), [self._refs.next, self._refs.end]])
        # Where refs were lacking the script has run and its value is kept: only writing it down is done again.
        return self.call("serialized") if self._lacks(answer) else answer

    def handle(self) -> Any:
        """Return the element that `ready` kept for `handle=True`, as the remote end's reference to it.

        Run it in the frame that `path` of that answer leads to.
        """
        return self._run(_HANDLE, [])

    def _lacks(self, answer: dict[str, Any]) -> bool:
        """Take note of the numbers that were used up, and reserve those that were lacking."""
        self._refs.next = max(self._refs.next, answer.pop("nextRef", 0))
        if "needRefs" not in answer:
            return False
        self._refs.more(answer["needRefs"])
        return True

    def _with_refs(self, params: dict[str, Any]) -> str:
        return json.dumps({**params, "refs": [self._refs.next, self._refs.end]})

    def _send(self, script: str, args: list[Any]) -> dict[str, Any]:
        answer = self._run(script, args)
        if answer == _MISSING:
            answer = self._run(SOURCE + script, args)
        if not isinstance(answer, str):
            raise Interrupted("The page gave no answer: a dialog opened, or the document went away.")
        facts: dict[str, Any] = json.loads(answer)
        if "error" in facts:
            raise EngineFault(facts["error"], facts["stack"])
        return facts
