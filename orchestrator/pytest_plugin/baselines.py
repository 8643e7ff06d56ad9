"""Baselines of sessions: files beside their tests, compared with what is shown now."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from orchestrator import sync
from orchestrator.actions.base import ALL_TYPES, Action
from orchestrator.automation import images
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.execution.compare import CaptureTask, Difference, SessionCapture, blank, difference, find_pixels
from orchestrator.models.results import Outcome
from orchestrator.models.session import SessionType
from orchestrator.pytest_plugin.options import BaselineMode
from orchestrator.pytest_plugin.parity import BaselineFailure, Parity
from orchestrator.system.deadline import Deadline
from orchestrator.system.output import write_file

BaselineContent = Literal["elements", "screenshot"]
"""The part of what a session shows that a baseline keeps."""
BASE = "baseline"
_NAME = re.compile(r"[\w.-]+")
_POLL = 0.2
"""Seconds between two captures of a session that does not show what it should yet, or moves still."""
_HINT = "If it is right so, rewrite it: --orchestrator-update."


class BaselineDiffers(AssertionError):
    """A session does not show what its baseline says."""


class BaselineMissing(AssertionError):
    """There is no baseline, and none may be written."""


class BaselineWritten(UserWarning):
    """A baseline was written, which is to be looked at and kept with the test."""


class CaptureScreen(Action[SessionCapture]):
    """Capture what a session shows, for a comparison with a baseline."""

    verb: ClassVar[str] = "capture"
    title: ClassVar[str] = "Capture"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SessionCapture
    of: BaselineContent
    ignore: list[str]

    def perform(self, scene: Scene) -> SessionCapture:
        """Capture its elements, or a screenshot."""
        return CaptureTask(self.of, self.ignore).perform(scene)


@dataclass(frozen=True)
class Expected:
    """An expectation: a baseline's name, the content, the parts that may differ, the share of pixels that may.

    `timeout` is how long it may take until it is shown, in ms.
    """

    name: str
    of: BaselineContent
    ignore: Sequence[str]
    max_ratio: float
    timeout: int


class Baselines:
    """The baselines of one file of tests, one of each name for each platform and browser.

    Args:
        folder: Their folder.
        mode: What is done without one.
        report: Writes the page about a difference.
    """

    def __init__(self, folder: Path, mode: BaselineMode, report: Callable[[BaselineFailure], None]) -> None:
        self._folder = folder
        self._mode = mode
        self._report = report

    def expect(self, session: sync.Session, name: str, expected: Expected) -> None:
        """Expect that a session, by its name in the test, shows what its baseline says, or comes to do so in time.

        Raises:
            BaselineDiffers: It does not.
            BaselineMissing: There is no baseline, and this is CI.
            InvalidArgument: The baseline's name is no file name.
            OrchestratorError: The session could not be read.
        """
        path = self._path(session, expected)
        if self._mode == "update" or not path.exists():
            self._write(path, session, expected)
            return
        _, found = self._capture_until(
            session, expected, lambda shown: _compare(name, _read(path, shown), shown, expected)
        )
        if found is None:
            return
        place = self._shown(path)
        told = found.difference.model_copy(update={"path": None})
        parity = Parity(f"{name} does not show {place}.", BASE, [told], expected.ignore)
        pictures = {BASE: path.read_bytes(), "what differs": found.picture} if found.picture else {}
        self._report(BaselineFailure(parity, session, pictures))
        raise BaselineDiffers(f"{parity.describe({BASE: BASE, name: name})}\n{_HINT}")

    def _path(self, session: sync.Session, expected: Expected) -> Path:
        if not _NAME.fullmatch(expected.name):
            raise InvalidArgument(
                f"{expected.name!r} is no name of a baseline.", hint="Use letters, digits, dots, dashes."
            )
        facts = session.facts
        browser = f"-{facts.capabilities.get('browserName', '')}" if facts.type is SessionType.BROWSER else ""
        platform = "web" if browser else facts.type
        suffix = ".png" if expected.of == "screenshot" else ".txt"
        return self._folder / f"{expected.name}-{platform}{browser.lower()}{suffix}"

    def _shown(self, path: Path) -> Path:
        """Return the path from the folder of the tests."""
        return path.relative_to(self._folder.parent.parent)

    def _write(self, path: Path, session: sync.Session, expected: Expected) -> None:
        """Write a baseline, once the session shows the same twice; one that says the same already stays as it is."""
        if self._mode == "check":
            raise BaselineMissing(
                f"There is no baseline {self._shown(path)}, and in CI none is written. "
                "Run the test on your machine, and keep the file with it."
            )
        before: SessionCapture | None = None

        def has_moved(shown: SessionCapture) -> _Found | None:
            nonlocal before
            last, before = before, shown
            none = _Found(Difference(session_id=expected.name), None)
            return none if last is None else _compare(expected.name, last, shown, replace(expected, max_ratio=0))

        capture, _ = self._capture_until(session, expected, has_moved)
        if path.exists() and _compare(expected.name, _read(path, capture), capture, expected) is None:
            return
        write_file(path, _content(capture))
        warnings.warn(f"Written: {path}", BaselineWritten, stacklevel=4)

    def _capture_until(
        self, session: sync.Session, expected: Expected, compare: Callable[[SessionCapture], _Found | None]
    ) -> tuple[SessionCapture, _Found | None]:
        """Capture a session again and again until a comparison finds nothing, or the time is up."""
        patience = Deadline(expected.timeout / 1000)
        while True:
            capture = session.perform(CaptureScreen(of=expected.of, ignore=[*expected.ignore]))
            found = compare(capture)
            if found is None or not patience.seconds_left:
                return capture, found
            time.sleep(min(_POLL, patience.seconds_left))


@dataclass(frozen=True)
class _Found:
    """A difference, and its picture (PNG) where pictures are compared."""

    difference: Difference
    picture: bytes | None


def _content(capture: SessionCapture) -> bytes:
    """Return what is kept of a capture: its lines without secrets, or the picture with grey over what is ignored."""
    if capture.png:
        return images.encoded(blank(capture), "png")
    return "".join(f"{line}\n" for line in map(capture.clean, capture.found)).encode()


def _read(path: Path, like: SessionCapture) -> SessionCapture:
    """Read a baseline as a capture of the same kind as another."""
    if like.png:
        return like.model_copy(update={"png": path.read_bytes(), "ignored": []})
    return like.model_copy(update={"found": path.read_text("utf-8").splitlines()})


def _compare(name: str, base: SessionCapture, shown: SessionCapture, expected: Expected) -> _Found | None:
    """Compare a capture of the session `name` with a baseline; None if it is near enough."""
    if not shown.png:
        lines = [*map(shown.clean, base.found)], [*map(shown.clean, shown.found)]
        told = difference(name, *lines, clean=(str, str))
        return None if told is None else _Found(told, None)
    found = find_pixels(base, shown)
    if found is None or found.ratio <= expected.max_ratio:
        return None
    return _Found(Difference(session_id=name, ratio=found.ratio), images.encoded(found.picture, "png"))
