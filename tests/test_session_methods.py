"""The methods of the Python API: up to date, typed, and documented like the tools."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Literal, assert_type

import pytest
from pydantic import Field

import orchestrator
from orchestrator import Orchestrator, Session, api, sync
from orchestrator.actions.base import SelectorAliases, WaitingPageAction
from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.actions.mouse import ClickElement
from orchestrator.actions.reading import GetText
from orchestrator.automation.scene import Scene
from orchestrator.execution.sequence import SequenceResult
from orchestrator.models.arguments import names_of, parse_arguments
from orchestrator.models.results import Acted, ConditionMet, Elements, PageText, Screenshot, ScriptValue, StateChange
from orchestrator.models.session import Wire
from orchestrator.session_tools.base import SessionTool
from orchestrator.session_tools.catalogue import SESSION_TOOLS
from orchestrator.sessions.rows import CloseResult, SessionFacts, SessionList
from tests.generators import session_methods

HANDED = {"attach_session", "start_app_session", "start_browser", "start_session"}
"""The tools that answer a row; their methods return a handle."""


def snake(name: str) -> str:
    """Return a name of the wire in Python's spelling."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def parameters(method: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters with their defaults; empty collections and None count as equal."""
    found = list(inspect.signature(method).parameters.values())[1:]
    return {one.name: one.default if one.default not in ((), None) else None for one in found}


def test_the_generated_methods_modules_are_up_to_date() -> None:
    """The generated modules match the catalogue of actions and the tools' parameters: run `make docs`."""
    for place, source in session_methods.modules().items():
        assert place.read_text("utf-8") == source, f"{place.name} is stale: run `make docs`"


class Finger(Wire):
    """A finger's position."""

    x: int
    y: int


class Speed(Enum):
    """Speeds of a gesture."""

    SLOW = "slow"
    FAST = "fast"


class Odd(SelectorAliases, WaitingPageAction):
    """Do something odd. The fields are of every kind that a declaration may have."""

    verb: ClassVar[str] = "odd"
    title: ClassVar[str] = "Odd"

    source: str
    target: str | None = None
    sure: bool
    fingers: list[Finger] = Field(default_factory=list, description="All of them.")
    first: Finger | None = None
    speed: Speed = Speed.SLOW
    keys: list[Literal["a", "b"]] = Field(default=["a", "b"])
    extras: dict[str, Any] = Field(default_factory=dict)
    place: Path | None = None
    class_: str = Field(default="none", alias="class")
    title_: str | None = Field(default=None, alias="title")
    many_words: float = 0.5

    def act(self, scene: Scene) -> Acted:
        """Return nothing."""
        del scene
        return Acted()


def test_the_method_generator_handles_every_kind_of_field() -> None:
    """Nested models, enums, lists, aliases, Python's keywords; required ones first, flags by name only."""
    written = session_methods._action_method(Odd, session_methods.Imports()).source(blocking=True)
    (function,) = ast.parse(textwrap.dedent(written)).body
    assert isinstance(function, ast.FunctionDef)
    assert ast.unparse(function.args) == (
        "self, source: str, target: str | None=None, *, sure: bool, "
        "fingers: Sequence[Finger | Mapping[str, Any]]=(), first: Finger | Mapping[str, Any] | None=None, "
        "speed: Literal['slow', 'fast']='slow', keys: Sequence[Literal['a', 'b']]=('a', 'b'), "
        "extras: Mapping[str, Any] | None=None, place: Path | None=None, class_: str='none', "
        "title: str | None=None, many_words: float=0.5, observe: Literal['none', 'change', 'outline'] | None=None, "
        "timeout: int | None=None"
    )
    assert '"class_": class_, "title_": title, "many_words": many_words' in written
    assert "fingers: All of them." in (ast.get_docstring(function) or "")
    assert (ast.get_docstring(function) or "").startswith("Do something odd.\n\nThe fields are of every kind")


def test_arguments_passed_on_by_a_method_are_read_as_its_action() -> None:
    """A method passes on the fields of a declaration, with nested models and defaults unchanged."""
    action = parse_arguments(
        Odd,
        {
            "source": "#a",
            "sure": True,
            "fingers": (),
            "first": Finger(x=1, y=2),
            "speed": "fast",
            "class_": "c",
            "title_": None,
        },
    )
    assert (action.first, action.speed, action.class_, action.fingers) == (Finger(x=1, y=2), Speed.FAST, "c", [])


def test_dir_of_the_package_lists_names_that_are_imported_lazily() -> None:
    """Lazily imported names are listed before their first use."""
    assert {"Orchestrator", "Session", "__version__"} <= set(dir(orchestrator))


def test_every_action_is_a_method_of_both_session_classes(subtests: pytest.Subtests) -> None:
    """Each field is a parameter, in both classes, with the same signature and docstring."""
    for verb, action in CATALOGUE.items():
        with subtests.test(verb):
            found, twin = getattr(Session, verb), getattr(sync.Session, verb)
            assert {name.rstrip("_") for name in parameters(found)} == {snake(name) for name in names_of(action)}
            assert inspect.signature(found) == inspect.signature(twin)
            assert inspect.getdoc(found) == inspect.getdoc(twin)


def test_every_session_tool_is_a_method_with_the_same_parameters_and_defaults(subtests: pytest.Subtests) -> None:
    """Parameters and defaults are those of the tool, except a start's server-side defaults, which are values."""
    for tool in SESSION_TOOLS:
        with subtests.test(tool.verb):
            check_method(tool)


def check_method(tool: type[SessionTool]) -> None:
    """Assert that a tool's method has its parameters and defaults.

    An omitted browser is None: the tool's default does not apply to a shared browser.
    """
    told = parameters(getattr(Orchestrator, tool.verb))
    assert set(told) == set(tool.model_fields)
    for name, field in tool.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
        if field.is_required():
            assert told[name] is inspect.Parameter.empty
        else:
            assert told[name] == (default if default not in ([], {}) and name != "browser" else None), name


@pytest.mark.parametrize(("found", "twin"), [(api.Orchestrator, sync.Orchestrator), (Session, sync.Session)])
def test_the_blocking_classes_have_the_same_signatures_and_docstrings(found: type, twin: type) -> None:
    """Every public method, with the same parameters, defaults, annotations and docstring."""
    names = [name for name, one in inspect.getmembers(found, inspect.iscoroutinefunction) if not name.startswith("_")]
    assert names
    for name in names:
        assert inspect.signature(getattr(found, name)) == inspect.signature(getattr(twin, name)), name
        assert inspect.getdoc(getattr(found, name)) == inspect.getdoc(getattr(twin, name)), name
    assert inspect.signature(found) == inspect.signature(twin) or found is Session


async def check_types(orchestrator: Orchestrator, session: Session) -> None:
    """Types that a type checker must infer for the async classes; this function is never run."""
    assert_type(await orchestrator.start_browser("ann"), Session)
    assert_type(await orchestrator.session(), Session)
    assert_type(await orchestrator.list_sessions(), SessionList)
    assert_type(await orchestrator.perform(GetText(), "ann"), PageText)
    assert_type(await session.perform(ClickElement(selector="#a")), Acted)
    assert_type((await session.click_element("#a")).state_change, StateChange | None)
    assert_type((await session.get_text()).text, str)
    assert_type(await session.get_visible_elements(scope="page"), Elements)
    assert_type(await session.expect("#a", text="b", not_=True), ConditionMet)
    assert_type(await session.take_screenshot(), Screenshot)
    assert_type(await session.execute_script("return 1"), ScriptValue)
    assert_type(await session.execute_sequence([ClickElement(selector="#a")]), SequenceResult)
    assert_type(await session.close(), CloseResult)
    assert_type(session.facts, SessionFacts)


def check_blocking_types(orchestrator: sync.Orchestrator, session: sync.Session) -> None:
    """Types that a type checker must infer for the blocking classes; this function is never run."""
    assert_type(orchestrator.start_browser("ann"), sync.Session)
    assert_type(orchestrator.session(), sync.Session)
    assert_type(orchestrator.list_sessions(), SessionList)
    assert_type(orchestrator.perform(GetText(), "ann"), PageText)
    assert_type(session.perform(ClickElement(selector="#a")), Acted)
    assert_type((session.click_element("#a")).state_change, StateChange | None)
    assert_type(session.get_text().text, str)
    assert_type(session.get_visible_elements(scope="page"), Elements)
    assert_type(session.expect("#a", text="b", not_=True), ConditionMet)
    assert_type(session.take_screenshot(), Screenshot)
    assert_type(session.execute_script("return 1"), ScriptValue)
    assert_type(session.execute_sequence([ClickElement(selector="#a")]), SequenceResult)
    assert_type(session.close(), CloseResult)
    assert_type(session.facts, SessionFacts)


def test_the_repr_of_a_result_is_short() -> None:
    """The repr shows only non-empty fields, cut where long; `str` gives the text."""
    acted = Acted(url="http://shop.test/", warnings=["w" * 500])
    assert repr(Acted()) == "Acted()"
    assert repr(acted).startswith("Acted(warnings=['www")
    assert len(repr(acted)) < 200
    assert repr(ClickElement(selector="#a", count=2)) == "ClickElement(selector='#a', count=2)"
    assert str(PageText(text="Hello")) == "Hello"
