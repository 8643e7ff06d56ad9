"""The wheel as its users get it: built, installed without other packages, and run outside of the checkout."""

from __future__ import annotations

import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from orchestrator import __version__
from tests.servers.wheel import PROGRAMS, ROOT, copy_checkout, make_home, run, show_page_and_run_script

TOP = {"docs", "examples", "orchestrator", "providers", "tests"} | {
    "CHANGELOG.md",
    "Containerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "RELEASING.md",
    "pyproject.toml",
    "server.json",
}
"""What a checkout has at its top."""

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout without untracked files."""
    return copy_checkout(tmp_path_factory.mktemp("source") / "checkout")


@pytest.fixture(scope="module")
def dist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both archives as `make dist` builds them: the wheel from the unpacked source archive."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, source)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    """The wheel."""
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with only the wheel and its dependencies."""
    place = tmp_path_factory.mktemp("clean") / "venv"
    if uv := shutil.which("uv"):
        run(uv, "venv", "--python", sys.executable, place)
        run(uv, "pip", "install", "--python", place, wheel)
    else:
        run(sys.executable, "-m", "venv", "--without-pip", place)
        run(sys.executable, "-m", "pip", "--python", place, "install", "--quiet", "--no-compile", wheel)
    return place / PROGRAMS


def test_the_wheel_holds_both_packages_and_nothing_else(wheel: Path) -> None:
    """Both packages with the files that are no Python, and neither tests nor documentation."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for package in ("orchestrator", "orchestrator_providers"):
        folder = ROOT / ("providers" if package.endswith("providers") else "") / package
        files = {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        assert {path.relative_to(folder.parent).as_posix() for path in files} - names == set()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "orchestrator",
        "orchestrator_providers",
    }


def test_the_archives_are_what_pypi_takes(dist: Path) -> None:
    """There is one wheel and one source archive, and both pass the check before an upload."""
    archives = sorted(dist.iterdir())
    assert [path.name.partition("-0")[0] for path in archives] == ["webdriver_orchestrator"] * 2
    run(sys.executable, "-m", "twine", "check", "--strict", *archives)


def test_the_source_archive_holds_what_a_checkout_has(dist: Path) -> None:
    """Tests, examples, documentation and the files beside them can be run and read from the source archive."""
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert TOP - {name.partition("/")[0] for name in names} == set()
    assert {"docs/start.md", "tests/conftest.py", "tests/data/server.schema.json"} - names == set()


def test_the_wheel_of_the_checkout_and_that_of_the_source_archive_have_the_same_bytes(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    """A build is reproducible, and the source archive lacks nothing of the wheel."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, source)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("name", ["orchestrator", "webdriver-orchestrator"])
def test_commands_are_installed(programs: Path, tmp_path: Path, name: str) -> None:
    """Both names of the command run, in any folder."""
    assert run(programs / name, "--version", cwd=tmp_path).stdout.strip() == __version__


def test_demo_runs_from_the_wheel(programs: Path, tmp_path: Path) -> None:
    """The demonstration runs with an empty home and a minimal environment, outside of the checkout."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    environment = make_home(tmp_path)

    done = run(programs / "orchestrator", "demo", "chat", "--out", "tmp", cwd=folder, env=environment)

    assert "Both messages were seen" in done.stdout
    screens = sorted((folder / "tmp").glob("*.png"))
    assert [screen.name for screen in screens] == ["chat-alice.png", "chat-bob.png"]
    assert all(screen.read_bytes().startswith(b"\x89PNG\r\n\x1a\n") for screen in screens)


async def test_an_mcp_client_of_the_installed_wheel_gets_an_outline_and_a_script(
    programs: Path, tmp_path: Path
) -> None:
    """With an empty home and few variables, the installed command shows a page's outline and keeps a script's vars."""
    await show_page_and_run_script(programs, tmp_path)
