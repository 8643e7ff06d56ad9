"""Calls the page engine by one command per call, and runs the caller's scripts in the page."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import Field, ValidationError
from typing_extensions import TypedDict

from orchestrator.errors import DialogOpen, NavigationWaits, PlaceGone, RemoteFailure
from orchestrator.snapshot.answers import CrossOriginAnswer, FileInputAnswer, RefNumber, RefusedAnswer, ScriptAnswer
from orchestrator.snapshot.audit_answers import AuditedAnswer, UnknownRuleAnswer
from orchestrator.snapshot.methods import (
    AUDITED,
    FILE_INPUT,
    RETURNED,
    SCRIPT,
    UNKNOWN_RULE,
    AnswerT,
    PageMethod,
    is_cross_origin,
    is_refused,
)
from orchestrator.snapshot.web.world import MISSING
from orchestrator.system.logger import get_logger
from orchestrator.webdriver.events.navigations import PendingNavigation
from orchestrator.webdriver.websocket import Command

_CALL = "return engine.call(arguments[0], arguments[1]);"
_FAULT, _STACK = 300, 2000
"""Characters of an engine's error that are reported and logged: a page may have thrown it."""

_ROUNDS = 2
"""Rounds in which an answer may lack refs: one, and a second where elements were added meanwhile."""

_HANDLE = "return engine.handle();"
"""Returns the element kept by `ready(handle=true)`, run in the element's own frame."""
_FRAME = "return engine.frame(arguments[0]);"
"""Returns a frame by its ref, run in the document that contains it."""


class AnswerHead(TypedDict, total=False):
    """The part of every answer that is for the caller of the engine itself.

    nextRef: The next number that no element has.
    needRefs: Numbers that were lacking; the answer follows when they are reserved.
    stopped: The address of another program that the page was kept from opening.
    asked: Permissions that the page asked for.
    isPart: The page was so large that only a part of it was read.
    error, stack: A fault of the engine.
    first: The answers to the calls that were queued before this one.
    """

    nextRef: RefNumber
    needRefs: Annotated[int, Field(ge=0, le=10**6)]
    stopped: Annotated[str, Field(max_length=1000)]
    asked: Annotated[list[str], Field(max_length=100)]
    isPart: bool
    error: str
    stack: str
    first: list[dict[str, Any]]


_HEAD = PageMethod("head", AnswerHead)

_SCRIPT = """
return (function (request, script) {
  const server = {};
  window.dispatchEvent(new CustomEvent('webdriver-orchestrator:script', { detail: server }));
  return server.run ? server.run(script, request) : '!';
})(arguments[0], (args) => (async function () {
%s
}).apply(null, args));
"""
"""Runs the caller's script in the page's own world, see script.js; the script sees no name of ours but `args`."""


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

    def report_partial_reading(self) -> None:
        """Report that the page was too large to be read whole."""
        ...

    def pending_navigation(self) -> PendingNavigation | None:
        """Return the navigation of the current tab that its server has not answered yet: nothing is read meanwhile."""
        ...


class EngineWorld(Protocol):
    """The world in which the engine runs in the current frame, see `PageWorld`."""

    key: str

    def run_command(self, body: str, args: list[Any]) -> Command | None:
        """Return the command of CDP by which `run` would call the current frame now; None without one."""
        ...

    def run(self, body: str, args: list[Any]) -> Any:
        """Run a function body with `engine` and return its JSON value."""
        ...

    def run_in_page(self, body: str, args: list[Any]) -> Any:
        """Run a function body in the page's own world, with its hooks there, and return its JSON value."""
        ...

    def element(self, body: str, args: list[Any]) -> Any:
        """Run a function body that returns an element; return the remote end's reference to it."""
        ...

    def enter_frame(self) -> None:
        """Note that the remote end has switched to a frame."""
        ...

    def enter_top(self) -> None:
        """Note that the remote end has switched to a top document."""
        ...

    def expect_new_document(self) -> None:
        """Note that the documents of the current tab are about to be replaced."""
        ...

    def sandbox_target(self, context: str) -> dict[str, str]:
        """Return the target of a `script.callFunction` that calls the engine in a browsing context."""
        ...


INTERRUPTS = "the page navigates or opens dialogs"
"""Says why a page whose calls are all interrupted is not read."""


class Interrupted(Exception):
    """The page gave no answer: a dialog opened while the script ran, or the document went away."""


class NavigationPending(Interrupted):
    """The page is about to be left, and the server of the next one has not answered yet.

    Attributes:
        reason: What goes on, as a clause.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EngineFault(RemoteFailure):
    """The page engine failed, or its answer makes no sense: the page broke what it builds on, or it has a bug."""

    def __init__(self, message: str) -> None:
        super().__init__(
            f"The page could not be read: {message}.",
            hint="It may have replaced functions of the browser: open it again, or navigate elsewhere.",
            error="page engine",
        )


class QueuedCall(NamedTuple):
    """A call that waits for the next one, and the callback for its answer, if that is of interest."""

    method: PageMethod[Any]
    params: dict[str, Any]
    on_answer: Callable[[Any], None] | None


class PageEngine:
    """The engine of a session's current page.

    Args:
        world: The world in which it runs.
        refs: The source of numbers for new refs.
        look: Seconds after which the engine stops to read a page, and answers with the part that it has.

    Attributes:
        queued_calls: The calls that wait for the next one; always the same list.
    """

    def __init__(self, world: EngineWorld, refs: RefRange, *, look: float = 7.5) -> None:
        self._listener: PageListener | None = None
        self._world = world
        self._refs = refs
        self._look_ms = round(look * 1000)
        self.queued_calls: list[QueuedCall] = []
        self._reader = ["", ""]

    def begin_call(self, caller: str) -> None:
        """Note whose call begins: what its answers tell of elements, this caller knows once the call is over."""
        self._reader = [sha256(caller.encode()).hexdigest()[:8], secrets.token_hex(4)]

    def begin_step(self) -> None:
        """Note that the caller has read all answers so far within its call, as a script does."""
        self._reader[1] = secrets.token_hex(4)

    def queue_call(
        self,
        method: PageMethod[AnswerT],
        params: dict[str, Any],
        on_answer: Callable[[AnswerT], None] | None = None,
    ) -> None:
        """Call a method that needs neither time nor refs together with the next one, in the same command."""
        self.queued_calls.append(QueuedCall(method, params, on_answer))

    def call_command(self, method: PageMethod[Any]) -> Command | None:
        """Return the command of CDP that calls a method, to be sent by another CDP session of the same tab.

        None where only `call` can call it. The result is for `take_answer`.
        """
        return self._world.run_command(_CALL, [method.name, self._with_refs({})])

    def take_answer(self, method: PageMethod[AnswerT], result: object) -> AnswerT | None:
        """Return the answer in the result of a `call_command`; None if there is none.

        Raises:
            EngineFault, PressMissed: As `call`.
        """
        remote_object = result.get("result") if isinstance(result, dict) and "exceptionDetails" not in result else None
        answer = remote_object.get("value") if isinstance(remote_object, dict) else None
        if not isinstance(answer, str) or answer == MISSING:
            return None
        return _checked(method, self._read(answer)[1])

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
            NavigationPending: The page cannot be read now: another one is requested.
            EngineFault: The engine failed, or its answer does not fit the method.
            PressMissed: A press missed: this call was not made, see `PressMethod`.
        """
        queue = self.queued_calls[:]
        self.queued_calls.clear()
        first = {"first": [[queued.method.name, queued.params] for queued in queue]} if queue else {}
        try:
            head, facts = self._complete(self._send(_CALL, [method.name, self._with_refs({**params, **first})]))
            answers = head.get("first", [])
            if len(answers) != len(queue):
                raise EngineFault(f"it answered {len(answers)} of {len(queue)} queued calls")  # noqa: TRY301
        except BaseException:
            self.queued_calls[:0] = queue
            raise
        for queued, given in zip(queue, answers, strict=True):
            queued_answer = _checked(queued.method, given)
            if queued.on_answer:
                queued.on_answer(queued_answer)
        return _checked(method, facts)

    def evaluate(
        self, body: str, args: list[Any], *, limit_ms: int, late: str
    ) -> ScriptAnswer | RefusedAnswer | CrossOriginAnswer:
        """Run `body` as the body of an async function in the page's own world; return its value, elements as refs.

        If an argument is no element of the page, the script does not run; the refusal names the argument as `given`.

        Args:
            body: The script.
            args: Its arguments; `{"ref": …}` and `{"locator": …}` stand for elements.
            limit_ms: Milliseconds that it may take.
            late: The message of the error that is thrown after them.
        """
        mark = f"element {secrets.token_hex(8)}"
        if _names_elements(args):
            held = _checked(SCRIPT, self._ask("return engine.give(...arguments);", json.dumps(args), mark))
            if is_refused(held) or is_cross_origin(held):
                return held
            args = held["value"]
        request = {"json": json.dumps(args), "mark": mark, "limit": limit_ms, "late": late}
        answer = self._world.run_in_page(_SCRIPT % body, [request])
        if not isinstance(answer, str):
            raise Interrupted("The page gave no answer: a dialog opened, or the document went away.")
        facts = _parsed(answer)
        elements = self._take_returned(required=bool(facts.pop("returned", 0)))
        return _checked(SCRIPT, {**facts, "value": _with_refs_in_place(facts.get("value"), mark, elements)})

    def _take_returned(self, *, required: bool) -> list[Any]:
        """Return the elements in a script's value; the answer also reports what the page asked for meanwhile."""
        try:
            return _checked(RETURNED, self._ask("return engine.takeReturned(...arguments);"))["elements"]
        except (Interrupted, PlaceGone, DialogOpen):
            if required:
                raise
            return []  # the script left the page, or opened a dialog

    def run(self, body: str, *args: Any) -> Any:
        """Run a function body of ours in the engine's world of the current frame, and return its JSON value.

        Raises:
            PageLeft: The document went away, or a dialog opened.
        """
        return self._world.run(body, list(args))

    def run_in_page(self, body: str) -> Any:
        """Run a function body of ours in the page's own world, beside the hooks; a promise is awaited.

        If it returns `!`, it is run again once the hooks are there.

        Raises:
            OrchestratorError: As `Remote.execute`.
        """
        return self._world.run_in_page(body, [])

    def audit(self, script: str, asked: Mapping[str, Any]) -> AuditedAnswer | UnknownRuleAnswer:
        """Check the document of the current frame with axe-core, which the function body `script` runs here.

        Args:
            script: A function body that loads axe-core, and ends with the call of `engine.audit`.
            asked: The `tags` or `rules` to check, and `most`, the number of elements to return for each rule.
        """
        facts = self._ask(script, json.dumps(asked))
        return _checked(UNKNOWN_RULE, facts) if "unknown" in facts else _checked(AUDITED, facts)

    def handle(self) -> Any:
        """Return the element that `ready` kept for `handle=True`, as the remote end's reference to it.

        Call it in the frame that `path` of that answer leads to.
        """
        return self._world.element(_HANDLE, [])

    def frame(self, ref: str) -> Any:
        """Return a frame by its ref, as the remote end's reference to it; None if it is gone."""
        return self._world.element(_FRAME, [ref])

    def enter_frame(self) -> None:
        """Note that the remote end has switched to a frame."""
        self._world.enter_frame()

    def enter_top(self) -> None:
        """Note that the remote end has switched to a top document, perhaps that of another tab."""
        self._world.enter_top()

    def expect_new_document(self) -> None:
        """Note that the documents of the current tab are about to be replaced."""
        self._world.expect_new_document()

    def describe_file_input(self, call: Callable[[str, list[int | str]], Any]) -> FileInputAnswer:
        """Return line and ref of a file input that only WebDriver BiDi can name, since it may be outside the document.

        `call` runs a function of BiDi with the input and with numbers as its arguments, in the engine's world.
        """
        function = f"(input, ...refs) => window[{json.dumps(self._world.key)}]?.picked(input, refs)"
        _, facts = self._complete(self._read(call(function, self._numbers())))
        return _checked(FILE_INPUT, facts)

    def file_input_function(self) -> str:
        """Return the function of BiDi that returns the file input which `ready` kept."""
        return f"() => window[{json.dumps(self._world.key)}].handle()"

    def bidi_target(self, context: str) -> dict[str, str]:
        """Return the target of a `script.callFunction` for these two, in a browsing context."""
        return self._world.sandbox_target(context)

    def _numbers(self) -> list[int | str]:
        return [self._refs.next, self._refs.end, *self._reader]

    def _ask(self, body: str, *args: str) -> dict[str, Any]:
        _, facts = self._complete(self._send(body, [*args, self._numbers()]))
        return facts

    def _complete(self, answer: tuple[AnswerHead, dict[str, Any]]) -> tuple[AnswerHead, dict[str, Any]]:
        """Return the answer with all its refs: if numbers were lacking, the page keeps it and fills them in."""
        for _ in range(_ROUNDS):
            if not self._reserve_missing_refs(answer[0]):
                return answer
            answer = self._send(_CALL, ["numbered", self._with_refs({})])
        if self._reserve_missing_refs(answer[0]):
            raise EngineFault("it asks for ever more refs")
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
        return json.dumps({**params, "refs": self._numbers(), "look": self._look_ms})

    def _send(self, script: str, args: list[Any]) -> tuple[AnswerHead, dict[str, Any]]:
        if self._listener and (pending := self._listener.pending_navigation()):
            raise NavigationPending(pending.reason)
        try:
            return self._read(self._world.run(script, args))
        except NavigationWaits as waits:
            raise NavigationPending(waits.reason) from waits

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
        if head.get("isPart") and self._listener:
            self._listener.report_partial_reading()
        return head, facts


def _parsed(answer: str) -> dict[str, Any]:
    """Return the facts of an answer: JSON on the first line, the lines of an outline below it."""
    head, below, lines = answer.partition("\n")
    try:
        facts = json.loads(head)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise EngineFault("its answer is not a JSON object")
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


def _names_elements(value: Any) -> bool:
    """Return True if an element is named anywhere in the arguments of a script."""
    if isinstance(value, dict):
        return set(value) in ({"ref"}, {"locator"}) or any(map(_names_elements, value.values()))
    return isinstance(value, list) and any(map(_names_elements, value))


def _with_refs_in_place(value: Any, mark: str, elements: list[Any]) -> Any:
    """Return a script's value with the elements in place of what stands for them."""
    if isinstance(value, list):
        return [_with_refs_in_place(item, mark, elements) for item in value]
    if isinstance(value, dict):
        number = value.get(mark)
        if isinstance(number, int):
            return elements[number] if 0 <= number < len(elements) else None
        return {name: _with_refs_in_place(item, mark, elements) for name, item in value.items()}
    return value
