"""What an action is: a declaration from which tool, step, Python method and docs are derived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from orchestrator.actions.results import Acted, Observe, Outcome
from orchestrator.actions.scene import ActedT, Scene
from orchestrator.errors import Unsupported
from orchestrator.models import SessionRecord, SessionType, Wire
from orchestrator.secrets import MASK
from orchestrator.settings import ToolSet

ResultT = TypeVar("ResultT", bound=Outcome)
ALL_TYPES = frozenset(SessionType)
BROWSER = frozenset({SessionType.BROWSER})
APPS = ALL_TYPES - BROWSER
Part = Literal["page", "context", "browser"]
_WEB = "In an app it works in a web view only: list them with switch_context."


class Action(Wire, ABC, Generic[ResultT]):
    """One thing that can be done in a session.

    The docstring of a subclass is its description for models and people, its fields are its parameters, `perform` is
    what it does. `perform` is an ordinary blocking function and runs whole in one worker thread, in the session's lane.
    """

    verb: ClassVar[str]
    title: ClassVar[str]
    types: ClassVar[frozenset[SessionType]] = BROWSER
    """Which session types it serves."""
    in_web_views: ClassVar[bool] = False
    """Whether it serves the web views of apps, too, where `types` names browsers alone."""
    instead: ClassVar[str] = ""
    """What to do in a session that it does not serve, as a sentence."""
    reads: ClassVar[bool] = False
    """It changes nothing in the session."""
    asks: ClassVar[bool] = False
    """It begins with a question to the page, with which others can be asked."""
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    result: ClassVar[type[Outcome]] = Acted
    structured: ClassVar[bool] = True
    """False where a result has no data part."""
    toolset: ClassVar[ToolSet] = "browser"
    """With which others it is listed."""
    part: ClassVar[Part] = "page"
    """The object whose method it is in scripts."""
    scriptable: ClassVar[bool] = True
    """Whether scripts can call it."""

    @classmethod
    def offered(cls) -> bool:
        """Whether it can be done in this installation: only then it is listed."""
        return True

    @classmethod
    def check(cls, record: SessionRecord, *, planned: bool = False) -> None:
        """Refuse a session that it does not serve; when `planned`, a step before it may lead into a web view.

        Raises:
            Unsupported: It says what to do instead.
        """
        if record.type in cls.types:
            return
        if not cls.in_web_views:
            raise Unsupported(f"{cls.verb} does not work in {record.type} sessions.", hint=cls.instead)
        if record.native and not planned:
            raise Unsupported(f"{cls.verb} does not work on an app's own screen.", hint=cls.instead or _WEB)

    def told(self) -> dict[str, Any]:
        """What the caller gave, as a log may keep it: a mask stands for what its declaration keeps out of its repr."""
        fields = {name: one for name, one in type(self).model_fields.items() if name in self.model_fields_set}
        return {one.alias or name: getattr(self, name) if one.repr else MASK for name, one in fields.items()}

    @abstractmethod
    def perform(self, scene: Scene) -> ResultT:
        """Do it and say what came of it.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """


AnyAction = Action[Any]

_AIMS = ("ref", "target", "uid")
"""What models that guess write for `selector`."""


class Aimed(Wire):
    """Forgives the other usual names of `selector`."""

    asks: ClassVar[bool] = True

    @model_validator(mode="before")
    @classmethod
    def _forgive(cls, data: Any) -> Any:
        if isinstance(data, dict) and "selector" not in data:
            for name in _AIMS:
                if name in data:
                    rest = {key: value for key, value in data.items() if key != name}
                    return {**rest, "selector": data[name]}
        return data


class Timed(Wire):
    """Waits until it can be done."""

    timeout: int | None = Field(default=None, ge=0, le=600_000, description="In ms.")


class Acts(Action[ActedT], ABC, Generic[ActedT]):
    """An action that acts on what the session shows, and may report what changed."""

    observes: ClassVar[Observe] = "none"
    """How much it reports unless the caller says otherwise."""
    observe: Observe | None = None

    @abstractmethod
    def act(self, scene: Scene) -> ActedT:
        """Do it; the report on the page is added afterwards."""

    def perform(self, scene: Scene) -> ActedT:
        """Do it, and report what it changed, as `observe` says."""
        observe = self.observe or ("none" if scene.observed else self.default_observe())
        return scene.observing(observe, lambda: self.act(scene), rides=self.asks)

    def default_observe(self) -> Observe:
        """How much this call reports when the caller does not say."""
        return self.observes


class Acting(Acts[Acted], Timed, ABC):
    """One that waits until it can be done, and answers nothing besides."""
