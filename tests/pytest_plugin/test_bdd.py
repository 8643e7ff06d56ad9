"""Scenarios of pytest-bdd with the ready-made steps, in runs of pytest with real browsers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import orchestrator.pytest_plugin.bdd.steps  # noqa: F401 — declares the phrases
from orchestrator.pytest_plugin.bdd.phrases import PHRASES
from tests.needed import needed
from tests.pytest_plugin.conftest import Project, PytestRun, opened_project
from tests.servers.site import Site

pytestmark = pytest.mark.full

PAGE_ABOUT_STEPS = Path(__file__).parents[2] / "docs" / "bdd.md"
PAGE = """<title>form</title><input aria-label=Name><input aria-label=Note><p id=said></p>
<select aria-label=Drink><option>Tea<option>Milk</select>
<button onclick="said.textContent = (confirm('Sure?') ? 'Yes, ' : 'No, ') + document.querySelector('input').value">
Send</button><div role=log aria-label=Talk>Hello</div>"""

FEATURE = """
Feature: Forms
  @web @users:ann,ben @dialogs:accept
  Scenario: Two users and a policy
    Given ann has opened "/"
    And ben opens "/"
    When ann fills in:
      | Name | Ann |
    And ann fills in "Note" with:
      '''
      two
      words
      '''
    And ann chooses "Milk" in "Drink"
    And ann taps "Send"
    Then ann sees "Yes, Ann" within 3 s
    And ben does not see "Yes, Ann"
    And all see the same in "role=log" within 3 s
    And all see "Send"
    When ben runs the script as title:
      '''
      return page.title()
      '''
    And ann runs the script "name.js"
    And ann keeps the text of "#said" as said
    And ben fills in "Name" with "${title}"
    And ann attaches the text of "#said" as "said.txt"
    Then the variables are kept

  Scenario Outline: Nothing is carried over
    Given <user> has opened "/"
    Then <user> sees "Hello" in "role=log"
    And the world is new

    Examples:
      | user |
      | ann  |
      | ben  |

  Scenario: It fails
    Given ann has opened "/"
    Then ann sees "Never" within 0.2 s
"""

TESTS = """
import pytest
from pytest_bdd import scenarios, then

scenarios("form.feature")

worlds, counted = [], {"features": 0}

@pytest.fixture(scope="module")
def feature_state():
    counted["features"] += 1
    return counted

@then("the variables are kept")
def _(world, ann, feature_state):
    assert world.variables == {"title": "form", "said": "Yes, Ann"}
    assert ann is world.sessions["ann"]
    assert ann.execute_script("return document.querySelectorAll('input')[1].value").value.startswith("two")

@then("the world is new")
def _(world, feature_state):
    assert world.variables == {} and len(world.sessions) == 1
    assert all(world is not other for other in worlds)
    worlds.append(world)
    assert world.orchestrator.list_sessions().sessions
    assert feature_state["features"] == 1
"""

HOOKS = """
import pytest

@pytest.fixture(scope="session", autouse=True)
def run():
    print("run begins")
    yield
    print("run ends")

@pytest.fixture(scope="module", autouse=True)
def feature():
    print("feature begins")
    yield
    print("feature ends")

def pytest_bdd_before_scenario(request, scenario):
    print("before", scenario.name)

def pytest_bdd_after_scenario(request, scenario):
    print("after", scenario.name, sorted(request.getfixturevalue("world").sessions))
"""


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, PytestRun]]:
    """A run of the feature file above in one process, and its project."""
    with opened_project(tmp_path_factory.mktemp("forms")) as project, Site() as site:
        site.page("/", PAGE)
        project.write("form.feature", FEATURE.replace("'''", '"""'))
        project.write("name.js", "await page.title()")
        project.write("test_form.py", TESTS)
        project.write("conftest.py", HOOKS)
        yield (
            project,
            project.run(
                *("-rA", "-v", "--capture=no", "--orchestrator-artifacts", "on"),
                *("--orchestrator-base-url", site.url("/")),
            ),
        )


@pytest.mark.browser
def test_each_scenario_has_a_world_with_its_sessions_variables_and_attachments(
    forms: tuple[Project, PytestRun],
) -> None:  # F47
    """The users of the tags are in the world; what a step attaches lies in the folder of its scenario alone."""
    project, done = forms
    assert done.counts() == {"passed": 3, "failed": 1}, done.text
    assert "test_two_users_and_a_policy[web]" in done.text
    assert "after Two users and a policy ['ann', 'ben']" in done.text
    (said,) = (project.folder / "test-results").glob("*/said.txt")
    assert said.read_text("utf-8") == "Yes, Ann"


@pytest.mark.browser
def test_nothing_of_a_scenario_is_there_in_the_next_one(forms: tuple[Project, PytestRun]) -> None:  # F50
    """Variables and sessions are new; each example of an outline is a scenario."""
    passed = re.findall(r"^PASSED .*::test_nothing_is_carried_over\[(\w+)", forms[1].text, re.MULTILINE)
    assert passed == ["ann", "ben"]


@pytest.mark.browser
def test_hooks_run_around_each_scenario_feature_and_run(forms: tuple[Project, PytestRun]) -> None:  # F51
    """Those of pytest-bdd around scenarios, fixtures around the feature file and the run."""
    told = re.findall(r"(run begins|run ends|feature begins|feature ends|(?:before|after) [A-Z]\w+)", forms[1].text)
    scenarios = [f"{when} {first}" for first in ("Two", "Nothing", "Nothing", "It") for when in ("before", "after")]
    assert told == ["run begins", "feature begins", *scenarios, "feature ends", "run ends"]


@pytest.mark.browser
def test_a_failing_step_is_told_with_its_words_and_line(forms: tuple[Project, PytestRun]) -> None:
    """The error names the step and its place in the feature file."""
    assert 'Step: Then ann sees "Never" within 0.2 s (form.feature:' in forms[1].text


WORKERS = """
Feature: Workers
  Scenario Outline: Work
    Given scenario <number> begins
    When another worker has begun one, too
    Then scenario <number> ends

    Examples:
      | number |
      | 1      |
      | 2      |
      | 3      |
      | 4      |
"""

IN_WORKERS = """
import json, os, time
from pathlib import Path
from pytest_bdd import given, parsers, scenarios, then, when
from orchestrator.pytest_plugin import eventually

scenarios("workers.feature")
HERE, WORKER = Path(__file__).parent, os.environ["PYTEST_XDIST_WORKER"]

def note(number, **facts):
    (HERE / f"{WORKER}-{number}.json").write_text(json.dumps({"worker": WORKER, **facts}))

@given(parsers.parse("scenario {number} begins"), target_fixture="began")
def _(number):
    note(number)
    return time.monotonic()

@when("another worker has begun one, too")
def _():
    eventually(lambda: any(not file.name.startswith(WORKER) for file in HERE.glob("gw*.json")), timeout=60)

@then(parsers.parse("scenario {number} ends"))
def _(world, number, began):
    facts = {"namespace": world.orchestrator.settings.namespace, "orchestrator": id(world.orchestrator)}
    note(number, began=began, ended=time.monotonic(), **facts)
"""


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What the scenarios of two workers wrote down, by worker, in the order of their beginning."""
    with opened_project(tmp_path_factory.mktemp("workers")) as project:
        project.write("workers.feature", WORKERS)
        project.write("test_workers.py", IN_WORKERS)
        done = project.run("-n", "2")
        assert done.counts() == {"passed": 4}, done.text
        noted = [json.loads(file.read_text("utf-8")) for file in project.folder.glob("gw*.json")]
    noted.sort(key=lambda scenario: scenario["began"])
    return {worker: [one for one in noted if one["worker"] == worker] for worker in ("gw0", "gw1")}


def test_each_worker_has_an_orchestrator_of_its_own(worked: dict[str, list[dict[str, Any]]]) -> None:  # F44
    """Its scenarios share it, and its namespace, which the other worker has not."""
    namespaces = {worker: {one["namespace"] for one in ran} for worker, ran in worked.items()}
    assert [len(names) for names in namespaces.values()] == [1, 1]
    assert namespaces["gw0"].isdisjoint(namespaces["gw1"])
    assert [len({one["orchestrator"] for one in ran}) for ran in worked.values()] == [1, 1]


def test_scenarios_run_side_by_side_in_two_workers(worked: dict[str, list[dict[str, Any]]]) -> None:  # F45
    """The first ones of both run at a time: each waits until the other has begun."""
    (one, *_), (other, *_) = worked.values()
    assert max(one["began"], other["began"]) < min(one["ended"], other["ended"])


def test_scenarios_of_one_worker_run_one_after_the_other(worked: dict[str, list[dict[str, Any]]]) -> None:  # F46
    """The next one begins after the last one has ended."""
    for ran in worked.values():
        assert len(ran) == 2
        assert ran[0]["ended"] < ran[1]["began"]


def test_hooks_run_around_every_step(project: Project) -> None:  # F49
    """Around ready-made steps and those of the project alike, with what the step is given."""
    project.write(
        "conftest.py",
        "def pytest_bdd_before_step_call(step, step_func_args):\n    print('>', step.name, sorted(step_func_args))\n"
        "def pytest_bdd_after_step(step):\n    print('<', step.name)\n",
    )
    project.write("own.feature", "Feature: Own\n  Scenario: S\n    Given it is ours\n    Then it is kept\n")
    steps = "@given('it is ours')\ndef _(world):\n    world.variables['a'] = 'b'\n"
    steps += "@then('it is kept')\ndef _(world):\n    print(world.variables)\n"
    project.write("test_own.py", f"from pytest_bdd import given, scenarios, then\nscenarios('own.feature')\n{steps}")
    told = re.findall(r"([<>] it is .*|\{'a'.*)", project.run("--capture=no").text, re.MULTILINE)
    assert told == ["> it is ours ['world']", "< it is ours", "> it is kept ['world']", "{'a': 'b'}", "< it is kept"]


def test_a_project_replaces_the_world_and_ready_made_steps(project: Project) -> None:  # F48
    """The nearest `world` and step are used; missing code is generated for others only."""
    project.write("own.feature", 'Feature: Own\n  Scenario: S\n    Given ann has opened "/"\n    Then it is ours\n')
    project.write(
        "test_own.py",
        """
import pytest
from pytest_bdd import given, parsers, scenarios, then

scenarios("own.feature")

@pytest.fixture
def world():
    return []

@given(parsers.parse('{user} has opened "{url}"'))
def _(world, user, url):
    world.append((user, url))

@then("it is ours")
def _(world):
    assert world == [("ann", "/")]
""",
    )
    assert project.run().counts() == {"passed": 1}
    project.write("test_own.py", "from pytest_bdd import scenarios\nscenarios('own.feature')\n")
    missing = project.run("--generate-missing", "--feature", "own.feature").text
    assert "@then('it is ours')" in missing
    assert "has opened" not in missing


BEHAVE = """
Feature: Forms
  Scenario: Two users
    Given ann has opened "${site}"
    And ben opens "${site}"
    Then all see the same text
    When ann fills in:
      | Name | Ann |
      | Note | x   |
    And ann fills in "Note" with:
      '''
      two words
      '''
    And ann keeps the text of "role=log" as said
    Then ann sees "${said}" in "role=log" within 3 s
    And ben does not see "Yes, Ann"
    And all see the same in "role=log"

  Scenario: It fails
    Given ann has opened "${site}"
    Then ann sees "Never" within 0.2 s
"""


@pytest.mark.browser
def test_the_steps_run_in_behave_by_the_helper_of_the_page(project: Project, site: Site) -> None:
    """The two files of docs/bdd.md are all that it takes; users of a failing scenario end, too."""
    needed(None if find_spec("behave") else "behave is not installed: make install.")
    page = PAGE_ABOUT_STEPS.read_text("utf-8")
    (project.folder / "features" / "steps").mkdir(parents=True)
    for name, text in re.findall(r"^```python\n# (features/\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        project.write(name, text)
    project.write("features/form.feature", BEHAVE.replace("'''", '"""'))
    done = project.paste(f"{sys.executable} -m behave -D site={site.page('/', PAGE)} || true")
    assert "1 scenario passed, 1 failed" in done, done
    assert "'text=Never'" in done
    assert project.home.records() == []


def test_without_pytest_bdd_the_plug_in_does_without(project: Project) -> None:
    """Other tests run; there is no world. A tag without users is refused."""
    project.write("test_it.py", "def test_it():\n    pass\ndef test_world(world):\n    pass\n")
    done = project.run("-p", "no:pytest-bdd")
    assert done.counts() == {"passed": 1, "error": 1}, done.text
    assert "fixture 'world' not found" in done.text
    project.write("bad.feature", "Feature: F\n  @users:\n  Scenario: S\n    Given x\n")
    project.write("test_it.py", "from pytest_bdd import scenarios\nscenarios('bad.feature')\n")
    assert "The tag @users: names no users: write @users:alice,bob." in project.run().text


def test_the_table_of_steps_is_that_of_the_code() -> None:
    """docs/bdd.md lists each step with its first sentence, in order."""
    page = PAGE_ABOUT_STEPS.read_text("utf-8")
    assert "\n".join(f"| `{one.words}` | {one.about} |" for one in PHRASES) in page
