"""Speaks to the engine inside the page: one script command a call, the engine sent along only where it is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

import structlog

from orchestrator.errors import RemoteFailure

PARTS = (
    "native", "words", "cluster", "box", "refs", "role", "name", "state", "place", "outline", "line", "text", "locate",
    "ignore", "patience", "point", "ready", "choice", "control", "editor", "files", "snapshot", "selector", "requests",
    "asks", "leave", "settle", "alignment", "delta", "conditions", "scroll", "portable", "values", "source", "shot",
    "engine",
)  # fmt: skip
"""The engine's files in the order in which they build on each other."""


def _joined() -> str:
    folder = files("orchestrator.snapshot").joinpath("page")
    body = "\n".join(folder.joinpath(f"{part}.js").read_text("utf-8") for part in PARTS)
    return f"(() => {{\n'use strict';\nif (window[Symbol.for('webdriver-orchestrator')]) return;\n{body}\n}})();\n"


SOURCE: str = _joined()
"""The engine as one script, for `Page.addScriptToEvaluateOnNewDocument` or for sending along."""

_FIND = "const engine = window[Symbol.for('webdriver-orchestrator')];\nif (!engine) return '!';\n"
_PICKED = "(input, next, end) => window[Symbol.for('webdriver-orchestrator')]?.picked(input, [next, end])"
_CALL = f"{_FIND}return engine.call(arguments[0], arguments[1]);"
_MISSING = "!"
_FAULT, _STACK = 300, 2000
"""Characters of an error of the engine that are told and logged: a page may have thrown it."""

_HANDLE = """
for (let view = window; ; view = view.parent) {
  let engine;
  try { engine = view[Symbol.for('webdriver-orchestrator')]; } catch { return null; }
  const element = engine ? engine.handle() : null;
  if (element || view === view.parent) return element;
}
"""
"""Fetches the element kept by `ready(handle=true)`, run in the element's own frame."""

_FRAME = _HANDLE.replace("engine.handle()", "engine.frame(arguments[0])")
"""Fetches a frame by its ref, run in the document that it stands in."""


class RefRange(Protocol):
    """The numbers that this session may give to elements, `next` up to but not including `end`."""

    next: int
    end: int

    def more(self, n: int) -> None:
        """Reserve at least `n` numbers beyond `next`."""


class Interrupted(Exception):
    """The page gave no answer: a dialog opened in mid-script, or the document went away."""


class EngineFault(RemoteFailure):
    """The engine itself failed: on a page that broke what it is built of, or by a fault of ours; the log says where."""

    def __init__(self, message: str) -> None:
        super().__init__(
            f"The page could not be looked at: {message}.",
            hint="It may have replaced functions of the browser: open it anew, or navigate elsewhere.",
            error="page engine",
        )


class _Later(NamedTuple):
    """A question that need not be asked by itself, and who is told the answer."""

    method: str
    params: dict[str, Any]
    tell: Callable[[dict[str, Any]], None]


class Page:
    """The engine of one session's current page, called through one script command a call.

    Args:
        run: Executes a script with arguments synchronously in the current browsing context and returns its JSON value.
        refs: Where the numbers of new refs come from.
    """

    def __init__(self, run: Callable[[str, list[Any]], Any], refs: RefRange) -> None:
        self.on_stopped: Callable[[str], None] | None = None
        self.on_asked: Callable[[list[str]], None] | None = None
        self._run = run
        self._refs = refs
        self._later: list[_Later] = []

    @property
    def owes(self) -> bool:
        """Whether there is something that is to be asked with the next question."""
        return bool(self._later)

    def later(self, method: str, params: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> None:
        """Call a method before the next one, in the same command: one that needs neither time nor refs."""
        self._later.append(_Later(method, params, tell))

    def forget(self) -> None:
        """Drop what was to be asked."""
        self._later.clear()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the engine and return its answer.

        Raises:
            Interrupted: The answer was null. The caller decides whether to ask again.
            EngineFault: The engine failed.
        """
        first, self._later = self._later, []
        asked = {**params, "first": [[one.method, one.params] for one in first]} if first else params
        try:
            answer = self._numbered(self._send(_CALL, [method, self._with_refs(asked)]))
        except BaseException:
            self._later = first + self._later
            raise
        for one, said in zip(first, answer.pop("first", ()), strict=True):
            one.tell(said)
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
        return self._numbered(self._send(script, [json.dumps(args), [self._refs.next, self._refs.end]]))

    def handle(self) -> Any:
        """Return the element that `ready` kept for `handle=True`, as the remote end's reference to it.

        Run it in the frame that `path` of that answer leads to.
        """
        return self._run(_HANDLE, [])

    def frame(self, ref: str) -> Any:
        """Return a frame by its ref, as the remote end's reference to it; None where it is gone."""
        return self._run(_FRAME, [ref])

    def picked(self, call: Callable[[str, list[int]], Any]) -> dict[str, Any]:
        """Line and ref of a file input that only WebDriver BiDi can name, for it need not be a part of the page.

        `call` runs a function of the input and of numbers there.
        """
        return self._numbered(self._read(call(_PICKED, [self._refs.next, self._refs.end])))

    def _numbered(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer with all its refs: where numbers were lacking, the page keeps it and fills them in."""
        while self._lacks(answer):
            answer = self._send(_CALL, ["numbered", self._with_refs({})])
        return answer

    def _lacks(self, answer: dict[str, Any]) -> bool:
        """Take note of the numbers that were used up, and reserve those that were lacking."""
        self._refs.next = max(self._refs.next, answer.pop("nextRef", 0))
        if "needRefs" not in answer:
            return False
        self._refs.more(answer["needRefs"])
        return True

    def _with_refs(self, params: dict[str, Any]) -> str:
        if self._refs.next >= self._refs.end:
            self._refs.more(1)  # without any, most answers would take a second question
        return json.dumps({**params, "refs": [self._refs.next, self._refs.end]})

    def _send(self, script: str, args: list[Any]) -> dict[str, Any]:
        answer = self._run(script, args)
        if answer == _MISSING:
            answer = self._run(SOURCE + script, args)
        return self._read(answer)

    def _read(self, answer: Any) -> dict[str, Any]:
        if not isinstance(answer, str):
            raise Interrupted("The page gave no answer: a dialog opened, or the document went away.")
        head, below, lines = answer.partition("\n")
        facts: dict[str, Any] = json.loads(head)
        if below:
            facts["lines"] = lines.split("\n") if lines else []
        if (stopped := facts.pop("stopped", None)) and self.on_stopped:
            self.on_stopped(stopped)
        if (asked := facts.pop("asked", None)) and self.on_asked:
            self.on_asked(asked)
        if "error" in facts:
            structlog.get_logger(__name__).error("the page engine failed", stack=facts["stack"][:_STACK])
            raise EngineFault(" ".join(facts["error"].split())[:_FAULT])
        return facts
