"""Installing does not fail by chance: what goes over the network is tried three times, in versions that are pinned."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.needed import needed

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "tests" / "data" / "constraints.txt"
FAILS = "install: try {} of 3 failed"

FLAKY = """\
#!/bin/sh
echo "$*" >>"$0.calls"
case "$*" in *update) exit ;; esac
echo 'no route' >&2
[ "$(grep -vc update "$0.calls")" -gt {failures} ] || exit 7
"""


def run_recipe(recipe: str, command: str, failures: int, folder: Path) -> tuple[int, list[str], list[str]]:
    """Run a line of the Makefile with a command that fails some times; return its status, its errors and the calls."""
    needed(None if shutil.which("make") else "make is needed, so that it is on PATH")
    stub = folder / command
    stub.write_text(FLAKY.format(failures=failures), "utf-8")
    stub.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", "--silent", "-f", "Makefile", "-f", "-", "probe"],
        cwd=ROOT,
        env=kept | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "TRY_PAUSE": "0"},
        input=f'probe:\n\t@{recipe}; echo "status $$?"\n',
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said = [line for line in done.stderr.splitlines() if line != "no route"]
    status = re.fullmatch(r"status (\d+)\n", done.stdout)
    assert status, done.stdout
    return int(status[1]), said, (folder / f"{command}.calls").read_text("utf-8").splitlines()


def test_a_command_that_works_is_run_once(tmp_path: Path) -> None:
    """Nothing is said, and nothing repeated."""
    assert run_recipe("$(try) flaky 'two words'", "flaky", 0, tmp_path) == (0, [], ["two words"])


def test_a_command_that_fails_twice_works_at_the_third_try(tmp_path: Path) -> None:
    """The errors tell which tries failed, and the status is that of the last one."""
    told = [f"{FAILS.format(number)}, again in 0 s" for number in (1, 2)]
    assert run_recipe("$(try) flaky", "flaky", 2, tmp_path) == (0, told, [""] * 3)


def test_a_command_that_fails_three_times_fails_with_its_own_status(tmp_path: Path) -> None:
    """After the third try there is no other one, and what the command said is seen."""
    told = [*(f"{FAILS.format(number)}, again in 0 s" for number in (1, 2)), FAILS.format(3)]
    assert run_recipe("$(try) flaky", "flaky", 9, tmp_path) == (7, told, [""] * 3)


def test_a_shell_that_ends_at_an_error_goes_on_after_the_third_try(tmp_path: Path) -> None:
    """In a shell with `set -e` and behind `&&` two failures are none, and three end it."""
    within = "(set -e; : && $(try) flaky; exit 3)"
    assert run_recipe(within, "flaky", 2, tmp_path)[0] == 3
    assert run_recipe(within, "flaky", 9, tmp_path)[0] == 7


def test_packages_of_npm_are_tried_again(tmp_path: Path) -> None:
    """The installation by a lock file is repeated."""
    status, told, calls = run_recipe("$(npm_ci) --ignore-scripts", "npm", 2, tmp_path)
    assert (status, len(told)) == (0, 2)
    assert [call.split()[0] for call in calls] == ["ci"] * 3


def test_packages_of_debian_are_tried_again_with_a_new_list_of_packages(tmp_path: Path) -> None:
    """An update that got only a part of the lists is not kept: it does not fail, but what follows does."""
    status, told, calls = run_recipe("$(apt_install) one two", "apt-get", 1, tmp_path)
    assert (status, len(told)) == (0, 1)
    assert [call.split()[-1] for call in calls] == ["update", "two"] * 2


def test_everything_that_the_makefile_gets_over_the_network_is_tried_again() -> None:
    """A new line that installs something is tried three times, too."""
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    gets = re.compile(r"npm ci|pip install|uv venv .*3\.1|-m \$\(pip\)(?! freeze)|orchestrator install|\$\(apt_get\)")
    found = [line.strip() for line in lines if gets.search(line)]
    assert [line for line in found if "$(try)" not in line] == []
    assert len(found) > 5


# Versions


def pins() -> dict[str, str]:
    """Return the pinned versions by the names of the packages."""
    _, *lines = CONSTRAINTS.read_text("utf-8").splitlines()
    named = [line.split("==") for line in lines]
    return {canonicalize_name(name): version for name, version in named}


def requirements() -> Iterator[Requirement]:
    """Yield what pyproject.toml asks for on this machine: to run, to build, for extras and to develop."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = declared["project"]
    for group in (
        declared["build-system"]["requires"],
        project["dependencies"],
        *project["optional-dependencies"].values(),
        declared["dependency-groups"]["dev"],
    ):
        for line in group:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate():
                yield requirement


def test_every_installed_package_that_we_ask_for_is_pinned() -> None:
    """A package that is new in pyproject.toml is in the constraints, too: run `make constraints`."""
    installed = {canonicalize_name(one.name) for one in metadata.distributions()}
    asked = {canonicalize_name(one.name) for one in requirements()}
    assert asked & installed - pins().keys() == set()


def test_pins_are_in_the_ranges_of_the_project() -> None:
    """A range that moved moves the version, too: run `make constraints`."""
    pinned = pins()
    outside = [
        str(one)
        for one in requirements()
        if (version := pinned.get(canonicalize_name(one.name))) and not one.specifier.contains(version)
    ]
    assert outside == []


def test_the_constraints_are_versions_alone() -> None:
    """Neither a path nor a server of the machine that wrote them is in them, and each package is there once."""
    first, *lines = CONSTRAINTS.read_text("utf-8").splitlines()
    assert first.startswith("# Written by `make constraints`")
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+]+", line)] == []
    assert len(lines) == len(pins()) > 50
    assert "webdriver-orchestrator" not in pins()
