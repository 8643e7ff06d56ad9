"""Reports of a test: JUnit properties, pages of pytest-html, attachments of Allure."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.pytest_plugin.artifacts import Artifact, collect
from orchestrator.pytest_plugin.group import SessionGroup
from orchestrator.pytest_plugin.hand_over import describe_hand_over

KEPT = "sessions kept"
"""The heading of the lines about sessions that were kept."""


def add_to_report(item: pytest.Item, report: pytest.TestReport, group: SessionGroup, *, until: float) -> None:
    """Collect the files about a test whose sessions are open, and add them to its report; say what is kept.

    `until` is when the test ended, in seconds since the epoch: later calls on its sessions are none of its own.
    """
    wanted = group.options.artifacts
    if group.folder is not None and (wanted == "on" or (report.failed and wanted != "off")):
        _add_artifacts(item, report, collect(group, group.folder, until))
        report.sections.append(("artifacts", f"{group.folder}"))
    if report.failed and group.options.hand_over and group:
        settings = group.worker.orchestrator.settings
        report.sections.append((KEPT, describe_hand_over([*group.values()], settings)))


def _add_artifacts(item: pytest.Item, report: pytest.TestReport, artifacts: Sequence[Artifact]) -> None:
    for artifact in artifacts:
        # The report has a copy, and JUnit's reads that of the teardown, which is made later.
        entry = (f"orchestrator {artifact.label}", str(artifact.path))
        item.user_properties.append(entry)
        report.user_properties.append(entry)
    manager = item.config.pluginmanager
    if manager.has_plugin("html"):
        _add_to_html(report, artifacts)
    if manager.has_plugin("allure_listener"):
        _add_to_allure(artifacts)


def _add_to_html(report: pytest.TestReport, artifacts: Sequence[Artifact]) -> None:
    from pytest_html import extras

    shown = getattr(report, "extras", [])
    for artifact in artifacts:
        if artifact.path.suffix == ".png":
            # The content, which the report keeps in itself or beside it: a path would be a link.
            content = base64.b64encode(artifact.path.read_bytes()).decode()
            shown.append(extras.png(content, name=artifact.label))
        else:
            shown.append(extras.url(artifact.path.absolute().as_uri(), name=artifact.label))
    report.extras = shown  # type: ignore[attr-defined]  # pytest-html's own


def _add_to_allure(artifacts: Sequence[Artifact]) -> None:
    import allure

    for artifact in artifacts:
        allure.attach.file(
            str(artifact.path),
            name=artifact.label,
            attachment_type=_media_type(artifact.path),
            extension=_suffix(artifact),
        )


def _suffix(artifact: Artifact) -> str:
    return artifact.path.suffix.removeprefix(".")


def _media_type(path: Path) -> str:
    return mimetypes.guess_type(path.name)[0] or "text/plain"
