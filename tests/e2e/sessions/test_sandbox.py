"""Chromium's sandbox: used where it works, its lack told once, and required on request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.harness import NAMESPACE, Home
from tests.needed import needed
from tests.servers.mcp import processes_below
from tests.servers.unprivileged import as_user, folder_of_user, missing
from tests.waiting import until

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing takes the sandbox away"),
]

as_root = pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="root alone is refused the sandbox")
LACK = (
    "Browsers run without their sandbox: this server runs as root. A page that breaks the browser reaches what this "
    "user can. Run it as another user. The setting sandbox refuses such starts (require) or stops this warning (off)."
)
DENIED = "this user may not make user namespaces (No space left on device)"


def browsers_without_sandbox(folder: Path) -> list[psutil.Process]:
    """Return the processes of browsers in a home that were started without the sandbox."""
    return [one for one in processes_below(folder / "run") if "--no-sandbox" in one.cmdline()]


@dataclass
class OrdinaryUser:
    """The shell of a user who is not root."""

    home: Path
    namespaces: bool = True

    def call(self, *words: str, **settings: str) -> dict[str, Any]:
        """Run a command; return its data."""
        given = {"home": str(self.home), "namespace": NAMESPACE, "sandbox": "auto", **settings}
        environ = {**os.environ, **{f"ORCHESTRATOR_{name.upper()}": value for name, value in given.items()}}
        command = as_user(sys.executable, "-m", "orchestrator", *words, "--json", namespaces=self.namespaces)
        # In a container, as far as variables can tell.
        environ["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
        environ |= {"HOME": str(self.home), "TMPDIR": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=110)
        data: dict[str, Any] = json.loads(done.stdout)
        return data


@pytest.fixture
def user() -> Iterator[OrdinaryUser]:
    """A user who is not root, with a home; skips where root cannot become one, and fails in CI."""
    needed(missing())
    with folder_of_user() as home:
        user = OrdinaryUser(home)
        yield user
        user.namespaces = True
        user.call("close-sessions", "--all")
        until(lambda: not processes_below(home), "the end of the browsers")


@as_root
def test_the_first_start_without_a_sandbox_says_so(home: Home) -> None:
    """Root gets browsers without it, and one warning, also when the session is started by a page."""
    with home.serve(sandbox="auto") as server:
        assert LACK in server.ok("navigate", url="about:blank")["warnings"]
        assert "warnings" not in server.ok("start_browser", sessionId="b")
        assert browsers_without_sandbox(home.folder)


@as_root
def test_a_required_sandbox_refuses_the_start_with_the_reason(home: Home) -> None:
    """No browser is started without it, and the hint says who changes what."""
    with home.serve(sandbox="require") as server:
        refused = server.call("start_browser")
        assert refused.code == "start_failed"
        assert "cannot have its sandbox, which the setting sandbox requires: this server runs as root." in refused.text
        assert "Run it as another user. Or, if pages are trusted, who runs this server sets sandbox" in refused.text
        until(home.is_clean, "a clean home")


@as_root
def test_the_word_of_the_operator_ends_the_warning(home: Home) -> None:
    """With sandbox off there is nothing to try and nothing to say."""
    with home.serve(sandbox="off") as server:
        assert "warnings" not in server.ok("start_browser")


def test_an_ordinary_user_gets_the_sandbox(user: OrdinaryUser) -> None:
    """Where user namespaces are allowed, no process of the browser runs without it, in a container, too."""
    started = user.call("start", "-s", "a")
    assert (started["sessionId"], started.get("warnings")) == ("a", None)
    shown = user.call("navigate", "data:text/html,<title>In the sandbox</title>", "-s", "a")
    assert shown["title"] == "In the sandbox"
    running = processes_below(user.home / "run")
    assert len([one for one in running if "--type=renderer" in one.cmdline()]) >= 1
    assert not browsers_without_sandbox(user.home)


def test_a_user_without_namespaces_is_told_why(user: OrdinaryUser) -> None:
    """As in most containers: the browser runs without the sandbox, with the reason; `require` refuses it."""
    user.namespaces = False
    refused = user.call("start", "-s", "a", sandbox="require")["error"]
    assert (refused["code"], DENIED in refused["message"]) == ("start_failed", True)
    assert "in a container by its seccomp profile" in refused["hint"]
    [warning] = user.call("start", "-s", "a")["warnings"]
    assert f"Browsers run without their sandbox: {DENIED}." in warning
    assert browsers_without_sandbox(user.home)


def test_no_context_joins_a_browser_that_lacks_a_required_sandbox(user: OrdinaryUser) -> None:
    """A browser that another server started without it is not shared by one that requires it."""
    user.call("start", "-s", "shop:alice", sandbox="off")
    refused = user.call("start", "-s", "shop:bob", sandbox="require")["error"]
    assert refused["code"] == "start_failed"
    assert refused["message"].startswith("The running browser has no sandbox, which the setting sandbox requires.")
    assert "Give the session an id of its own" in refused["hint"]
    assert user.call("start", "-s", "bob", sandbox="require")["sessionId"] == "bob"


def test_a_switch_cannot_undo_what_is_required(user: OrdinaryUser) -> None:
    """Not even where arguments are free: in Python, in the shell, and with `unsafe_args`."""
    refused = user.call("start", "-s", "a", "--args=--no-sandbox", sandbox="require")["error"]
    assert "The setting sandbox requires the browser's sandbox, and --no-sandbox takes it away" in refused["message"]


def test_the_working_folder_can_only_be_stricter(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloned repository can require the sandbox, and cannot switch it off."""
    monkeypatch.delenv("ORCHESTRATOR_SANDBOX", raising=False)
    monkeypatch.chdir(tmp_path)
    said = {}
    for mode in ("off", "require"):
        (tmp_path / "orchestrator.toml").write_text(f'sandbox = "{mode}"\n', "utf-8")
        environ = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder)}
        command = [sys.executable, "-m", "orchestrator", "doctor"]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
        said[mode] = done.stdout
    assert "orchestrator.toml of this folder cannot choose sandbox" in said["off"]
    assert "off by the setting sandbox" not in said["off"]
    assert "cannot choose sandbox" not in said["require"]
