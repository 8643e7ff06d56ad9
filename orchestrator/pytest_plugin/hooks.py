"""Hooks: options, marks, and what happens to a test that fails."""

from __future__ import annotations

import sys
from collections.abc import Generator

import pytest

from orchestrator.pytest_plugin import own_base_url
from orchestrator.pytest_plugin.fixtures import GROUP, SOFT, make_user_fixture
from orchestrator.pytest_plugin.options import PLATFORMS, add_options

__all__ = [
    "pytest_addoption",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_pycollect_makeitem",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
]

_MARKS = (
    "platforms(*names): run the test once for each platform: web, ios, android",
    "skip_platform(*names, reason): leave out platforms of `platforms`",
    "users(*names, **parameters): start a session for each user before the test, with these parameters",
    "session_options(**parameters): parameters of every session that the test starts",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add_options(parser)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks, the fixture `base_url` unless another plug-in has it, and the steps where pytest-bdd is."""
    for mark in _MARKS:
        config.addinivalue_line("markers", mark)
    manager = config.pluginmanager
    # A conftest.py speaks for its folder alone.
    others = [plugin for name, plugin in manager.list_name_plugin() if plugin and not name.endswith("conftest.py")]
    if not any(hasattr(plugin, "base_url") for plugin in others):
        manager.register(own_base_url, "orchestrator_base_url")
    if manager.has_plugin("pytest-bdd"):
        from orchestrator.pytest_plugin.bdd import plugin

        manager.register(plugin, "orchestrator_bdd")


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> None:
    """Make each user of a test's `users` a fixture."""
    if not name.startswith("test"):
        return
    own = [mark for mark in getattr(obj, "pytestmark", ()) if mark.name == "users"]
    for mark in (*own, *collector.iter_markers("users")):
        for user in mark.args:
            pytest.register_fixture(name=user, func=make_user_fixture(user), node=collector)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with the mark `platforms` once for each of them."""
    marks = [*metafunc.definition.iter_markers("platforms")]
    if not marks:
        return
    names = marks[0].args
    if unknown := [name for name in names if name not in PLATFORMS]:
        raise pytest.UsageError(f"platforms names {unknown[0]!r}: write {', '.join(PLATFORMS)}.")
    skipped = {
        name: mark.kwargs.get("reason", "")
        for mark in metafunc.definition.iter_markers("skip_platform")
        for name in mark.args
    }
    parameters = [
        pytest.param(name, id=name, marks=[pytest.mark.skip(reason=skipped[name])] if name in skipped else [])
        for name in names
    ]
    if "platform" not in metafunc.fixturenames:
        metafunc.fixturenames.append("platform")
    metafunc.parametrize("platform", parameters)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test whose soft expectations failed."""
    yield
    if (soft := item.stash.get(SOFT, None)) is not None:
        soft.fail()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Explain the failure of a test with sessions, and collect what is to be kept of it while they are open."""
    group, excinfo = item.stash.get(GROUP, None), call.excinfo
    if excinfo is not None and (group is not None or _is_ours(excinfo.value)):
        from orchestrator.pytest_plugin.explanation import hide_own_frames

        if not item.config.getoption("fulltrace"):
            hide_own_frames(excinfo.value, item.config.rootpath)
    if group is None or call.when == "teardown":
        return (yield)
    if excinfo is not None and not excinfo.errisinstance((pytest.skip.Exception, pytest.exit.Exception)):
        from orchestrator.pytest_plugin.explanation import explain
        from orchestrator.pytest_plugin.soft_expect import SoftExpectationsFailed

        if not isinstance(excinfo.value, SoftExpectationsFailed):
            explain(excinfo.value, group)
    report = yield
    if report.failed and excinfo is not None:
        group.failure = group.failure or excinfo.exconly(tryshort=True)
    if report.failed or call.when == "call":
        from orchestrator.pytest_plugin.reports import add_to_report

        add_to_report(item, report, group, until=call.stop)
    return report


def _is_ours(error: BaseException) -> bool:
    errors = sys.modules.get("orchestrator.errors")  # not imported for tests that do without it
    return errors is not None and isinstance(error, errors.OrchestratorError)
