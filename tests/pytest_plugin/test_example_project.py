"""The project of examples/shop_tests: its failures are shown, and handed over."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic.alias_generators import to_snake

from orchestrator.demo.device_server import DeviceServer
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator, Session
from tests.pytest_plugin.conftest import Project, PytestRun
from tests.servers.grid import GridEnd

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(900)]

EXAMPLE = Path(__file__).parents[2] / "examples" / "shop_tests"
WIDE = {"width": 1200, "height": 900}
LOADED = "return [...document.images].map(image => image.alt + ' ' + (image.naturalWidth > 0))"


def assert_shows_the_failure(page: Session, folder: Path) -> None:
    """Open the page about a failed test from its file: it has each user's last screen, and why it failed."""
    page.navigate((folder / "timeline.html").as_uri())
    heads = page.execute_script("return [...document.querySelectorAll('th')].map(th => th.firstChild.data.trim())")
    assert heads.value == ["time", "alice", "bob"]
    assert page.execute_script(LOADED).value == ["alice-failed.png true", "bob-failed.png true"]
    why = page.get_text("pre").text
    assert "'text=€108.00'" in why
    assert "Not as expected after" in why


def half_filled(outline: str, value: str = "Ada By") -> str:
    """Return the ref of the field that was being filled when the test failed, and has this value."""
    field = re.search(rf'textbox "Full name" \[(e\d+)\].* = "{value}"', outline)
    assert field, outline
    assert "€112.90" in outline
    return field[1]


@pytest.fixture
def example(project: Project) -> Project:
    """The example project."""
    shutil.copytree(EXAMPLE, project.folder, dirs_exist_ok=True)
    return project


@pytest.fixture
def with_phones(example: Project, device_server: DeviceServer) -> Project:
    """The example project, with phones that outlive its run."""
    example.environment["ORCHESTRATOR_APPIUM_URL"] = device_server.url
    return example


def run_example(example: Project, *words: str) -> PytestRun:
    """Run it in two processes that keep the sessions of failing tests."""
    return example.run("-n", "2", "--orchestrator-hand-over", *words, patience=300)


def failed(example: Project) -> list[Path]:
    """Return the folders of failed tests."""
    return sorted((example.folder / "test-results").iterdir())


def assert_goes_on_here(example: Project, folder: Path, here: str) -> str:
    """Fill the half-filled field by the ref that the test left, in other processes; return the ref."""
    ref = half_filled((folder / "alice-outline.txt").read_text("utf-8"))
    assert half_filled(example.paste(here)) == ref
    example.paste(here.replace("outline", f"fill {ref} 'Ada Byron'"))
    assert half_filled(example.paste(here), "Ada Byron") == ref
    return ref


def assert_goes_on_anywhere(example: Project, ref: str, ways: dict[str, str], agent: Orchestrator) -> None:
    """Fill the field by the same ref after each way to attach: as the tool call says, and by the shell."""
    name, _, arguments = ways["agent"].partition(" ")
    assert name == "attach_session"
    given = {to_snake(name): value for name, value in json.loads(arguments).items()}
    attached = agent.attach_session(**given)
    attached.set_value(ref, "Grace Hopper")
    assert half_filled(example.paste(ways["here"]), "Grace Hopper") == ref
    attached.close()
    example.paste(ways["anywhere"])
    example.paste(f"orchestrator fill {ref} 'Ada Lovelace' -s alice")
    assert half_filled(example.paste(ways["here"]), "Ada Lovelace") == ref
    example.paste("orchestrator close alice")


def test_failures_of_the_example_project_are_shown_and_handed_over(with_phones: Project) -> None:
    """What is left of failed tests shows both users and why; their sessions go on, of a context and a phone."""
    done = run_example(with_phones, "-k", "reaches or (free and not ios)")
    assert done.counts() == {"failed": 2, "passed": 1}, done.text
    on_phone, in_page = failed(with_phones)
    with Orchestrator(Settings(home=with_phones.home.folder, namespace="reader")) as reader:
        page = reader.start_browser(viewport=WIDE)
        for folder in (on_phone, in_page):
            assert_shows_the_failure(page, folder)
    assert_goes_on_here(with_phones, in_page, done.ways("alice")["here"])
    assert_goes_on_here(with_phones, on_phone, done.ways("alice", "android")["here"])
    with_phones.close_kept(*re.findall(r"^  here: +(.+)$", done.text, re.MULTILINE))


def test_nine_of_twelve_pass_from_the_wheel(with_phones: Project, new_environment: Callable[..., Path]) -> None:
    """In an environment with the wheel and what the example's page says alone, nine tests pass and three are kept."""
    with_phones.python = new_environment("pytest-xdist")
    done = run_example(with_phones)
    assert done.counts() == {"failed": 3, "passed": 9}, done.text
    on_android, on_ios, in_page = failed(with_phones)
    with Orchestrator(Settings(home=with_phones.home.folder, namespace="agent")) as agent:
        page = agent.start_browser(viewport=WIDE)
        for folder, kind in ((on_android, "android"), (on_ios, "ios"), (in_page, "browser")):
            assert_shows_the_failure(page, folder)
            ways = done.ways("alice", kind)
            ref = assert_goes_on_here(with_phones, folder, ways["here"])
            assert_goes_on_anywhere(with_phones, ref, ways, agent)
    with_phones.close_kept(*re.findall(r"^  here: +(.+)$", done.text, re.MULTILINE))


def test_failures_of_the_example_project_at_a_grid_are_handed_over(example: Project, grid: GridEnd) -> None:
    """The sessions of both users go on at the Grid, where they are."""
    words = ("--orchestrator-provider", "selenium_grid", "--orchestrator-grid-url", grid.url)
    done = run_example(example, "-k", "free and web", *words)
    assert done.counts() == {"failed": 1}, done.text
    (folder,) = failed(example)
    ways = done.ways("alice")
    with Orchestrator(Settings(home=example.home.folder, namespace="agent")) as agent:
        assert_shows_the_failure(agent.start_browser(viewport=WIDE), folder)
        ref = assert_goes_on_here(example, folder, ways["here"])
        assert_goes_on_anywhere(example, ref, ways, agent)
    example.close_kept(ways["here"])
    assert grid.sessions() == []
