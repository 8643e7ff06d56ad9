"""Tests as users write them, with every fixture of the plug-in: type checkers know each, and what its methods return.

No pytest collects it. `make check` reads it with mypy, and a test with pyright.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

import pytest

from orchestrator.pytest_plugin import eventually
from orchestrator.pytest_plugin.bdd.world import ScenarioWorld
from orchestrator.pytest_plugin.fixtures import AwaitedStarter, SessionStarter
from orchestrator.pytest_plugin.group import SessionGroup
from orchestrator.pytest_plugin.handles import AwaitedSession, RecordedSession
from orchestrator.pytest_plugin.login import LoginStates, SignIn
from orchestrator.pytest_plugin.soft_expect import SoftExpect
from orchestrator.sessions.rows import SessionList
from orchestrator.sync import Orchestrator


def sessions_of_each_platform(
    web: RecordedSession, ios: RecordedSession, android: RecordedSession, app_session: RecordedSession
) -> None:
    """A session has typed methods, those of the plug-in among them."""
    for session in (web, ios, android, app_session):
        assert_type(session.name, str)
        assert_type(session.get_text("h1").text, str)
        session.expect_outline("cart", ignore=["role=status"])


def sessions_by_name(sessions: SessionGroup, start_session: SessionStarter, platform: str, base_url: str) -> None:
    """The group is a mapping of sessions, and the factory returns one."""
    ann = start_session("ann", platform=platform, navigation_url=base_url, login="buyer")
    assert_type(ann, RecordedSession)
    assert_type(sessions["ann"], RecordedSession)
    sessions.expect_same("ann", of="text")


def what_helps_tests(
    login: LoginStates, logins: Mapping[str, SignIn], session_options: dict[str, Any], soft_expect: SoftExpect
) -> None:
    """A login is a file; the ways to sign in are functions of a session."""
    assert_type(login("buyer"), Path)
    assert_type(logins["buyer"], SignIn)
    assert_type(session_options["viewport"], Any)
    with soft_expect:
        assert_type(eventually(lambda: "here"), str)


def the_orchestrator(orchestrator: Orchestrator, world: ScenarioWorld) -> None:
    """The orchestrator is that of the Python API, and a scenario's world has it, too."""
    assert_type(orchestrator.list_sessions(), SessionList)
    assert_type(world.orchestrator, Orchestrator)
    assert_type(world.user("ann"), RecordedSession)
    assert_type(world.variables, dict[str, str])


async def sessions_with_await(
    async_web: AwaitedSession,
    async_ios: AwaitedSession,
    async_android: AwaitedSession,
    async_app_session: AwaitedSession,
) -> None:
    """The same methods, with `await`."""
    for session in (async_web, async_ios, async_android, async_app_session):
        assert_type((await session.get_text("h1")).text, str)
        await session.expect_screenshot("cart", max_ratio=0.001)


async def sessions_by_name_with_await(
    async_sessions: Mapping[str, AwaitedSession], async_start_session: AwaitedStarter
) -> None:
    """The mapping and the factory are those of sessions with `await`."""
    assert_type(async_sessions["ann"], AwaitedSession)
    assert_type(await async_start_session("ben", platform="ios"), AwaitedSession)


class OverriddenFixtures:
    """Fixtures that a project replaces."""

    @pytest.fixture
    def session_options(self) -> dict[str, Any]:
        """Parameters of every session."""
        return {"viewport": {"width": 500, "height": 400}}

    @pytest.fixture(scope="session")
    def logins(self) -> Mapping[str, SignIn]:
        """The ways to sign in."""

        def buyer(session: RecordedSession) -> None:
            session.navigate("/login")

        return {"buyer": buyer}
