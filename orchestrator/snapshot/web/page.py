"""Calls the page engine by one script command per call, and sends it where it is missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from orchestrator.errors import RemoteFailure
from orchestrator.snapshot.answers import AnswerHead, CrossOriginAnswer, FileInputAnswer, RefusedAnswer, ScriptAnswer
from orchestrator.snapshot.methods import FILE_INPUT, SCRIPT, AnswerT, PageMethod
from orchestrator.system.logger import get_logger

PARTS = (
    "native", "words", "cluster", "box", "refs", "role", "name", "state", "place", "outline", "line", "text", "locate",
    "ignore", "patience", "point", "ready", "choice", "control", "editor", "files", "snapshot", "selector", "requests",
    "asks", "leave", "settle", "alignment", "delta", "conditions", "scroll", "portable", "values", "source", "shot",
    "engine",
)  # fmt: skip
"""The files of the engine, each after those that it builds on."""


def _joined() -> str:
    folder = files("orchestrator.snapshot.web").joinpath("scripts")
    body = "\n".join(folder.joinpath(f"{part}.js").read_text("utf-8") for part in PARTS)
    return f"(() => {{\n'use strict';\nif (window[Symbol.for('webdriver-orchestrator')]) return;\n{body}\n}})();\n"


SOURCE: str = _joined()
"""The engine as one script, for `Page.addScriptToEvaluateOnNewDocument` or for sending along."""

_FIND = "const engine = window[Symbol.for('webdriver-orchestrator')];\nif (!engine) return '!';\n"
_PICKED = "(input, next, end) => window[Symbol.for('webdriver-orchestrator')]?.picked(input, [next, end])"
_CALL = f"{_FIND}return engine.call(arguments[0], arguments[1]);"
_MISSING = "!"
_FAULT, _STACK = 300, 2000
"""Characters of an engine's error that are reported and logged: a page may have thrown it."""

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
"""Fetches a frame by its ref, run in the document that contains it."""

_HEAD = PageMethod("head", AnswerHead)


class RefRange(Protocol):
    """The numbers that this session may give to elements, from `next` up to but not including `end`."""

    next: int
    end: int

    def reserve(self, n: int) -> None:
        """Reserve at least `n` numbers beyond `next`."""


class PageListener(Protocol):
    """Receives what a page reports beside its answers."""

    def report_external_url(self, url: str) -> None:
        """Report the URL of another program that the page was kept from opening."""
        ...

    def report_permission_requests(self, names: list[str]) -> None:
        """Report the permissions that the page asked for."""
        ...


class Interrupted(Exception):
    """The page gave no answer: a dialog opened while the script ran, or the document went away."""


class EngineFault(RemoteFailure):
    """The page engine failed, or its answer makes no sense: the page broke what it builds on, or it has a bug."""

    def __init__(self, message: str) -> None:
        super().__init__(
            f"The page could not be read: {message}.",
            hint="It may have replaced functions of the browser: open it again, or navigate elsewhere.",
            error="page engine",
        )


class QueuedCall(NamedTuple):
    """A call that waits for the next one, and the callback for its answer."""

    method: PageMethod[Any]
    params: dict[str, Any]
    on_answer: Callable[[Any], None]


class PageEngine:
    """The engine of a session's current page.

    Args:
        run: Executes a script with arguments synchronously in the current browsing context and returns its JSON value.
        refs: The source of numbers for new refs.

    Attributes:
        queued_calls: The calls that wait for the next one; always the same list.
    """

    def __init__(self, run: Callable[[str, list[Any]], Any], refs: RefRange) -> None:
        self._listener: PageListener | None = None
        self._run = run
        self._refs = refs
        self.queued_calls: list[QueuedCall] = []

    def queue_call(
        self, method: PageMethod[AnswerT], params: dict[str, Any], on_answer: Callable[[AnswerT], None]
    ) -> None:
        """Call a method that needs neither time nor refs together with the next one, in the same command."""
        self.queued_calls.append(QueuedCall(method, params, on_answer))

    @contextmanager
    def listening(self, listener: PageListener) -> Iterator[None]:
        """Report to `listener` inside the block; drop calls that were queued before it."""
        self.queued_calls.clear()
        before, self._listener = self._listener, listener
        try:
            yield
        finally:
            self._listener = before

    def call(self, method: PageMethod[AnswerT], **params: Any) -> AnswerT:
        """Call a method of the engine and return its answer.

        Raises:
            Interrupted: The answer was null. The caller decides whether to ask again.
            EngineFault: The engine failed, or its answer does not fit the method.
        """
        queue = self.queued_calls[:]
        self.queued_calls.clear()
        first = {"first": [[queued.method.name, queued.params] for queued in queue]} if queue else {}
        try:
            head, facts = self._complete(self._send(_CALL, [method.name, self._with_refs({**params, **first})]))
            answers = head.get("first", [])
            if len(answers) != len(queue):
                raise EngineFault(f"it answered {len(answers)} of {len(queue)} queued calls")  # noqa: TRY301
            queued_answers = [_checked(queued.method, given) for queued, given in zip(queue, answers, strict=True)]
            answer = _checked(method, facts)
        except BaseException:
            self.queued_calls[:0] = queue
            raise
        for queued, queued_answer in zip(queue, queued_answers, strict=True):
            queued.on_answer(queued_answer)
        return answer

    def evaluate(self, body: str, args: list[Any]) -> ScriptAnswer | RefusedAnswer | CrossOriginAnswer:
        """Run `body` as the body of an async function and return its value, elements as refs.

        If an argument is no element of the page, the script does not run; the refusal names the argument as `given`.
        """
        script = (
            f"{_FIND}const args = engine.args(arguments[0], arguments[1]);\n"
            "if (typeof args === 'string') return args;\n"
            f"return (async function () {{\n{body}\n}}).apply(null, args).then(engine.serialize);"
        )
        _, facts = self._complete(self._send(script, [json.dumps(args), [self._refs.next, self._refs.end]]))
        return _checked(SCRIPT, facts)

    def handle(self) -> Any:
        """Return the element that `ready` kept for `handle=True`, as the remote end's reference to it.

        Call it in the frame that `path` of that answer leads to.
        """
        return self._run(_HANDLE, [])

    def frame(self, ref: str) -> Any:
        """Return a frame by its ref, as the remote end's reference to it; None if it is gone."""
        return self._run(_FRAME, [ref])

    def describe_file_input(self, call: Callable[[str, list[int]], Any]) -> FileInputAnswer:
        """Return line and ref of a file input that only WebDriver BiDi can name, since it may be outside the document.

        `call` runs a function with the input and with numbers as its arguments.
        """
        _, facts = self._complete(self._read(call(_PICKED, [self._refs.next, self._refs.end])))
        return _checked(FILE_INPUT, facts)

    def _complete(self, answer: tuple[AnswerHead, dict[str, Any]]) -> tuple[AnswerHead, dict[str, Any]]:
        """Return the answer with all its refs: if numbers were lacking, the page keeps it and fills them in."""
        while self._reserve_missing_refs(answer[0]):
            answer = self._send(_CALL, ["numbered", self._with_refs({})])
        return answer

    def _reserve_missing_refs(self, head: AnswerHead) -> bool:
        """Note the numbers that were used up, and reserve those that were lacking; True if there were any."""
        self._refs.next = max(self._refs.next, head.get("nextRef", 0))
        if "needRefs" not in head:
            return False
        self._refs.reserve(head["needRefs"])
        return True

    def _with_refs(self, params: dict[str, Any]) -> str:
        if self._refs.next >= self._refs.end:
            self._refs.reserve(1)  # without any, most answers would take a second call
        return json.dumps({**params, "refs": [self._refs.next, self._refs.end]})

    def _send(self, script: str, args: list[Any]) -> tuple[AnswerHead, dict[str, Any]]:
        answer = self._run(script, args)
        if answer == _MISSING:
            answer = self._run(SOURCE + script, args)
        return self._read(answer)

    def _read(self, answer: Any) -> tuple[AnswerHead, dict[str, Any]]:
        """Return an answer's head, and the rest, which only its method can check."""
        if not isinstance(answer, str):
            raise Interrupted("The page gave no answer: a dialog opened, or the document went away.")
        facts = _parsed(answer)
        head = _checked(_HEAD, {key: facts.pop(key) for key in AnswerHead.__annotations__ if key in facts})
        if "error" in head:
            get_logger(__name__).error("the page engine failed", stack=head.get("stack", "")[:_STACK])
            raise EngineFault(" ".join(head["error"].split())[:_FAULT])
        if (stopped := head.get("stopped")) and self._listener:
            self._listener.report_external_url(stopped)
        if (asked := head.get("asked")) and self._listener:
            self._listener.report_permission_requests(asked)
        return head, facts


def _parsed(answer: str) -> dict[str, Any]:
    """Return the facts of an answer: JSON on the first line, the lines of an outline below it."""
    head, below, lines = answer.partition("\n")
    try:
        facts = json.loads(head)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise EngineFault("its answer is no JSON object")
    if below:
        facts["lines"] = lines.split("\n") if lines else []
    return facts


def _checked(method: PageMethod[AnswerT], facts: dict[str, Any]) -> AnswerT:
    try:
        return method.read(facts)
    except ValidationError as error:
        [wrong, *_] = error.errors(include_url=False, include_context=False, include_input=False)
        place = ".".join(map(str, wrong["loc"]))
        raise EngineFault(f"its answer to {method.name!r} does not fit ({place}: {wrong['msg']})") from None
