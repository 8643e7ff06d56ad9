"""The wheel as its users get it: built, installed beside nothing else, and run far from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator import __version__

ROOT = Path(__file__).parents[1]
HANDED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""What some MCP hosts hand on of the environment, and nothing else."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy without what the checkout has lying about."""
    source, out = tmp_path_factory.mktemp("source") / "checkout", tmp_path_factory.mktemp("dist")
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "dist", "__pycache__"))
    run(sys.executable, "-m", "build", "--wheel", "--outdir", out, source)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel and what it depends on, and nothing else."""
    place = tmp_path_factory.mktemp("clean") / "venv"
    if uv := shutil.which("uv"):
        run(uv, "venv", "--python", sys.executable, place)
        run(uv, "pip", "install", "--python", place, wheel)
    else:
        run(sys.executable, "-m", "venv", place)
        run(place / bin_name() / "python", "-m", "pip", "install", "--quiet", wheel)
    return place / bin_name()


def bin_name() -> str:
    """Where a virtual environment has its programs."""
    return "Scripts" if sys.platform == "win32" else "bin"


def test_wheel_holds_what_runs(wheel: Path) -> None:
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


@pytest.mark.parametrize("name", ["orchestrator", "webdriver-orchestrator"])
def test_commands_are_installed(programs: Path, tmp_path: Path, name: str) -> None:
    """Both names of the command run, in any folder."""
    assert run(programs / name, "--version", cwd=tmp_path).stdout.strip() == __version__


def test_demo_runs_from_the_wheel(programs: Path, tmp_path: Path) -> None:
    """With an empty home and next to no environment the demonstration runs from end to end, far from the checkout."""
    home, folder = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    folder.mkdir()
    environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ} | {"HOME": str(home)}

    done = run(programs / "orchestrator", "demo", "chat", "--out", "tmp", cwd=folder, env=environment)

    assert "Both messages were seen" in done.stdout
    screens = sorted((folder / "tmp").glob("*.png"))
    assert [screen.name for screen in screens] == ["chat-alice.png", "chat-bob.png"]
    assert all(screen.read_bytes().startswith(b"\x89PNG\r\n\x1a\n") for screen in screens)


async def test_the_first_outline_comes_through(programs: Path, tmp_path: Path) -> None:
    """The command that a client's configuration names, with what clients hand on and an empty home, shows a page."""
    home = tmp_path / "home"
    home.mkdir()
    environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ} | {"HOME": str(home)}
    parameters = StdioServerParameters(
        command=str(programs / "webdriver-orchestrator"), env=environment, cwd=str(tmp_path)
    )
    async with Client(stdio_client(parameters)) as client:
        page = "data:text/html,<title>First</title><h1>Hello</h1><button>Go on</button>"
        opened = await client.call_tool("navigate", {"url": page})
        assert not opened.is_error, opened
        seen = await client.call_tool("get_visible_elements", {})
        assert seen.structured_content is not None
        assert [line.partition(" [")[0] for line in seen.structured_content["outline"].splitlines()] == [
            '- heading "Hello"',
            '- button "Go on"',
        ]
        # Without the extra there is no engine for scripts: what is listed can be done.
        assert "run_script" not in {tool.name for tool in (await client.list_tools()).tools}
        refused = await client.call_tool("run_script", {"script": "return 1"})
        assert refused.structured_content is not None
        assert refused.structured_content["error"]["code"] == "unsupported"
        assert 'pip install "webdriver-orchestrator[script]"' in refused.structured_content["error"]["hint"]
        await client.call_tool("close_all_sessions", {})
