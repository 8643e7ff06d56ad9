"""Pickers of files that pages open: none is shown, so that nothing waits for one, and the next result tells of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orchestrator import abilities
from orchestrator.errors import OrchestratorError, RemoteFailure
from orchestrator.models import Tab
from orchestrator.snapshot.page import Interrupted

if TYPE_CHECKING:
    from orchestrator.actions.scene import Scene


def keep(scene: Scene, tabs: Iterable[Tab]) -> None:
    """Have tabs open no picker of their own, or with the policy `manual` the browser's; Chromium only."""
    if scene.bidi is None or scene.browser not in abilities.CHROMIUM:
        return
    enabled = scene.record.policies.file_pickers != "manual"
    for tab in tabs:
        with suppress(RemoteFailure):  # it has gone meanwhile
            params = {"enabled": enabled, "cancel": True}
            scene.bidi.cdp("Page.setInterceptFileChooserDialog", context=tab.handle, **params)


def tell(scene: Scene) -> None:
    """Tell of those that opened since the last result, as the policy says."""
    opened = scene.ears.pickers
    while opened:
        found = opened.popleft()
        policy = scene.record.policies.file_pickers
        if policy == "manual":
            continue
        if policy == "deny":
            scene.event("The page opened a picker of files; it was closed, as the policy says.")
            continue
        line, ref = _input(scene, found)
        if not ref:
            scene.event("The page opened a picker of files that belongs to no input; it was closed.")
            continue
        several = "several files" if found.get("multiple") else "a file"
        scene.event(f"The page wants {several} for {line}; to give it: upload_files with selector {ref} and paths.")


def _input(scene: Scene, found: Mapping[str, Any]) -> tuple[str, str]:
    """The input that it was opened for: its line and ref, or a selector where its document is not looked at."""
    shared = found.get("element", {}).get("sharedId")
    if not shared or scene.bidi is None:
        return "", ""

    def call(function: str, numbers: list[int]) -> Any:
        given = [{"sharedId": shared}, *({"type": "number", "value": number} for number in numbers)]
        return _run(scene, found["context"], function, given).get("value")

    with suppress(OrchestratorError, Interrupted):
        facts = scene.web.picked(call)
        return str(facts["line"]), str(facts["ref"])
    return "a file input", "input[type=file]"


def give(scene: Scene, files: list[str]) -> None:
    """Put files into the input that is acted on, which is no part of the page: only BiDi reaches it there."""
    place = scene.tabs.find(scene.tabs.current).handle
    node = _run(scene, place, "() => window[Symbol.for('webdriver-orchestrator')].handle()", [])
    if scene.bidi is not None:
        scene.bidi.call("input.setFiles", context=place, element={"sharedId": node["sharedId"]}, files=files)


def _run(scene: Scene, context: str, function: str, given: list[dict[str, Any]]) -> Mapping[str, Any]:
    """Run a function in a browsing context by BiDi; its result as a remote value, empty where it threw."""
    if scene.bidi is None:
        return {}
    told: Mapping[str, Any] = scene.bidi.call(
        "script.callFunction",
        functionDeclaration=function,
        arguments=given,
        target={"context": context},
        awaitPromise=False,
    )
    result: Mapping[str, Any] = told.get("result", {})
    return result
