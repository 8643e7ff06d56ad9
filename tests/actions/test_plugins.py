"""Actions from installed packages: a broken one is left out and named with its fault."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest

from orchestrator.actions import ENTRY_POINTS
from orchestrator.actions.base import Action
from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.actions.plugins import InstalledActions
from orchestrator.api import Orchestrator
from orchestrator.automation.scene import Scene
from orchestrator.models.results import Outcome
from orchestrator.session_tools.catalogue import SESSION_TOOLS


class Good(Action[Outcome]):
    """A valid action."""

    verb: ClassVar[str] = "do_nothing"
    title: ClassVar[str] = "Do nothing"
    result: ClassVar[type[Outcome]] = Outcome

    def perform(self, scene: Scene) -> Outcome:
        """Return an empty outcome."""
        del scene
        return Outcome()


class Other(Good):
    """Another valid action."""

    verb = "do_nothing_else"


class Misspelt(Good):
    """An action whose verb is no valid tool name."""

    verb = "doNothing"


class Ours(Good):
    """An action with the verb of a built-in one."""

    verb = "click_element"


class Taken(Good):
    """An action with the verb of a tool that is not an action."""

    verb = "close_session"


class Greedy(Good):
    """An action with a field that every tool has already."""

    verb = "greedy"

    session_id: str = ""


class Unfinished(Action[Outcome]):
    """An action without `perform`."""

    verb = "unfinished"
    title = "Unfinished"


class Resultless(Good):
    """An action whose result type is unknown."""

    verb = "resultless"
    result: ClassVar[Any] = dict


SILENT = [type("Silent", (Good,), {"verb": "silent"})]
GOOD, TWICE, NONE, TEXT = [Good, Other], [Good, Good], 3, ["text"]
MISSPELT, OURS, TAKEN, GREEDY = [Misspelt], [Ours], [Taken], [Greedy]
UNFINISHED, RESULTLESS = [Unfinished], [Resultless]


def found(*names: str) -> InstalledActions:
    """Return the actions of entry points with these names, which are variables of this module."""
    points = [EntryPoint(name, f"{__name__}:{name}", ENTRY_POINTS) for name in names]
    return InstalledActions(points, taken=dir(Orchestrator))


def test_plug_in_actions_come_after_the_built_in_ones() -> None:
    """Actions of a package follow the built-in ones, all of them and in the package's order."""
    actions = found("GOOD")
    assert [*actions] == [*CATALOGUE, "do_nothing", "do_nothing_else"]
    assert actions.parse_step({"action": "do_nothing"}).verb == "do_nothing"
    assert [(one.name, one.reason) for one in actions.plug_ins] == [("GOOD", "")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MISSPELT", "Misspelt has no verb: a name such as add_up"),
        ("SILENT", "silent lacks a title, or a docstring"),
        ("OURS", "an action or tool 'click_element' exists already"),
        ("TAKEN", "an action or tool 'close_session' exists already"),
        ("GREEDY", "greedy has a parameter sessionId, a name reserved for calls"),
        ("UNFINISHED", "'Unfinished' is not an action"),
        ("RESULTLESS", "resultless has no result"),
        ("TEXT", "'text' is not an action"),
        ("TWICE", "two of its actions have the same name"),
        ("NONE", "TypeError"),
        ("MISSING", "AttributeError"),
    ],
)
def test_a_broken_plug_in_is_left_out_and_named_with_its_reason(name: str, expected: str) -> None:
    """A broken package contributes no action and is listed with the reason; other packages are unaffected."""
    actions = found(name, "GOOD")
    assert expected in actions.plug_ins[0].reason
    assert [*actions] == [*CATALOGUE, "do_nothing", "do_nothing_else"]


def test_an_action_name_brought_by_two_plug_ins_belongs_to_the_first() -> None:
    """The second package with an action of that name is listed with the conflict."""
    points = [EntryPoint(name, f"{__name__}:GOOD", ENTRY_POINTS) for name in ("one", "two")]
    assert [one.reason for one in InstalledActions(points).plug_ins] == [
        "",
        "an action or tool 'do_nothing' exists already",
    ]


def test_every_session_tool_is_a_method_of_the_orchestrator_class() -> None:
    """The methods of the class are the names that plug-ins may not take, so they must cover every tool."""
    assert {tool.verb for tool in SESSION_TOOLS} - {*dir(Orchestrator)} == set()


PLUG_IN = """
from typing import ClassVar
from orchestrator.action import Action, Outcome
{imports}

class One(Action[Outcome]):
    "Keep what is given."

    verb: ClassVar[str] = "keep_in_{name}"
    title: ClassVar[str] = "Keep"
    result: ClassVar[type[Outcome]] = Outcome
    kept: ClassVar[list[str]] = {kept}

    def perform(self, scene):
        return Outcome()

ACTIONS = [One]
"""


def test_plug_ins_share_a_module_that_both_import_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # F52 F53
    """A helper that two packages import is one module, with one cache; what each keeps for itself is its own."""
    (tmp_path / "rows_helper.py").write_text("CACHE = []\n", "utf-8")
    sources = {
        "rows_a": ("from rows_helper import CACHE", "CACHE"), "rows_b": ("import rows_helper", "rows_helper.CACHE"),
        "rows_c": ("CACHE = []", "CACHE"),
    }  # fmt: skip
    for name, (imports, kept) in sources.items():
        (tmp_path / f"{name}.py").write_text(PLUG_IN.format(name=name, imports=imports, kept=kept), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    actions = InstalledActions([EntryPoint(name, f"{name}:ACTIONS", ENTRY_POINTS) for name in sources])
    first, second, third = (vars(actions[f"keep_in_{name}"])["kept"] for name in sources)
    first.append("tea")
    assert second == ["tea"]
    assert third == []
