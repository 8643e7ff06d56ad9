"""What the browser shows and how large: its tabs, the frame that is current, the viewport."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import Acting, Action, Aimed, Part, Timed
from orchestrator.actions.browser_results import FrameEntered, TabFacts, TabList
from orchestrator.actions.navigation import Navigate, check_url
from orchestrator.actions.results import Acted, Observe, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.emulation import HIGHEST, Viewport
from orchestrator.errors import InvalidArgument

_TAKES = {"list": set[str](), "new": {"url"}, "select": {"tab"}, "close": {"tab"}}


class Tabs(Action[TabList]):
    """List tabs, open a new one, select (switch to) or close one. A new one becomes current."""

    verb: ClassVar[str] = "tabs"
    title: ClassVar[str] = "Tabs"
    part: ClassVar[Part] = "browser"
    instead: ClassVar[str] = "switch_context goes to the web views of an app."
    destructive: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = TabList

    action: Literal["list", "new", "select", "close"]
    tab: str | None = Field(default=None, description="Such as t2.")
    url: str | None = None

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
        """Do it; the answer lists the tabs as they are afterwards."""
        tabs = scene.tabs
        tabs.look()
        warnings: list[str] = []
        if self.action == "new":
            warnings = self._open(scene)
        elif self.action == "select":
            tabs.select(self.tab or "")
        elif self.action == "close":
            self._close(scene, self.tab or tabs.current)
        found = [TabFacts.model_validate(facts) for facts in tabs.facts()]
        for one in found:
            if one.current:
                scene.remember({"url": one.url, "title": one.title})
        return TabList(tabs=found, warnings=warnings)

    def _open(self, scene: Scene) -> list[str]:
        name = scene.tabs.add(scene.tabs.handles.open())
        scene.follow()
        scene.tabs.select(name)
        return Navigate(url=self.url).act(scene).warnings if self.url else []

    def _close(self, scene: Scene, name: str) -> None:
        scene.tabs.find(name)
        if len(scene.record.tabs) == 1:
            raise InvalidArgument(
                f"Tab {name} is the only one.", hint="End the session with close_session, or open another tab first."
            )
        scene.tabs.close(name)


class SwitchFrame(Aimed, Timed, Action[FrameEntered]):
    """Take later selectors inside a frame (iframe); without selector at the top again."""

    verb: ClassVar[str] = "switch_frame"
    title: ClassVar[str] = "Switch frame"
    in_web_views: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = FrameEntered

    selector: str | None = None

    def perform(self, scene: Scene) -> FrameEntered:
        """It stands in the record as refs: of the frames of other origins on the way, then its own."""
        if self.selector is None:
            scene.change(frame=())
            return FrameEntered()
        with scene.element(self.selector, "frame", self.timeout) as hit:
            way = [hop.ref for hop in scene.find.frames.hops]
            scene.change(frame=(*way, hit.facts["ref"]))
        return FrameEntered(frame=hit.facts["line"], matches=hit.matches)


class SetViewport(Acting):
    """Resize the page area, in CSS pixels; tells what changed."""

    verb: ClassVar[str] = "set_viewport"
    title: ClassVar[str] = "Resize"
    part: ClassVar[Part] = "browser"
    instead: ClassVar[str] = "To turn the screen: manage_device with action rotate."
    idempotent: ClassVar[bool] = True
    observes: ClassVar[Observe] = "change"

    width: int = Field(ge=1, le=HIGHEST)
    height: int = Field(ge=1, le=HIGHEST)

    def act(self, scene: Scene) -> Acted:
        """As at the start; tabs that are selected later get the same size, and a device keeps all but its own."""
        wanted = Viewport(width=self.width, height=self.height)
        reached = scene.emulator.resize(wanted)
        scene.tabs.told()
        if reached == wanted:
            return Acted()
        return Acted(warnings=[f"The page area is {reached.width} x {reached.height} px: this browser gets no nearer."])


ACTIONS: list[type[Action[Any]]] = [Tabs, SwitchFrame, SetViewport]
