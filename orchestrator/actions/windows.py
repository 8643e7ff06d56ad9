"""Tabs, frames, the viewport, and the contexts of apps."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import APPS, Action, HasTimeout, Part, Selector, SelectorAliases, WaitingPageAction
from orchestrator.actions.navigation import Navigate, check_url
from orchestrator.actions.tool_results import Contexts, FrameEntered, TabFacts, TabList
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.models.emulation import HIGHEST, Viewport
from orchestrator.models.paths import PageUrl
from orchestrator.models.results import Acted, Observe, Outcome
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet
from orchestrator.snapshot.methods import STATE
from orchestrator.snapshot.web.world import install_page_engine
from orchestrator.system.deadline import Deadline, poll_until

_TAKES = {"list": set[str](), "new": {"url"}, "select": {"tab"}, "close": {"tab"}}

_INTERVAL = 0.1
"""Seconds between two polls for a context."""


class Tabs(Action[TabList]):
    """List tabs, open a new one (it becomes current), select (switch to) or close one."""

    verb: ClassVar[str] = "tabs"
    title: ClassVar[str] = "Tabs"
    part: ClassVar[Part] = "browser"
    instead: ClassVar[str] = "Use switch_context to reach an app's web views."
    by_default: ClassVar[bool] = True
    destructive: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = TabList

    action: Literal["list", "new", "select", "close"]
    tab: str | None = Field(default=None, description="Such as t2.")
    url: PageUrl | None = None

    @model_validator(mode="after")
    def _fits(self) -> Tabs:
        given = {name for name in ("tab", "url") if getattr(self, name) is not None}
        if superfluous := sorted(given - _TAKES[self.action]):
            raise ValueError(f"{self.action} takes no {' and no '.join(superfluous)}")
        if self.action == "select" and self.tab is None:
            raise ValueError("select needs tab, for example t1")
        if self.url is not None:
            check_url(self.url)
        return self

    def perform(self, scene: Scene) -> TabList:
        """Perform the action; the result lists the tabs afterwards."""
        tabs = scene.tabs
        tabs.refresh()
        warnings: list[str] = []
        if self.action == "new":
            warnings = self._open(scene)
        elif self.action == "select":
            tabs.select(self.tab or "")
        elif self.action == "close":
            self._close(scene, self.tab or tabs.current_name)
        listed = [TabFacts.model_validate(facts) for facts in tabs.facts()]
        for tab in listed:
            if tab.current:
                scene.record_url_and_title({"url": tab.url, "title": tab.title})
        return TabList(tabs=listed, warnings=warnings)

    def _open(self, scene: Scene) -> list[str]:
        name = scene.tabs.add(scene.tabs.handles.open())
        scene.apply_routing()
        scene.tabs.select(name)
        return Navigate(url=self.url).act(scene).warnings if self.url else []

    def _close(self, scene: Scene, name: str) -> None:
        scene.tabs.find(name)
        if len(scene.record.tabs) == 1:
            raise InvalidArgument(
                f"Tab {name} is the only one.", hint="Open another tab first, or end the session with close_session."
            )
        scene.tabs.close(name)


class SwitchFrame(SelectorAliases, HasTimeout, Action[FrameEntered]):
    """Resolve later selectors inside a frame (iframe); omit selector to return to the top."""

    verb: ClassVar[str] = "switch_frame"
    title: ClassVar[str] = "Switch frame"
    in_web_views: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = FrameEntered

    selector: Selector | None = None

    def perform(self, scene: Scene) -> FrameEntered:
        """Write the frame to the record: refs of enclosing frames of other origins, then the frame's own."""
        if self.selector is None:
            scene.change(frame=())
            return FrameEntered()
        with scene.element(self.selector, "frame", self.timeout) as hit:
            path = [hop.ref for hop in scene.finder.frames.current_path]
            scene.change(frame=(*path, hit.facts["ref"]))
        return FrameEntered(frame=hit.facts["line"], matches=hit.matches)


class SetViewport(WaitingPageAction):
    """Resize the page area, in CSS pixels; reports what changed."""

    verb: ClassVar[str] = "set_viewport"
    title: ClassVar[str] = "Resize"
    part: ClassVar[Part] = "browser"
    instead: ClassVar[str] = "To rotate the screen, use manage_device with action rotate."
    idempotent: ClassVar[bool] = True
    observes: ClassVar[Observe] = "change"

    width: int = Field(ge=1, le=HIGHEST)
    height: int = Field(ge=1, le=HIGHEST)

    def act(self, scene: Scene) -> Acted:
        """Resize the current tab; tabs selected later follow, and an emulated device keeps its other traits."""
        wanted = Viewport(width=self.width, height=self.height)
        reached = scene.emulator.resize(wanted)
        scene.tabs.record_current_emulation()
        if reached == wanted:
            return Acted()
        return Acted(warnings=[f"The page area is {reached.width} x {reached.height} px, this browser's nearest size."])


class SwitchContext(HasTimeout, Action[Contexts]):
    """Switch to an app's web view (WEBVIEW…), where browser tools work, or to NATIVE_APP; omit context to list them."""

    verb: ClassVar[str] = "switch_context"
    title: ClassVar[str] = "Switch to a web view"
    types: ClassVar[frozenset[SessionType]] = APPS
    instead: ClassVar[str] = "In a browser use tabs or switch_frame."
    toolset: ClassVar[ToolSet] = "mobile"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Contexts

    context: str | None = Field(default=None, min_length=1)

    def perform(self, scene: Scene) -> Contexts:
        """Switch to the context, and wait for it if it does not exist yet."""
        if self.context is None:
            return _contexts_result(scene, _read_contexts(scene))
        name, contexts = self.context, list[str]()

        def find_context() -> str | None:
            scene.check()
            contexts[:] = _read_contexts(scene)
            return _match_context(name, contexts)

        deadline = Deadline(scene.seconds(self.timeout))
        context = poll_until(find_context, deadline, every=_INTERVAL)
        if context is None:
            raise InvalidArgument(
                f"No context {name!r} (waited {deadline.elapsed_ms} ms).",
                hint=f"There are: {', '.join(contexts)}.",
            )
        scene.switch_context(context)
        if not scene.native:
            install_page_engine(scene.remote, scene.record.capabilities)
            scene.record_url_and_title(scene.query_page(STATE))
        return _contexts_result(scene, contexts)


def _read_contexts(scene: Scene) -> list[str]:
    return [str(name) for name in scene.remote.execute("getContextHandles")]


def _match_context(given: str, contexts: list[str]) -> str | None:
    """The context with this name, else the first whose name begins with it, ignoring case."""
    if given in contexts:
        return given
    return next((name for name in contexts if name.lower().startswith(given.lower())), None)


def _contexts_result(scene: Scene, contexts: list[str]) -> Contexts:
    record = scene.record
    return Contexts(contexts=contexts, context=record.context, url=record.url, title=record.title)


ACTIONS: list[type[Action[Any]]] = [Tabs, SwitchFrame, SetViewport, SwitchContext]
