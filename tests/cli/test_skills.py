"""`orchestrator skills`: a page for agents is written where they read it, and nobody's words are lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.cli import main
from orchestrator.cli.skills import NAME, _marked, read_page

SKILLS = {name: Path(folder, "skills", NAME, "SKILL.md") for name, folder in
          {"claude": ".claude", "codex": ".agents", "cursor": ".cursor"}.items()}  # fmt: skip
OURS = "# House rules\n\nUse tabs.\n"


Command = Callable[..., str]


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in a folder of its own, which is the home folder, too; it must succeed. Return its output."""

    def run(*words: str) -> str:
        assert called(*words) is None
        return capsys.readouterr().out

    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    return run


@pytest.fixture
def refused(tmp_path: Path, done: Command, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command likewise; it must refuse and leave all files alone. Return its sentence."""
    del done

    def run(*words: str) -> str:
        before = files(tmp_path)
        assert called(*words) == 2
        assert files(tmp_path) == before
        out, err = capsys.readouterr()
        assert out == ""
        return err

    return run


def called(*words: str) -> object:
    """Run the command line in this process; return its exit code, None for success."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["orchestrator", "skills", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code or None


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("host", "place"), SKILLS.items(), ids=list(SKILLS))
def test_the_page_is_written_as_a_skill_and_removed_again(
    tmp_path: Path, host: str, place: Path, done: Command
) -> None:  # W31
    """The skill has a head with its folder's name and a description, then the page; removing leaves nothing."""
    assert done("install", host) == f"Written: {tmp_path / place}\n"
    head, page = (tmp_path / place).read_text("utf-8").removeprefix("---\n").split("\n---\n", 1)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == place.parent.name == NAME
    assert 100 < len(fields["description"]) <= 1024
    assert read_page() in page
    assert done("remove", host) == f"Removed: {tmp_path / place}\n"
    assert list(tmp_path.iterdir()) == []


def test_an_install_again_replaces_an_older_page_and_leaves_a_current_one(tmp_path: Path, done: Command) -> None:
    """A page of another version, recognised by its marks, becomes the current one."""
    done("install", "claude", "agents-md")
    current = files(tmp_path)
    assert done("install", "claude", "agents-md").count("Up to date: ") == 2
    for path in (tmp_path / SKILLS["claude"], tmp_path / "AGENTS.md"):
        older(path)
    assert done("install", "claude", "agents-md").count("Replaced: ") == 2
    assert files(tmp_path) == current


def older(path: Path) -> None:
    """Turn the page in a file into the page of another version, as that version would have written it."""
    before = path.read_text("utf-8").partition("<!--")[0]
    head = before if path.name == "SKILL.md" else ""
    path.write_text(before + _marked(head, "# An older page\n"), "utf-8")


def test_agents_md_keeps_what_people_wrote_around_the_page(tmp_path: Path, done: Command) -> None:
    """The page is added at the end, replaced where it stands, and removed without a trace."""
    agents = tmp_path / "AGENTS.md"
    agents.write_text(OURS, "utf-8")
    assert done("install", "agents-md") == f"Added: {agents}\n"
    older(agents)
    agents.write_text(f"{agents.read_text('utf-8')}\n## Later\n\nAnd spaces.\n", "utf-8")
    assert done("install", "agents-md") == f"Replaced: {agents}\n"
    text = agents.read_text("utf-8")
    assert text.startswith(f"{OURS}\n<!-- orchestrator skills: begin ")
    assert text.endswith("end -->\n\n## Later\n\nAnd spaces.\n")
    assert text.count(read_page()) == 1
    assert done("remove", "agents-md") == f"Removed from: {agents}\n"
    assert agents.read_text("utf-8") == f"{OURS}\n## Later\n\nAnd spaces.\n"


def test_agents_md_keeps_its_line_ends_and_its_place_behind_a_link(tmp_path: Path, done: Command) -> None:
    """A file with CRLF stays one; a link goes on leading to the file."""
    real = tmp_path / "CLAUDE.md"
    real.write_bytes(OURS.replace("\n", "\r\n").encode())
    (tmp_path / "AGENTS.md").symlink_to(real)
    done("install", "agents-md")
    assert b"\n" not in real.read_bytes().replace(b"\r\n", b"")
    assert done("install", "agents-md").startswith("Up to date: ")
    done("remove", "agents-md")
    assert (tmp_path / "AGENTS.md").is_symlink()
    assert real.read_bytes() == OURS.replace("\n", "\r\n").encode()


@pytest.mark.parametrize("word", ["install", "remove"])
def test_a_skill_that_somebody_else_wrote_is_left_alone(tmp_path: Path, word: str, refused: Command) -> None:
    """A file of the same name without our marks is neither replaced nor removed."""
    place = tmp_path / SKILLS["claude"]
    place.parent.mkdir(parents=True)
    place.write_text(OURS, "utf-8")
    assert refused(word, "claude") == f"{place} was written by somebody else. Move it elsewhere first.\n"


@pytest.mark.parametrize("word", ["install", "remove"])
@pytest.mark.parametrize(
    ("host", "old", "new"),
    [
        ("agents-md", "## Sub-agents\n", "## Sub-agents\n\nAsk Ann.\n"),
        ("claude", "## Sub-agents\n", "## Sub-agents\n\nAsk Ann.\n"),
        ("claude", "description: ", "description: Ask Ann. "),
        ("claude", "end -->\n", "end -->\nAsk Ann.\n"),
    ],
    ids=["in the part", "in the skill", "in its head", "behind it"],
)
def test_a_page_that_somebody_edited_is_left_alone(
    tmp_path: Path, word: str, host: str, old: str, new: str, done: Command, refused: Command
) -> None:
    """Edits of the page, of its head or behind it are neither replaced nor removed."""
    done("install", host)
    place = tmp_path / SKILLS.get(host, Path("AGENTS.md"))
    place.write_text(place.read_text("utf-8").replace(old, new, 1), "utf-8")
    said = f"The page in {place} was edited. Move your words elsewhere, then delete the rest of it.\n"
    assert refused(word, host) == said


def test_without_a_name_the_agents_that_are_there_get_the_page(tmp_path: Path, done: Command, refused: Command) -> None:
    """An agent is there if its folder is; without any, the names to choose from are listed."""
    told = refused("install")
    assert told == (f"No agent's folder is in {str(tmp_path)!r}. Name the agents: claude, codex, cursor, agents-md.\n")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / "AGENTS.md").write_text(OURS, "utf-8")
    assert done("install").splitlines() == [
        f"Written: {tmp_path / SKILLS['cursor']}",
        f"Added: {tmp_path / 'AGENTS.md'}",
    ]


def test_the_page_is_written_into_another_project_or_for_the_user(
    tmp_path: Path, done: Command, refused: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--dir` names a project; `--user` means the home folder, where AGENTS.md is nobody's."""
    project = tmp_path / "project"
    project.mkdir()
    assert done("install", "codex", "--dir", "project") == f"Written: {project / SKILLS['codex']}\n"
    monkeypatch.chdir(project)
    assert done("install", "codex", "--user") == f"Written: {tmp_path / SKILLS['codex']}\n"
    assert refused("install", "agents-md", "--user") == (
        "AGENTS.md belongs to a project. Leave out --user, or agents-md.\n"
    )
    assert refused("install", "codex", "--dir", "nowhere").startswith("There is no folder ")


def test_the_page_is_short_and_is_printed_as_it_is(done: Command) -> None:
    """An agent reads all of it: at most 120 lines."""
    assert done("show") == read_page()
    assert len(read_page().splitlines()) <= 120
