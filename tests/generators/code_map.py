"""Generates the list of modules in `docs/code.md`, by band, with the first sentences of their docstrings.

`make docs` writes it between two marks of the page; a test fails when it is stale.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "code.md"
BEGINS = "<!-- Made by `make docs` of the modules' docstrings. -->"
ENDS = "<!-- The end of it. -->"
PACKAGE = ROOT / "orchestrator"
PROVIDERS = ROOT / "providers" / "orchestrator_providers"

BANDS: Mapping[str, tuple[str, ...]] = {
    "Doors": ("__main__", "cli", "testing", "pytest_plugin", "demo", "mcp_server"),
    "Façade": (
        "__init__",
        "sync",
        "action",
        "api",
        "session",
        "orchestrator_methods",
        "session_methods",
        "session_tools",
    ),
    "Lifecycle": ("lifecycle",),
    "Execution": ("execution",),
    "Actions": ("actions", "automation"),
    "Sessions": ("sessions", "snapshot", "network"),
    "Remote end": ("provider", "webdriver"),
    "System and values": ("system", "settings", "models", "errors"),
}
"""Packages and modules at the top of `orchestrator`, by band: each imports only later ones."""

_COLUMN = 26
"""Column of the sentences: after the longest name."""
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)")


def page() -> str:
    """Return the page with a new list of modules between its two marks."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGINS)
    after = rest.partition(ENDS)[2]
    return f"{before}{BEGINS}\n\n{every_module()}\n\n{ENDS}{after}"


def every_module() -> str:
    """Return the list: the bands from top to bottom, then the providers, which none of them imports."""
    bands = {title: [line for name in names for line in tree(place(name))] for title, names in BANDS.items()}
    parts = {**bands, "Providers": [*tree(PROVIDERS)]}
    return "\n\n".join("\n".join([f"### {title}", "", "```text", *lines, "```"]) for title, lines in parts.items())


def place(name: str) -> Path:
    """Return the package or module of this name at the top of `orchestrator`."""
    folder = PACKAGE / name
    return folder if folder.is_dir() else folder.with_suffix(".py")


def tree(path: Path, depth: int = 0) -> Iterator[str]:
    """Yield the line of a module, or the lines of a package: modules before packages."""
    indent = "  " * depth
    if path.is_file():
        yield f"{indent + path.name:{_COLUMN}}{first_sentence(path)}"
        return
    yield f"{indent + path.name + '/':{_COLUMN}}{first_sentence(path / '__init__.py')}"
    for module in sorted(one for one in path.glob("*.py") if one.name != "__init__.py"):
        yield from tree(module, depth + 1)
    for package in sorted(one.parent for one in path.glob("*/__init__.py")):
        yield from tree(package, depth + 1)


def modules() -> list[Path]:
    """Return every module of the project."""
    return sorted([*PACKAGE.rglob("*.py"), *PROVIDERS.rglob("*.py")])


def first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring.

    Raises:
        ValueError: There is no docstring that begins with a sentence.
    """
    paragraph = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n\n")[0]
    found = _SENTENCE.match(" ".join(paragraph.split()))
    if not found:
        raise ValueError(f"{path.relative_to(ROOT).as_posix()} begins with no sentence")
    return found[0]


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
