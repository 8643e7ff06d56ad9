"""Every parameter that takes a path or the URL of a page refuses a hostile one: the table is derived.

A parameter is found by its declaration, or by its name where someone forgot to declare it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.errors import Denied
from orchestrator.models.arguments import names_of, parse_arguments
from orchestrator.models.paths import PathUse, declared_uses
from orchestrator.models.requests import StartRequest
from orchestrator.session_tools.catalogue import SESSION_TOOLS
from orchestrator.sessions.providers import Providers
from orchestrator.settings import Settings
from orchestrator.system.file_access import FileAccess

OWNERS: dict[str, type[BaseModel]] = {
    **{tool.verb: tool for tool in SESSION_TOOLS},
    **CATALOGUE,
    "a start": StartRequest,
    **{f"options of {name}": provider.Options for name, provider in Providers().items()},
}
"""Every model that a caller's arguments are parsed into: tools, steps, starts of parallel sequences, options."""

_NEEDED = {"remote_url": {"url": "http://127.0.0.1:4444"}}
"""Options that a provider cannot do without."""

CASES: dict[str, dict[str, Any]] = {
    "start_browser.navigationUrl": {},
    "start_browser.storageState": {},
    "start_app_session.appPath": {"platform": "ios"},
    "start_app_session.app": {"platform": "ios"},
    "start_session.app": {"provider": "local", "platform": "ios"},
    "start_session.navigationUrl": {"provider": "local", "platform": "browser"},
    "start_session.storageState": {"provider": "local", "platform": "browser"},
    "a start.navigationUrl": {},
    "a start.storageState": {},
    "a start.appPath": {},
    "a start.app": {},
    "upload_app.path": {"provider": "sauce_labs"},
    "navigate.url": {},
    "tabs.url": {"action": "new"},
    "upload_files.paths": {"selector": "e1"},
    "route.path": {"action": "fulfil", "url": "**"},
    "har.path": {"action": "replay"},
    "take_screenshot.path": {},
    "print_page.path": {},
    "save_storage_state.path": {},
    "manage_app.app": {"action": "install"},
    **{f"options of {name}.{option}": _NEEDED.get(name, {}) for name in Providers() for option in ("har", "hars")},
    "options of appium.derivedDataPath": {},
    "attach_session.remoteUrl": {"remoteSessionId": "x"},
    "start_browser.debuggerAddress": {},
    "start_session.debuggerAddress": {"provider": "local", "platform": "browser"},
    "a start.debuggerAddress": {},
    **{f"options of {name}.url": {} for name in ("appium", "remote_url", "selenium_grid")},
    "options of appium.webDriverAgentUrl": {},
}
"""The parameters with a hostile case, and the arguments that they need beside them."""

NO_FILES = {
    "cookies.path": "a path on the site",
    "wait_for.url": "a pattern",
    "expect.url": "a pattern",
    "route.url": "a pattern",
    "get_network.url": "a pattern",
    "upload_files.files": "contents, whose names have no slash",
    "options of appium.chromedriverExecutable": "a program, not a file that is read",
    "options of appium.chromedriverExecutableDir": "a folder of programs",
    "options of sauce_labs.groupFolderRedirectEnabled": "a switch",
}
"""Parameters that sound like files or pages and are neither, each with what it is."""


def _parameters() -> Iterator[str]:
    """Yield each parameter that is declared as a path or a URL, or that sounds like one."""
    for owner, model in OWNERS.items():
        declared = {name for name, _ in declared_uses(model)}
        sounding = {name for name in names_of(model) if _sounds_like_one(name)}
        yield from (f"{owner}.{name}" for name in sorted(declared | sounding))


def _sounds_like_one(name: str) -> bool:
    words = name.lower()
    return words in {"har", "hars", "files", "file", "app"} or any(
        word in words for word in ("path", "url", "folder", "storagestate", "executable", "address")
    )


def _hostile(use: PathUse) -> list[tuple[str, str]]:
    """Return the hostile values of a use, each with the setting that refuses it."""
    if use is PathUse.REMOTE:
        return [("http://169.254.169.254:80", "allowed_origins"), ("http://0xA9FEA9FE:80", "allowed_origins")]
    if use is PathUse.PAGE:
        return [("file:///etc/passwd", "file_roots"), ("http://0xA9FEA9FE/", "allowed_origins")]
    return [("/etc/passwd", "file_roots")]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileAccess:
    """What callers over MCP may name, with the default settings, in a project."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    access = FileAccess()
    access.limit(Settings(home=tmp_path / "home"))
    return access


def test_every_parameter_with_a_path_or_url_has_a_hostile_case() -> None:
    """A new parameter fails here until it has one, or a reason why it needs none."""
    assert set(_parameters()) == {*CASES, *NO_FILES}


@pytest.mark.parametrize("parameter", CASES)
def test_a_parameter_refuses_what_lies_outside_the_roots(parameter: str, files: FileAccess) -> None:
    """By the declaration alone: `/etc/passwd`, or a metadata address, is `denied`, and the setting is named."""
    owner, _, name = parameter.rpartition(".")
    model = OWNERS[owner]
    use = dict(declared_uses(model))[name]
    field = next(one for key, one in model.model_fields.items() if (one.alias or key) == name)
    is_list = "list" in str(field.annotation) or "tuple" in str(field.annotation)
    for hostile, setting in _hostile(use):
        given = parse_arguments(model, {**CASES[parameter], name: [hostile] if is_list else hostile})
        with pytest.raises(Denied, match=r"passwd' is not among the files|link-local and metadata") as refused:
            files.check(given)
        assert refused.value.setting == setting
        assert f"Only whoever runs this server can allow it: the setting {setting}" in str(refused.value)
        assert FileAccess().check(given) == given  # Python and the command line ask for themselves
