"""A page that shows the users of a test side by side, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from orchestrator.execution.sequence import SYNC
from orchestrator.system.activity import ActivityEntry

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #222; background: #fff }
pre { background: #fdecea; padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th, td { border-left: 1px solid #ccc; padding: .2rem .5rem; vertical-align: top; text-align: left;
  overflow-wrap: anywhere }
th { position: sticky; top: 0; background: #f3f3f3 } th:first-child { width: 5rem }
td:first-child { font-variant-numeric: tabular-nums; color: #666; border-left: 0 }
.failed { background: #fdecea; border-left: 4px solid #c62828 }
.barrier td { background: #e3f2fd; border-top: 2px solid #1565c0; border-bottom: 2px solid #1565c0 }
small { color: #666; font-weight: normal } img { max-width: 100%; border: 1px solid #ccc; margin: .2rem 0 }
"""


@dataclass(frozen=True)
class Lane:
    """A user's column: calls, pictures with their times (seconds since the epoch), and the last picture.

    Pictures are files beside the page.
    """

    name: str
    about: str
    entries: Sequence[ActivityEntry]
    pictures: Sequence[tuple[float, str]]
    last: str | None


@dataclass(frozen=True)
class _Event:
    """A cell of the page: time in seconds since the epoch, column, and HTML; or a barrier by its name."""

    at: float
    lane: int
    html: str
    failed: bool = False
    barrier: str = ""


def render_timeline(title: str, lanes: Sequence[Lane], failure: str | None) -> str:
    """Return the page as HTML; it needs no server, and only the pictures beside it."""
    events = sorted(
        (event for index, lane in enumerate(lanes) for event in _events(index, lane)), key=lambda one: one.at
    )
    began = events[0].at if events else 0
    heads = "".join(f"<th>{escape(lane.name)} <small>{escape(lane.about)}</small></th>" for lane in lanes)
    rows = "".join(_row(event, began, len(lanes)) for event in _merge_barriers(events))
    ends = "".join(f"<td>{_picture(lane.last) if lane.last else ''}</td>" for lane in lanes)
    reason = f"<pre>{escape(failure)}</pre>" if failure else ""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f"<h1>{escape(title)}</h1>{reason}<table><thead><tr><th>time</th>{heads}</tr></thead>"
        f"<tbody>{rows}<tr><td>end</td>{ends}</tr></tbody></table></html>\n"
    )


def _events(index: int, lane: Lane) -> list[_Event]:
    calls = [_call(index, entry) for entry in lane.entries]
    return calls + [_Event(at, index, _picture(name)) for at, name in lane.pictures]


def _call(index: int, entry: ActivityEntry) -> _Event:
    at = datetime.fromisoformat(entry.at).timestamp()
    given = " ".join(f"{name}={value!r}" for name, value in entry.arguments.items())
    if entry.action == SYNC and not entry.error:
        # The barrier opens when the last one has come.
        return _Event(at + entry.duration_ms / 1000, index, "", barrier=str(entry.arguments.get("name", "")))
    failed = f"<br>{escape(': '.join(filter(None, (entry.error, entry.message))))}" if entry.error else ""
    took = f" <small>{entry.duration_ms:.0f} ms</small>"
    return _Event(at, index, f"<b>{escape(entry.action)}</b> {escape(given)}{took}{failed}", bool(entry.error))


def _merge_barriers(events: Sequence[_Event]) -> list[_Event]:
    """Leave one event of each barrier: the nth of a name in one lane is the nth in the others."""
    merged: list[_Event] = []
    passed: dict[tuple[int, str], int] = {}
    drawn: set[tuple[str, int]] = set()
    for event in events:
        if event.barrier:
            number = passed[event.lane, event.barrier] = passed.get((event.lane, event.barrier), 0) + 1
            if (event.barrier, number) in drawn:
                continue
            drawn.add((event.barrier, number))
        merged.append(event)
    return merged


def _row(event: _Event, began: float, lanes: int) -> str:
    time = f"<td>{event.at - began:.3f} s</td>"
    if event.barrier:
        return f'<tr class="barrier">{time}<td colspan="{lanes}">sync {escape(event.barrier)}</td></tr>'
    shown = f'<td class="failed">{event.html}</td>' if event.failed else f"<td>{event.html}</td>"
    cells = "".join(shown if index == event.lane else "<td></td>" for index in range(lanes))
    return f"<tr>{time}{cells}</tr>"


def _picture(name: str) -> str:
    return f'<a href="{escape(name)}"><img src="{escape(name)}" alt="{escape(name)}"></a>'
