"""The base class `Action`: tool, step, Python method and docs are derived from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from orchestrator.automation import reporting
from orchestrator.automation.browser.settling import ChangeObserver, LateOpening, Opener
from orchestrator.automation.reporting import ActedT
from orchestrator.automation.scene import Scene
from orchestrator.errors import Denied, InvalidArgument, PressMissed, ToolDenied, Unsupported
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.near_names import nearest
from orchestrator.models.results import Acted, Observe, Outcome
from orchestrator.models.session import SessionRecord, SessionType, Wire
from orchestrator.settings import ToolSet
from orchestrator.system.deadline import Deadline
from orchestrator.system.file_access import FileAccess
from orchestrator.system.secrets import MASK, is_typed_reference

ResultT = TypeVar("ResultT", bound=Outcome)
ALL_TYPES = frozenset(SessionType)
BROWSER = frozenset({SessionType.BROWSER})
APPS = ALL_TYPES - BROWSER
Part = Literal["page", "context", "browser"]
_WEB = "In an app it works in a web view only: list them with switch_context."


class Action(Wire, ABC, Generic[ResultT]):
    """An action in a session.

    The docstring of a subclass is its description for models and people, its fields are its parameters, `perform` is
    what it does. `perform` is an ordinary blocking function and runs whole in one worker thread, in the session's lane.
    """

    verb: ClassVar[str]
    title: ClassVar[str]
    types: ClassVar[frozenset[SessionType]] = BROWSER
    """The session types that it works in."""
    in_web_views: ClassVar[bool] = False
    """True if it also works in the web views of apps, where `types` names browsers alone."""
    instead: ClassVar[str] = ""
    """The alternative in other sessions, as a sentence."""
    reads: ClassVar[bool] = False
    """True if it changes nothing in the session."""
    queries_page: ClassVar[bool] = False
    """True if it begins with a query of the page, which can carry deferred queries along."""
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    result: ClassVar[type[Outcome]] = Acted
    structured: ClassVar[bool] = True
    """False if its result has no data part."""
    toolset: ClassVar[ToolSet] = "browser"
    """The set of tools that it belongs to."""
    by_default: ClassVar[bool] = False
    """True if it is listed unless the setting `tools` says otherwise; the set `core` always is."""
    always_loaded: ClassVar[bool] = False
    """True if work begins with it: a client that looks tools up on demand should know it from the start."""
    long_result: ClassVar[bool] = False
    """True if its result may be long and is wanted whole: no client should cut it again."""
    part: ClassVar[Part] = "page"
    """The object of scripts whose method it is."""
    scriptable: ClassVar[bool] = True
    """True if scripts can call it."""
    requires: ClassVar[tuple[str, ...]] = ()
    """Modules that must be installed; without them it is not listed."""

    @classmethod
    def check_supports(cls, record: SessionRecord, *, planned: bool = False) -> None:
        """Refuse a session that it does not work in; if `planned`, an earlier step may switch to a web view.

        Raises:
            Unsupported: The error names the alternative.
        """
        if record.type in cls.types:
            return
        if not cls.in_web_views:
            raise Unsupported(f"{cls.verb} does not work in {record.type} sessions.", hint=cls.instead)
        if record.native and not planned:
            raise Unsupported(f"{cls.verb} does not work on an app's own screen.", hint=cls.instead or _WEB)

    def log_arguments(self) -> dict[str, Any]:
        """The given arguments, as a log may keep them: fields declared with `repr=False` are masked, but for names."""
        given = {name: field for name, field in type(self).model_fields.items() if name in self.model_fields_set}
        values = {name: getattr(self, name) for name in given}
        return {
            field.alias or name: values[name] if field.repr or is_typed_reference(values[name]) else MASK
            for name, field in given.items()
        }

    @abstractmethod
    def perform(self, scene: Scene) -> ResultT:
        """Perform it and return its result.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """


AnyAction = Action[Any]

Selector = Annotated[
    str, Field(description="Ref e12, CSS, //xpath, ~id, text=…, label=…, testid=…, role=button[name=…]")
]
"""A parameter that says how to find an element; `automation.browser.selector` reads it."""

_AIMS = ("ref", "target", "uid")
"""Names that models guess for `selector`."""


class SelectorAliases(Wire):
    """Accepts other common names of `selector`."""

    queries_page: ClassVar[bool] = True

    @model_validator(mode="before")
    @classmethod
    def _forgive(cls, data: Any) -> Any:
        if isinstance(data, dict) and "selector" not in data:
            for name in _AIMS:
                if name in data:
                    rest = {key: value for key, value in data.items() if key != name}
                    return {**rest, "selector": data[name]}
        return data


class HasTimeout(Wire):
    """Waits for its condition up to a timeout."""

    timeout: int | None = Field(default=None, ge=0, le=600_000, description="ms")


class PageAction(Action[ActedT], ABC, Generic[ActedT]):
    """An action on the page or screen, which may report the changes."""

    observes: ClassVar[Observe] = "none"
    """The default of `observe`."""
    observe: Observe | None = None

    @abstractmethod
    def act(self, scene: Scene) -> ActedT:
        """Perform it; the report on the page is added afterwards."""

    def perform(self, scene: Scene) -> ActedT:
        """Perform it, and report the changes as `observe` says."""
        observe = self.observe or ("none" if scene.scope.in_sequence else self.default_observe())
        if observe == "none":
            return reporting.add_url_and_title(scene, self._act_as_step(scene))
        scene.scope.opening = None
        opener = None if scene.native else self.opener(observe)
        observer = ChangeObserver.start(scene, "call")
        if not self.queries_page:
            scene.run_deferred_queries()
        opening = LateOpening(observer, opener) if opener else None
        result = self._act_and_name(scene)
        return reporting.add_changes(scene, result, observer, outline=observe == "outline", opening=opening)

    def _act_as_step(self, scene: Scene) -> ActedT:
        """Perform it; the sequence that it is a step of may wait for what it opens."""
        scene.scope.opening = None
        opener = self.opener("none") if scene.scope.in_sequence and not scene.native else None
        if opener is None:
            return self._act_and_name(scene)
        observer = ChangeObserver.start(scene, "step")
        result = self._act_and_name(scene)
        scene.scope.opening = LateOpening(observer, opener)
        return result

    def _act_and_name(self, scene: Scene) -> ActedT:
        """Perform it; the result names what was found by a ref."""
        scene.scope.target = None
        return reporting.name_target(scene, self.act(scene))

    def opener(self, observe: Observe) -> Opener | None:
        """Return by what it may open a menu or the like, late; `observe` is how its changes are reported."""
        del observe
        return None

    def default_observe(self) -> Observe:
        """The default of `observe` for this call."""
        return self.observes


class WaitingPageAction(PageAction[Acted], HasTimeout, ABC):
    """An action that waits until its element is ready, and returns nothing of its own."""


_LOSSES = 3
"""Presses of an action that may be lost."""


class PressAction(WaitingPageAction, ABC):
    """An action whose pointer must reach an element: it is repeated when it met another one."""

    def perform(self, scene: Scene) -> Acted:
        """Perform it, and report the changes as `observe` says.

        Raises:
            PressMissed: The pointer met something else until the timeout.
        """
        scope, whole = scene.scope, scene.scope.deadline
        scope.deadline, scope.rest = Deadline(scene.seconds(self.timeout)), False
        losses = 0
        try:
            while True:
                try:
                    result = super().perform(scene)
                    scene.run_deferred_queries()
                except PressMissed as miss:
                    losses += miss.lost
                    if miss.held or losses > _LOSSES or not scope.deadline.seconds_left:
                        raise
                    scope.rest = miss.moved
                    if miss.lost:
                        scene.tabs.refresh()  # a tab that the page opened may have taken it
                else:
                    return result
        finally:
            scope.deadline = whole


_WORDS = {
    "navigate": {"goto", "open", "visit", "load", "url", "reload", "back", "forward"},
    "get_visible_elements": {"snapshot", "elements", "outline", "tree", "observe", "look"},
    "set_value": {"type", "fill", "input", "write", "enter", "check", "clear"},
    "click_element": {"click", "dblclick", "doubleclick"},
    "tap_element": {"tap", "touch"},
    "press_keys": {"press", "key", "keyboard", "hotkey"},
    "execute_script": {"evaluate", "eval", "javascript", "js"},
    "take_screenshot": {"screenshot", "picture", "image", "capture"},
    "wait_for": {"wait", "sleep", "pause"},
    "expect": {"assert", "verify"},
    "select_option": {"option", "dropdown", "choose"},
    "drag_and_drop": {"drag", "drop"},
    "handle_dialog": {"dialog", "alert", "confirm", "prompt"},
    "tabs": {"tab", "window"},
    "execute_sequence": {"sequence", "batch", "steps"},
    "execute_parallel": {"parallel"},
    "get_console": {"console", "logs"},
    "get_network": {"requests"},
}
"""Words by which other drivers of browsers call what a tool does."""
_MISSPELLED = 0.85
"""Resemblance from which a name is a known one with a slip of the pen."""


class Catalogue(Mapping[str, type[AnyAction]]):
    """Actions by verb, in the order in which docs and tools list them.

    Attributes:
        files: What their parameters may name.
    """

    def __init__(self, actions: Iterable[type[AnyAction]]) -> None:
        self._actions = {action.verb: action for action in actions}
        self._denied: dict[str, tuple[str, str]] = {}
        self._held: frozenset[str] = frozenset()
        self.files = FileAccess()

    def __getitem__(self, verb: str) -> type[AnyAction]:
        return self._actions[verb]

    def __iter__(self) -> Iterator[str]:
        return iter(self._actions)

    def __len__(self) -> int:
        return len(self._actions)

    def deny(self, verbs: Iterable[str], by: str, *, setting: str) -> None:
        """Refuse these tools from now on, actions or not: called, as steps and in scripts.

        Args:
            verbs: The tools.
            by: What refuses them, as errors say it.
            setting: What whoever runs the server can change: `deny_tools` or `tokens`.
        """
        self._denied |= dict.fromkeys(verbs, (by, setting))

    def hold_back(self, verbs: Iterable[str]) -> None:
        """Refuse these tools from now on where nobody can be asked first, such as in scripts."""
        self._held |= frozenset(verbs)

    def is_free(self, verb: str) -> bool:
        """Return True for a tool that is neither refused nor held back until a person agrees."""
        return verb not in self._denied and verb not in self._held

    def check_free(self, verb: str) -> None:
        """Refuse a tool that is denied, or held back until a person agrees.

        Raises:
            Denied: The setting `deny_tools` or `confirm` names it, or a set that it is in.
        """
        self.check_allowed(verb)
        if verb in self._held:
            raise Denied(
                f"{verb} needs a person's consent, which a script cannot ask for.",
                setting="confirm",
                instead="Call it as a tool or as a step.",
            )

    def is_denied(self, verb: str) -> bool:
        """Return True for a tool that is refused."""
        return verb in self._denied

    def check_allowed(self, verb: str) -> None:
        """Refuse a denied tool.

        Raises:
            Denied: The setting `deny_tools` names it, or a set that it is in, or the caller's token does not allow it.
        """
        if verb in self._denied:
            by, setting = self._denied[verb]
            raise ToolDenied(verb, by, setting=setting)

    def parse_action(self, verb: str, fields: Mapping[str, Any]) -> AnyAction:
        """Parse an action from its verb and parameters.

        Raises:
            Denied: The action is refused, or a file or page that it names.
            InvalidArgument: There is no such action, or its parameters are wrong.
        """
        self.check_allowed(verb)
        if verb not in self._actions:
            raise InvalidArgument(f"{verb!r} is not an action.", hint=suggest_tools(verb, self._actions))
        return self.files.check(parse_arguments(self._actions[verb], fields))

    def parse_step(self, step: Mapping[str, Any]) -> AnyAction:
        """Parse a step: `{"action": verb, …parameters}`. A parameter named `action` is spelled `do` in a step.

        Raises:
            Denied: The action is refused.
            InvalidArgument: There is no such action, or its parameters are wrong.
        """
        fields = dict(step)
        verb = fields.pop("action", None)
        if not isinstance(verb, str):
            raise InvalidArgument("A step needs action: the name of a tool.", hint="describe_actions lists them all.")
        has_own = verb in self._actions and "action" in self._actions[verb].model_fields
        return self.parse_action(verb, _restore_action_field(verb, fields) if has_own else fields)


def suggest_tools(name: str, known: Iterable[str]) -> str:
    """Return a hint at the tools that an unknown name means: a misspelled one, or those of its words."""
    words = {*name.lower().split("_")}
    misspelled = get_close_matches(name, known := [*known], n=1, cutoff=_MISSPELLED)
    meant = misspelled or [tool for tool in known if words & _WORDS.get(tool, frozenset())]
    return nearest(meant[0], meant[:1]) if meant else nearest(name, known)


def _restore_action_field(verb: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Rename `do` to `action`: in a step, `action` is the verb, so an action's own `action` is spelled `do`."""
    if "do" not in fields:
        raise InvalidArgument(
            f"A step of {verb} needs do.", hint=f"do is the tool's parameter action: a step's action is {verb!r}."
        )
    return {("action" if name == "do" else name): value for name, value in fields.items()}
