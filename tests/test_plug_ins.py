"""Actions come from any package, some of them broken; each of those is named with what is wrong with it."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import pytest

from orchestrator.actions.base import Action
from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.api import Orchestrator
from orchestrator.mcp_server.session_tools import SESSION_TOOLS
from orchestrator.plug_ins import GROUP, Actions


class Good(Action[Outcome]):
    """Do nothing well."""

    verb: ClassVar[str] = "do_nothing"
    title: ClassVar[str] = "Do nothing"
    result: ClassVar[type[Outcome]] = Outcome

    def perform(self, scene: Scene) -> Outcome:
        """Nothing."""
        del scene
        return Outcome()


class Other(Good):
    """Do nothing else."""

    verb = "do_nothing_else"


class Misspelt(Good):
    """It has no name that a tool can have."""

    verb = "doNothing"


class Ours(Good):
    """It would take the place of one of ours."""

    verb = "click_element"


class Taken(Good):
    """It would take the place of a tool that is no action."""

    verb = "close_session"


class Greedy(Good):
    """It takes what belongs to the call."""

    verb = "greedy"

    session_id: str = ""


class Unfinished(Action[Outcome]):
    """It does nothing at all."""

    verb = "unfinished"
    title = "Unfinished"


class Resultless(Good):
    """Nobody knows what it answers."""

    verb = "resultless"
    result: ClassVar[Any] = dict


SILENT = [type("Silent", (Good,), {"verb": "silent"})]
GOOD, TWICE, NONE, TEXT = [Good, Other], [Good, Good], 3, ["text"]
MISSPELT, OURS, TAKEN, GREEDY = [Misspelt], [Ours], [Taken], [Greedy]
UNFINISHED, RESULTLESS = [Unfinished], [Resultless]


def found(*names: str) -> Actions:
    """The actions with the entry points of these names, which are variables of this module."""
    points = [EntryPoint(name, f"{__name__}:{name}", GROUP) for name in names]
    return Actions(points, taken=dir(Orchestrator))


def test_actions_of_packages_come_behind_ours() -> None:
    """All of a package, in its order."""
    actions = found("GOOD")
    assert [*actions] == [*CATALOGUE, "do_nothing", "do_nothing_else"]
    assert actions.step({"action": "do_nothing"}).verb == "do_nothing"
    assert [(one.name, one.reason) for one in actions.plug_ins] == [("GOOD", "")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("MISSPELT", "Misspelt has no verb, a name such as add_up"),
        ("SILENT", "silent has no title, or no docstring"),
        ("OURS", "there is an action or a tool 'click_element' already"),
        ("TAKEN", "there is an action or a tool 'close_session' already"),
        ("GREEDY", "greedy has a parameter sessionId, which every call has"),
        ("UNFINISHED", "'Unfinished' is no action"),
        ("RESULTLESS", "resultless has no result"),
        ("TEXT", "'text' is no action"),
        ("TWICE", "two of its actions have one name"),
        ("NONE", "TypeError"),
        ("MISSING", "AttributeError"),
    ],
)
def test_what_cannot_be_used_is_named(name: str, said: str) -> None:
    """With the reason; nothing of it is there, and another package is as it was."""
    actions = found(name, "GOOD")
    assert said in actions.plug_ins[0].reason
    assert [*actions] == [*CATALOGUE, "do_nothing", "do_nothing_else"]


def test_of_two_packages_with_one_name_the_first_has_it() -> None:
    """The second one is told so."""
    points = [EntryPoint(name, f"{__name__}:GOOD", GROUP) for name in ("one", "two")]
    assert [one.reason for one in Actions(points).plug_ins] == ["", "there is an action or a tool 'do_nothing' already"]


def test_every_tool_is_a_method_of_the_facade() -> None:
    """So that its names are all that are taken."""
    assert {tool.verb for tool in SESSION_TOOLS} - {*dir(Orchestrator)} == set()
