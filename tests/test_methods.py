"""The methods of the Python API: fresh, typed, and with the words of the tools."""

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
from orchestrator.actions.base import Acting, Aimed
from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.actions.pointer import ClickElement
from orchestrator.actions.reading import GetText
from orchestrator.actions.results import Acted, Elements, Met, PageText, Screenshot, StateChange, Value
from orchestrator.actions.scene import Scene
from orchestrator.arguments import names_of, read
from orchestrator.mcp_server.session_tool import SessionTool
from orchestrator.mcp_server.session_tools import SESSION_TOOLS
from orchestrator.models import Wire
from orchestrator.rows import Closed, SessionFacts, SessionList
from orchestrator.sequence import SequenceResult
from tests import methods

HANDED = {"attach_session", "start_app_session", "start_browser", "start_session"}
"""The tools that answer a row; their methods give a handle."""


def snake(name: str) -> str:
    """A name of the wire as Python writes it."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def parameters(method: Callable[..., Any]) -> dict[str, Any]:
    """The parameters with their defaults; empty collections and None are the same: left out."""
    found = list(inspect.signature(method).parameters.values())[1:]
    return {one.name: one.default if one.default not in ((), None) else None for one in found}


def test_the_written_module_is_fresh() -> None:
    """What is written from the catalogue says what it says: run `make docs`."""
    assert methods.PLACE.read_text("utf-8") == methods.text(), "stale: run `make docs`"


class Finger(Wire):
    """Where a finger is."""

    x: int
    y: int


class Speed(Enum):
    """How fast."""

    SLOW = "slow"
    FAST = "fast"


class Odd(Aimed, Acting):
    """Do something odd. It has every kind of field that a declaration may have."""

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
        """Nothing."""
        del scene
        return Acted()


def test_the_writer_copes_with_every_kind_of_field() -> None:
    """Nested models, enums, lists, aliases, words of Python's own; required ones first, flags by name only."""
    written = methods._method(Odd, methods.Imports(), blocking=True)
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
    assert (ast.get_docstring(function) or "").startswith("Do something odd.\n\nIt has every kind")


def test_what_a_method_gives_is_read_as_the_action() -> None:
    """The names that it hands on are those that a declaration takes, nested and defaulted as they come."""
    action = read(
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


def test_a_shell_offers_what_is_imported_late() -> None:
    """Before it was asked for, too."""
    assert {"Orchestrator", "Session", "__version__"} <= set(dir(orchestrator))


@pytest.mark.parametrize("verb", CATALOGUE)
def test_an_action_is_a_method(verb: str) -> None:
    """Each field is a parameter, in both classes, with the same signature and docstring."""
    found, twin = getattr(Session, verb), getattr(sync.Session, verb)
    assert {name.rstrip("_") for name in parameters(found)} == {snake(name) for name in names_of(CATALOGUE[verb])}
    assert inspect.signature(found) == inspect.signature(twin)
    assert inspect.getdoc(found) == inspect.getdoc(twin)


@pytest.mark.parametrize("tool", SESSION_TOOLS, ids=lambda tool: tool.verb)
def test_a_session_tool_is_a_method(tool: type[SessionTool]) -> None:
    """Parameters and defaults are those of the tool; only what a start leaves to the server has its value there.

    A browser that is left out is None: what the tool calls its default does not count where a browser is shared.
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
def test_the_blocking_twin_has_the_same_words(found: type, twin: type) -> None:
    """Every public method, with the same parameters, defaults, annotations and docstring."""
    names = [name for name, one in inspect.getmembers(found, inspect.iscoroutinefunction) if not name.startswith("_")]
    assert names
    for name in names:
        assert inspect.signature(getattr(found, name)) == inspect.signature(getattr(twin, name)), name
        assert inspect.getdoc(getattr(found, name)) == inspect.getdoc(getattr(twin, name)), name
    assert inspect.signature(found) == inspect.signature(twin) or found is Session


async def check_types(orchestrator: Orchestrator, session: Session) -> None:
    """What a type checker knows of the async classes; it is read, never run."""
    assert_type(await orchestrator.start_browser("ann"), Session)
    assert_type(await orchestrator.session(), Session)
    assert_type(await orchestrator.list_sessions(), SessionList)
    assert_type(await orchestrator.perform(GetText(), "ann"), PageText)
    assert_type(await session.perform(ClickElement(selector="#a")), Acted)
    assert_type((await session.click_element("#a")).state_change, StateChange | None)
    assert_type((await session.get_text()).text, str)
    assert_type(await session.get_visible_elements(scope="page"), Elements)
    assert_type(await session.expect("#a", text="b", not_=True), Met)
    assert_type(await session.take_screenshot(), Screenshot)
    assert_type(await session.execute_script("return 1"), Value)
    assert_type(await session.execute_sequence([ClickElement(selector="#a")]), SequenceResult)
    assert_type(await session.close(), Closed)
    assert_type(session.facts, SessionFacts)


def check_blocking_types(orchestrator: sync.Orchestrator, session: sync.Session) -> None:
    """What a type checker knows of the blocking classes; it is read, never run."""
    assert_type(orchestrator.start_browser("ann"), sync.Session)
    assert_type(orchestrator.session(), sync.Session)
    assert_type(orchestrator.list_sessions(), SessionList)
    assert_type(orchestrator.perform(GetText(), "ann"), PageText)
    assert_type(session.perform(ClickElement(selector="#a")), Acted)
    assert_type((session.click_element("#a")).state_change, StateChange | None)
    assert_type(session.get_text().text, str)
    assert_type(session.get_visible_elements(scope="page"), Elements)
    assert_type(session.expect("#a", text="b", not_=True), Met)
    assert_type(session.take_screenshot(), Screenshot)
    assert_type(session.execute_script("return 1"), Value)
    assert_type(session.execute_sequence([ClickElement(selector="#a")]), SequenceResult)
    assert_type(session.close(), Closed)
    assert_type(session.facts, SessionFacts)


def test_a_result_is_short_to_look_at() -> None:
    """Only what has something to say, cut where it is long; printed, it is its text."""
    acted = Acted(url="http://shop.test/", warnings=["w" * 500])
    assert repr(Acted()) == "Acted()"
    assert repr(acted).startswith("Acted(warnings=['www")
    assert len(repr(acted)) < 200
    assert repr(ClickElement(selector="#a", count=2)) == "ClickElement(selector='#a', count=2)"
    assert str(PageText(text="Hello")) == "Hello"
