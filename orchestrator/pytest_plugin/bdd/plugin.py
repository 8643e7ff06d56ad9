"""Steps, tags and the fixture `world` for pytest-bdd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pytest_bdd import parsers, step

from orchestrator.pytest_plugin.bdd import steps as _steps  # noqa: F401 — it declares the phrases
from orchestrator.pytest_plugin.bdd.phrases import PHRASES
from orchestrator.pytest_plugin.bdd.world import ScenarioWorld
from orchestrator.pytest_plugin.options import PLATFORMS

if TYPE_CHECKING:
    from pytest_bdd.parser import Feature, Scenario, Step

    from orchestrator.pytest_plugin.group import SessionGroup

_POLICIES = ("dialogs", "permissions", "notifications", "file_pickers", "downloads", "new_tabs")

for _phrase in PHRASES:
    step(parsers.re(_phrase.pattern))(_phrase.function)


@pytest.fixture
def world(request: pytest.FixtureRequest, sessions: SessionGroup) -> ScenarioWorld:
    """The world of the scenario: its users, its variables, its attachments."""
    return ScenarioWorld(sessions, Path(request.node.path).parent)


def pytest_bdd_apply_tag(tag: str, function: Callable[..., object]) -> bool | None:
    """Make marks of the tags for platforms and users; those for policies are read when the scenario begins."""
    name, _, value = tag.partition(":")
    if tag in PLATFORMS:
        marks: list[pytest.Mark] = getattr(function, "pytestmark", [])
        before = {one for mark in marks if mark.name == "platforms" for one in mark.args}
        function.pytestmark = [mark for mark in marks if mark.name != "platforms"]  # type: ignore[attr-defined]
        pytest.mark.platforms(*(one for one in PLATFORMS if one in {*before, tag}))(function)
        return True
    if name == "users":
        names = value.split(",")
        if not all(one.isidentifier() for one in names):
            raise pytest.UsageError(f"The tag @{tag} names no users: write @users:alice,bob.")
        pytest.mark.users(*names)(function)
        return True
    return True if value and name in _POLICIES else None


def pytest_bdd_before_scenario(request: pytest.FixtureRequest, feature: Feature, scenario: Scenario) -> None:
    """Start the users of a scenario's tags, and set its policies."""
    tags = [tag.partition(":") for tag in sorted(feature.tags | scenario.tags)]
    policies = {name: value for name, _, value in tags if value and name in _POLICIES}
    if policies or request.node.get_closest_marker("users"):
        world: ScenarioWorld = request.getfixturevalue("world")
        world.policies = policies
        world.apply_policies(*world.sessions.values())


def pytest_bdd_before_step_call(feature: Feature, step_func_args: dict[str, Any]) -> None:
    """Tell the world where the feature file lies."""
    if isinstance(found := step_func_args.get("world"), ScenarioWorld):
        found.folder = Path(feature.filename).parent


def pytest_bdd_step_error(feature: Feature, step: Step, exception: Exception) -> None:
    """Say in the error which step of which feature failed."""
    exception.add_note(f"Step: {step.keyword} {step.name} ({Path(feature.filename).name}:{step.line_number})")
