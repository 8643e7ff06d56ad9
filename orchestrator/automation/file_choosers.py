"""Suppress the file choosers that pages open, and report them as events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orchestrator.errors import OrchestratorError, RemoteFailure
from orchestrator.models import browser_support
from orchestrator.models.session import Tab
from orchestrator.snapshot.web.page import Interrupted

if TYPE_CHECKING:
    from orchestrator.automation.scene import Scene


def apply_picker_policy(scene: Scene, tabs: Iterable[Tab]) -> None:
    """Suppress the tabs' file choosers, or with the policy `manual` let the browser show them; Chromium only."""
    if scene.bidi is None or scene.browser not in browser_support.CHROMIUM:
        return
    enabled = scene.record.policies.file_pickers != "manual"
    for tab in tabs:
        with suppress(RemoteFailure):  # the tab was closed meanwhile
            params = {"enabled": enabled, "cancel": True}
            scene.bidi.cdp("Page.setInterceptFileChooserDialog", context=tab.handle, **params)


def report_opened_pickers(scene: Scene) -> None:
    """Report the file choosers opened since the last result, unless the policy is `manual`."""
    opened = scene.subscriptions.opened_pickers
    while opened:
        chooser = opened.popleft()
        policy = scene.record.policies.file_pickers
        if policy == "manual":
            scene.event("The page opened a file chooser; it is left to the browser.")
            continue
        if policy == "deny":
            scene.event("The page opened a file chooser; it was closed by policy.")
            continue
        line, ref = _describe_input(scene, chooser)
        if not ref:
            scene.event(
                "The page opened a file chooser without a file input; it was closed. "
                "To open files there: call upload_files with the element that opens it, and paths."
            )
            continue
        wanted = "files" if chooser.get("multiple") else "a file"
        scene.event(f"The page asks for {wanted} for {line}: call upload_files with selector {ref} and paths.")


def _describe_input(scene: Scene, chooser: Mapping[str, Any]) -> tuple[str, str]:
    """The outline line and ref of the chooser's input; a general selector if its document cannot be read."""
    shared = chooser.get("element", {}).get("sharedId")
    if not shared or scene.bidi is None:
        return "", ""

    def call(function: str, refs: list[int | str]) -> Any:
        arguments = [{"sharedId": shared}, *map(_local_value, refs)]
        return _call_function(scene, chooser["context"], function, arguments).get("value")

    with suppress(OrchestratorError, Interrupted):
        facts = scene.web_page.describe_file_input(call)
        return facts["line"], facts["ref"]
    return "a file input", "input[type=file]"


def _local_value(value: int | str) -> dict[str, Any]:
    """Return a value as an argument of WebDriver BiDi (`script.LocalValue`)."""
    return {"type": "string" if isinstance(value, str) else "number", "value": value}


def set_files_by_bidi(scene: Scene, files: list[str]) -> None:
    """Put files into an input that is not attached to the document: only BiDi reaches it."""
    context = scene.tabs.find(scene.tabs.current_name).handle
    node = _call_function(scene, context, scene.web_page.file_input_function(), [])
    if scene.bidi is not None:
        scene.bidi.call("input.setFiles", context=context, element={"sharedId": node["sharedId"]}, files=files)


def _call_function(scene: Scene, context: str, function: str, arguments: list[dict[str, Any]]) -> Mapping[str, Any]:
    """Run a function in a browsing context by BiDi; its result as a remote value, empty if it threw."""
    if scene.bidi is None:
        return {}
    answer: Mapping[str, Any] = scene.bidi.call(
        "script.callFunction",
        functionDeclaration=function,
        arguments=arguments,
        target=scene.web_page.bidi_target(context),
        awaitPromise=False,
    )
    result: Mapping[str, Any] = answer.get("result", {})
    return result
