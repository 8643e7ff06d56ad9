"""The wheel, built and installed beside the packages that are here: nothing is fetched."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from orchestrator import __version__
from tests.servers.wheel import PROGRAMS, copy_checkout, run, show_page_and_run_script

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the wheel alone, which sees the packages of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    source, place = copy_checkout(folder / "checkout"), folder / "venv"
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source)
    run(sys.executable, "-m", "venv", place)
    places = {"base": str(place), "platbase": str(place)}
    # The path file of the editable installation is not read: what is imported is the wheel.
    Path(sysconfig.get_path("purelib", "venv", places), "packages.pth").write_text(sysconfig.get_path("purelib"))
    python = place / PROGRAMS / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", next(folder.glob("*.whl")))
    return place / PROGRAMS


@pytest.mark.parametrize("name", ["orchestrator", "webdriver-orchestrator"])
def test_the_commands_of_the_wheel_run_in_any_folder(programs: Path, tmp_path: Path, name: str) -> None:
    """Both names of the command print the version of the wheel."""
    assert run(programs / name, "--version", cwd=tmp_path).stdout.strip() == __version__


def test_the_modules_are_those_of_the_wheel(programs: Path, tmp_path: Path) -> None:
    """Nothing is imported from the checkout."""
    code = "import orchestrator, orchestrator_providers as p; print(orchestrator.__file__); print(p.__file__)"
    files = run(programs / "python", "-c", code, cwd=tmp_path).stdout.splitlines()
    assert [file for file in files if not Path(file).is_relative_to(programs.parent)] == []
    assert len(files) == 2


async def test_an_mcp_client_of_the_wheel_gets_an_outline_and_a_script(programs: Path, tmp_path: Path) -> None:
    """With an empty home and few variables, the command shows a page's outline and keeps a script's vars."""
    await show_page_and_run_script(programs, tmp_path)
