"""What is left of a test that fails: its message, files about each user, and sessions to go on in."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from lxml import etree

from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.pytest_plugin.conftest import Project
from tests.servers.grid import GridEnd
from tests.servers.site import Site

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(240)]

SHOP = """<title>shop</title><h1>Tea</h1><input aria-label=Name><button>Pay</button>
<p id=total>Total 5 EUR</p><footer>Made up</footer><script>console.log("counted " + 5)</script>"""

WIDE = {"width": 1200, "height": 900}

TWO_USERS = """
import pytest

@pytest.mark.users("alice", "bob", navigation_url={page!r})
def test_total(alice, bob, orchestrator):
    alice.set_value("label=Name", "half fil")
    orchestrator.execute_parallel([
        {{"session_id": user.id, "actions": [{{"action": "get_text"}}, {{"action": "sync", "name": "met"}}]}}
        for user in (alice, bob)
    ])
    bob.expect("#total", text="Total 6 EUR", timeout=50)
"""


def test_a_failing_expectation_names_step_session_and_outline_in_the_users_lines(project: Project, site: Site) -> None:
    """The message has the step, the session and the outline there, and the traceback no line of ours."""
    page = site.page("/", SHOP)
    project.write("test_shop.py", TWO_USERS.format(page=page))
    done = project.run()
    assert done.counts() == {"failed": 1}, done.text
    said = [line.removeprefix("E").strip() for line in done.text.splitlines() if line.startswith("E  ")]
    assert re.fullmatch(
        r"orchestrator\.errors\.ExpectationFailed: Not as expected after \d+ ms: '#total': text should be "
        r"'Total 6 EUR' but is 'Total 5 EUR'\. .+",
        said[0],
    )
    assert said[1] == "Candidates:"
    url = said.index(f"URL: {page}")
    assert said[url + 1] == f"Session bob at {page}: step 1, expect timeout=50 selector='#total' text='Total 6 EUR'."
    assert said[url + 2] == "The outline there:"
    assert "- text: Total 5 EUR" in said[url + 3 :]
    assert re.findall(r"^(\S+\.py):\d+:", done.text, re.MULTILINE) == ["test_shop.py"]


def test_a_test_without_our_fixtures_has_only_its_own_lines_in_tracebacks(project: Project) -> None:
    """The same holds for a test that opens an orchestrator of its own; --full-trace shows all."""
    project.write(
        "test_own.py",
        """
from orchestrator.sync import Orchestrator

def look(orchestrator):
    return orchestrator.session("alice")

def test_own():
    with Orchestrator() as orchestrator:
        look(orchestrator)
""",
    )
    done = project.run()
    assert done.counts() == {"failed": 1}, done.text
    assert re.findall(r"^(\S+\.py):\d+:", done.text, re.MULTILINE) == ["test_own.py", "test_own.py"]
    assert "orchestrator/sync.py" in project.run("--full-trace").text


def test_a_plain_assertion_says_where_each_user_is(project: Project, site: Site) -> None:
    """An assertion of the test's own has a line for each session."""
    page = site.page("/", SHOP)
    project.write(
        "test_shop.py",
        f"""
import pytest

@pytest.mark.users("alice", "bob", navigation_url={page!r})
def test_total(alice, bob):
    assert alice.get_text("#total").text == "Total 6 EUR"
""",
    )
    done = project.run()
    assert f"E       Session alice at {page}: step 1, get_text selector='#total'.\n" in done.text
    assert f"E       Session bob at {page}: no step yet.\n" in done.text


def test_each_user_of_a_failing_test_leaves_files_and_all_share_a_timeline(project: Project, site: Site) -> None:
    """Files of each user, named in JUnit's properties; the timeline is opened from its file, with its pictures."""
    page = site.page("/", SHOP)
    project.write(
        "test_shop.py", TWO_USERS.format(page=page) + "\ndef test_fine(web):\n    web.navigate('about:blank')\n"
    )
    done = project.run("--junitxml", "junit.xml")
    assert done.counts() == {"failed": 1, "passed": 1}, done.text
    results = project.folder / "test-results"
    assert [folder.name for folder in results.iterdir()] == ["test_shop-test_total"]
    folder = results / "test_shop-test_total"
    kinds = {"activity.jsonl", "console.txt", "failed.png", "network.txt", "outline.txt"}
    assert {path.name for path in folder.iterdir()} == {
        "timeline.html",
        *(f"{user}-{kind}" for user in ("alice", "bob") for kind in kinds),
    }
    assert "Total 5 EUR" in (folder / "bob-outline.txt").read_text("utf-8")
    assert "counted 5" in (folder / "bob-console.txt").read_text("utf-8")
    assert page in (folder / "bob-network.txt").read_text("utf-8")
    case = etree.parse(project.folder / "junit.xml").find(".//testcase[@name='test_total']")
    assert case is not None
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert properties["orchestrator timeline"] == str(folder / "timeline.html")
    assert properties["orchestrator bob screenshot"] == str(folder / "bob-failed.png")
    with Orchestrator(Settings(home=project.home.folder)) as reader:
        shown = reader.start_browser(navigation_url=(folder / "timeline.html").as_uri(), viewport=WIDE)
        columns = shown.execute_script(
            "return [...document.querySelectorAll('th')].map(th => th.firstChild.data.trim())"
        )
        assert columns.value == ["time", "alice", "bob"]
        text = shown.get_text().text
        assert "sync met" in text
        assert "half fil" not in text  # what is typed is masked
        assert "expectation_failed" in text
        loaded = "return [...document.images].map(image => image.alt + ' ' + (image.naturalWidth > 0))"
        assert shown.execute_script(loaded).value == ["alice-failed.png true", "bob-failed.png true"]


def test_artifacts_on_pictures_each_step_and_records_requests(project: Project, site: Site) -> None:
    """With `on` a passing test leaves files, too: a picture after each step, and a HAR from the first request on."""
    page = site.page("/", SHOP)
    project.write(
        "test_shop.py",
        f"""
def test_fine(start_session):
    ann = start_session("ann", navigation_url={page!r})
    ann.expect("#total", text="Total 5 EUR")
""",
    )
    done = project.run("--orchestrator-artifacts", "on")
    assert done.counts() == {"passed": 1}, done.text
    folder = project.folder / "test-results" / "test_shop-test_fine"
    assert {"ann-1.jpg", "ann-end.png", "ann-network.har", "timeline.html"} <= {path.name for path in folder.iterdir()}
    archive = json.loads((folder / "ann-network.har").read_text("utf-8"))
    assert page in [entry["request"]["url"] for entry in archive["log"]["entries"]]
    assert project.run("--orchestrator-artifacts", "off").counts() == {"passed": 1}


@pytest.mark.parametrize("words", [("-n", "2"), ()], ids=["xdist", "alone"])
def test_the_users_of_a_failing_test_are_handed_over_as_they_are(
    project: Project, site: Site, words: tuple[str, ...]
) -> None:
    """Pasted after pytest has ended, each line drives the kept session: page, half-filled field and refs are there."""
    page = site.page("/", SHOP)
    later = "\n@pytest.mark.users('alice')\ndef test_later(alice):\n    alice.navigate('about:blank')\n"
    project.write("test_shop.py", TWO_USERS.format(page=page) + later)
    done = project.run("--orchestrator-hand-over", *words)
    assert done.counts() == {"failed": 1, "passed": 1}, done.text
    alice = done.ways("alice")
    here = alice["here"]
    outline = project.paste(here)
    field = re.search(r'textbox "Name" \[(e\d+)\].*= "half fil"', outline)
    assert field, outline
    project.paste(here.replace("outline", f"fill {field[1]} 'filled'"))
    assert '= "filled"' in project.paste(here)
    project.paste(alice["anywhere"])
    assert '= "filled"' in project.paste("orchestrator outline -s alice")
    name, _, arguments = done.ways("bob")["agent"].partition(" ")
    assert name == "attach_session"
    with Orchestrator(Settings(home=project.home.folder, namespace="agent")) as agent:
        given = json.loads(arguments)
        bob = agent.attach_session(given["remoteUrl"], given["remoteSessionId"], given["sessionId"])
        bob.expect("#total", text="Total 5 EUR")
    namespace = shlex.split(here)[-1]
    kept = json.loads(project.paste(f"orchestrator list --json --namespace {namespace}"))["sessions"]
    assert sorted(row["sessionId"].partition(":")[2] for row in kept) == ["alice", "bob"]
    project.paste("orchestrator close alice")
    for row in kept:
        project.paste(f"orchestrator close {row['sessionId']} --namespace {namespace}")


def test_without_hand_over_nothing_is_kept(project: Project, site: Site) -> None:
    """A failing test's sessions end with it."""
    project.write("test_shop.py", TWO_USERS.format(page=site.page("/", SHOP)))
    done = project.run()
    assert "Kept as they are" not in done.text
    assert project.home.records() == []


def test_a_session_of_a_grid_is_handed_over(project: Project, grid: GridEnd, site: Site) -> None:
    """A session at a Grid is kept alive there, attached from another namespace, and gone on in where it was."""
    page = site.page("/", SHOP)
    project.write(
        "test_grid.py",
        f"""
def test_it(web):
    web.navigate({page!r})
    web.set_value("label=Name", "half fil")
    web.expect("#total", text="x", timeout=0)
""",
    )
    words = ("--orchestrator-provider", "selenium_grid", "--orchestrator-grid-url", grid.url)
    done = project.run("-n", "2", "--orchestrator-hand-over", *words)
    assert done.counts() == {"failed": 1}, done.text
    way = done.ways("web")
    project.paste(way["anywhere"])
    assert '= "half fil"' in project.paste("orchestrator outline -s web")
    project.paste("orchestrator close web")
    outline = (project.folder / "test-results" / "test_grid-test_it" / "web-outline.txt").read_text("utf-8")
    field = re.search(r'textbox "Name" \[(e\d+)\].*= "half fil"', outline)
    assert field, outline
    project.paste(way["here"].replace("outline", f"fill {field[1]} 'filled'"))
    kept = project.paste(way["here"])
    assert f'textbox "Name" [{field[1]}]' in kept
    assert '= "filled"' in kept
    project.close_kept(way["here"])
