"""The command `orchestrator skills`: puts a page about sessions where coding agents read it."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.errors import InvalidArgument

app = typer.Typer(help="A page about sessions for coding agents.", rich_markup_mode=None, no_args_is_help=True)

NAME = "webdriver-orchestrator"
"""The skill's name and that of its folder: agents ignore a skill where the two differ."""

DESCRIPTION = (
    "Drives real browsers and mobile apps, many at once, each signed in as another user. Use it to open, read, fill, "
    "click, check or photograph pages and apps, to try something as several users, or to share a session with "
    "sub-agents, scripts and people. MCP tools, or the shell command orchestrator."
)

_HEAD = f"---\nname: {NAME}\ndescription: {DESCRIPTION}\n---\n\n"
_BLOCK = re.compile(
    r"<!-- orchestrator skills: begin (?P<digest>\w+)[^\n]*-->\n(?P<page>.*?)<!-- orchestrator skills: end -->\n?",
    re.DOTALL,
)


class Host(StrEnum):
    """The agents, and the file of instructions that several of them read."""

    CLAUDE = "claude"
    CODEX = "codex"
    CURSOR = "cursor"
    AGENTS_MD = "agents-md"


_FOLDERS = {Host.CLAUDE: ".claude", Host.CODEX: ".agents", Host.CURSOR: ".cursor"}
"""The folder with `skills/` of each, in a project as in the user's home; several agents read `.agents`."""

Hosts = Annotated[
    list[Host] | None, typer.Argument(help="Unless given, those that have a folder or file there.", show_default=False)
]
Folder = Annotated[Path, typer.Option("--dir", help="The project's folder.")]
ForUser = Annotated[bool, typer.Option("--user", help="For all projects of this user, in the home folder.")]


@app.command()
def install(hosts: Hosts = None, folder: Folder = Path(), user: ForUser = False) -> None:
    """Write the page for these agents, or replace an earlier one; what people wrote is kept."""
    for page in _pages(hosts, folder, user=user):
        typer.echo(f"{page.install()}: {page.path}")


@app.command()
def remove(hosts: Hosts = None, folder: Folder = Path(), user: ForUser = False) -> None:
    """Remove the page of these agents, and nothing that people wrote."""
    for page in _pages(hosts, folder, user=user):
        typer.echo(f"{page.remove()}: {page.path}")


@app.command()
def show() -> None:
    """Print the page."""
    typer.echo(read_page(), nl=False)


def read_page() -> str:
    """Return the page, without what marks it as ours."""
    return Path(__file__).with_name("skill.md").read_text("utf-8")


def _pages(hosts: list[Host] | None, folder: Path, *, user: bool) -> Iterator[InstalledPage]:
    root = Path.home() if user else folder.absolute()
    if not root.is_dir():
        raise InvalidArgument(f"There is no folder {str(root)!r}.", hint="Give the project's folder with --dir.")
    if user and Host.AGENTS_MD in (hosts or ()):
        raise InvalidArgument("AGENTS.md belongs to a project.", hint="Leave out --user, or agents-md.")
    chosen = list(dict.fromkeys(hosts or _present(root, user=user)))
    if not chosen:
        names = ", ".join(Host)
        raise InvalidArgument(f"No agent's folder is in {str(root)!r}.", hint=f"Name the agents: {names}.")
    yield from [InstalledPage.of(host, root) for host in chosen]


def _present(root: Path, *, user: bool) -> Iterator[Host]:
    """Yield the agents that have a folder or file in this one."""
    yield from (host for host, folder in _FOLDERS.items() if (root / folder).is_dir())
    if not user and (root / "AGENTS.md").is_file():
        yield Host.AGENTS_MD


@dataclass(frozen=True, slots=True)
class InstalledPage:
    """The page in its place: a file of its own with a head for its agent, or a part of AGENTS.md.

    The page stands between two marks, the first of which has a digest of head and page. Where it no longer matches,
    somebody has edited them.
    """

    path: Path
    root: Path
    head: str

    @classmethod
    def of(cls, host: Host, root: Path) -> InstalledPage:
        """Return the place of the page for an agent below a folder."""
        if host is Host.AGENTS_MD:
            return cls(root / "AGENTS.md", root, "")
        return cls(root / _FOLDERS[host] / "skills" / NAME / "SKILL.md", root, _HEAD)

    def install(self) -> str:
        """Write the page, or the current one in place of an older; return what was done."""
        before, old, after = self._found()
        new = _marked(self.head, read_page())
        if old == new and before == (self.head or before):
            return "Up to date"
        if not old and before and not before.endswith("\n\n"):
            before = f"{before.rstrip()}\n\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._write(f"{self.head or before}{new}{after}")
        return "Replaced" if old else "Written" if self.head or not before else "Added"

    def remove(self) -> str:
        """Remove the page, and the file and folders that are empty without it; return what was done."""
        before, old, after = self._found()
        if not old:
            return "Not there"
        if not self.head and f"{before}{after}".strip():
            self._write(f"{before}{after.lstrip()}" if after.strip() else f"{before.rstrip()}\n")
            return "Removed from"
        self.path.unlink()
        for folder in self.path.parents:
            if folder == self.root or any(folder.iterdir()):
                break
            folder.rmdir()
        return "Removed"

    def _found(self) -> tuple[str, str, str]:
        """Return the file's text before the page, the page with its marks, and the text after it.

        Raises:
            InvalidArgument: Somebody else wrote the file of our name, or edited our page.
        """
        text = self._read()
        block = _BLOCK.search(text)
        if block is None:
            if text and self.head:
                raise InvalidArgument(f"{self.path} was written by somebody else.", hint="Move it elsewhere first.")
            return text, "", ""
        before, after = text[: block.start()], text[block.end() :]
        head = before if self.head else ""
        if block["digest"] != _digest(head + block["page"]) or (self.head and after.strip()):
            raise InvalidArgument(
                f"The page in {self.path} was edited.",
                hint="Move your words elsewhere, then delete the rest of it.",
            )
        return before, block[0], after

    def _read(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8").replace("\r\n", "\n")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise InvalidArgument(f"{self.path} is not UTF-8.", hint="Convert it first.") from None

    def _write(self, text: str) -> None:
        """Write the file whole or not at all, where it really lies, with the line ends it had."""
        real = self.path.resolve()
        if real.exists() and b"\r\n" in real.read_bytes():
            text = text.replace("\n", "\r\n")
        draft = real.with_name(f".{real.name}.{secrets.token_hex(8)}")
        with draft.open("xb") as file:
            file.write(text.encode("utf-8"))
        if real.exists():
            draft.chmod(real.stat().st_mode)
        draft.replace(real)


def _marked(head: str, page: str) -> str:
    """Return the page between its marks."""
    begin = f"begin {_digest(head + page)}, written by `orchestrator skills install` and replaced by it"
    return f"<!-- orchestrator skills: {begin} -->\n{page}<!-- orchestrator skills: end -->\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
