"""Comparisons of a test's users, and the page about their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from shutil import copyfile
from typing import NamedTuple

from orchestrator import sync
from orchestrator.errors import OrchestratorError
from orchestrator.execution.compare import Difference
from orchestrator.system.output import write_file

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #222; background: #fff }
.users { display: flex; gap: 1rem; align-items: flex-start } figure { margin: 0; flex: 1; min-width: 0 }
img { max-width: 100%; border: 1px solid #ccc } li { overflow-wrap: anywhere }
.missing { background: #fdecea } .added { background: #e8f5e9 }
"""


class Figure(NamedTuple):
    """A picture of a page, which lies beside it, and its caption."""

    caption: str
    path: Path


@dataclass(frozen=True)
class BaselineFailure:
    """A comparison of a session with its baseline, and pictures (PNG) of it by their captions."""

    parity: Parity
    session: sync.Session
    pictures: Mapping[str, bytes]


class SessionsDiffer(AssertionError):
    """Users of a test do not show the same."""


@dataclass(frozen=True)
class Parity:
    """A comparison of users: what was compared, with whom the others were, how they differ, what may differ."""

    title: str
    base: str
    differences: Sequence[Difference]
    ignore: Sequence[str] = ()

    def describe(self, names: Mapping[str, str]) -> str:
        """Return the differences as text; `names` are those of sessions in the test, by their ids."""
        base = names[self.base]
        lines = [self.title]
        for one in self.differences:
            named = one.model_copy(update={"session_id": names[one.session_id]})
            lines += [*named.lines(base), *named.page_lines(base)]
        lines += [f"Ignored: {', '.join(self.ignore)}."] if self.ignore else []
        return "\n".join(lines)


def write_parity(
    folder: Path, number: int, parity: Parity, sessions: Mapping[str, sync.Session], names: Mapping[str, str]
) -> list[Path]:
    """Write the page about a comparison, with pictures beside it; return its files.

    `sessions` are those of the test by their ids, `names` their names in it.
    """
    stem, figures = folder / f"parity-{number}", []
    for session_id in dict.fromkeys([parity.base, *(one.session_id for one in parity.differences)]):
        picture = stem.with_name(f"{stem.name}-{names[session_id]}.png")
        with suppress(OrchestratorError):
            sessions[session_id].take_screenshot(path=str(picture), overwrite=True)
            figures.append(Figure(names[session_id], picture))
    for one in parity.differences:
        if one.path:
            marked = stem.with_name(f"{stem.name}-{names[one.session_id]}-differs.png")
            copyfile(one.path, marked)
            figures.append(Figure(f"{names[one.session_id]}: what differs", marked))
    return _write_page(stem.with_suffix(".html"), parity, names, figures)


def write_baseline_parity(folder: Path, number: int, failure: BaselineFailure) -> list[Path]:
    """Write the page about a session that differs from its baseline, with pictures beside it; return its files."""
    parity, stem = failure.parity, folder / f"baseline-{number}"
    figures = []
    with suppress(OrchestratorError):
        now = stem.with_name(f"{stem.name}-now.png")
        failure.session.take_screenshot(path=str(now), overwrite=True)
        figures.append(Figure("now", now))
    for caption, content in failure.pictures.items():
        figures.append(Figure(caption, stem.with_name(f"{stem.name}-{caption.replace(' ', '-')}.png")))
        write_file(figures[-1].path, content)
    names = {name: name for name in (parity.base, *(one.session_id for one in parity.differences))}
    return _write_page(stem.with_suffix(".html"), parity, names, figures)


def _write_page(path: Path, parity: Parity, names: Mapping[str, str], figures: Sequence[Figure]) -> list[Path]:
    write_file(path, _render(parity, names, figures))
    return [path, *(figure.path for figure in figures)]


def _render(parity: Parity, names: Mapping[str, str], figures: Sequence[Figure]) -> str:
    items = [item for one in parity.differences for item in _items(one, names[parity.base], names[one.session_id])]
    ignored = "".join(f"<li>{escape(rule)}</li>" for rule in parity.ignore)
    shown = "".join(map(_figure, figures))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(parity.title)}</title>'
        f'<style>{_STYLE}</style><h1>{escape(parity.title)}</h1><div class="users">{shown}</div>'
        f"<h2>Differences</h2><ul>{''.join(items)}</ul>"
        + (f"<h2>Ignored</h2><ul>{ignored}</ul>" if ignored else "")
        + "</html>\n"
    )


def _items(one: Difference, base: str, name: str) -> list[str]:
    told = [f'<li class="missing">only {escape(base)}: {escape(line)}</li>' for line in one.missing]
    told += [f'<li class="added">only {escape(name)}: {escape(line)}</li>' for line in one.added]
    told += [] if one.ratio is None else [f"<li>{escape(name)}: {one.ratio:.2%} of the pixels</li>"]
    return told + ([f"<li>{one.more} more lines</li>"] if one.more else [])


def _figure(figure: Figure) -> str:
    caption, name = escape(figure.caption), escape(figure.path.name)
    return f'<figure><figcaption>{caption}</figcaption><img src="{name}" alt="{caption}"></figure>'
