"""Servers of two containers over one data folder: each leaves what runs in the other to that one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestrator.system.host.file_systems import Mount, find_shared
from tests.e2e.harness import NAMESPACE, Home, kill
from tests.needed import needed
from tests.servers import container, far_mount
from tests.servers.mcp import Served, served
from tests.waiting import until

pytestmark = pytest.mark.full

PAGE = "data:text/html,<title>Form</title><input id=name>"


@contextmanager
def in_container(home: Home, **settings: str) -> Iterator[Served]:
    """Start a server on this home in a pid namespace of its own; all that runs there ends with it."""
    needed(container.missing())
    given = {"home": str(home.folder), "namespace": NAMESPACE, **home.settings, **settings}
    with served("auto", (), sys.stderr, "mcp", None, (), container.in_container(), **given) as server:
        yield server


def rows(server: Served) -> dict[str, dict[str, Any]]:
    """Return the listed sessions by id."""
    return {row["sessionId"]: row for row in server.ok("list_sessions")["sessions"]}


def fill(server: Served, session_id: str) -> None:
    """Start a session with something in its page."""
    server.ok("start_browser", sessionId=session_id, navigationUrl=PAGE)
    server.ok("set_value", selector="#name", value=session_id, sessionId=session_id)


def name_in_page(server: Served, session_id: str) -> Any:
    """Return what `fill` typed."""
    script = "return document.querySelector('#name').value"
    return server.ok("execute_script", script=script, sessionId=session_id)["value"]


def keepers(home: Home) -> int:
    """Return the number of registered keepers."""
    with closing(sqlite3.connect(f"file:{home.folder / 'sessions.db'}?mode=ro", uri=True, timeout=30)) as db:
        return int(db.execute("SELECT count(*) FROM keepers").fetchone()[0])


def test_what_runs_in_another_container_is_neither_adopted_nor_lost_nor_ended(lasting: Home) -> None:
    """A server that starts here, its checks, its sweep and its keeper leave a session of there as it is."""
    with in_container(lasting) as inside:
        fill(inside, "inside")
        with lasting.serve(park_ttl="1s") as outside:
            assert not rows(outside)["inside"]["owned"]
            outside.ok("start_browser", sessionId="dead")
            until(lambda: keepers(lasting) == 2, "a keeper on each side")
            kill(lasting.process("dead", "browser"))
            # Both are checked because they are listed: once the dead one is found lost, the other has been looked at.
            until(lambda: rows(outside)["dead"]["state"] == "lost", "the check of the sessions")
            assert rows(outside)["inside"]["state"] == "active"
            outside.ok("start_browser", sessionId="outside")
            assert not rows(inside)["outside"]["owned"]
        # The keeper out here ends what is over, and nothing else.
        until(lambda: [record.id for record in lasting.records()] == ["inside"], "the end of the others")
        assert name_in_page(inside, "inside") == "inside"


def test_sessions_of_a_container_that_ended_go_to_the_next_server(lasting: Home) -> None:
    """With the last process of ours there its sessions are free: they are adopted, and begun anew where they were."""
    with in_container(lasting) as inside:
        fill(inside, "inside")
        before = {process.folder for process in lasting.record("inside").processes if process.folder}
    with lasting.serve() as outside:
        assert rows(outside)["inside"]["owned"]
        assert outside.ok("get_visible_elements", sessionId="inside")["title"] == "Form"
        assert before.isdisjoint(process.folder for process in lasting.record("inside").processes)


MOUNTS = (
    Mount("/", "ext4"),
    Mount("/srv", "nfs4"),
    Mount("/srv/local", "xfs"),
    Mount("/mnt/c", "9p"),
    Mount("/home/ann/far", "fuse.sshfs"),
    Mount("/home/ann/near", "fuse.encfs"),
    Mount("/data", "cifs"),
    Mount("/data", "ext4"),
)


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/home", None),
        ("/srv/home", "nfs4"),
        ("/srv/local/home", None),
        ("/srvother", None),
        ("/mnt/c/Users/ann", "9p"),
        ("/home/ann/far/home/new", "fuse.sshfs"),
        ("/home/ann/near", None),
        ("/data/home", None),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_file_systems_of_other_machines_are_told_by_their_type(folder: str, kind: str | None) -> None:
    """The nearest mount above a folder counts, and of two at one place the later."""
    found = find_shared(Path(folder), MOUNTS)
    assert (found.fstype if found else None) == kind


def test_a_data_folder_of_another_machine_is_refused(tmp_path: Path) -> None:
    """The server and the doctor say which file system it is, and what to do."""
    needed(far_mount.missing())
    place = tmp_path / "far"
    place.mkdir()
    said = {}
    with far_mount.far_mount(place):
        environ = {**os.environ, "ORCHESTRATOR_HOME": str(place / "home")}
        for command in ("serve", "doctor"):
            words = [sys.executable, "-m", "orchestrator", command]
            ended = subprocess.run(
                words, env=environ, input="", capture_output=True, text=True, check=False, timeout=60
            )
            assert ended.returncode
            said[command] = ended.stdout + ended.stderr
    refusal = (
        f"The data folder {place}/home lies on a file system that other machines share (fuse.sshfs, mounted at "
        f"{place}), where the locks of its database do not hold. Set home (ORCHESTRATOR_HOME) to a folder on a disk of "
        "this machine."
    )
    assert refusal in said["serve"]
    assert f"{place}/home lies on fuse.sshfs, mounted at {place}, which other machines share" in said["doctor"]
