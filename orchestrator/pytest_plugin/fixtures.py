"""Fixtures: an orchestrator for each process, sessions for each test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from orchestrator.pytest_plugin.options import ANDROID, IOS, WEB, read_options

if TYPE_CHECKING:
    from orchestrator.pytest_plugin.group import SessionGroup
    from orchestrator.pytest_plugin.handles import AwaitedSession, RecordedSession
    from orchestrator.pytest_plugin.login import LoginStates, SignIn
    from orchestrator.pytest_plugin.soft_expect import SoftExpect
    from orchestrator.pytest_plugin.worker import Worker
    from orchestrator.sync import Orchestrator

__all__ = [
    "_orchestrator_worker",
    "android",
    "app_session",
    "async_android",
    "async_app_session",
    "async_ios",
    "async_sessions",
    "async_start_session",
    "async_web",
    "ios",
    "login",
    "logins",
    "orchestrator",
    "platform",
    "session_options",
    "sessions",
    "soft_expect",
    "start_session",
    "web",
]


class SessionStarter(Protocol):
    """Starts a session of the test: the fixture `start_session`."""

    def __call__(
        self, name: str | None = None, *, platform: str | None = None, provider: str | None = None, **parameters: Any
    ) -> RecordedSession:
        """Start a session; the other parameters are those of the Python API's start of that platform.

        Args:
            name: Its name in the test; default: the platform.
            platform: web, ios or android; default: the test's.
            provider: Where; default: the option `--orchestrator-provider`.
            **parameters: Such as `navigation_url`, `device`, `app_path`.
        """


class AwaitedStarter(Protocol):
    """Starts a session of the test with `await`: the fixture `async_start_session`."""

    def __call__(
        self, name: str | None = None, *, platform: str | None = None, provider: str | None = None, **parameters: Any
    ) -> Awaitable[AwaitedSession]:
        """Start a session, as `start_session` does."""


SOFT: pytest.StashKey[SoftExpect] = pytest.StashKey()
"""The soft expectations of a test, if it has some."""
GROUP: pytest.StashKey[SessionGroup] = pytest.StashKey()
"""The sessions of a test, while it has some."""


@pytest.fixture(scope="session")
def _orchestrator_worker(pytestconfig: pytest.Config) -> Iterator[Worker]:
    from orchestrator.pytest_plugin.worker import Worker

    worker_input = getattr(pytestconfig, "workerinput", {})
    worker = Worker(read_options(pytestconfig), worker_input.get("workerid", "main"))
    yield worker
    worker.end()


@pytest.fixture(scope="session")
def orchestrator(_orchestrator_worker: Worker) -> Orchestrator:
    """The orchestrator of this process, in a namespace of its own."""
    return _orchestrator_worker.orchestrator


@pytest.fixture
def session_options() -> dict[str, Any]:
    """Parameters of every session that a test starts; override it in a conftest.py."""
    return {}


@pytest.fixture(scope="session")
def logins() -> Mapping[str, SignIn]:
    """The way to sign in by role, each a function of an empty session; override it in a conftest.py."""
    return {}


@pytest.fixture
def platform() -> str:
    """The platform of the test: web, ios or android, of those that `platforms` names."""
    return WEB


@pytest.fixture
def sessions(
    request: pytest.FixtureRequest,
    _orchestrator_worker: Worker,
    session_options: Mapping[str, Any],
    platform: str,
    logins: Mapping[str, SignIn],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SessionGroup]:
    """The sessions of the test by name; those of its `users` are started."""
    from orchestrator.pytest_plugin.artifacts import folder_of, prepare
    from orchestrator.pytest_plugin.group import SessionGroup, user_plans
    from orchestrator.pytest_plugin.login import LoginStates

    marked: dict[str, Any] = {}
    for mark in reversed([*request.node.iter_markers("session_options")]):
        marked |= mark.kwargs
    group = SessionGroup(
        _orchestrator_worker,
        read_options(request.config),
        title=request.node.nodeid,
        file=request.path,
        defaults={**session_options, **marked},
        base_url=request.getfixturevalue("base_url") or "",
        platform=platform,
    )
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(request.config, "workerinput") else base

    def start_empty(name: str) -> RecordedSession:
        return group.start(name, login=None, storage_state=None)

    group.login = LoginStates(shared, logins, start=start_empty, close=group.close)
    attempt = getattr(request.node, "execution_count", 1)  # by pytest-rerunfailures
    prepare(group, folder_of(group.options.output, request.node.nodeid, attempt))
    request.node.stash[GROUP] = group
    users = [(mark.args, mark.kwargs) for mark in reversed([*request.node.iter_markers("users")])]
    try:
        if users:
            group.start_all(user_plans(users))
        yield group
    finally:
        del request.node.stash[GROUP]
        group.end()


@pytest.fixture
def start_session(sessions: SessionGroup) -> SessionStarter:
    """Start a session that is ended after the test."""
    return sessions.start


@pytest.fixture
def login(sessions: SessionGroup) -> LoginStates:
    """Sign in as a role once a run: `login("buyer")` returns the file for `storage_state`."""
    return sessions.login


@pytest.fixture
def soft_expect(request: pytest.FixtureRequest, sessions: SessionGroup) -> SoftExpect:
    """Let the test go on after what fails in a block: `with soft_expect: …`; it fails at its end."""
    from orchestrator.pytest_plugin.soft_expect import SoftExpect

    soft = request.node.stash[SOFT] = SoftExpect(sessions)
    return soft


@pytest.fixture
def web(start_session: SessionStarter) -> RecordedSession:
    """A session of a browser."""
    return start_session(platform=WEB)


@pytest.fixture
def ios(start_session: SessionStarter) -> RecordedSession:
    """A session of an iPhone or its simulator; the ini key `orchestrator_ios` names the app."""
    return start_session(platform=IOS)


@pytest.fixture
def android(start_session: SessionStarter) -> RecordedSession:
    """A session of an Android phone or emulator; the ini key `orchestrator_android` names the app."""
    return start_session(platform=ANDROID)


@pytest.fixture
def app_session(start_session: SessionStarter) -> RecordedSession:
    """A session of the test's platform, for tests with the mark `platforms`."""
    return start_session()


@pytest.fixture
def async_sessions(sessions: SessionGroup) -> Mapping[str, AwaitedSession]:
    """The sessions of the test's `users` by name, with `await`."""
    return {name: sessions.awaited(session) for name, session in sessions.items()}


@pytest.fixture
def async_start_session(sessions: SessionGroup) -> AwaitedStarter:
    """Start a session that is ended after the test, with `await`."""

    async def start(name: str | None = None, **given: Any) -> AwaitedSession:
        from anyio import to_thread

        session = await to_thread.run_sync(lambda: sessions.start(name, **given))
        return sessions.awaited(session)

    return start


@pytest.fixture
def async_web(sessions: SessionGroup, web: RecordedSession) -> AwaitedSession:
    """A session of a browser, with `await`."""
    return sessions.awaited(web)


@pytest.fixture
def async_ios(sessions: SessionGroup, ios: RecordedSession) -> AwaitedSession:
    """A session of an iPhone or its simulator, with `await`."""
    return sessions.awaited(ios)


@pytest.fixture
def async_android(sessions: SessionGroup, android: RecordedSession) -> AwaitedSession:
    """A session of an Android phone or emulator, with `await`."""
    return sessions.awaited(android)


@pytest.fixture
def async_app_session(sessions: SessionGroup, app_session: RecordedSession) -> AwaitedSession:
    """A session of the test's platform, with `await`."""
    return sessions.awaited(app_session)


UserFixture = Callable[..., "RecordedSession"]


def make_user_fixture(name: str) -> UserFixture:
    """Make the function of a fixture that is named like a user of `users`."""

    def user(sessions: SessionGroup) -> RecordedSession:
        return sessions[name]

    user.__doc__ = f"The session of {name}."
    return user
