"""The fixtures, options and marks of the pytest plug-in, in runs of pytest with real browsers."""

from __future__ import annotations

import pytest

from orchestrator.pytest_plugin.options import DECLARED
from tests.pytest_plugin.conftest import Project
from tests.servers.site import Site

pytestmark = [pytest.mark.full, pytest.mark.browser]

FORM = """<title>form</title><input aria-label=Name><p id=said></p>
<button onclick="said.textContent = 'Thank you, ' + document.querySelector('input').value">Send</button>"""


def test_sessions_are_fixtures_and_end_with_their_test(project: Project, site: Site) -> None:
    """Each test has sessions of its own, by fixture and by factory; no browser outlives the run."""
    page = site.page("/", FORM)
    project.write(
        "test_form.py",
        f"""
import pytest

ids = set()

def test_web(web, orchestrator):
    web.navigate({page!r})
    web.set_value("label=Name", "Ann")
    web.expect("label=Name", value="Ann")
    ids.add(web.id)
    assert web.name == "web"
    assert web.id in [row.session_id for row in orchestrator.list_sessions().sessions]

def test_a_later_test_has_a_new_session(web, start_session, sessions, orchestrator):
    assert len(orchestrator.list_sessions().sessions) == 2  # that, and the one that keeps the browser
    web.navigate({page!r})
    web.expect("label=Name", value="")
    ben = start_session("ben", navigation_url={page!r}, viewport={{"width": 500, "height": 400}})
    assert ben.execute_script("return innerWidth").value == 500
    assert [*sessions] == ["web", "ben"]
    with pytest.raises(KeyError, match="No session 'carl' in this test .started: web, ben"):
        sessions["carl"]
""",
    )
    done = project.run()
    assert done.counts() == {"passed": 2}, done.text


@pytest.mark.parametrize("words", [("-n", "2"), ()], ids=["xdist", "alone"])
def test_users_are_fixtures_in_contexts_of_one_browser(project: Project, site: Site, words: tuple[str, ...]) -> None:
    """`users` starts a session for each, and each is a fixture; blocking and with `await`, in both event loops."""
    page = site.page("/", FORM)
    project.write(
        "test_users.py",
        f"""
import pytest

pytestmark = pytest.mark.users("alice", "bob", navigation_url={page!r})

def test_blocking(alice, bob):
    alice.set_value("label=Name", "Alice")
    bob.expect("label=Name", value="")
    assert alice.id.partition(":")[0] == bob.id.partition(":")[0]

@pytest.mark.anyio
async def test_awaited(async_sessions, async_start_session):
    await async_sessions["alice"].set_value("label=Name", "Alice")
    carol = await async_start_session("carol", navigation_url={page!r})
    await carol.expect(title="form")
    done = await carol.execute_sequence([{{"action": "set_value", "selector": "label=Name", "value": "Carol"}}])
    assert done.completed == 1
""",
    )
    done = project.run(*words)
    assert done.counts() == {"passed": 3}, done.text


def test_platforms_run_a_test_for_each_and_leave_out_skipped_ones(project: Project, site: Site) -> None:
    """The ids of a matrix end in the platform; the session is one of that platform."""
    page = site.page("/", FORM)
    project.write(
        "test_matrix.py",
        f"""
import pytest

@pytest.mark.platforms("web", "ios")
@pytest.mark.skip_platform("ios", reason="no phone is here")
def test_checkout(app_session, platform):
    assert platform == "web"
    app_session.navigate({page!r})
    app_session.expect(title="form")
""",
    )
    done = project.run("-v", "-rs")
    assert "test_checkout[web] PASSED" in done.text
    assert "test_checkout[ios] SKIPPED (no phone is here)" in done.text
    project.write("test_matrix.py", "import pytest\n@pytest.mark.platforms('windows')\ndef test_it(web): pass\n")
    assert "platforms names 'windows': write web, ios, android." in project.run().text


def test_options_of_sessions_come_from_ini_fixture_mark_and_call(project: Project, site: Site) -> None:
    """The nearest says it; a relative URL belongs to the base URL."""
    site.page("/form", FORM)
    project.write(
        "pytest.ini",
        '[pytest]\norchestrator_web =\n    viewport={"width": 501, "height": 400}\n',
    )
    project.write(
        "test_options.py",
        """
import pytest

def width(session):
    return session.execute_script("return innerWidth").value

def test_ini(web):
    web.navigate("/form")
    web.expect(title="form")
    assert width(web) == 501

class TestNearer:
    @pytest.fixture
    def session_options(self):
        return {"viewport": {"width": 502, "height": 400}, "navigation_url": "form"}

    def test_fixture(self, web):
        web.expect(title="form")
        assert width(web) == 502

    @pytest.mark.session_options(viewport={"width": 503, "height": 400})
    def test_mark(self, web, start_session):
        assert width(web) == 503
        assert width(start_session("ann", viewport={"width": 504, "height": 400})) == 504
""",
    )
    done = project.run("--orchestrator-base-url", site.url("/"))
    assert done.counts() == {"passed": 3}, done.text


def test_the_option_of_another_plug_in_is_read_and_its_base_url_used(project: Project, site: Site) -> None:
    """Where another plug-in has `base_url`, ours is not there."""
    site.page("/form", FORM)
    project.write(
        "other.py",
        f"import pytest\n@pytest.fixture(scope='session')\ndef base_url():\n    return {site.url('/')!r}\n",
    )
    project.write("test_base.py", "def test_it(web):\n    web.navigate('/form')\n    web.expect(title='form')\n")
    project.environment["PYTHONPATH"] = str(project.folder)
    done = project.run("-p", "other")
    assert done.counts() == {"passed": 1}, done.text


def test_every_option_is_an_ini_key_and_has_our_prefix(project: Project) -> None:
    """No option, ini key, mark or fixture is one that another plug-in might have."""
    project.write("test_none.py", "")
    shown = project.run("--help").text
    for option in DECLARED:
        assert f"--orchestrator-{option.name}" in shown
        assert f"orchestrator_{option.name.replace('-', '_')} (" in shown
    for theirs in ("--browser", "--headed", "--video", "--screenshot", "--tracing", "--base-url", "--output"):
        assert f"{theirs} " not in shown
    project.write("pytest.ini", "[pytest]\norchestrator_artifacts = sometimes\n")
    project.write("test_none.py", "def test_it(web): pass")
    assert "orchestrator_artifacts is 'sometimes': write on, off or retain-on-failure." in project.run().text


def test_a_run_that_uses_no_fixture_loads_nothing_of_the_orchestrator(project: Project) -> None:
    """In the environment of another project the plug-in costs an import of few small modules."""
    project.write(
        "test_else.py",
        """
import sys

def test_nothing_is_loaded():
    heavy = {"pydantic", "anyio", "selenium", "orchestrator.api", "orchestrator.sync", "orchestrator.settings"}
    assert heavy & {*sys.modules} == set()
""",
    )
    # anyio's own plug-in loads it.
    done = project.run("-p", "no:anyio", "-p", "no:hypothesispytest")
    assert done.counts() == {"passed": 1}, done.text
